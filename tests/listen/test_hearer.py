from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from appliance.adapters.fakes.transcriber import FakeTranscriber
from appliance.adapters.fakes.turn_detector import FakeTurnDetector
from appliance.clock import settle
from appliance.errors import HearingError, WeightsError
from appliance.events import Event, SpeechEnded, Transcribed
from appliance.listen.config import ListenConfig
from appliance.listen.earcons import Earcon
from appliance.listen.hearer import Hearer
from appliance.listen.opening import Opening, OpeningKind
from appliance.listen.patience import manner_of
from tests.listen.rig import Room, a_room, quiet, tone

LOUD = 3000
#: How long the ear is open after speech before it may be over, in the microphone's chunks.
MANNER = manner_of(ListenConfig())
SOON = MANNER.looks[0].silence_seconds + 0.08
TIMER = MANNER.timer_seconds + 0.08
LATE = MANNER.longest_silence_seconds + 0.08


class Ears:
    """A hearer in a room, with whatever it does."""

    def __init__(self, room: Room, detector: FakeTurnDetector | None, rules: Callable[[], ListenConfig]) -> None:
        self.room = room
        self.detector = detector
        self.whisper = FakeTranscriber()
        self.sounds: list[Earcon] = []
        self.facts: list[Event] = []
        self.hearer = Hearer(
            room.ear,
            self.whisper,
            room.clock,
            publish=self.facts.append,
            sound=self.sounds.append,
            turn_detector=detector,
            rules=rules,
        )

    async def opens(
        self, kind: OpeningKind = OpeningKind.BUTTON, word: str = "button", *, is_held: bool = False
    ) -> asyncio.Task[str]:
        hearing = asyncio.create_task(self.hearer.hear("t1", Opening(kind, word, 5.0, is_held=is_held)))
        await settle()
        return hearing

    async def hears(self, seconds: float = 0.64) -> None:
        await self.room.sound(*[tone(0.02, LOUD)] * round(seconds / 0.02))

    async def hears_nothing(self, seconds: float) -> None:
        await self.room.sound(*[quiet(0.02)] * round(seconds / 0.02))


@asynccontextmanager
async def ears(detector: FakeTurnDetector | None = None, rules: ListenConfig | None = None) -> AsyncIterator[Ears]:
    async with a_room() as room:
        yield Ears(room, detector, lambda: rules or ListenConfig())


async def test_who_sounds_finished_is_answered_after_a_short_pause() -> None:
    async with ears(FakeTurnDetector(0.99)) as it:
        it.whisper.will_hear("what time is it")
        hearing = await it.opens()
        await it.hears()
        await it.hears_nothing(SOON)
        assert hearing.done()
        assert hearing.result() == "what time is it"
        assert it.sounds == [Earcon.WOKE, Earcon.HEARD]


async def test_the_text_begun_at_the_soft_end_is_the_one_that_is_used() -> None:
    async with ears(FakeTurnDetector(0.99)) as it:
        it.whisper.will_hear("what time is it", "another reading")
        hearing = await it.opens()
        await it.hears()
        await it.hears_nothing(SOON)
        assert await hearing == "what time is it"
        assert len(it.whisper.heard) == 1


async def test_who_only_pauses_is_not_cut_off() -> None:
    detector = FakeTurnDetector(0.1, 0.1, 0.99)
    async with ears(detector) as it:
        it.whisper.will_hear("set a timer for", "set a timer for five minutes")
        hearing = await it.opens()
        await it.hears()
        await it.hears_nothing(TIMER)
        assert not hearing.done(), "longer than the timer would have waited"
        await it.hears()
        await it.hears_nothing(SOON)
        assert await hearing == "set a timer for five minutes"


async def test_who_sounds_unfinished_and_says_no_more_is_heard_in_the_end() -> None:
    async with ears(FakeTurnDetector(usually=0.1)) as it:
        it.whisper.will_hear("set a timer")
        hearing = await it.opens()
        await it.hears()
        await it.hears_nothing(LATE)
        assert hearing.done()
        assert hearing.result() == "set a timer"


