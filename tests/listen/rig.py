"""An ear with everything around it, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from appliance.adapters.fakes.sound_card import FakeSoundCard
from appliance.adapters.fakes.voice_activity import LoudnessVoiceActivity
from appliance.adapters.fakes.wake_word import FakeWakeWords
from appliance.audio import Samples
from appliance.clock import FakeClock, settle
from appliance.events import Event
from appliance.listen.config import ListenConfig
from appliance.listen.ear import Ear, Utterance

RATE = 16_000
T = TypeVar("T")


def tone(seconds: float, value: int) -> Samples:
    return np.full(round(seconds * RATE), value, dtype=np.int16)


def quiet(seconds: float) -> Samples:
    return tone(seconds, 0)


@dataclass
class Room:
    """An ear with everything around it, and somebody who speaks."""

    card: FakeSoundCard = field(default_factory=FakeSoundCard)
    activity: LoudnessVoiceActivity = field(default_factory=LoudnessVoiceActivity)
    wake_words: FakeWakeWords = field(default_factory=FakeWakeWords)
    clock: FakeClock = field(default_factory=FakeClock)
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ear = Ear(
            self.card, self.activity, self.wake_words, self.clock, ListenConfig(), publish=self.events.append
        )

    async def sound(self, *parts: Samples) -> None:
        """The microphone hears this, and the ear has dealt with it."""
        for part in parts:
            self.card.hear(part)
        await settle(200)

    async def say_wake_word(self, *, and_then: Samples | None = None) -> None:
        """Half a second of wake word, then in the same breath something else."""
        await self.sound(tone(0.48, 8000))
        self.wake_words.find_next()
        await self.sound(tone(0.08, 8001))
        if and_then is not None:
            await self.sound(and_then)

    def listen(self, **options: Any) -> asyncio.Task[Utterance | None]:
        given: dict[str, Any] = {"no_speech_seconds": 5.0, "after_wake_word": False, **options}
        return asyncio.create_task(self.ear.listen(**given))


@asynccontextmanager
async def a_room(card: FakeSoundCard | None = None) -> AsyncIterator[Room]:
    room = Room(card=card or FakeSoundCard())
    task = asyncio.create_task(room.ear.run())
    await settle()
    try:
        yield room
        assert not task.done() or room.card.is_closed, "the ear never ends by itself"
    finally:
        await room.card.close()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def of(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """The work as a task that has begun."""
    task = asyncio.create_task(work)
    await settle()
    return task
