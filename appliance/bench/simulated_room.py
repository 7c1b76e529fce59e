"""A room in numbers: the loudspeaker's sound comes back late, with reverberation, at a level, by another clock."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import soxr

from appliance.audio import HEARING_FORMAT, Samples

Floats = npt.NDArray[np.float64]

_RATE_HZ = HEARING_FORMAT.sample_rate_hz
#: About -69 dBFS: a quiet room.
_NOISE = 12.0
#: The straight way against all of its reverberation, as a microphone beside the loudspeaker hears it.
_STRAIGHT_SHARE = 0.5


@dataclass(frozen=True)
class Room:
    """``delay_seconds`` from the mixer to the microphone, buffers included; ``reverberation_seconds`` until the echo is
    60 dB down; ``echo_decibels`` above what is played; ``skew_ppm`` by which the loudspeaker's clock is fast.
    """

    delay_seconds: float
    reverberation_seconds: float
    echo_decibels: float
    skew_ppm: float = 0.0

    @property
    def name(self) -> str:
        """For a table."""
        delay, echo = self.delay_seconds * 1e3, self.echo_decibels
        return f"{delay:.0f} ms, {self.reverberation_seconds:g} s, {echo:+.0f} dB, {self.skew_ppm:.0f} ppm"


class SimulatedRoom:
    """Give it what is played, block by block, and take what a microphone hears of that."""

    def __init__(self, room: Room, output_rate_hz: int, seed: int = 0) -> None:
        self._random = np.random.default_rng(seed)
        self._response = _impulse_response(room, self._random)
        self._clock_ratio = 1.0 + room.skew_ppm * 1e-6
        self._output_rate_hz = output_rate_hz
        self._resampler = soxr.ResampleStream(output_rate_hz * self._clock_ratio, _RATE_HZ, 1, "float32", "HQ")
        self._played: Floats = np.zeros(round(room.delay_seconds * _RATE_HZ))
        self._past: Floats = np.zeros(len(self._response) - 1)
        self._owed = 0.0

    def frames_for(self, samples: int) -> int:
        """How many frames the loudspeaker takes while the microphone gives so many samples."""
        self._owed += samples * self._output_rate_hz / _RATE_HZ * self._clock_ratio
        frames = int(self._owed)
        self._owed -= frames
        return frames

    def hear(self, played: Samples, samples: int) -> Samples:
        """The echo and the noise of the room, after ``played`` went out."""
        arrived = self._resampler.resample_chunk(played.astype(np.float32))
        self._played = np.concatenate([self._played, arrived])
        late = np.concatenate([np.zeros(max(0, samples - len(self._played))), self._played[:samples]])
        self._played = self._played[samples:]
        block = np.concatenate([self._past, late])
        size = 1 << (len(block) + len(self._response)).bit_length()
        echo = np.fft.irfft(np.fft.rfft(block, size) * np.fft.rfft(self._response, size), size)
        heard = echo[len(self._past) : len(block)] + self._random.normal(0.0, _NOISE, samples)
        self._past = block[len(block) - len(self._past) :]
        return np.clip(np.round(heard), -32768, 32767).astype(np.int16)


def _impulse_response(room: Room, random: np.random.Generator) -> Floats:
    """A straight way and a tail of noise that dies away; its energy is that of the echo."""
    at = np.arange(round(room.reverberation_seconds * _RATE_HZ)) / _RATE_HZ
    tail: Floats = random.normal(0.0, 1.0, len(at)) * 10.0 ** (-3.0 * at / room.reverberation_seconds)
    tail[0] = 0.0
    response: Floats = tail * np.sqrt((1.0 - _STRAIGHT_SHARE) / np.sum(tail * tail))
    response[0] = np.sqrt(_STRAIGHT_SHARE)
    response *= 10.0 ** (room.echo_decibels / 20.0)
    return response
