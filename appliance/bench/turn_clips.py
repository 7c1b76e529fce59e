"""What is said to the systems of the benchmark of turns: people and the voice, in a quiet room and in noise.

Only what a model has to answer: a command that the box understands by itself would be no contest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from appliance.audio import HEARING_FORMAT, Samples
from appliance.bench.speech_clips import Clip, people, room, said_by
from appliance.ports import Synthesizer, VoiceActivityDetector

CLEAN = "clean"
#: Signal to noise in decibels, by name.
NOISES = {"20 dB": 20.0, "10 dB": 10.0}
SENTENCES = (
    "Turn off the kitchen light.",
    "How is the weather tomorrow?",
    "Tell me something about the moon.",
    "Is the front door locked?",
    "Turn the heating down by two degrees.",
    "Read me the news from this morning.",
    "How long does it take to boil an egg?",
    "Open the blinds in the office, and close the ones in the hall.",
    "What did I ask you to remember about the garden last week?",
)
_LEAD_SECONDS, _TAIL_SECONDS = 0.5, 4.0
#: Of every so many clean clips one is heard in each noise too.
_EVERY = 3
_STEP_SAMPLES = 512
#: Once somebody speaks, voice activity above this is still speech.
_STILL_SPEECH = 0.35


@dataclass(frozen=True)
class TurnClip:
    """A clip on disk: samples of ``HEARING_FORMAT`` without a head, in which speech ends at ``end_seconds``.

    ``lag_seconds`` is how long after that voice activity still finds speech.
    """

    name: str
    text: str
    noise: str
    file: Path
    end_seconds: float
    lag_seconds: float
    sha256: str


async def prepare(
    voice: Synthesizer, activity: VoiceActivityDetector, kept: Path, folder: Path, most: int | None = None
) -> list[TurnClip]:
    """All clips, or ``most`` of the clean ones; files go into ``folder``.

    What the voice says is made once and ``kept``, for it never says a sentence twice in the same way.
    """
    clean = [clip.trimmed() for clip in (*people(), *await _said(voice, kept))]
    # Some of both kinds when not all are wanted.
    clean = [clean[round(place)] for place in np.linspace(0, len(clean) - 1, min(most or len(clean), len(clean)))]
    numbered = [*enumerate(clean)]
    prepared = [_prepare(number, clip, CLEAN, activity, folder) for number, clip in numbered]
    for offset, noise in enumerate(NOISES if most is None else ()):
        chosen = numbered[offset::_EVERY]
        prepared += [_prepare(number, clip, noise, activity, folder) for number, clip in chosen]
    return prepared


def digest_of(clips: Sequence[TurnClip]) -> str:
    """SHA-256 over all of them: equal where the same was heard."""
    return hashlib.sha256("".join(sorted(clip.sha256 for clip in clips)).encode()).hexdigest()


async def _said(voice: Synthesizer, kept: Path) -> list[Clip]:
    folder = kept / voice.voice_key
    files = [folder / f"{hashlib.sha256(sentence.encode()).hexdigest()[:16]}.raw" for sentence in SENTENCES]
    if not all(file.exists() for file in files):
        folder.mkdir(parents=True, exist_ok=True)
        for file, clip in zip(files, await said_by(voice, SENTENCES), strict=True):
            clip.samples.tofile(file)
    return [
        Clip("box", np.fromfile(file, dtype=np.int16), sentence)
        for file, sentence in zip(files, SENTENCES, strict=True)
    ]


def _prepare(number: int, clip: Clip, noise: str, activity: VoiceActivityDetector, folder: Path) -> TurnClip:
    whole = np.concatenate([room(_LEAD_SECONDS), clip.samples, room(_TAIL_SECONDS, seed=9)])
    if noise in NOISES:
        whole = replace(clip, samples=whole).noisy(NOISES[noise], seed=number).samples
    file = folder / f"{number:02}-{noise.replace(' ', '')}.raw"
    whole.tofile(file)
    end_seconds = _LEAD_SECONDS + len(clip.samples) / HEARING_FORMAT.sample_rate_hz
    lag_seconds = max(0.0, _last_speech_seconds(whole, activity) - end_seconds)
    digest = hashlib.sha256(whole.tobytes()).hexdigest()
    return TurnClip(f"{clip.voice} {number}", clip.text.strip(), noise, file, end_seconds, lag_seconds, digest)


def _last_speech_seconds(samples: Samples, activity: VoiceActivityDetector) -> float:
    activity.reset()
    last = 0
    for start in range(0, len(samples) - _STEP_SAMPLES + 1, _STEP_SAMPLES):
        if activity.probability(samples[start : start + _STEP_SAMPLES]) >= _STILL_SPEECH:
            last = start + _STEP_SAMPLES
    return last / HEARING_FORMAT.sample_rate_hz
