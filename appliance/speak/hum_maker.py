"""Makes the four hums that ship in ``soul/hum``: ``python -m appliance.speak.hum_maker soul/hum``.

A hum is a voice with closed lips: harmonics of a gliding pitch, filtered by the nose (strong near 250 Hz, weak above),
with a soft attack and a long decay. It uses no recording of a person.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from appliance.audio import AudioChunk, AudioFormat
from appliance.speak.wave_file import write_wave

SAMPLE_RATE_HZ = 16_000
#: Level of the whole hum: well below speech, which piper gives at about -18 dBFS.
LEVEL_DBFS = -24.0

#: Nasal murmur: centre frequency, bandwidth (both hertz) and strength of each resonance.
_RESONANCES = ((250.0, 110.0, 1.0), (1000.0, 180.0, 0.5), (2200.0, 300.0, 0.3))
_HARMONICS = 18

_Wave = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Murmur:
    """One stretch of voice: length, and pitch at its start, middle and end."""

    seconds: float
    pitches_hz: tuple[float, float, float]
    loudness: float = 1.0


@dataclass(frozen=True)
class _Pause:
    """A breath between two murmurs."""

    seconds: float


#: "mm", "mm-hm", "hmm" and a long "mmm".
VARIANTS: tuple[tuple[_Murmur | _Pause, ...], ...] = (
    (_Murmur(0.55, (118.0, 121.0, 104.0)),),
    (_Murmur(0.26, (112.0, 114.0, 108.0), 0.8), _Pause(0.07), _Murmur(0.38, (120.0, 134.0, 130.0))),
    (_Pause(0.08), _Murmur(0.62, (108.0, 124.0, 112.0))),
    (_Murmur(0.85, (110.0, 106.0, 98.0)),),
)


def make_hum(parts: tuple[_Murmur | _Pause, ...]) -> AudioChunk:
    """One hum at ``LEVEL_DBFS``."""
    noise = np.random.RandomState(7)  # Its numbers are promised to stay the same; the newer generators' are not.
    wave = np.concatenate([_murmur(part) if isinstance(part, _Murmur) else _breath(part, noise) for part in parts])
    level = np.sqrt(np.mean(np.square(wave)))
    scaled = wave / level * 10.0 ** (LEVEL_DBFS / 20.0) * 32768.0
    return AudioChunk(np.round(scaled).astype(np.int16), AudioFormat(SAMPLE_RATE_HZ))


def _murmur(part: _Murmur) -> _Wave:
    at = np.linspace(0.0, 1.0, round(part.seconds * SAMPLE_RATE_HZ), endpoint=False)
    pitch = np.interp(at, (0.0, 0.45, 1.0), part.pitches_hz)
    pitch *= 1.0 + 0.006 * np.sin(2.0 * np.pi * 5.2 * at * part.seconds)
    phase = 2.0 * np.pi * np.cumsum(pitch) / SAMPLE_RATE_HZ
    wave = np.zeros_like(at)
    for harmonic in range(1, _HARMONICS + 1):
        wave += _nose(harmonic * pitch) / harmonic * np.sin(harmonic * phase)
    return part.loudness * wave * _envelope(at)


def _nose(frequency_hz: _Wave) -> _Wave:
    return sum(
        (weight / (1.0 + ((frequency_hz - centre) / width) ** 2) for centre, width, weight in _RESONANCES),
        start=np.zeros_like(frequency_hz),
    )


def _envelope(at: _Wave) -> _Wave:
    attack = np.clip(at / 0.22, 0.0, 1.0)
    decay = np.clip((1.0 - at) / 0.5, 0.0, 1.0)
    rounded: _Wave = np.sin(0.5 * np.pi * attack) ** 2 * np.sin(0.5 * np.pi * decay) ** 2
    return rounded


def _breath(part: _Pause, noise: np.random.RandomState) -> _Wave:
    length = round(part.seconds * SAMPLE_RATE_HZ)
    soft = np.convolve(noise.standard_normal(length), np.ones(8) / 8.0, mode="same")
    quiet: _Wave = 0.015 * soft * np.sin(np.pi * np.linspace(0.0, 1.0, length))
    return quiet


def main(folder: Path) -> None:
    """Write ``hum-1.wav`` and so on into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, parts in enumerate(VARIANTS, start=1):
        write_wave(folder / f"hum-{number}.wav", make_hum(parts))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
