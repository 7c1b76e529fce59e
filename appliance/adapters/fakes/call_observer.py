"""An observer of tool calls that remembers what it was told."""

from __future__ import annotations

from appliance.tools.tool import CallContext, Tool, ToolCall, ToolResult


class FakeCallObserver:
    """A ``CallObserver``. ``told`` is the story in short; with ``is_broken`` it raises each time, once told."""

    def __init__(self, *, is_broken: bool = False) -> None:
        self.told: list[str] = []
        self.results: list[ToolResult] = []
        self._is_broken = is_broken

    def started(self, call: ToolCall, tool: Tool, context: CallContext) -> None:
        self._tell(f"started {tool.name}")

    def waiting_for_person(self, call: ToolCall, is_waiting: bool) -> None:
        self._tell("waiting" if is_waiting else "going on")

    def finished(self, call: ToolCall, tool: Tool, result: ToolResult) -> None:
        self.results.append(result)
        self._tell(f"finished {tool.name} {result.outcome}")

    def _tell(self, fact: str) -> None:
        self.told.append(fact)
        if self._is_broken:
            raise RuntimeError("the observer is broken")
