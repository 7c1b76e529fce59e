"""The ear when the sound card goes away, or something in it breaks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import numpy as np

from appliance.adapters.fakes.sound_card import FakeSoundCard
from appliance.adapters.fakes.voice_activity import LoudnessVoiceActivity
from appliance.adapters.fakes.wake_word import FakeWakeWords
from appliance.audio import AudioChunk, Samples
from appliance.clock import settle
from appliance.errors import AudioError, WeightsError
from appliance.events import ErrorRaised
from tests.listen.rig import RATE, Room, a_room, of, quiet, tone


async def test_a_lost_microphone_is_told_once_and_tried_every_second() -> None:
    async with a_room() as room:
        lost: list[AudioError] = []
        found: list[str] = []
        room.ear.when_card_lost = lost.append
        room.ear.when_card_found = lambda: found.append("found")
        room.card.lose()
        await settle()
        assert [str(error) for error in lost] == ["the plug was pulled"]
        assert not room.ear.can_hear
        tried = []
        for seconds in (0.25, 0.5, 1.0, 1.0, 1.0):
            await room.clock.advance(seconds - 0.1)
            before = room.card.openings
            await room.clock.advance(0.1)
            tried.append(room.card.openings - before)
        assert tried == [1] * 5
        await room.clock.advance(600.0)
        room.card.come_back()
        await room.clock.advance(1.0)
        await room.sound(quiet(0.2))
        assert (len(lost), found) == (1, ["found"])
        assert room.ear.can_hear


async def test_a_microphone_lost_in_mid_sentence_ends_the_utterance_with_what_was_heard() -> None:
    async with a_room() as room:
        listening = room.listen()
        await room.sound(tone(1.0, 5000))
        room.card.lose()
        await settle()
        utterance = listening.result()
        assert utterance is not None
        assert np.count_nonzero(utterance.audio.samples) > 0.9 * RATE


async def test_after_the_microphone_is_back_the_wake_word_works() -> None:
    async with a_room() as room:
        waiting = await of(room.ear.wake())
        room.card.lose()
        await settle()
        room.card.come_back()
        await room.clock.advance(1.0)
        await room.say_wake_word()
        assert waiting.result() == "okay nabu"


class BrokenVoiceActivity(LoudnessVoiceActivity):
    """Breaks on the first loud step."""

    def probability(self, samples: Samples) -> float:
        if samples.any():
            raise ValueError("the model is broken")
        return 0.0


async def test_a_detector_that_breaks_does_not_make_the_box_deaf() -> None:
    room = Room(activity=BrokenVoiceActivity())
    task = asyncio.create_task(room.ear.run())
    listening = room.listen()
    await settle()
    await room.sound(tone(0.5, 5000))
    assert listening.result() is None
    assert [type(event) for event in room.events] == [ErrorRaised]
    waiting = await of(room.ear.wake())
    await room.say_wake_word()
    assert waiting.result() == "okay nabu"
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


class MissingWakeWords(FakeWakeWords):
    """Has no weights, which shows with every chunk."""

    def detect(self, chunk: AudioChunk) -> str | None:
        raise WeightsError("the weights are damaged")


async def test_a_fault_that_comes_with_every_chunk_is_told_once() -> None:
    room = Room(wake_words=MissingWakeWords())
    task = await of(room.ear.run())
    await room.sound(quiet(2.0))
    assert [type(event) for event in room.events] == [ErrorRaised]
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_whoever_is_told_of_a_loss_cannot_end_the_ear() -> None:
    def fail(_error: AudioError) -> None:
        raise ValueError("a fault of ours")

    async with a_room() as room:
        room.ear.when_card_lost = fail
        room.card.lose()
        await settle()
        room.card.come_back()
        await room.clock.advance(1.0)
        waiting = await of(room.ear.wake())
        await room.say_wake_word()
        assert waiting.result() == "okay nabu"


class BrokenSoundCard(FakeSoundCard):
    """Fails once in a way that no sound card should."""

    async def chunks(self) -> AsyncIterator[AudioChunk]:
        if self.openings == 0:
            self.openings += 1
            raise OSError("a fault of ours")
        async for chunk in super().chunks():
            yield chunk


async def test_a_card_that_breaks_in_an_unknown_way_is_opened_again() -> None:
    async with a_room(BrokenSoundCard()) as room:
        await room.clock.advance(1.0)
        waiting = await of(room.ear.wake())
        await room.say_wake_word()
        assert waiting.result() == "okay nabu"


async def test_when_the_card_is_closed_the_ear_ends() -> None:
    room = Room()
    task = await of(room.ear.run())
    await room.card.close()
    await asyncio.wait_for(task, 1.0)
