"""What a client may ask of the box: the methods behind the control socket.

The command line calls the same methods in its own process when no device runs, so there is one way to do each thing.
Parameters and results are JSON values; ``caller.emit`` sends what happens on the way.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from pathlib import Path

from appliance.assistant import Assistant
from appliance.assistant_parts import TurnReport
from appliance.bus import Bus
from appliance.contracts.sapphire.plugin_tool import PluginTool
from appliance.control import Caller, Handler
from appliance.errors import UsageError
from appliance.listen.hearer import Hearer
from appliance.listen.opening import Opening, OpeningKind
from appliance.memory import Memory
from appliance.ports import AsyncCallback, Json, Priority
from appliance.store.canonical_json import storable
from appliance.tools.redact import redacted
from appliance.tools.registry import OfferedTool, Registry, ToolSelection
from appliance.tools.runner import Runner
from appliance.tools.tool import CallContext, Tool, ToolCall
from appliance.trace import traced
from appliance.turn import Turn

#: Speech must begin this early in a recording.
RECORDING_SPEECH_SECONDS = 30.0

#: Opens a recording as if it were the microphone.
Recording = Callable[[Path], AbstractAsyncContextManager[Hearer]]
#: Allows exactly one call to the owner who calls: (call, caller) -> a block in which it may run.
Grant = Callable[[ToolCall, Caller], AbstractContextManager[None]]
#: Opens a screen for what a typed turn has to ask: (where to write) -> a block in which it is read.
Screen = Callable[[Callable[[str], None]], AbstractContextManager[None]]


class Service:
    """Serves a running box."""

    def __init__(
        self,
        *,
        assistant: Assistant,
        bus: Bus,
        registry: Registry,
        runner: Runner,
        memory: Memory,
        grant: Grant,
        screen: Screen,
        recording: Recording,
        after_call: AsyncCallback,
        plugin_problems: Callable[[], Sequence[str]],
        explain: Callable[[str], Awaitable[list[str]]],
        redact: Callable[[str], str],
    ) -> None:
        self._assistant = assistant
        self._bus = bus
        self._registry = registry
        self._runner = runner
        self._memory = memory
        self._grant = grant
        self._screen = screen
        self._recording = recording
        #: What a tool leaves for the end of its turn (muting); a call from a shell has no turn to end.
        self._after_call = after_call
        self._plugin_problems = plugin_problems
        self._explain = explain
        self._redact = redact

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """Method name to handler."""
        return {
            "say": self.say,
            "ask": self.ask,
            "stop": self.stop,
            "press": self.press,
            "tool.list": self.tool_list,
            "tool.problems": self.tool_problems,
            "tool.run": self.tool_run,
            "tool.why": self.tool_why,
        }

    async def say(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """``{"text"}`` spoken; ``{"heard"}`` is what really sounded."""
        text = storable(_text(params, "text"))
        return {"heard": await self._assistant.say(text, Priority.REPLY).finished()}

    async def ask(self, params: Mapping[str, Json], caller: Caller) -> Json:
        """One turn from ``{"text", "voice"}`` or ``{"wav"}`` (a path); emits ``{"text"}`` and ``{"trace"}``."""
        with self._watching(caller):
            if "wav" in params:
                report = await self._ask_recording(Path(_text(params, "wav")))
            else:
                report = await self._assistant.take_typed_turn(
                    storable(_text(params, "text")),
                    is_voiced=bool(params.get("voice")),
                    on_text=lambda delta: caller.emit({"text": delta}),
                )
        return {**_report(report), "problem": self._redact(report.problem)}

    async def _ask_recording(self, file: Path) -> TurnReport:
        async with self._recording(file) as hearer:
            opening = Opening(OpeningKind.RECORDING, "recording", no_speech_seconds=RECORDING_SPEECH_SECONDS)
            return await self._assistant.take_turn(opening, hearer=hearer)

    async def stop(self, _params: Mapping[str, Json], _caller: Caller) -> Json:
        """End whatever goes on; ``{"stopped"}`` tells whether anything did."""
        return {"stopped": self._assistant.stop()}

    async def press(self, _params: Mapping[str, Json], _caller: Caller) -> Json:
        """The talk button, pressed from afar."""
        self._assistant.press()
        return {}

    async def tool_list(self, _params: Mapping[str, Json], _caller: Caller) -> Json:
        """Every tool with its risk, origin, and why it is not offered now ("" when it is)."""
        selection = await self._assistant.select_tools()
        return [
            {
                "name": tool.name,
                "origin": tool.origin,
                "risk": tool.risk.value,
                "labels": _labels(tool),
                "description": _description(tool),
                "why_not": _why_not(tool, selection),
            }
            for tool in self._registry.tools
        ]

    async def tool_problems(self, _params: Mapping[str, Json], _caller: Caller) -> Json:
        """What is wrong with the plugins, a sentence each."""
        return list(self._plugin_problems())

    async def tool_why(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Why the tool ``{"name"}`` is or is not offered, what else is to be said, and exactly what a model gets."""
        name = _text(params, "name")
        selection = await self._assistant.select_tools()
        tool = selection.find(name)
        explained = await self._explain(name if tool is None else tool.name)
        if tool is None:
            sentences = [*explained, "appliance tool list shows those there are"]
            raise UsageError(f"there is no tool {name!r}; {'; '.join(sentences)}")
        return {
            "name": tool.name,
            "origin": tool.origin,
            "risk": tool.risk.value,
            "why_not": _why_not(tool, selection),
            "more": explained,
            "schema": _schema(selection.offered, tool.name),
        }

    async def tool_run(self, params: Mapping[str, Json], caller: Caller) -> Json:
        """Run the tool ``{"name", "arguments"}``; with ``{"yes": true}`` the caller's user grants this one call."""
        arguments = params.get("arguments", {})
        if not isinstance(arguments, dict):
            raise UsageError("the arguments of a tool are one JSON object, such as '{\"sides\": 6}'")
        turn = Turn("typed")
        turn.commit()
        call = ToolCall(f"{turn.turn_id}-cli", _text(params, "name"), arguments)
        selection = await self._assistant.select_tools()
        tool = selection.find(call.name)
        if tool is None:
            raise UsageError(f"there is no tool {call.name!r}; appliance tool list shows them")
        # It is no turn: nobody began one, and nobody will end it.
        context = CallContext(call.call_id, "", await self._memory.chat(), "text", turn)
        with contextlib.ExitStack() as stack:
            if params.get("yes"):
                named = ToolCall(call.call_id, tool.name, arguments)
                stack.enter_context(self._grant(named, caller))
            stack.enter_context(self._screen(lambda text: caller.emit({"text": text})))
            result = await self._runner.run(call, context, selection)
        if not self._assistant.is_busy:
            await self._after_call()
        return {
            "outcome": result.outcome.value,
            "text": result.text,
            "images": len(result.images),
            "error": self._redact(redacted(result.error)),
        }

    @contextlib.contextmanager
    def _watching(self, caller: Caller) -> Iterator[None]:
        """Send the caller every fact, and what a typed turn has to ask, while the block runs."""
        unsubscribe = self._bus.subscribe(
            lambda event: caller.emit({"trace": traced(event, is_private=self._memory.hides_words)})
        )
        try:
            with self._screen(lambda text: caller.emit({"text": text})):
                yield
        finally:
            unsubscribe()


