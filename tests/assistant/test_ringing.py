"""A timer rings in a box that also talks and listens."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np

from appliance.adapters.fakes.button import FakeButton
from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, calls, says
from appliance.adapters.fakes.tool import FakeTool
from appliance.events import EndReason, PlaybackStarted, TurnEnded, TurnStarted
from appliance.listen.earcons import Earcon
from tests.assistant.conftest import MakeRig
from tests.assistant.rig import WAKE_WORD, Rig


async def ringing(make_rig: MakeRig, **parts: Any) -> Rig:
    """A box in which a timer has just begun to ring."""
    rig = await make_rig(**parts)
    await rig.sets_timer(20.0)
    await rig.until(lambda: rig.box.ringer.ringing and rig.mixer.has_sound())
    return rig


async def in_a_gap(make_rig: MakeRig, **parts: Any) -> Rig:
    """A box that listens between two rings."""
    rig = await ringing(make_rig, **parts)
    await rig.until(lambda: rig.is_ear_open)
    await rig.runs(0.5)
    return rig


async def assert_quiet(rig: Rig) -> None:
    """Nothing rings, and nothing comes back."""
    await rig.rests()
    before = len(rig.sound)
    await rig.runs(30.0)
    assert rig.box.ringer.ringing == ()
    assert not np.any(rig.sound[before:])
    assert rig.box.schedule.waiting == ()


async def test_it_rings_says_what_it_is_and_listens_in_between(make_rig: MakeRig) -> None:
    rig = await in_a_gap(make_rig)

    assert rig.said[-1] in rig.sentences("ring.timer")
    assert [fact.lane for fact in rig.told(PlaybackStarted)][-1] == "alert"
    await rig.until(lambda: not rig.is_ear_open)
    await rig.until(lambda: rig.is_ear_open)
    assert [fact.origin for fact in rig.told(TurnStarted)] == ["alert", "alert"]


async def test_stop_in_the_gap_needs_no_wake_word(make_rig: MakeRig) -> None:
    rig = await in_a_gap(make_rig, model=FakeModelEndpoint())

    await rig.hears("Stop.")

    await assert_quiet(rig)
    assert rig.model is not None
    assert rig.model.requests == []
    assert await rig.history() == []


async def test_other_talk_in_the_gap_is_none_of_its_business(make_rig: MakeRig) -> None:
    rig = await in_a_gap(make_rig)

    await rig.hears("And then she said to him.")
    await rig.runs(4.0)

    assert rig.box.ringer.ringing
    assert rig.endings[-1] is EndReason.NOTHING_HEARD
    assert await rig.history() == []
    rig.box.assistant.stop()
    await rig.rests()


async def test_the_wake_word_cuts_the_burst_and_the_box_listens(make_rig: MakeRig) -> None:
    rig = await ringing(make_rig)

    await rig.hears(WAKE_WORD)
    await rig.runs(0.4)

    assert rig.is_ear_open
    assert not rig.mixer.has_sound(), "nothing is said over the person"
    await rig.hears("Stop.")
    await assert_quiet(rig)
    assert not set(rig.said) & set(rig.sentences("ring.timer"))


async def test_the_wake_word_and_then_nothing_lets_it_ring_on(make_rig: MakeRig) -> None:
    rig = await ringing(make_rig)
    await rig.hears(WAKE_WORD)

    await rig.until(lambda: EndReason.NOTHING_HEARD in rig.endings)
    await rig.until(lambda: rig.said and rig.said[-1] in rig.sentences("ring.timer"))

    assert rig.box.ringer.ringing
    rig.box.assistant.stop()
    await assert_quiet(rig)


async def test_the_button_ends_it_in_the_middle_of_a_burst(make_rig: MakeRig) -> None:
    rig = await ringing(make_rig)

    press(rig)
    await rig.runs(0.1)

    assert not rig.is_ear_open
    await assert_quiet(rig)


async def test_the_button_ends_it_in_a_gap(make_rig: MakeRig) -> None:
    rig = await in_a_gap(make_rig)

    press(rig)
    await rig.runs(0.1)

    assert not rig.is_ear_open
    await assert_quiet(rig)
    assert rig.endings[-1] is EndReason.STOPPED


async def test_a_turn_that_is_on_comes_to_its_end_first(make_rig: MakeRig) -> None:
    go_on = asyncio.Event()
    rig = await make_rig(model=FakeModelEndpoint([go_on, *says("Here is what I think.")]))
    await rig.sets_timer(5.0)
    await rig.hears(WAKE_WORD, "Think about it.")
    await rig.until(lambda: rig.box.ringer.ringing)
    await rig.runs(2.0)
    assert not rig.mixer.has_sound()

    go_on.set()
    await rig.until(lambda: rig.said and rig.said[-1] in rig.sentences("ring.timer"))

    assert rig.said[0] == "Here is what I think."
    ended = next(fact for fact in rig.told(TurnEnded) if fact.reason is EndReason.ANSWERED and rig.said)
    rang = next(fact for fact in rig.told(PlaybackStarted) if fact.lane == "alert")
    assert rang.at_seconds >= ended.at_seconds
    rig.box.assistant.stop()
    await rig.rests()


async def test_a_turn_that_never_ends_does_not_keep_it_from_ringing(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(calls(("slow", {})), says("At last.")))
    rig.adds(FakeTool("slow", clock=rig.clock, seconds=100.0, budget=None))
    await rig.sets_timer(5.0)
    await rig.hears(WAKE_WORD, "Take your time.")

    seconds = await rig.until(lambda: rig.mixer.has_sound() and rig.box.ringer.ringing)

    assert seconds < 20.0
    assert rig.box.assistant.is_busy
    rig.box.assistant.stop()
    await assert_quiet(rig)


async def test_snooze_rings_again_later(make_rig: MakeRig) -> None:
    rig = await in_a_gap(make_rig, settings={"device.snooze_minutes": "1"})

    await rig.hears("Snooze.")
    await rig.rests()

    assert rig.said[-1] == "I will ring again in one minute."
    assert rig.box.ringer.ringing == ()
    seconds = await rig.until(lambda: rig.box.ringer.ringing, at_most_seconds=70.0)
    assert 55.0 < seconds < 61.0
    rig.box.assistant.stop()
    await assert_quiet(rig)


async def test_nobody_answers_so_it_gives_up_and_tells_the_next_person(make_rig: MakeRig) -> None:
    rig = await ringing(make_rig, settings={"device.ring_minutes": "0.5"})

    seconds = await rig.until(lambda: not rig.box.ringer.ringing, at_most_seconds=60.0)
    await rig.rests()

    assert 28.0 < seconds < 40.0
    await rig.runs(20.0)
    before = len(rig.said)
    await rig.asks("What time is it?")
    await rig.runs(5.0)
    _time, *missed = rig.said[before:]
    assert " ".join(missed) == "Your twenty second timer rang at three oh seven in the afternoon, and nobody answered."
    await rig.asks("What time is it?")
    await rig.runs(5.0)
    assert len(rig.said) == before + 1 + len(missed) + 1, "it is told once"


async def test_a_closing_tone_is_not_played_between_rings(make_rig: MakeRig) -> None:
    rig = await in_a_gap(make_rig)

    await rig.until(lambda: not rig.is_ear_open)

    assert Earcon.CLOSED not in rig.tones
    rig.box.assistant.stop()
    await rig.rests()


async def test_what_came_due_while_the_box_was_off_is_told_with_an_explanation(make_rig: MakeRig) -> None:
    before = await make_rig()
    await before.asks("Remind me in one hour to call my mother.")
    await before.close()
    await before.clock.advance(2 * 3600.0)

    rig = await make_rig(disk=before.disk, clock=before.clock)
    await rig.until(lambda: rig.said)

    assert "while I was off" in " ".join(rig.said)
    rig.box.assistant.stop()
    await rig.rests()


def press(rig: Rig) -> None:
    """A finger on the button."""
    button = FakeButton()
    button.listen(lambda is_pressed, _at_seconds: rig.box.assistant.press() if is_pressed else None)
    button.press()
