from __future__ import annotations

import numpy as np
import pytest

from appliance.adapters.fakes.sound_card import FakeSoundCard
from appliance.audio import AudioChunk
from appliance.clock import settle
from tests.listen.rig import RATE, a_room, of, quiet, tone

# ------------------------------------------------------------------------------------------------ wake word


async def test_the_wake_word_wakes_everybody_who_waits_for_it() -> None:
    async with a_room() as room:
        waiting = [await of(room.ear.wake()) for _ in range(2)]
        await room.say_wake_word()
        assert [task.result() for task in waiting] == ["okay nabu", "okay nabu"]


async def test_one_saying_wakes_once_even_when_the_detector_fires_again() -> None:
    async with a_room() as room:
        first = await of(room.ear.wake())
        await room.say_wake_word()
        assert first.done()
        again = await of(room.ear.wake())
        room.wake_words.find_next()
        await room.sound(quiet(0.16))
        assert not again.done()
        await room.sound(quiet(1.0))
        room.wake_words.find_next()
        await room.sound(quiet(0.16))
        assert again.result() == "okay nabu"
        assert room.wake_words.resets >= 2, "the detector forgets after a hit"


async def test_giving_up_on_the_wake_word_leaves_nothing_behind() -> None:
    async with a_room() as room:
        waiting = await of(room.ear.wake())
        waiting.cancel()
        await settle()
        await room.say_wake_word()
        assert waiting.cancelled()


async def test_no_wake_word_is_looked_for_while_somebody_speaks() -> None:
    async with a_room() as room:
        listening = room.listen()
        await settle()
        looked_at = room.wake_words.chunks
        await room.sound(tone(1.0, 5000), quiet(0.5))
        assert room.wake_words.chunks == looked_at
        resets = room.wake_words.resets
        await room.sound(quiet(0.5))
        assert listening.done()
        assert room.wake_words.resets == resets + 1, "the detector does not join what it heard before and after"


# ------------------------------------------------------------------------------------------------ utterance


async def test_a_command_right_behind_the_wake_word_is_whole() -> None:
    async with a_room() as room:
        await room.say_wake_word(and_then=tone(0.4, 5000))
        listening = room.listen(after_wake_word=True)
        await room.sound(quiet(1.0))
        utterance = listening.result()
        assert utterance is not None
        assert np.count_nonzero(utterance.audio.samples == 5000) == round(0.4 * RATE)


async def test_most_of_the_wake_word_is_not_in_the_utterance() -> None:
    async with a_room() as room:
        await room.say_wake_word(and_then=tone(0.4, 5000))
        listening = room.listen(after_wake_word=True)
        await room.sound(quiet(1.0))
        utterance = listening.result()
        assert utterance is not None
        wake_word = np.count_nonzero(utterance.audio.samples >= 8000)
        assert 0 < wake_word <= round(0.2 * RATE)


async def test_a_command_is_whole_even_when_the_answer_to_the_wake_word_is_late() -> None:
    async with a_room() as room:
        await room.say_wake_word(and_then=np.concatenate([tone(4.0, 5000), quiet(1.0)]))
        utterance = await room.ear.listen(no_speech_seconds=5.0, after_wake_word=True)
        assert utterance is not None
        assert np.count_nonzero(utterance.audio.samples == 5000) == 4 * RATE


async def test_the_wake_word_alone_is_no_utterance() -> None:
    async with a_room() as room:
        await room.say_wake_word()
        listening = room.listen(after_wake_word=True)
        await room.sound(quiet(4.8))
        assert not listening.done()
        await room.sound(quiet(0.4))
        assert listening.result() is None


async def test_pressing_the_button_long_after_an_unanswered_wake_word_brings_nothing_old_back() -> None:
    async with a_room() as room:
        await room.say_wake_word(and_then=np.concatenate([tone(1.0, 5000), quiet(20.0)]))
        listening = room.listen(after_wake_word=True)
        await room.sound(quiet(6.0))
        assert listening.result() is None


async def test_who_speaks_as_they_press_the_button_is_heard_from_the_start() -> None:
    async with a_room() as room:
        await room.sound(quiet(0.8), tone(0.16, 4000))
        listening = room.listen()
        await room.sound(tone(0.5, 5000), quiet(1.0))
        utterance = listening.result()
        assert utterance is not None
        assert np.count_nonzero(utterance.audio.samples) == round(0.66 * RATE)


async def test_after_our_own_sentence_its_echo_is_not_heard() -> None:
    async with a_room() as room:
        await room.sound(tone(0.8, 9000))
        listening = room.listen(discard_seconds=0.3)
        await room.sound(tone(0.24, 9000), quiet(0.5), tone(0.5, 5000), quiet(1.0))
        utterance = listening.result()
        assert utterance is not None
        assert utterance.audio.samples.max() == 5000


async def test_the_listener_is_told_how_it_goes_on() -> None:
    async with a_room() as room:
        told: list[str] = []
        soft_ends: list[AudioChunk] = []

        def on_soft_end(audio: AudioChunk) -> None:
            told.append("soft end")
            soft_ends.append(audio)

        listening = room.listen(
            on_speech_started=lambda: told.append("started"),
            on_soft_end=on_soft_end,
            on_resumed=lambda: told.append("resumed"),
        )
        await settle()
        await room.sound(tone(0.8, 5000), quiet(0.4), tone(0.8, 5000), quiet(0.24))
        assert told == ["started", "soft end", "resumed", "soft end"]
        assert not listening.done()
        await room.sound(quiet(0.6))
        utterance = listening.result()
        assert utterance is not None
        assert utterance.audio is soft_ends[-1]


