"""A clip: sound on its way through one lane of the mixer, written by the loop, taken by the audio thread."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from appliance.audio import AudioChunk, Samples
from appliance.ports import TimedPhoneme
from appliance.speak.mouth import MouthShapes

Floats = npt.NDArray[np.float32]

#: A cut ends in a fade this long: too short to be heard as sound, long enough not to click.
FADE_SECONDS = 0.005


class Clip:
    """Made by ``Mixer.open_clip``; sounds as soon as something is written and the clips before it are over.

    ``text`` is what its sound says, "" for a tone. The methods down to ``finished`` are for the loop's thread;
    ``take``, ``has_sound`` and ``cut`` are the mixer's, which holds the lock that is passed in.
    """

    def __init__(
        self,
        text: str,
        *,
        sample_rate_hz: int,
        lock: threading.Lock,
        on_sound: Callable[[], None],
        on_started: Callable[[], None] | None,
    ) -> None:
        self.text = text
        self._sample_rate_hz = sample_rate_hz
        self._lock = lock
        self._on_sound = on_sound
        self._on_started = on_started
        self._loop = asyncio.get_running_loop()
        self._over = asyncio.Event()
        self._resampler: Any = None
        self._blocks: deque[Samples | Floats] = deque()
        self._offset = 0
        self._written = 0
        self._source_frames = 0.0
        self._shapes = MouthShapes()
        self._heard = 0
        self._is_ended = False
        self._is_dropped = False

    def write(self, chunk: AudioChunk, phonemes: Sequence[TimedPhoneme] = ()) -> bool:
        """Add mono sound of any rate (the same rate for all of a clip), with its phonemes when they are known.

        False when the clip was dropped, so that nobody goes on making sound for it.
        """
        if chunk.format.channels != 1:
            raise ValueError("the mixer takes mono")
        self._add_shapes(chunk, phonemes)
        if chunk.format.sample_rate_hz == self._sample_rate_hz:
            return self._append(chunk.samples)
        return self._append(self._resample(chunk))

    def end(self) -> None:
        """No more sound will come."""
        if self._resampler is not None and not self._is_ended:
            self._append(self._resampler.resample_chunk(np.empty(0, dtype=np.int16), last=True))
        with self._lock:
            self._is_ended = True
        self.wake()

    def drop(self, fade_seconds: float = FADE_SECONDS) -> None:
        """Fall silent now; what was not yet played is gone."""
        with self._lock:
            self.cut(fade_seconds)
        self.wake()

    @property
    def is_ended(self) -> bool:
        """Whether all its sound was written."""
        return self._is_ended

    @property
    def is_dropped(self) -> bool:
        """Whether it was cut before its end."""
        return self._is_dropped

    @property
    def is_over(self) -> bool:
        """Whether nothing of it is still to come (but the fade of a cut)."""
        return self._is_dropped or (self._is_ended and not self._blocks)

    @property
    def heard_seconds(self) -> float:
        """How much of it the audio thread has taken. Any thread."""
        return self._heard / self._sample_rate_hz

    @property
    def written_seconds(self) -> float:
        """How much of it was written so far."""
        return self._written / self._sample_rate_hz

    def wake(self) -> None:
        """Let those go on who wait in ``finished``, when it is over."""
        if self.is_over:
            self._over.set()

    async def finished(self) -> float:
        """Wait until it has been played or dropped; the seconds that were heard."""
        await self._over.wait()
        return self.heard_seconds

    # ------------------------------------------------------------------------- for the mixer, lock held

    @property
    def has_sound(self) -> bool:
        """Whether the next ``take`` gives something."""
        return bool(self._blocks)

    def take(self, into: Floats) -> int:
        """Put the next samples at the start of ``into``; how many there were. Audio thread."""
        count = self._pull(into)
        if count == 0 or self._is_dropped:
            return count
        is_first = self._heard == 0
        self._heard += count
        if is_first and self._on_started is not None:
            self._post(self._on_started)
        if self.is_over:
            self._post(self._over.set)
        return count

    @property
    def mouth_open(self) -> float | None:
        """How far its next sound opens a mouth, 0 to 1; None when the voice does not tell."""
        return self._shapes.at(self._heard)

    def cut(self, fade_seconds: float = FADE_SECONDS) -> None:
        """Drop what is left, but for a short fade when it is sounding. Call ``wake`` without the lock then."""
        if self.is_over:
            return
        fade = np.zeros(round(fade_seconds * self._sample_rate_hz), dtype=np.float32)
        count = self._pull(fade) if self._heard else 0
        self._is_dropped = True
        self._blocks.clear()
        self._offset = 0
        if count:
            self._blocks.append(fade[:count] * np.linspace(1.0, 0.0, count, dtype=np.float32))

    # ------------------------------------------------------------------------------------------- private

    def _pull(self, into: Floats) -> int:
        taken = 0
        while self._blocks and taken < len(into):
            block = self._blocks[0]
            count = min(len(into) - taken, len(block) - self._offset)
            into[taken : taken + count] = block[self._offset : self._offset + count]
            taken += count
            self._offset += count
            if self._offset == len(block):
                self._blocks.popleft()
                self._offset = 0
        return taken

    def _append(self, samples: Samples) -> bool:
        if len(samples):
            with self._lock:
                if self._is_dropped:
                    return False
                self._blocks.append(samples)
                self._written += len(samples)
            self._on_sound()
        return not self._is_dropped

    def _add_shapes(self, chunk: AudioChunk, phonemes: Sequence[TimedPhoneme]) -> None:
        frames_per_sample = self._sample_rate_hz / chunk.format.sample_rate_hz
        if phonemes:
            with self._lock:
                self._shapes.add(phonemes, self._source_frames, frames_per_sample)
        self._source_frames += len(chunk.samples) * frames_per_sample

    def _resample(self, chunk: AudioChunk) -> Samples:
        if self._resampler is None:
            import soxr

            rate_hz = chunk.format.sample_rate_hz
            self._resampler = soxr.ResampleStream(rate_hz, self._sample_rate_hz, 1, dtype="int16", quality="HQ")
        resampled: Samples = self._resampler.resample_chunk(np.ascontiguousarray(chunk.samples))
        return resampled

    def _post(self, callback: Callable[[], object]) -> None:
        # The loop may be closed already while the last block plays at exit.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(callback)
