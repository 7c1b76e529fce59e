"""Earcons: short sounds that tell what the ear does.

They are soft sines with soft edges, so that they neither click nor startle. Rising means open, falling means closed; an
error is low and twice.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np

from appliance.audio import AudioChunk, AudioFormat


class Earcon(enum.StrEnum):
    """What a short sound tells."""

    #: The ear is open.
    WOKE = "woke"
    #: The utterance is over and being worked on.
    HEARD = "heard"
    #: The ear closed because nobody spoke.
    CLOSED = "closed"
    MUTED = "muted"
    UNMUTED = "unmuted"
    #: Something failed.
    ERROR = "error"


@dataclass(frozen=True)
class _Note:
    pitch_hz: float
    seconds: float
    loudness: float = 1.0


_NOTES: dict[Earcon, tuple[_Note, ...]] = {
    Earcon.WOKE: (_Note(659.3, 0.06), _Note(880.0, 0.08)),
    Earcon.HEARD: (_Note(880.0, 0.08, 0.6),),
    Earcon.CLOSED: (_Note(523.3, 0.08, 0.5), _Note(392.0, 0.14, 0.4)),
    Earcon.MUTED: (_Note(440.0, 0.08), _Note(220.0, 0.12)),
    Earcon.UNMUTED: (_Note(220.0, 0.08), _Note(440.0, 0.12)),
    Earcon.ERROR: (_Note(196.0, 0.1), _Note(0.0, 0.03), _Note(196.0, 0.1)),
}

#: Peak at full volume, of full scale: an earcon is never as loud as speech may be.
_PEAK = 0.35
#: A second, softer octave makes a sine audible on small speakers that have no bass.
_OVERTONE = 0.25
_EDGE_SECONDS = 0.012


def earcon(kind: Earcon, sample_rate_hz: int, volume_percent: int) -> AudioChunk:
    """The sound for ``kind``, mono, 80 to 250 ms long; 0 percent is silence of the same length."""
    wave = np.concatenate([_tone(note, sample_rate_hz) for note in _NOTES[kind]])
    # Squared: hearing is not linear, and half of the way should sound like half.
    peak = 32767 * _PEAK * (volume_percent / 100) ** 2
    samples = np.round(wave * peak).astype(np.int16)
    return AudioChunk(samples, AudioFormat(sample_rate_hz))


def _tone(note: _Note, sample_rate_hz: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    count = round(note.seconds * sample_rate_hz)
    if note.pitch_hz == 0.0:
        return np.zeros(count)
    phase = 2.0 * np.pi * note.pitch_hz * np.arange(count) / sample_rate_hz
    wave = (np.sin(phase) + _OVERTONE * np.sin(2.0 * phase)) / (1.0 + _OVERTONE)
    edge = min(count // 2, round(_EDGE_SECONDS * sample_rate_hz))
    fade = 0.5 - 0.5 * np.cos(np.pi * np.arange(edge) / max(1, edge))
    wave[:edge] *= fade
    wave[count - edge :] *= fade[::-1]
    return wave * note.loudness
