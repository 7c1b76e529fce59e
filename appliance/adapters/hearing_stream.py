"""From whatever a microphone or a file delivers to what the core listens to: 16 kHz mono int16.

One channel is taken, the rest is dropped. Mixing would halve the level when a channel is dead, and lose the voice
when one is inverted.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import soxr

from appliance.audio import HEARING_FORMAT, Samples

#: Sound of several channels, 1.0 is full scale; shape ``(n, channels)``.
Frames = npt.NDArray[np.float32]

#: A channel this far below the loudest one still carries the signal: the first of those is taken, because arrays of
#: microphones put their processed sound first.
_CARRIES_SIGNAL_DECIBELS = 12.0
#: Below this (-80 dBFS, about three steps of 16 bits) a channel is dead.
_DEAD_MEAN_SQUARE = 1e-8
_DECISION_SECONDS = 1.0
#: A channel that was good has died when for two such windows it is this far below another one with speech in it, or
#: has no noise left while another one has.
_DIED_DECIBELS = 30.0
_LOUD_MEAN_SQUARE = 1e-6
_DEAD_WINDOWS = 2
#: Enough for 16 bits; a third less delay (15 ms from 48 kHz) than the next better one.
_QUALITY = "MQ"


class ChannelChooser:
    """Chooses the channel with signal, by the first second of sound; again when that one dies."""

    def __init__(self, channels: int, sample_rate_hz: int) -> None:
        self._window = round(_DECISION_SECONDS * sample_rate_hz)
        self._channel = 0
        self._has_chosen = channels == 1
        self._dead_windows = 0
        self._begin(channels)

    @property
    def has_decided(self) -> bool:
        """Whether the choice is made; one channel is none."""
        return self._has_chosen

    def choose(self, frames: Frames) -> int:
        """The channel to take from these frames, which follow on those before."""
        if len(self._energy) > 1 and len(frames):
            energy = np.sum(np.square(frames, dtype=np.float64), axis=0)
            if energy.max() >= _DEAD_MEAN_SQUARE * len(frames):
                self._energy += energy
                self._heard += len(frames)
                self._look()
        return self._channel

    def _look(self) -> None:
        if not self._has_chosen:
            self._channel = self._best
        if self._heard < self._window:
            return
        if self._has_chosen:
            self._dead_windows = self._dead_windows + 1 if self._is_dead else 0
            if self._dead_windows < _DEAD_WINDOWS:
                self._begin(len(self._energy))
                return
            self._channel = self._best
        self._has_chosen, self._dead_windows = True, 0
        self._begin(len(self._energy))

    def _begin(self, channels: int) -> None:
        """The next window."""
        self._energy = np.zeros(channels, dtype=np.float64)
        self._heard = 0

    @property
    def _best(self) -> int:
        floor = self._energy.max() * 10.0 ** (-_CARRIES_SIGNAL_DECIBELS / 10.0)
        return int(np.argmax(self._energy >= floor))

    @property
    def _is_dead(self) -> bool:
        """Whether others carry sound and the chosen one does not."""
        chosen, loudest = self._energy[self._channel] / self._heard, self._energy.max() / self._heard
        if loudest >= _LOUD_MEAN_SQUARE:
            return bool(chosen < loudest * 10.0 ** (-_DIED_DECIBELS / 10.0))
        return bool(chosen < _DEAD_MEAN_SQUARE <= loudest / 4.0)


class HearingStream:
    """Converts a stream of frames; keeps state between calls, so that no seam is heard."""

    def __init__(self, sample_rate_hz: int, channels: int, chooser: ChannelChooser | None = None) -> None:
        self._chooser = chooser or ChannelChooser(channels, sample_rate_hz)
        self._resampler = (
            None
            if sample_rate_hz == HEARING_FORMAT.sample_rate_hz
            else soxr.ResampleStream(sample_rate_hz, HEARING_FORMAT.sample_rate_hz, 1, "float32", _QUALITY)
        )

    def convert(self, frames: Frames, *, is_last: bool = False) -> Samples:
        """Samples for the frames, some milliseconds late; with ``is_last`` the rest comes too."""
        mono = np.ascontiguousarray(frames[:, self._chooser.choose(frames)])
        if self._resampler is not None:
            mono = self._resampler.resample_chunk(mono, last=is_last)
        # A resampler may overshoot full scale.
        samples: Samples = np.clip(np.round(mono * 32768.0), -32768, 32767).astype(np.int16)
        return samples
