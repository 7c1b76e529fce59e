"""A tool that does what a test tells it to, and remembers its calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from appliance.clock import Clock
from appliance.events import Outcome
from appliance.ports import Json
from appliance.tools.tool import CallContext, Expressions, Risk, ToolResult, VoiceLines


class FakeTool:
    """A ``Tool``. ``results`` are used up one per call (an exception is raised); the last one stays.

    With ``seconds`` each call takes that long on ``clock``.
    """

    def __init__(
        self,
        name: str = "fake_tool",
        results: ToolResult | BaseException | list[ToolResult | BaseException] | None = None,
        *,
        clock: Clock | None = None,
        seconds: float = 0.0,
        budget: float | None = 30.0,
        risk: Risk = Risk.READ,
        origin: str = "plugin:fake",
        voice_lines: VoiceLines | None = None,
        expressions: Expressions | None = None,
        is_interactive: bool = False,
        is_risk_declared: bool = True,
        schema: Mapping[str, Json] | None = None,
    ) -> None:
        self.name = name
        self.origin = origin
        self.toolset = origin
        self.risk = risk
        self.is_risk_declared = is_risk_declared
        self.voice_lines = voice_lines or VoiceLines()
        self.expressions = expressions or Expressions()
        self.is_interactive = is_interactive
        self.is_available = True
        #: Arguments and context of every call that began, and how many were cancelled.
        self.calls: list[tuple[dict[str, Any], CallContext]] = []
        self.cancelled = 0
        self._results = results if isinstance(results, list) else [results or ToolResult("done")]
        self._clock = clock
        self._seconds = seconds
        self._budget = budget
        self._schema = schema or {
            "type": "function",
            "name": name,
            "description": f"Fake tool {name}.",
            "parameters": {"type": "object", "properties": {}},
        }

    def schema(self) -> Mapping[str, Json]:
        """As given."""
        return self._schema

    def available(self) -> bool:
        """``is_available``."""
        return self.is_available

    def budget_seconds(self, arguments: Mapping[str, Json], context: CallContext) -> float | None:
        """As given."""
        return self._budget

    async def invoke(self, arguments: Mapping[str, Json], context: CallContext) -> ToolResult:
        """Take the time, then give the next result."""
        self.calls.append((dict(arguments), context))
        if self._clock is not None and self._seconds > 0:
            try:
                await self._clock.sleep(self._seconds)
            except BaseException:
                self.cancelled += 1
                raise
        result = self._results.pop(0) if len(self._results) > 1 else self._results[0]
        if isinstance(result, BaseException):
            raise result
        return result

    def timed_out(self, seconds: float) -> ToolResult:
        """A failed result that says so."""
        return ToolResult(f"fake time-out after {seconds:g} s", Outcome.FAILED, error="time-out")