async def test_a_second_look_may_end_the_turn() -> None:
    detector = FakeTurnDetector(0.1, 0.99)
    async with ears(detector) as it:
        it.whisper.will_hear("yes")
        hearing = await it.opens()
        await it.hears()
        await it.hears_nothing(TIMER - 0.1)
        assert hearing.done()
        assert len(detector.asked[1].samples) > len(detector.asked[0].samples)


async def test_an_answer_of_the_detector_that_comes_when_the_person_speaks_again_is_dropped() -> None:
    detector = FakeTurnDetector(0.99, 0.1, 0.1)
    detector.block()
    async with ears(detector) as it:
        it.whisper.will_hear("turn on the light", "turn on the light in the kitchen")
        hearing = await it.opens()
        await it.hears()
        await it.hears_nothing(SOON)
        await it.hears()
        detector.release()
        await settle()
        assert not hearing.done()
        await it.hears_nothing(LATE)
        assert await hearing == "turn on the light in the kitchen"


async def test_speech_that_goes_on_while_the_text_is_worked_out_belongs_to_the_utterance() -> None:
    async with ears(FakeTurnDetector(usually=0.99)) as it:
        it.whisper.will_hear("turn on the light in the kitchen")
        it.whisper.block()
        hearing = await it.opens()
        await it.hears()
        await it.hears_nothing(SOON)
        assert not hearing.done()
        await it.hears()
        await it.hears_nothing(SOON)
        it.whisper.release()
        await settle()
        assert await hearing == "turn on the light in the kitchen"
        ended = next(fact for fact in it.facts if isinstance(fact, SpeechEnded))
        assert ended.utterance_seconds == pytest.approx(2 * 0.64 + SOON, abs=0.1)


async def test_a_cough_is_no_turn_however_final_it_sounds() -> None:
    async with ears(FakeTurnDetector(usually=0.99)) as it:
        it.whisper.will_hear("", "good night")
        hearing = await it.opens()
        await it.hears(0.4)
        await it.hears_nothing(SOON)
        assert not hearing.done()
        await it.hears()
        await it.hears_nothing(SOON)
        assert await hearing == "good night"


@pytest.mark.parametrize("text", ["Set a timer for", "Play some music and...", "Turn the heating down by."])
async def test_a_text_that_must_go_on_is_no_turn_however_final_it_sounds(text: str) -> None:
    async with ears(FakeTurnDetector(usually=0.99)) as it:
        it.whisper.will_hear(text)
        hearing = await it.opens()
        await it.hears()
        await it.hears_nothing(MANNER.longest_silence_seconds - 0.06)
        assert not hearing.done()
        await it.hears_nothing(0.14)
        assert await hearing == text


async def test_the_wake_word_alone_is_not_a_finished_turn() -> None:
    async with ears(FakeTurnDetector(usually=0.99)) as it:
        it.whisper.will_hear("Okay, Nabu.", "good night")
        hearing = await it.opens(OpeningKind.WAKE_WORD, "okay nabu")
        await it.hears()
        await it.hears_nothing(SOON + 0.2)
        assert not hearing.done()
        await it.hears()
        await it.hears_nothing(SOON)
        assert await hearing == "good night"


async def test_without_a_detector_the_timer_decides() -> None:
    async with ears() as it:
        it.whisper.will_hear("good night")
        hearing = await it.opens()
        await it.hears()
        await it.hears_nothing(SOON)
        assert not hearing.done()
        await it.hears_nothing(TIMER - SOON)
        assert hearing.done()


