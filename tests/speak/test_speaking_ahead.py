"""The first line of a reply is made before anybody says it, and in haste."""

from __future__ import annotations

import asyncio

import pytest

from appliance.clock import settle
from tests.speak.rig import Rig


async def test_a_first_sentence_that_was_prepared_is_made_once_and_starts_in_the_next_block() -> None:
    rig = Rig()
    rig.speaker.prepare_first("It is **seven** past three. And so on.")
    await settle()
    assert rig.voice.asked == ["It is seven past three."]
    assert not rig.speaker.is_speaking
    assert not rig.mixer.has_sound()
    rig.voice.block()
    playback = rig.speaker.say("It is seven past three.")
    await settle()
    assert rig.mixer.has_sound()
    await rig.play(1.0)
    assert await playback.finished() == "It is seven past three."
    assert rig.voice.asked == ["It is seven past three."]


async def test_a_line_takes_over_what_is_still_being_prepared() -> None:
    rig = Rig()
    rig.voice.block(after_words=1)
    rig.speaker.prepare_first("One two three.")
    await settle()
    rig.speaker.say("One two three.")
    rig.voice.release()
    assert await rig.play(1.0) == ["One two three."]
    assert rig.voice.asked == ["One two three."]


async def test_what_was_prepared_is_used_once() -> None:
    rig = Rig()
    rig.speaker.prepare_first("One two.")
    await settle()
    rig.speaker.say("One two. One two.")
    await rig.play(1.0)
    assert rig.voice.asked == ["One two."] * 2


@pytest.mark.parametrize("drop", ["forget", "stop", "other text", "other pace"])
async def test_what_was_prepared_is_dropped_when_it_is_not_wanted(drop: str) -> None:
    rig = Rig()
    rig.speaker.prepare_first("One two.")
    await settle()
    if drop == "forget":
        rig.speaker.forget_first()
    elif drop == "stop":
        rig.speaker.stop()
    elif drop == "other text":
        rig.speaker.prepare_first("Three four.")
    else:
        rig.speaker.speed = 1.5
    rig.speaker.say("One two.")
    await rig.play(1.0)
    assert rig.voice.asked.count("One two.") == 2


async def test_a_line_that_waits_does_not_wait_for_what_is_only_prepared() -> None:
    rig = Rig()
    rig.voice.block(after_words=1)
    rig.speaker.prepare_first("Maybe this.")
    await settle()
    rig.speaker.say("Surely that.")
    await settle()
    assert rig.voice.left == ["Maybe this."]
    rig.voice.release()
    assert await rig.play(1.0) == ["Surely that."]


async def test_what_could_not_be_prepared_is_made_when_it_is_said() -> None:
    rig = Rig()
    rig.voice.fail("One two.")
    rig.speaker.prepare_first("One two.")
    await settle()
    rig.voice.fail("Nothing.")
    rig.speaker.say("One two.")
    assert await rig.play(1.0) == ["One two."]


async def test_closing_ends_what_is_being_prepared() -> None:
    rig = Rig()
    rig.voice.block()
    rig.speaker.prepare_first("One two.")
    await settle()
    await rig.speaker.close()
    await settle()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_only_a_line_that_nobody_speaks_before_is_made_in_haste() -> None:
    rig = Rig()
    rig.speaker.say("One two. Three four. Five six.")
    await rig.play(1.0)
    rig.speaker.prepare_first("Seven eight.")
    await settle()
    assert rig.voice.hasty == ["One two.", "Seven eight."]
