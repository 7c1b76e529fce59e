"""The silence before a line: a voice takes a breath of 20 to 60 ms, for which nobody needs to wait."""

from __future__ import annotations

import numpy as np

from appliance.audio import AudioChunk
from appliance.ports import SynthesizedChunk, TimedPhoneme

#: -50 dBFS: what is below is not heard across a room.
_SILENT = 104
#: So much of the silence is left, so that the first sound is not cut into.
_KEPT_SECONDS = 0.005


def without_silence(chunk: SynthesizedChunk) -> SynthesizedChunk:
    """``chunk`` from its first sound on; nothing of it where it is silent."""
    samples = chunk.audio.samples
    loud = np.abs(samples.astype(np.int32)) > _SILENT
    kept = round(_KEPT_SECONDS * chunk.audio.format.sample_rate_hz)
    silent = max(0, int(loud.argmax()) - kept) if loud.any() else len(samples)
    if not silent:
        return chunk
    return SynthesizedChunk(AudioChunk(samples[silent:], chunk.audio.format), _later(chunk.phonemes, silent))


def _later(phonemes: tuple[TimedPhoneme, ...], samples: int) -> tuple[TimedPhoneme, ...]:
    """The phonemes behind the first so many samples."""
    left: list[TimedPhoneme] = []
    for timed in phonemes:
        skipped = min(samples, timed.samples)
        samples -= skipped
        if timed.samples > skipped:
            left.append(TimedPhoneme(timed.phoneme, timed.samples - skipped))
    return tuple(left)
