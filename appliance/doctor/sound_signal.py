"""Sound as numbers: level and state of each channel, clipping, and how much of a chirp comes back.

Everything here is arithmetic on samples; nothing waits and nothing is opened.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from appliance.audio import AudioChunk, AudioFormat, Samples, level_dbfs

Floats = npt.NDArray[np.float64]

#: Below this a channel delivers nothing: about two steps of 16 bits, less than any microphone's own noise.
SILENT_DBFS = -84.0
#: A channel so far below the loudest one is dead, when that one is no mere noise.
_DEAD_DECIBELS = 40.0
_NOISE_DBFS = -60.0
#: Two channels of one room look alike; from here on they are each other's mirror image.
_INVERTED_CORRELATION = -0.8
#: As many samples in a row at full scale are no accident.
_CLIPPED_RUN = 3
_FULL_SCALE = 32_760

#: The chirp: what speakers of small boxes can play and microphones of 16 kHz can hear.
_CHIRP_SECONDS = 0.5
_CHIRP_FROM_HZ, _CHIRP_TO_HZ = 400.0, 5_000.0
CHIRP_DBFS = -15.0
#: How long a room answers.
_ROOM_SECONDS = 0.3
#: Of the matched filter's peak over its usual height; noise alone stays below.
_SURE_RATIO = 8.0


@dataclass(frozen=True)
class Channel:
    """One channel of a recording."""

    level_dbfs: float
    peak_dbfs: float
    clipped_share: float
    is_dead: bool = False

    @property
    def is_silent(self) -> bool:
        """Whether nothing at all comes through it."""
        return self.level_dbfs <= SILENT_DBFS


@dataclass(frozen=True)
class Echo:
    """How a played chirp came back: weaker by ``loss_decibels``, so much later."""

    loss_decibels: float
    delay_seconds: float


def channels_of(sound: AudioChunk) -> list[Channel]:
    """Every channel, the first one first. A constant offset is no sound."""
    columns = [_without_offset(column) for column in _columns(sound)]
    levels = [_level_dbfs(column) for column in columns]
    loudest = max(levels, default=-96.0)
    return [
        Channel(
            level_dbfs=level,
            peak_dbfs=_decibels(float(np.max(np.abs(raw.astype(np.float64)), initial=0.0)) / 32768.0),
            clipped_share=_clipped_share(raw),
            is_dead=loudest > _NOISE_DBFS and level < loudest - _DEAD_DECIBELS,
        )
        for raw, level in zip(_columns(sound), levels, strict=True)
    ]


def is_inverted(sound: AudioChunk) -> bool:
    """Whether two of the channels are mirror images of each other, so that their sum loses the voice."""
    columns = [_without_offset(column) for column in _columns(sound)]
    loud = [column for column in columns if _level_dbfs(column) > SILENT_DBFS]
    return any(
        _correlation(first, second) < _INVERTED_CORRELATION
        for number, first in enumerate(loud)
        for second in loud[number + 1 :]
    )


def chirp(sample_rate_hz: int) -> AudioChunk:
    """A rising tone at ``CHIRP_DBFS`` with soft ends, mono."""
    at = np.arange(round(_CHIRP_SECONDS * sample_rate_hz)) / sample_rate_hz
    slope = (_CHIRP_TO_HZ - _CHIRP_FROM_HZ) / _CHIRP_SECONDS
    wave = np.sin(2.0 * np.pi * (_CHIRP_FROM_HZ * at + 0.5 * slope * at * at))
    edge = round(0.02 * sample_rate_hz)
    wave[:edge] *= np.linspace(0.0, 1.0, edge)
    wave[-edge:] *= np.linspace(1.0, 0.0, edge)
    wave *= 32768.0 * 10.0 ** (CHIRP_DBFS / 20.0) / math.sqrt(float(np.mean(wave * wave)))
    return AudioChunk(np.round(wave).astype(np.int16), AudioFormat(sample_rate_hz))


def echo_of(heard: AudioChunk, gain: float) -> Echo | None:
    """The chirp, played ``gain`` times as loud as ``chirp`` makes it, in a recording; None when it is not in there.

    A matched filter finds it; all that the room sends back in the time that a room answers counts. The loudest
    channel is looked at. ``delay_seconds`` is from the beginning of the recording.
    """
    reference = chirp(heard.format.sample_rate_hz).samples.astype(np.float64) * gain
    if len(heard.samples) < len(reference) or not np.any(reference):
        return None
    loudest = max(_columns(heard), key=lambda column: float(np.std(column)))
    early, late = round(0.005 * heard.format.sample_rate_hz), round(_ROOM_SECONDS * heard.format.sample_rate_hz)
    # Room for the filter's own width, when the chirp is the first thing that is heard.
    filtered = _matched(np.concatenate([np.zeros(early), _without_offset(loudest)]), reference)
    peak = int(np.argmax(np.abs(filtered)))
    start, end = max(0, peak - early), min(len(filtered), peak + late)
    outside = np.concatenate([filtered[:start], filtered[end:]])
    noise = float(np.mean(outside * outside)) if len(outside) else 0.0
    if filtered[peak] ** 2 < (_SURE_RATIO**2) * noise or filtered[peak] == 0.0:
        return None
    alone = _matched(np.concatenate([np.zeros(early), reference, np.zeros(late)]), reference)
    energy = max(float(np.sum(filtered[start:end] ** 2)) - noise * (end - start), float(filtered[peak] ** 2))
    own = float(np.sum(alone[: early + late] ** 2))
    return Echo(-10.0 * math.log10(energy / own), (peak - early) / heard.format.sample_rate_hz)


def _columns(sound: AudioChunk) -> list[Samples]:
    samples = sound.samples
    return [samples] if samples.ndim == 1 else [samples[:, number] for number in range(samples.shape[1])]


def _without_offset(samples: Samples) -> Floats:
    wave = samples.astype(np.float64)
    return wave - np.mean(wave) if len(wave) else wave


def _level_dbfs(wave: Floats) -> float:
    return level_dbfs(wave) if len(wave) else level_dbfs(np.zeros(0, dtype=np.int16))  # type: ignore[arg-type]


def _decibels(ratio: float) -> float:
    return 20.0 * math.log10(max(ratio, 10.0 ** (-96.0 / 20.0)))


def _clipped_share(samples: Samples) -> float:
    """Share of the samples that lie in runs at full scale."""
    if not len(samples):
        return 0.0
    at_the_top = np.concatenate([[0], (np.abs(samples.astype(np.int32)) >= _FULL_SCALE).astype(np.int8), [0]])
    edges = np.flatnonzero(np.diff(at_the_top))
    lengths = edges[1::2] - edges[::2]
    return float(np.sum(lengths[lengths >= _CLIPPED_RUN])) / len(samples)


def _correlation(first: Floats, second: Floats) -> float:
    size = math.sqrt(float(first @ first) * float(second @ second))
    return float(first @ second) / size if size > 0.0 else 0.0


def _matched(wave: Floats, reference: Floats) -> Floats:
    """How much of the reference begins at each sample; 1.0 is all of it, as it was played."""
    size = 1 << (len(wave) + len(reference) - 1).bit_length()
    product = np.fft.rfft(wave, size) * np.conj(np.fft.rfft(reference, size))
    return np.fft.irfft(product, size)[: len(wave)] / float(reference @ reference)
