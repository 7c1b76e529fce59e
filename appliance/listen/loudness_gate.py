"""While a room is quiet the wake model need not run: nobody can call without being louder than the room.

The gate follows the level of the room: quickly down, slowly up. It opens on the first sound that is louder and stays
open a little longer than a wake word lasts. Whoever keeps it gives the model what was heard just before it opened, so
that the soft beginning of a word is not lost. A fan becomes the room's level after a while; music and talk do not,
and keep the gate open for as long as they last. Then the model runs as it would without a gate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from appliance.audio import HEARING_FORMAT, Samples

#: Sound from before the gate opened that the model has to be given: a wake word from its first, soft sound.
LOOK_BACK_SECONDS = 1.0

#: A call is this much louder than the room, at least for one chunk. The levels of 80 ms of even noise differ by 1 dB.
_RISE_DECIBELS = 3.0
#: Open so long behind the last loud chunk; the longest wake words last 1.2 s.
_HOLD_SECONDS = 2.0
#: How fast the room's level follows.
_UP_DECIBELS_PER_SECOND = 1.0
_DOWN_SECONDS = 0.4
#: Too little to have a level.
_FEWEST_SAMPLES = 2


@dataclass
class _Room:
    """The level of a room by one measure, in decibels above one step."""

    decibels: float | None = None

    def is_louder(self, decibels: float, seconds: float) -> bool:
        """Whether that chunk is louder than the room; the room then counts it in."""
        room = decibels if self.decibels is None else self.decibels
        if decibels < room:
            self.decibels = decibels + (room - decibels) * math.exp(-seconds / _DOWN_SECONDS)
        else:
            self.decibels = min(decibels, room + seconds * _UP_DECIBELS_PER_SECOND)
        return decibels > room + _RISE_DECIBELS


class LoudnessGate:
    """Hears every chunk (``HEARING_FORMAT``, any length) and says whether somebody may be calling in it.

    Two measures are followed, for a rumble hides speech from one and a hiss from the other: all of the sound, and
    its upper part. It is open at first, until it knows the room, and for digital silence, which says nothing of a room:
    some microphones give it until somebody speaks.
    """

    def __init__(self) -> None:
        self._rooms = (_Room(), _Room())
        self._open_seconds = _HOLD_SECONDS

    def is_open_for(self, samples: Samples) -> bool:
        """Whether the wake model has to look at this chunk."""
        if len(samples) < _FEWEST_SAMPLES:
            return self._open_seconds > 0.0
        if not samples.any():
            return True
        seconds = len(samples) / HEARING_FORMAT.sample_rate_hz
        louder = [
            room.is_louder(level, seconds) for room, level in zip(self._rooms, self._levels(samples), strict=True)
        ]
        self._open_seconds = _HOLD_SECONDS if any(louder) else max(0.0, self._open_seconds - seconds)
        return self._open_seconds > 0.0

    @staticmethod
    def _levels(samples: Samples) -> tuple[float, float]:
        """Of all of the sound, and of its steps from sample to sample: those grow with the pitch."""
        sound = samples.astype(np.float32)
        return _decibels(sound), _decibels(sound[1:] - sound[:-1])


def _decibels(values: np.ndarray[tuple[int], np.dtype[np.float32]]) -> float:
    return 10.0 * math.log10(float(np.dot(values, values)) / len(values) + 1.0)
