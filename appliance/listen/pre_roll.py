"""The last moments of sound, kept in memory so that nothing said right behind the wake word is lost."""

from __future__ import annotations

from collections import deque

import numpy as np

from appliance.audio import HEARING_FORMAT, Samples


class PreRoll:
    """A bounded stretch of the newest sound. Positions count samples since the ear began to hear; they never repeat."""

    def __init__(self) -> None:
        self._chunks: deque[Samples] = deque()
        self._length = 0
        self._end = 0

    @property
    def end(self) -> int:
        """Position behind the newest sample."""
        return self._end

    def append(self, samples: Samples, *, keep_seconds: float) -> None:
        """Take the next samples and forget whole chunks that are older than ``keep_seconds``."""
        self._chunks.append(samples)
        self._length += len(samples)
        self._end += len(samples)
        keep = round(keep_seconds * HEARING_FORMAT.sample_rate_hz)
        while self._chunks and self._length - len(self._chunks[0]) >= keep:
            self._length -= len(self._chunks.popleft())

    def since(self, position: int) -> Samples:
        """What came from ``position`` on, as far as it is still here."""
        wanted = min(self._length, max(0, self._end - position))
        everything = np.concatenate(self._chunks) if self._chunks else np.zeros(0, dtype=np.int16)
        return everything[len(everything) - wanted :]

    def clear(self) -> None:
        """Forget all sound; positions go on."""
        self._chunks.clear()
        self._length = 0
