"""A voice that says each text as a tone of its own, so that a test can read from samples what was said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import numpy as np

from appliance.audio import AudioChunk, AudioFormat, Samples
from appliance.errors import SynthesisError
from appliance.ports import SynthesizedChunk
from appliance.ports_speaking import GrowingText

_FIRST_LEVEL, _LEVEL_STEP = 400, 100
#: Samples on one side of zero before the tone changes to the other.
_HALF_PERIOD = 8
#: Shorter stretches of a level are the edges of fades.
_SHORTEST_SECONDS = 0.01


class FakeSynthesizer:
    """Each word lasts ``word_seconds`` (at speed 1.0) and is one chunk: a square wave whose level names the text.

    Drive it with ``fail``, ``block`` and ``release``; ask it with ``asked`` (texts, in the order they were begun),
    ``hasty`` (those of them that were asked for in haste), ``begun`` (how sentences began whose end was not written
    yet), ``left`` (those that nobody heard to their end), ``is_warm``, ``is_closed``, ``times_started_over`` and
    ``texts_in``.
    """

    def __init__(self, *, word_seconds: float = 0.06, sample_rate_hz: int = 16_000, voice_key: str = "fake-1") -> None:
        self.asked: list[str] = []
        self.hasty: list[str] = []
        self.begun: list[str] = []
        self.left: list[str] = []
        self.is_warm = False
        self.is_closed = False
        self.times_started_over = 0
        self.voice_key = voice_key
        self.sample_rate_hz = sample_rate_hz
        self._word_seconds = word_seconds
        self._levels: dict[str, int] = {}
        self._failing: set[str] | None = set()
        self._free = asyncio.Event()
        self._free.set()
        self._words_before_block = 0

    def fail(self, *texts: str) -> None:
        """Fail on these texts from now on; without any, on every text."""
        self._failing = set(texts) or None

    def block(self, *, after_words: int = 0) -> None:
        """Give so many more words and then no sound until ``release``."""
        self._free.clear()
        self._words_before_block = after_words

    def release(self) -> None:
        """Go on."""
        self._free.set()

    async def warm_up(self) -> None:
        self.is_warm = True

    async def synthesize(
        self, text: str, *, speed: float = 1.0, in_haste: bool = False
    ) -> AsyncIterator[SynthesizedChunk]:
        self.asked.append(text)
        if in_haste:
            self.hasty.append(text)
        if self._failing is None or text in self._failing:
            raise SynthesisError(f"the voice failed on {text!r}")
        level = self._levels.setdefault(text, _FIRST_LEVEL + _LEVEL_STEP * len(self._levels))
        try:
            for _ in text.split():
                if self._words_before_block > 0:
                    self._words_before_block -= 1
                else:
                    await self._free.wait()
                await asyncio.sleep(0)
                yield SynthesizedChunk(self._tone(level, self._word_seconds / speed))
        except (asyncio.CancelledError, GeneratorExit):
            self.left.append(text)
            raise

    async def synthesize_growing(self, text: GrowingText, *, speed: float = 1.0) -> AsyncIterator[SynthesizedChunk]:
        self.begun.append(text.text)
        level = _FIRST_LEVEL + _LEVEL_STEP * len(self._levels)
        self._levels[text.text] = level
        said = 0
        while said < len(text.text.split()) or not text.is_whole:
            if said == len(text.text.split()):
                await text.more(text.text, 0.0)
                continue
            await self._free.wait()
            said += 1
            yield SynthesizedChunk(self._tone(level, self._word_seconds / speed))
        self._levels[text.text] = level

    def start_over(self) -> None:
        self.times_started_over += 1

    def close(self) -> None:
        self.is_closed = True

    def seconds(self, text: str) -> float:
        """How long ``text`` lasts at speed 1.0."""
        return len(text.split()) * self._word_seconds

    def texts_in(self, samples: Samples) -> list[str]:
        """The texts that can be heard in ``samples``, in order; played at this rate, full volume, one at a time."""
        names = {level: text for text, level in self._levels.items()}
        loudness = np.abs(samples.astype(np.int32))
        edges = np.flatnonzero(np.diff(loudness)) + 1
        heard: list[str] = []
        for stretch in np.split(loudness, edges):
            text = names.get(int(stretch[0])) if len(stretch) else None
            if text is None or len(stretch) < _SHORTEST_SECONDS * self.sample_rate_hz:
                continue
            heard.append(text)
        return heard

    def _tone(self, level: int, seconds: float) -> AudioChunk:
        at = np.arange(round(seconds * self.sample_rate_hz))
        samples = np.where(at // _HALF_PERIOD % 2 == 0, level, -level).astype(np.int16)
        return AudioChunk(samples, AudioFormat(self.sample_rate_hz))