def _text(params: Mapping[str, Json], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{name} is missing, or is not a text")
    return value


def _report(report: TurnReport) -> Json:
    return {
        "turn_id": report.turn_id,
        "reason": report.reason.value,
        "heard": report.heard,
        "reply": report.reply,
        "said": report.said,
    }


def _schema(offered: Iterable[OfferedTool], name: str) -> Mapping[str, Json]:
    """What a model gets of that tool; empty when it is not offered."""
    return next((entry.schema for entry in offered if entry.tool.name == name), {})


def _description(tool: Tool) -> str:
    """In the words of its author; "" when its schema is broken."""
    try:
        return str(tool.schema().get("description", ""))
    except Exception:
        return ""


def _labels(tool: Tool) -> list[str]:
    """What its author says of a plugin tool, for the list."""
    if not isinstance(tool, PluginTool):
        return []
    labels = {"network": tool.flags.is_network, "hidden": tool.flags.is_hidden}
    return [label for label, is_so in labels.items() if is_so]


def _why_not(tool: Tool, selection: ToolSelection) -> str:
    """Why no model gets it; "" when one does."""
    if tool.origin == "box" and tool.name in selection.why_not:
        return "it is for the box's own brain; a model does that by itself"
    return selection.why_not.get(tool.name, "")
