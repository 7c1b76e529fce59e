"""The ears of the box before the rest of it is there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np

from appliance.adapters.fakes.sound_card import FakeSoundCard
from appliance.adapters.fakes.voice_activity import LoudnessVoiceActivity
from appliance.adapters.fakes.wake_word import FakeWakeWords
from appliance.bus import Bus
from appliance.clock import FakeClock, settle
from appliance.ears import Ears, opened
from appliance.events import EarOpened, Event
from appliance.listen.config import ListenConfig
from appliance.listen.earcons import Earcon
from appliance.speak.mixer import Mixer
from appliance.speak.mouth import MouthTrack


@asynccontextmanager
async def open_ears(
    facts: list[Event], words: FakeWakeWords, listen: ListenConfig | None = None
) -> AsyncIterator[tuple[Ears, FakeSoundCard]]:
    clock, card, bus = FakeClock(), FakeSoundCard(), Bus()
    bus.subscribe(facts.append)
    ears = Ears(
        bus=bus,
        clock=clock,
        mixer=Mixer(48_000),
        mouth=MouthTrack(clock.monotonic_seconds),
        card=card,
        activity=LoudnessVoiceActivity(),
        wake_words=words,
        listen=listen or ListenConfig(),
    )
    async with opened(ears):
        yield ears, card


def sounds(ears: Ears) -> bool:
    return bool(np.any(ears.mixer.render(4_800)))


async def call(card: FakeSoundCard, words: FakeWakeWords) -> None:
    words.find_next()
    card.hear(np.full(1_280, 8_000, dtype=np.int16))
    await settle(50)


async def test_it_is_told_that_a_wake_word_is_heard_from_now_on() -> None:
    facts: list[Event] = []
    async with open_ears(facts, FakeWakeWords()) as (ears, card):
        assert facts == []
        assert ears.mixer.sample_rate_hz == card.info.output_rate_hz
        ears.begin()
        assert [type(fact) for fact in facts] == [EarOpened]


async def test_ears_that_are_muted_tell_nothing() -> None:
    facts: list[Event] = []
    async with open_ears(facts, FakeWakeWords()) as (ears, _card):
        await ears.ear.mute(True)
        ears.begin()
        assert facts == []


async def test_who_calls_early_hears_so_at_once_and_only_once() -> None:
    words = FakeWakeWords()
    async with open_ears([], words) as (ears, card):
        ears.begin()
        await call(card, words)
        assert sounds(ears)
        while sounds(ears):
            pass
        ears.play(Earcon.WOKE)  # the turn begins, and would say the same
        assert not sounds(ears)
        ears.play(Earcon.WOKE)  # a turn later it is somebody else's
        assert sounds(ears)


async def test_an_owner_who_wants_no_earcons_hears_none() -> None:
    words = FakeWakeWords()
    async with open_ears([], words, ListenConfig(earcons=False)) as (ears, card):
        ears.begin()
        await call(card, words)
        assert not sounds(ears)


async def test_hearing_goes_on_when_the_box_is_there_and_ends_with_it() -> None:
    async with open_ears([], FakeWakeWords()) as (ears, card):
        ears.begin()
        await settle()
        life = asyncio.create_task(ears.hear())
        await settle()
        assert not life.done()
    assert card.is_closed
    await asyncio.gather(life, return_exceptions=True)
    assert life.done()
