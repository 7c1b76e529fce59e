"""A sound card that hears what a test lets it hear, and plays when a test takes sound from it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import numpy as np

from appliance.audio import HEARING_FORMAT, AudioChunk, Samples
from appliance.errors import SoundCardLostError
from appliance.ports import Render, SoundCardHealth, SoundCardInfo

_IDLE_CHUNK_SECONDS = 0.08
_ATTENTIVE_CHUNK_SECONDS = 0.02


class FakeSoundCard:
    """Meets ``SoundCard``. Give it sound with ``hear``, take sound with ``play``, pull its plug with ``lose``."""

    def __init__(
        self, microphone: str = "fake microphone", speaker: str = "fake speaker", output_rate_hz: int = 16_000
    ) -> None:
        self.info = SoundCardInfo(microphone, speaker, output_rate_hz)
        self.health = SoundCardHealth()
        self.is_muted = False
        self.is_attentive = False
        self.is_closed = False
        #: How often ``chunks`` was called: once, and once more for each attempt after a loss.
        self.openings = 0
        #: How often ``output_ready`` was called.
        self.output_calls = 0
        self._render: Render | None = None
        self._taps: list[Callable[[AudioChunk], None]] = []
        self._lost = ""
        self._heard: list[AudioChunk] = []
        self._news = asyncio.Event()

    # ------------------------------------------------------------------------------------------- the test's side

    def hear(self, samples: Samples) -> None:
        """The microphone hears this, cut into chunks of the size that is on; nothing while muted or lost."""
        if self.is_muted or self._lost:
            return
        seconds = _ATTENTIVE_CHUNK_SECONDS if self.is_attentive else _IDLE_CHUNK_SECONDS
        size = round(seconds * HEARING_FORMAT.sample_rate_hz)
        pieces = [samples[start : start + size] for start in range(0, len(samples), size)]
        self._heard += [AudioChunk(piece, HEARING_FORMAT) for piece in pieces]
        self._news.set()

    def lose(self, reason: str = "the plug was pulled") -> None:
        """The device goes away; every attempt to open it fails until ``come_back``."""
        self._lost = reason
        self._news.set()

    def come_back(self) -> None:
        """The device is there again, for the next attempt to open it."""
        self._lost = ""

    def deliver(self, sound: AudioChunk) -> None:
        """The device gives this, in whatever format, to those who listen in."""
        for heard in list(self._taps):
            heard(sound)

    def play(self, frames: int) -> Samples:
        """One block of what the program wants to sound."""
        return self._render(frames) if self._render else np.zeros(frames, dtype=np.int16)

    # ------------------------------------------------------------------------------------------- the port

    async def open(self, render: Render) -> None:
        """Keep ``render`` for ``play``."""
        self._render = render

    async def chunks(self) -> AsyncIterator[AudioChunk]:
        """What ``hear`` was given, until ``close``."""
        self.openings += 1
        while not self.is_closed:
            if self._lost:
                self._heard.clear()
                raise SoundCardLostError(self._lost)
            while self._heard and not self._lost:
                yield self._heard.pop(0)
                await asyncio.sleep(0)
            self._news.clear()
            if not (self._lost or self.is_closed or self._heard):
                await self._news.wait()

    def set_attentive(self, attentive: bool) -> None:
        """Remember it."""
        self.is_attentive = attentive

    async def mute(self, muted: bool) -> None:
        """Remember it, and forget what was not taken yet."""
        self.is_muted = muted
        self._heard.clear()

    def output_ready(self) -> None:
        """Count it."""
        self.output_calls += 1

    def tap(self, heard: Callable[[AudioChunk], None]) -> Callable[[], None]:
        """Let somebody listen in on what ``deliver`` is given."""
        self._taps.append(heard)
        return lambda: self._taps.remove(heard)

    async def close(self) -> None:
        """End ``chunks``."""
        self.is_closed = True
        self._news.set()
