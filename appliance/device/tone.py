"""The sounds of ringing, made with arithmetic: soft bells that begin quiet and grow."""

from __future__ import annotations

import enum

import numpy as np
import numpy.typing as npt

from appliance.audio import AudioChunk, AudioFormat


class Tone(enum.Enum):
    """Notes of one burst: hertz and the second at which each begins. Kinds can be told apart with closed eyes."""

    TIMER = ((880.0, 0.0), (1108.7, 0.16), (1318.5, 0.32), (880.0, 0.7), (1108.7, 0.86), (1318.5, 1.02))
    ALARM = ((523.3, 0.0), (659.3, 0.28), (784.0, 0.56), (1046.5, 0.84))
    REMINDER = ((784.0, 0.0), (1046.5, 0.22))


#: Loudest sample of a full burst, of 1.0: room for the mixer's other lanes.
_PEAK = 0.5
_NOTE_SECONDS = 0.7
#: A bell's overtones (multiple of the note, share of it) and how fast it dies away.
_OVERTONES = ((1.0, 1.0), (2.0, 0.35), (3.0, 0.12))
_DECAY_PER_SECOND = 6.0
#: Without it a note begins with a click.
_ATTACK_SECONDS = 0.008


def burst(tone: Tone, loudness: float, sample_rate_hz: int) -> AudioChunk:
    """One burst of ringing, mono; ``loudness`` 0 to 1."""
    notes = tone.value
    length = round((max(start for _, start in notes) + _NOTE_SECONDS) * sample_rate_hz)
    sound = np.zeros(length, dtype=np.float64)
    for frequency_hz, start_seconds in notes:
        note = _note(frequency_hz, sample_rate_hz)
        start = round(start_seconds * sample_rate_hz)
        end = min(start + len(note), length)
        sound[start:end] += note[: end - start]
    scale = 32767.0 * _PEAK * min(1.0, max(0.0, loudness)) / float(np.max(np.abs(sound)))
    return AudioChunk((sound * scale).astype(np.int16), AudioFormat(sample_rate_hz))


def _note(frequency_hz: float, sample_rate_hz: int) -> npt.NDArray[np.float64]:
    seconds = np.arange(round(_NOTE_SECONDS * sample_rate_hz)) / sample_rate_hz
    wave = np.zeros_like(seconds)
    for multiple, share in _OVERTONES:
        # What lies above half the rate would come back as another tone.
        if frequency_hz * multiple < sample_rate_hz / 2:
            wave += share * np.sin(2.0 * np.pi * frequency_hz * multiple * seconds)
    attack = np.minimum(1.0, seconds / _ATTACK_SECONDS)
    # The end is faded to nothing, whatever the decay has left.
    release = np.minimum(1.0, (_NOTE_SECONDS - seconds) / 0.05)
    faded: npt.NDArray[np.float64] = wave * attack * release * np.exp(-_DECAY_PER_SECOND * seconds)
    return faded
