from __future__ import annotations

import numpy as np

from appliance.adapters.fakes.quick_reader import FakeQuickReader
from appliance.adapters.fakes.voice_activity import LoudnessVoiceActivity
from appliance.audio import Samples
from appliance.clock import FakeClock, settle
from appliance.errors import WeightsError
from appliance.listen.wake_check import WakeCheck
from tests.listen.rig import of, quiet, tone

LOUD = tone(2.0, 8000)


class Look:
    """A second look with everything around it."""

    def __init__(self, text: str, log_probability: float = -0.7) -> None:
        self.reader = FakeQuickReader(text, log_probability)
        self.activity = LoudnessVoiceActivity()
        self.clock = FakeClock()
        self.check = WakeCheck(self.reader, self.activity, self.clock)

    async def is_call(self, sound: Samples = LOUD, phrase: str = "okay nabu") -> bool:
        task = await of(self.check.is_call(phrase, sound))
        while not task.done():
            # Voice activity is on a thread.
            await settle()
        return task.result()


async def test_the_wake_word_is_a_call() -> None:
    look = Look("Okay, Nabu.")
    assert await look.is_call()
    assert look.check.refused == 0
    assert np.array_equal(look.reader.seen[0].samples, LOUD)


async def test_a_made_up_word_read_as_real_ones_without_being_sure_is_a_call() -> None:
    assert await Look("Okay, now move.", -0.7).is_call()
    assert await Look("Okay, now", -1.0).is_call()


async def test_the_same_words_read_for_sure_are_none() -> None:
    look = Look("Okay, now do it.", -0.2)
    assert not await look.is_call()
    assert look.check.refused == 1


async def test_something_else_is_no_call() -> None:
    for text in ("Okay, Google.", "And now the weather.", "Okay, thank you.", ""):
        assert not await Look(text, -0.5).is_call(), text


async def test_a_word_that_the_transcriber_is_not_known_to_know_needs_only_somebody_who_speaks() -> None:
    for phrase in ("hey mycroft", "abracadabra"):
        look = Look("Aim the drop.", -0.2)
        assert await look.is_call(phrase=phrase)
        assert not await look.is_call(quiet(2.0), phrase=phrase)
        assert look.reader.seen == []


async def test_every_shipped_word_that_is_read_is_known_by_its_phrase() -> None:
    for phrase in ("okay nabu", "hey jarvis", "alexa"):
        assert await Look(f"{phrase.title()}.", -0.1).is_call(phrase=phrase)
        assert not await Look("Thank you for watching!", -0.1).is_call(phrase=phrase)


async def test_where_nobody_speaks_nothing_is_read() -> None:
    look = Look("Okay, Nabu.")
    assert not await look.is_call(quiet(2.0))
    assert look.reader.seen == []
    assert look.check.refused == 1


async def test_who_calls_again_right_after_being_refused_is_heard() -> None:
    look = Look("Okay, I move.", -0.5)
    assert not await look.is_call()
    await look.clock.advance(5.0)
    assert await look.is_call()
    await look.clock.advance(1.0)
    assert not await look.is_call(), "that was one call and its repetition; the next begins anew"


async def test_who_calls_again_much_later_is_looked_at_anew() -> None:
    look = Look("Okay, Google.")
    assert not await look.is_call()
    await look.clock.advance(9.0)
    assert not await look.is_call()
    assert look.check.refused == 2


async def test_music_that_sounds_like_it_twice_is_not_taken_for_somebody_who_calls_again() -> None:
    look = Look("Okay, Nabu.")
    assert not await look.is_call(quiet(2.0))
    look.reader.text = "la la la"
    assert not await look.is_call()


async def test_a_transcriber_that_is_broken_or_not_loaded_makes_nobody_deaf() -> None:
    look = Look("something else")
    look.reader.is_broken = True
    assert await look.is_call()


async def test_a_transcriber_that_is_busy_makes_nobody_wait_for_more_than_a_second() -> None:
    look = Look("something else")
    look.reader.block()
    task = await of(look.check.is_call("okay nabu", LOUD))
    while not look.reader.seen:
        await settle()
    await look.clock.advance(0.9)
    assert not task.done()
    await look.clock.advance(0.2)
    assert task.result()


async def test_voice_activity_can_be_loaded_before_the_first_call() -> None:
    look = Look("Okay, Nabu.")
    await look.check.warm_up()
    assert look.activity.steps == 1
    assert look.check.refused == 0


async def test_without_weights_for_voice_activity_the_reading_decides() -> None:
    class NoWeights(LoudnessVoiceActivity):
        def probability(self, samples: Samples) -> float:
            raise WeightsError("they are not there")

    look = Look("Okay, Google.")
    look.check = WakeCheck(look.reader, NoWeights(), look.clock)
    assert not await look.is_call(quiet(2.0))
    look.reader.text = "Okay, Nabu"
    look.check = WakeCheck(look.reader, NoWeights(), look.clock)
    assert await look.is_call(quiet(2.0))