@pytest.mark.parametrize("error", [HearingError("it broke"), WeightsError("they are damaged")])
async def test_where_the_detector_fails_the_timer_takes_over(error: Exception) -> None:
    detector = FakeTurnDetector()
    detector.fail(error)
    async with ears(detector) as it:
        it.whisper.will_hear("good night")
        hearing = await it.opens()
        await it.hears()
        await it.hears_nothing(SOON)
        left_seconds = MANNER.timer_seconds - MANNER.looks[0].silence_seconds
        await it.room.clock.advance(left_seconds - 0.05)
        assert not hearing.done()
        await it.room.clock.advance(0.1)
        assert hearing.done()
        assert hearing.result() == "good night"


async def test_a_transcriber_that_fails_ends_the_turn_with_its_reason() -> None:
    async with ears(FakeTurnDetector(0.99)) as it:
        it.whisper.fail(HearingError("out of memory"))
        hearing = await it.opens()
        await it.hears()
        await it.hears_nothing(SOON)
        with pytest.raises(HearingError, match="out of memory"):
            await hearing


async def test_the_text_is_still_used_when_the_silence_ends_the_turn_first() -> None:
    detector = FakeTurnDetector()
    async with ears(detector) as it:
        it.whisper.will_hear("good night")
        it.whisper.block()
        hearing = await it.opens()
        await it.hears()
        await it.hears_nothing(LATE)
        assert any(isinstance(fact, SpeechEnded) for fact in it.facts)
        it.whisper.release()
        assert await hearing == "good night"
        assert len(it.whisper.heard) == 1


async def test_a_finger_on_the_button_says_when_it_is_over() -> None:
    detector = FakeTurnDetector(usually=0.99)
    async with ears(detector) as it:
        it.whisper.will_hear("set", "set a timer", "set a timer")
        hearing = await it.opens(is_held=True)
        await it.hears()
        await it.hears_nothing(2.5)
        assert not hearing.done()
        await it.hears()
        it.room.ear.finish_utterance()
        await settle()
        assert hearing.done()
        assert detector.asked == []


async def test_between_two_rings_the_long_silence_is_not_waited_for() -> None:
    async with ears(FakeTurnDetector(usually=0.1)) as it:
        it.whisper.will_hear("stop")
        hearing = await it.opens(OpeningKind.ALERT, "alert")
        await it.room.sound(quiet(0.32))
        await it.hears()
        await it.hears_nothing(TIMER)
        assert await hearing == "stop"


async def test_a_recording_is_not_judged() -> None:
    detector = FakeTurnDetector(usually=0.99)
    async with ears(detector) as it:
        it.whisper.will_hear("good night")
        hearing = await it.opens(OpeningKind.RECORDING, "recording")
        await it.hears()
        await it.hears_nothing(TIMER)
        assert await hearing == "good night"
        assert detector.asked == []


async def test_the_owners_own_figure_is_the_longest_silence() -> None:
    async with ears(FakeTurnDetector(usually=0.1), ListenConfig(silence_seconds=2.0)) as it:
        it.whisper.will_hear("set a timer for")
        hearing = await it.opens()
        await it.hears()
        await it.hears_nothing(1.9)
        assert not hearing.done()
        await it.hears_nothing(0.2)
        assert hearing.done()


async def test_relaxed_waits_longer_than_quick() -> None:
    silences = {}
    for patience in ("relaxed", "normal", "quick"):
        async with ears(FakeTurnDetector(usually=0.99), ListenConfig(patience=patience)) as it:
            it.whisper.will_hear("good night")
            hearing, silence = await it.opens(), 0.0
            await it.hears()
            while not hearing.done():
                await it.hears_nothing(0.02)
                silence += 0.02
            silences[patience] = silence
    assert silences["relaxed"] > silences["normal"] >= silences["quick"]


async def test_one_who_says_nothing_costs_the_detector_nothing() -> None:
    detector = FakeTurnDetector()
    async with ears(detector) as it:
        hearing = await it.opens()
        await it.hears_nothing(5.2)
        assert await hearing == ""
        assert detector.asked == []
        assert not [fact for fact in it.facts if isinstance(fact, Transcribed)]
        assert it.sounds == [Earcon.WOKE, Earcon.CLOSED]
