"""Sound as values: 16-bit PCM that never travels without its format."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

#: 16-bit PCM. Mono: shape ``(n,)``. Several channels: interleaved frames, shape ``(n, channels)``.
Samples = npt.NDArray[np.int16]

#: Level reported for digital silence; below what 16 bits can hold (-90.3 dBFS).
SILENCE_DBFS = -96.0


@dataclass(frozen=True)
class AudioFormat:
    """How to read samples: rate in hertz and number of channels."""

    sample_rate_hz: int
    channels: int = 1


#: What the core listens to: every microphone is brought to this.
HEARING_FORMAT = AudioFormat(sample_rate_hz=16_000, channels=1)


@dataclass(frozen=True, eq=False)
class AudioChunk:
    """A short run of PCM with its format.

    ``samples`` is int16, shape ``(n,)`` for one channel, ``(n, channels)`` for several.
    """

    samples: Samples
    format: AudioFormat

    @property
    def duration_seconds(self) -> float:
        """Length of the chunk."""
        return len(self.samples) / self.format.sample_rate_hz

    @property
    def level_dbfs(self) -> float:
        """Root-mean-square level; 0 is full scale, silence is ``SILENCE_DBFS``."""
        return level_dbfs(self.samples)


def level_dbfs(samples: Samples) -> float:
    """Root-mean-square level of int16 samples in dBFS."""
    if samples.size == 0:
        return SILENCE_DBFS
    # float64: the square of int16 overflows int16 at once and float32 loses the tail of a long sum.
    mean_square = float(np.mean(np.square(samples.astype(np.float64))))
    if mean_square <= 0.0:
        return SILENCE_DBFS
    return max(SILENCE_DBFS, 10.0 * math.log10(mean_square / (32768.0 * 32768.0)))


def silence(duration_seconds: float, audio_format: AudioFormat = HEARING_FORMAT) -> AudioChunk:
    """Digital silence of the given length."""
    frames = round(duration_seconds * audio_format.sample_rate_hz)
    shape = (frames,) if audio_format.channels == 1 else (frames, audio_format.channels)
    return AudioChunk(np.zeros(shape, dtype=np.int16), audio_format)


def join(chunks: Iterable[AudioChunk], audio_format: AudioFormat = HEARING_FORMAT) -> AudioChunk:
    """Chunks of one format, end to end; no chunks make an empty chunk of ``audio_format``.

    Raises ``ValueError`` when a chunk has another format.
    """
    parts = list(chunks)
    for part in parts:
        if part.format != audio_format:
            raise ValueError(f"cannot join {part.format} to {audio_format}")
    if not parts:
        return silence(0.0, audio_format)
    return AudioChunk(np.concatenate([part.samples for part in parts]), audio_format)


def apply_gain(samples: Samples, gain: float) -> Samples:
    """Samples times ``gain`` (1.0 = unchanged), clipped to 16 bits."""
    if gain == 1.0:
        return samples
    scaled = samples.astype(np.float32) * gain
    louder: Samples = np.clip(scaled, -32768, 32767).astype(np.int16)
    return louder
