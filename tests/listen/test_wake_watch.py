"""The ear with its loudness gate and its second look: who is heard, and what is left of a refused call."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from appliance.adapters.fakes.quick_reader import FakeQuickReader
from appliance.adapters.fakes.voice_activity import LoudnessVoiceActivity
from appliance.audio import AudioChunk
from appliance.clock import settle
from appliance.errors import HearingError
from appliance.listen.config import ListenConfig
from appliance.listen.wake_check import WakeCheck
from appliance.ports import Transcript
from tests.listen.rig import RATE, Room, a_room, of, quiet, tone


def look_twice(room: Room, text: str, log_probability: float = -0.7) -> FakeQuickReader:
    reader = FakeQuickReader(text, log_probability)
    room.ear.check_wake_words(WakeCheck(reader, LoudnessVoiceActivity(), room.clock))
    return reader


async def seen_by(reader: FakeQuickReader, count: int = 1) -> None:
    """The second look has begun to read; what it needs before that is on a thread."""
    while len(reader.seen) < count:
        await settle()
    await settle()


# ----------------------------------------------------------------------------------------------- second look


async def test_a_call_opens_the_ear_after_the_second_look_and_the_command_is_whole() -> None:
    async with a_room() as room:
        reader = look_twice(room, "Okay, Nabu.")
        reader.block()
        waiting = await of(room.ear.wake())
        await room.say_wake_word(and_then=tone(0.4, 5000))
        await seen_by(reader)
        assert not waiting.done()
        await room.sound(tone(0.4, 5000))
        reader.release()
        await settle()
        assert waiting.result() == "okay nabu"
        listening = room.listen(after_wake_word=True)
        await room.sound(tone(0.2, 5000), quiet(1.0))
        utterance = listening.result()
        assert utterance is not None
        assert np.count_nonzero(utterance.audio.samples == 5000) == RATE


async def test_the_second_look_gets_the_sound_up_to_the_finding() -> None:
    async with a_room() as room:
        reader = look_twice(room, "Okay, Nabu.")
        await room.sound(quiet(4.0))
        await room.say_wake_word(and_then=tone(0.4, 5000))
        await seen_by(reader)
        samples = reader.seen[0].samples
        assert len(samples) == 2 * RATE
        assert samples[-1] == 8001
        assert np.count_nonzero(samples >= 8000) == round(0.56 * RATE)


async def test_what_only_sounds_like_a_call_wakes_nobody_and_leaves_no_sound() -> None:
    async with a_room() as room:
        reader = look_twice(room, "Okay, Google.")
        waiting = await of(room.ear.wake())
        await room.say_wake_word(and_then=tone(1.0, 5000))
        await seen_by(reader)
        assert not waiting.done()
        assert room.ear.refused_wake_words == 1
        await room.sound(quiet(3.0))
        listening = room.listen(after_wake_word=True)
        await room.sound(quiet(6.0))
        assert listening.result() is None, "nothing from behind the refused word is kept"


async def test_after_a_refused_call_the_next_one_is_heard() -> None:
    async with a_room() as room:
        reader = look_twice(room, "Okay, Google.")
        waiting = await of(room.ear.wake())
        await room.say_wake_word()
        await seen_by(reader)
        await room.sound(quiet(1.2))
        reader.text = "Okay, Nabu."
        await room.say_wake_word()
        await settle(200)
        assert waiting.result() == "okay nabu"


async def test_a_second_look_that_breaks_makes_nobody_deaf() -> None:
    class Broken(WakeCheck):
        async def is_call(self, phrase: str, sound: object) -> bool:
            raise ZeroDivisionError

    async with a_room() as room:
        room.ear.check_wake_words(Broken(FakeQuickReader(), LoudnessVoiceActivity(), room.clock))
        waiting = await of(room.ear.wake())
        await room.say_wake_word()
        assert waiting.result() == "okay nabu"


async def test_the_owner_can_do_without_the_second_look_and_take_it_back() -> None:
    async with a_room() as room:
        reader = look_twice(room, "Okay, Google.")
        room.ear.change(replace(ListenConfig(), wake_check="off"))
        waiting = await of(room.ear.wake())
        await room.say_wake_word()
        assert waiting.result() == "okay nabu"
        assert reader.seen == []
        room.ear.change(ListenConfig())
        waiting = await of(room.ear.wake())
        await room.sound(quiet(1.2))
        await room.say_wake_word()
        await seen_by(reader)
        assert not waiting.done()


async def test_whoever_mutes_meanwhile_is_not_woken() -> None:
    async with a_room() as room:
        reader = look_twice(room, "Okay, Nabu.")
        reader.block()
        waiting = await of(room.ear.wake())
        await room.say_wake_word()
        await seen_by(reader)
        await room.ear.mute(True)
        reader.release()
        await settle()
        assert not waiting.done()


async def test_a_transcriber_that_is_not_loaded_refuses_to_look() -> None:
    class NotLoaded(FakeQuickReader):
        async def glance(self, sound: AudioChunk) -> Transcript:
            self.seen.append(sound)
            raise HearingError("whisper is not loaded yet")

    async with a_room() as room:
        reader = NotLoaded()
        room.ear.check_wake_words(WakeCheck(reader, LoudnessVoiceActivity(), room.clock))
        waiting = await of(room.ear.wake())
        await room.say_wake_word()
        await seen_by(reader)
        assert waiting.result() == "okay nabu"


# ----------------------------------------------------------------------------------------------- loudness gate


async def test_in_a_quiet_room_the_wake_model_rests() -> None:
    async with a_room() as room:
        await room.sound(*[tone(0.08, 9)] * 60)
        looked_at = room.wake_words.chunks
        await room.sound(*[tone(0.08, 9)] * 60)
        assert room.wake_words.chunks == looked_at


async def test_the_first_sound_reaches_the_wake_model_with_what_was_before_it() -> None:
    async with a_room() as room:
        await room.sound(*[tone(0.08, 9)] * 60)
        resets = room.wake_words.resets
        room.wake_words.find_next()
        waiting = await of(room.ear.wake())
        await room.sound(tone(0.08, 300))
        assert waiting.result() == "okay nabu"
        assert room.wake_words.resets == resets + 2, "once for the gap, once behind the finding"
        assert room.wake_words.longest_chunk == round(1.08 * RATE)
