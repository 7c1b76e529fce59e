"""A brain behind a scripted model, with everything around it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint
from appliance.catalogue import Catalogue
from appliance.clock import FakeClock
from appliance.events import Outcome
from appliance.home import shipped
from appliance.ports import Json
from appliance.ports_think import ModelEndpoint, ModelRequest
from appliance.store.shapes import TurnRecord
from appliance.think.brain import BrainAnswer, Hands, Question
from appliance.think.conversation import Conversation
from appliance.think.instructions import Instructions
from appliance.think.model_brain import ModelBrain, RoundSummary
from appliance.think.soul import Soul
from appliance.tools.registry import Registry
from appliance.tools.tool import CallContext, Expressions, Risk, ToolCall, ToolResult, VoiceLines


class NamedTool:
    """A tool that is never run here: the hands run it."""

    origin = "box"
    risk = Risk.READ
    is_risk_declared = True
    toolset = "box"
    expressions = Expressions()
    voice_lines = VoiceLines()
    is_interactive = False

    def __init__(self, name: str) -> None:
        self.name = name

    def schema(self) -> Mapping[str, Json]:
        return {"type": "function", "name": self.name, "parameters": {"type": "object", "properties": {}}}

    def available(self) -> bool:
        return True

    def budget_seconds(self, arguments: Mapping[str, Json], context: CallContext) -> float | None:
        return None

    async def invoke(self, arguments: Mapping[str, Json], context: CallContext) -> ToolResult:
        raise AssertionError("the brain must go through its hands")

    def timed_out(self, seconds: float) -> ToolResult:
        return ToolResult("")


class Scene:
    """A brain with everything around it."""

    def __init__(self, *answers: Any, endpoint: ModelEndpoint | None = None, **settings: Any) -> None:
        self.clock = FakeClock()
        self.fake = FakeModelEndpoint(*answers)
        self.catalogue = Catalogue.load(shipped("soul"), "en")
        self.said: list[str] = []
        self.ran: list[ToolCall] = []
        self.results: dict[str, ToolResult] = {}
        self.before_run: Callable[[], Any] | None = None
        self.rounds: list[tuple[str, ModelRequest, RoundSummary]] = []
        self.registry = Registry()
        for name in ("get_time", "lamp.switch", "search", "camera"):
            self.registry.add(NamedTool(name))
        self.brain = ModelBrain(
            endpoint or self.fake,
            instructions=Instructions(Soul(name="Pip"), clock=self.clock, audio_tags=("happily",)),
            conversation=Conversation(),
            catalogue=self.catalogue,
            clock=self.clock,
            record_round=lambda *record: self.rounds.append(record),
            **settings,
        )

    async def ask(self, text: str = "What time is it?", *history: TurnRecord, channel: str = "voice") -> BrainAnswer:
        numbers = itertools.count(1)
        hands = Hands(self.said.append, self._run, self.registry.select(), lambda: f"own-{next(numbers)}")
        return await self.brain.answer(Question("turn-1", text, channel, history), hands)

    async def _run(self, call: ToolCall) -> ToolResult:
        self.ran.append(call)
        if self.before_run is not None:
            await self.before_run()
        return self.results.get(call.name, ToolResult(f"result of {call.name}"))

    def outputs(self, request: int = -1) -> list[str]:
        """What the model was told about its calls."""
        sent = self.fake.requests[request].items
        return [item["output"] for item in sent if item["type"] == "function_call_output"]


FAILED = ToolResult("It failed.", Outcome.FAILED, error="why")