async def test_the_card_is_attentive_only_while_somebody_may_speak() -> None:
    async with a_room() as room:
        assert not room.card.is_attentive
        listening = room.listen()
        await settle()
        assert room.card.is_attentive
        assert room.ear.is_listening
        await room.sound(tone(0.5, 5000), quiet(1.0))
        assert listening.done()
        assert not room.card.is_attentive
        assert not room.ear.is_listening


async def test_releasing_the_button_ends_the_utterance_at_once() -> None:
    async with a_room() as room:
        listening = room.listen()
        await room.sound(tone(0.5, 5000))
        room.ear.finish_utterance()
        await settle()
        assert listening.result() is not None
        room.ear.finish_utterance()  # with no ear open it does nothing


async def test_cancelling_closes_the_ear_and_it_can_be_opened_again() -> None:
    async with a_room() as room:
        listening = room.listen()
        await room.sound(tone(0.5, 5000))
        listening.cancel()
        await settle()
        assert not room.ear.is_listening
        assert not room.card.is_attentive
        again = room.listen(discard_seconds=0.1)
        await room.sound(quiet(6.0))
        assert again.result() is None


async def test_two_cannot_listen_at_once() -> None:
    async with a_room() as room:
        listening = room.listen()
        await settle()
        with pytest.raises(RuntimeError, match="already"):
            await room.ear.listen(no_speech_seconds=1.0, after_wake_word=False)
        listening.cancel()


async def test_an_open_ear_to_which_nothing_comes_is_given_up() -> None:
    async with a_room() as room:
        listening = room.listen()
        await settle()
        await room.clock.advance(60.0)
        assert listening.result() is None


async def test_a_box_without_a_microphone_does_not_wait_for_speech() -> None:
    async with a_room(FakeSoundCard(microphone="")) as room:
        assert not room.ear.can_hear
        assert await room.ear.listen(no_speech_seconds=5.0, after_wake_word=False) is None


async def test_voice_activity_can_be_loaded_before_it_is_needed() -> None:
    async with a_room() as room:
        await room.ear.warm_up()
        assert room.activity.steps == 1


# ------------------------------------------------------------------------------------------------ mute


async def test_muting_throws_away_what_is_being_said_and_closes_the_microphone() -> None:
    async with a_room() as room:
        listening = room.listen()
        await room.sound(tone(1.0, 5000))
        await room.ear.mute(True)
        await settle()
        assert listening.result() is None
        assert room.card.is_muted
        assert room.ear.is_muted
        assert not room.ear.can_hear
        assert await room.ear.listen(no_speech_seconds=5.0, after_wake_word=False) is None


async def test_after_unmuting_the_wake_word_works_and_nothing_old_is_heard() -> None:
    async with a_room() as room:
        await room.sound(tone(1.0, 5000))
        await room.ear.mute(True)
        await room.ear.mute(False)
        waiting = await of(room.ear.wake())
        await room.say_wake_word()
        assert waiting.result() == "okay nabu"
        listening = room.listen(after_wake_word=True)
        await room.sound(tone(0.5, 3000), quiet(1.0))
        utterance = listening.result()
        assert utterance is not None
        assert 5000 not in utterance.audio.samples


# ------------------------------------------------------------------------------------------------ overhearing


async def test_people_who_are_only_overheard_may_still_call() -> None:
    async with a_room() as room:
        waiting = await of(room.ear.wake())
        overhearing = room.listen(is_overhearing=True)
        await room.sound(tone(1.0, 5000))
        await room.say_wake_word(and_then=tone(0.4, 6000))
        assert waiting.result() == "okay nabu"
        overhearing.cancel()
        await settle()

        listening = room.listen(after_wake_word=True)
        await room.sound(quiet(1.0))
        utterance = listening.result()
        assert utterance is not None
        assert np.count_nonzero(utterance.audio.samples == 6000) == round(0.4 * RATE)
        assert not np.any(utterance.audio.samples == 5000)


async def test_overhearing_again_leaves_the_call_to_whoever_answers_it() -> None:
    async with a_room() as room:
        await room.say_wake_word(and_then=tone(0.4, 6000))
        overhearing = room.listen(is_overhearing=True)
        await settle()
        overhearing.cancel()
        await settle()
        listening = room.listen(after_wake_word=True)
        await room.sound(quiet(1.0))
        utterance = listening.result()
        assert utterance is not None
        assert np.count_nonzero(utterance.audio.samples == 6000) == round(0.4 * RATE)


async def test_overhearing_gives_way_to_whoever_is_spoken_to() -> None:
    async with a_room() as room:
        overhearing = room.listen(is_overhearing=True)
        await room.sound(tone(1.0, 5000))
        listening = room.listen()
        await settle()
        assert overhearing.result() is None
        assert room.ear.is_listening
        assert room.card.is_attentive
        with pytest.raises(RuntimeError, match="open already"):
            await room.ear.listen(no_speech_seconds=1.0, after_wake_word=False, is_overhearing=True)
        await room.sound(tone(0.5, 6000), quiet(1.0))
        utterance = listening.result()
        assert utterance is not None
        assert np.count_nonzero(utterance.audio.samples == 6000) == round(0.5 * RATE)
