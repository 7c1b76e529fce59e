"""No hum and no heartbeat goes on behind a call that was denied, expired, stopped, or took too long."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, calls, says
from appliance.adapters.fakes.tool import FakeTool
from appliance.events import EndReason, LineKind, Narrated, Outcome, ToolFinished, ToolStarted
from appliance.ports import Json
from appliance.tools.tool import CallContext, Risk, ToolResult, VoiceLines
from tests.assistant.conftest import MakeRig
from tests.assistant.rig import WAKE_WORD, Rig

LINES = VoiceLines("I begin.", ("Still at it.", "It takes a while."), "Done.", "It failed.")
#: Past the first heartbeat, in the middle of a hum.
_INTO_A_HUM_SECONDS = 9.4

reasoning = pytest.mark.parametrize("is_reasoning", [True, False], ids=["hums", "lines"])


class SlowTool(FakeTool):
    """Goes on until it is told how it ends."""

    def __init__(self, *, risk: Risk = Risk.WRITE, budget: float | None = 300.0) -> None:
        super().__init__("slow", risk=risk, budget=budget, voice_lines=LINES)
        self.ending: asyncio.Future[ToolResult] = asyncio.get_running_loop().create_future()
        self.context: CallContext

    async def invoke(self, arguments: Mapping[str, Json], context: CallContext) -> ToolResult:
        self.context = context
        return await self.ending


async def working(make_rig: MakeRig, is_reasoning: bool, *, budget: float | None = 300.0) -> tuple[Rig, SlowTool]:
    """A box in whose turn a tool is at work, long enough that the first sign of life sounds."""
    model = FakeModelEndpoint(calls(("slow", {})), says("So much for that."), is_reasoning=is_reasoning)
    rig = await make_rig(model=model, has_button=True)
    tool = SlowTool(budget=budget)
    rig.adds(tool)
    await rig.hears(WAKE_WORD, "Begin.")
    await rig.until(lambda: rig.told(ToolStarted))
    await rig.runs(_INTO_A_HUM_SECONDS)
    assert signs(rig) == [LineKind.HUM if is_reasoning else LineKind.HEARTBEAT]
    return rig, tool


def signs(rig: Rig) -> list[LineKind]:
    """Signs of life that were given."""
    return [fact.kind for fact in rig.told(Narrated) if fact.kind in (LineKind.HUM, LineKind.HEARTBEAT)]


async def stays_silent(rig: Rig, outcome: Outcome, ending: EndReason) -> None:
    """It ended like this, and nothing is heard of the call any more."""
    await rig.rests()
    assert [fact.outcome for fact in rig.told(ToolFinished)] == [outcome]
    assert rig.endings == [ending]
    count, samples = len(signs(rig)), len(rig.sound)
    await rig.runs(90.0)
    assert len(signs(rig)) == count == 1
    assert not rig.sound[samples:].any()


@reasoning
async def test_after_a_stop(make_rig: MakeRig, is_reasoning: bool) -> None:
    rig, _tool = await working(make_rig, is_reasoning)
    await rig.presses()
    await stays_silent(rig, Outcome.INTERRUPTED, EndReason.STOPPED)


@reasoning
async def test_after_the_budget(make_rig: MakeRig, is_reasoning: bool) -> None:
    rig, _tool = await working(make_rig, is_reasoning, budget=12.0)
    await stays_silent(rig, Outcome.FAILED, EndReason.ANSWERED)
    assert rig.said[-1] == "So much for that."


@reasoning
@pytest.mark.parametrize("wait_seconds", [5.0, 60.0], ids=["denied", "unanswered"])
async def test_after_a_no_or_silence_in_its_middle(make_rig: MakeRig, is_reasoning: bool, wait_seconds: float) -> None:
    rig, tool = await working(make_rig, is_reasoning)
    tool.context.waiting_for_person(True)
    await rig.runs(wait_seconds)
    tool.context.waiting_for_person(False)
    tool.ending.set_result(ToolResult("You did not say yes.", Outcome.REFUSED))
    await stays_silent(rig, Outcome.REFUSED, EndReason.ANSWERED)


@reasoning
@pytest.mark.parametrize("is_held", [True, False], ids=["denied", "unanswered"])
async def test_a_call_that_was_not_allowed_gives_no_sign_at_all(
    make_rig: MakeRig, is_reasoning: bool, is_held: bool
) -> None:
    model = FakeModelEndpoint(calls(("slow", {})), says("So much for that."), is_reasoning=is_reasoning)
    rig = await make_rig(model=model, has_button=True)
    rig.adds(SlowTool(risk=Risk.EXEC))
    await rig.hears(WAKE_WORD, "Begin.")
    await rig.runs(12.0)
    if is_held:
        await rig.presses(1.4)

    await rig.rests(120.0)
    samples = len(rig.sound)
    await rig.runs(90.0)

    assert (rig.told(ToolStarted), rig.told(Narrated)) == ([], [])
    assert not rig.sound[samples:].any()
    assert [line["verdict"] for line in await rig.audit()] == ["declined" if is_held else "unanswered"]
