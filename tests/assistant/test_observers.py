"""Nobody who watches takes part; and the box does not listen to itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, calls, says
from appliance.adapters.fakes.tool import FakeTool
from appliance.bus import Bus, Subscriber
from appliance.events import EndReason, Event
from appliance.tools.tool import Risk, VoiceLines
from tests.assistant.conftest import MakeRig
from tests.assistant.rig import WAKE_WORD, Rig


class DeafBus(Bus):
    """A bus to which nobody ever listens."""

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        return lambda: None


async def a_rich_evening(rig: Rig) -> dict[str, Any]:
    """A talk with a tool, a barge-in, a follow-up and a timer: what was heard, done and remembered of it."""
    tool = FakeTool(
        "shutters",
        clock=rig.clock,
        seconds=12.0,
        risk=Risk.WRITE,
        voice_lines=VoiceLines("I go.", ("Still.",), "Done."),
    )
    rig.adds(tool)
    await rig.sets_timer(60.0)
    await rig.hears(WAKE_WORD, "Close the shutters.")
    await rig.runs(16.0)
    await rig.hears(WAKE_WORD, "Tell me a story.")
    await rig.runs(0.8)
    await rig.hears(WAKE_WORD, "What is your name?")
    await rig.runs(1.0)
    await rig.hears("Ada.")
    await rig.runs(60.0)
    await rig.hears(WAKE_WORD, "Stop.")
    await rig.runs(10.0)
    assert rig.model is not None
    return {
        "sound": rig.sound,
        "calls": [arguments for arguments, _ in tool.calls],
        "asked": [[item.get("content") for item in request.items] for request in rig.model.requests],
        "kept": [(record.user_text, record.heard_text, record.did) for record in await rig.history()],
        "audit": [(line["kind"], line["tool"], line["outcome"]) for line in await rig.audit()],
        "waiting": rig.box.schedule.waiting,
    }


def the_model() -> FakeModelEndpoint:
    return FakeModelEndpoint(
        calls(("shutters", {"which": "all"})),
        says("They are closed."),
        says("Once upon a time there was a very small box that talked too much."),
        says("I am Nabu. Who are you?"),
        says("Hello Ada."),
    )


async def test_deleting_all_subscribers_changes_no_turn(make_rig: MakeRig) -> None:
    watched = await a_rich_evening(await make_rig(model=the_model()))
    unwatched = await a_rich_evening(await make_rig(model=the_model(), bus=DeafBus()))

    assert np.array_equal(watched.pop("sound"), unwatched.pop("sound"))
    assert watched == unwatched
    assert len(watched["asked"]) == 5, "the story was told"
    assert [heard for _, heard, _ in watched["kept"]][-1] == "Hello Ada."


async def test_subscribers_that_fail_change_no_turn(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("One. Two.")))

    def broken(_event: Event) -> None:
        raise RuntimeError("the face fell off")

    rig.box.bus.subscribe(broken)
    begun = len(rig.facts)
    await rig.asks("Count.")

    assert rig.said == ["One.", "Two."]
    assert set(rig.tracebacks) == {
        f"an observer failed on {type(fact).__name__}: RuntimeError('the face fell off')" for fact in rig.facts[begun:]
    }
    rig.tracebacks.clear()


@pytest.mark.parametrize("seconds_behind", [0.0, 0.5])
async def test_the_box_does_not_wake_itself(make_rig: MakeRig, seconds_behind: float) -> None:
    """The detector finds the words some tenths of a second after they were said."""
    rig = await make_rig(model=FakeModelEndpoint(says('To wake me, say "Okay, Nabu".', " I will hear you.")))
    await rig.hears(WAKE_WORD, "How do I wake you?")
    await rig.until(lambda: len(rig.said) > 0 if seconds_behind else rig.box.speaker.now_saying)
    await rig.runs(seconds_behind)

    await rig.hears(WAKE_WORD)
    await rig.rests()

    assert rig.endings == [EndReason.ANSWERED]
    assert rig.said[-1] == "I will hear you."


async def test_a_person_wakes_it_a_moment_later(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says('To wake me, say "Okay, Nabu".')))
    await rig.asks("How do I wake you?")
    await rig.runs(1.5)

    await rig.hears(WAKE_WORD)
    await rig.runs(0.5)

    assert rig.is_ear_open
