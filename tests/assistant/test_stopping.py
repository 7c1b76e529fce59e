"""Stop, the button and the wake word end whatever goes on, and the next question is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import numpy as np
import pytest

from appliance.adapters.fakes.button import FakeButton
from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, calls, says
from appliance.adapters.fakes.tool import FakeTool
from appliance.clock import Clock
from appliance.events import EndReason, Outcome, ToolFinished
from appliance.listen.earcons import Earcon
from appliance.ports import Json
from appliance.tools.tool import CallContext, Risk, ToolResult, VoiceLines
from tests.assistant.conftest import MakeRig
from tests.assistant.rig import RATE_HZ, WAKE_WORD, Rig

WAYS = pytest.mark.parametrize("way", ["stop", "button", "wake word"])


async def stop(rig: Rig, way: str) -> None:
    """The person wants it to end."""
    if way == "stop":
        assert (await rig.control.call("stop"))["stopped"]
    elif way == "button":
        button = FakeButton()
        button.listen(lambda is_pressed, _at_seconds: rig.box.assistant.press() if is_pressed else None)
        button.press()
        button.release()
    else:
        await rig.hears(WAKE_WORD)


def ending(way: str) -> EndReason:
    """What the turn that was on is told to have ended by."""
    return EndReason.BARGED_IN if way == "wake word" else EndReason.STOPPED


async def asks_next(rig: Rig, way: str, question: str) -> None:
    """The next question; behind a wake word the ear is open already."""
    if way == "wake word":
        await rig.hears(question)
        await rig.rests()
    else:
        await rig.asks(question)


@WAYS
async def test_while_the_model_thinks(make_rig: MakeRig, way: str) -> None:
    rig = await make_rig(model=FakeModelEndpoint([asyncio.Event()], says("Four.")))
    await rig.hears(WAKE_WORD, "Think for ever.")
    assert rig.model is not None
    await rig.until(lambda: rig.model and rig.model.requests)

    await stop(rig, way)
    await asks_next(rig, way, "Two and two?")

    assert rig.model.open_answers == 0
    assert rig.said == ["Four."]
    assert rig.endings == [ending(way), EndReason.ANSWERED]
    assert [record.user_text for record in await rig.history()] == ["Two and two?"]


@WAYS
async def test_while_a_tool_runs(make_rig: MakeRig, way: str) -> None:
    rig = await make_rig(model=FakeModelEndpoint(calls(("shutters", {})), says("Four.")))
    lines = VoiceLines("I move them.", ("Still moving.",), "Moved.", "Stuck.")
    tool = FakeTool("shutters", clock=rig.clock, seconds=60.0, budget=None, risk=Risk.WRITE, voice_lines=lines)
    rig.adds(tool)
    await rig.hears(WAKE_WORD, "Close the shutters.")
    await rig.until(lambda: "I move them." in rig.said)

    await stop(rig, way)
    await asks_next(rig, way, "Two and two?")

    assert tool.cancelled == 1
    assert [fact.outcome for fact in rig.told(ToolFinished)] == [Outcome.INTERRUPTED]
    assert [(line["kind"], line["outcome"]) for line in await rig.audit()] == [
        ("intent", ""),
        ("result", "interrupted"),
    ]
    assert rig.said == ["I move them.", "Four."]
    assert rig.endings == [ending(way), EndReason.ANSWERED]
    await rig.runs(60.0)
    assert rig.said == ["I move them.", "Four."]


@WAYS
async def test_while_it_speaks(make_rig: MakeRig, way: str) -> None:
    sentence = "Once upon a time there was a very small box that talked too much."
    rig = await make_rig(model=FakeModelEndpoint(says(sentence, " And then it went on."), says("Four.")))
    await rig.hears(WAKE_WORD, "Tell me a story.")
    await rig.until(lambda: rig.box.speaker.now_saying)
    await rig.runs(0.25)

    await stop(rig, way)
    await rig.runs(0.05)

    if way != "wake word":  # whose tone is heard next
        assert not np.any(rig.sound[-round(0.04 * RATE_HZ) :])
    await asks_next(rig, way, "Two and two?")
    heard, four = rig.said
    assert sentence.startswith(heard)
    assert 0 < len(heard) < len(sentence)
    assert four == "Four."
    assert [record.heard_text for record in await rig.history()] == [heard, "Four."]
    assert rig.model is not None
    told = [item["content"][0]["text"] for item in rig.model.requests[-1].items]
    assert told == ["Tell me a story.", heard, "Two and two?"]


async def test_stop_said_behind_the_wake_word_never_waits_for_a_model(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("A story that goes on and on.")))
    await rig.hears(WAKE_WORD, "Tell me a story.")
    await rig.until(lambda: rig.box.speaker.now_saying)

    await rig.asks("Stop.")

    assert rig.model is not None
    assert len(rig.model.requests) == 1
    assert rig.endings == [EndReason.BARGED_IN, EndReason.ANSWERED]
    assert len(await rig.history()) == 1


class SlowToEnd(FakeTool):
    """A tool that takes three seconds to put things back when it is stopped."""

    def __init__(self, clock: Clock) -> None:
        super().__init__("shutters", clock=clock, seconds=60.0, budget=None)
        self._own_clock = clock

    async def invoke(self, arguments: Mapping[str, Json], context: CallContext) -> ToolResult:
        try:
            return await super().invoke(arguments, context)
        finally:
            await self._own_clock.sleep(3.0)


async def test_who_calls_twice_while_a_turn_winds_down_is_answered_once(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(calls(("shutters", {})), says("Four.")))
    tool = SlowToEnd(rig.clock)
    rig.adds(tool)
    await rig.hears(WAKE_WORD, "Close the shutters.")
    await rig.until(lambda: tool.calls)

    await rig.hears(WAKE_WORD)
    await rig.runs(1.5)
    await rig.hears(WAKE_WORD, "Two and two?")
    await rig.rests()

    assert rig.said == ["Four."]
    await rig.runs(10.0)
    assert rig.endings == [EndReason.BARGED_IN, EndReason.ANSWERED]


async def test_stop_with_nothing_to_stop_is_no_trouble(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint())

    assert (await rig.control.call("stop"))["stopped"] is False
    await rig.asks("Stop.")

    assert rig.endings == [EndReason.ANSWERED]
    assert await rig.history() == []


async def test_a_notice_can_be_stopped_too(make_rig: MakeRig) -> None:
    rig = await make_rig()
    rig.box.assistant.say("This is long and nobody wants to hear any of it.")
    await rig.until(lambda: rig.box.speaker.now_saying)
    await rig.runs(0.2)

    rig.box.assistant.stop()
    await rig.rests()

    assert len(rig.said[0]) < len("This is long and nobody wants to hear any of it.")


async def test_the_button_opens_the_ear_and_ends_what_is_said(make_rig: MakeRig) -> None:
    rig = await make_rig()
    rig.box.assistant.press()
    await rig.until(lambda: rig.is_ear_open, at_most_seconds=0.5)
    rig.ears.will_hear("what time is it")
    rig.speaks(5.0)
    await rig.runs(1.0)

    rig.box.assistant.press()
    await rig.runs(0.1)

    assert not rig.is_ear_open
    rig.falls_silent()
    await rig.rests()
    assert rig.said == ["It is three oh seven in the afternoon."]
    assert rig.tones[0] is Earcon.WOKE
