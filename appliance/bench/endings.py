"""When the box knows that a person has finished, in the time of the sound itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from appliance.audio import HEARING_FORMAT, AudioChunk
from appliance.bench.speech_clips import Clip, room
from appliance.listen.config import ListenConfig
from appliance.listen.endpointing import Endpointing
from appliance.listen.utterance import STEP_SAMPLES, Progress, UtteranceRecorder
from appliance.ports import VoiceActivityDetector

_LEAD_SECONDS = 0.8
_STEP_SECONDS = STEP_SAMPLES / HEARING_FORMAT.sample_rate_hz


@dataclass(frozen=True)
class EndingRow:
    """From the end of speech, in milliseconds, medians over the utterances that were not cut.

    ``ready`` is when the transcript that was begun at the soft end is there, ``given`` when it is also certain that the
    person has finished. ``transcripts_each`` is how many were begun for one utterance.
    """

    way: str
    utterances: int
    soft_end: float
    ready: float
    given: float
    given_p95: float
    transcripts_each: float
    cut_early: int
    missed: int


@dataclass
class _Ending:
    """What happened in one utterance; times are seconds from the end of speech."""

    begun: int = 0
    soft_seconds: float = 0.0
    hard_seconds: float = 0.0
    is_missed: bool = False

    @property
    def is_early(self) -> bool:
        """Whether it was over before the person had finished."""
        return not self.is_missed and self.hard_seconds < 0.0


def endings(
    clips: Sequence[Clip],
    seconds: Mapping[str, Sequence[float]],
    rules: ListenConfig,
    activity: VoiceActivityDetector,
) -> list[EndingRow]:
    """One row for each way in ``seconds``, which says how long it took to transcribe each clip."""
    found = [_ending(clip, rules, activity) for clip in clips]
    return [_row(way, found, taken) for way, taken in seconds.items()]


def _ending(clip: Clip, rules: ListenConfig, activity: VoiceActivityDetector) -> _Ending:
    ending, ended_at = _Ending(), _LEAD_SECONDS + len(clip.samples) / HEARING_FORMAT.sample_rate_hz
    sound = np.concatenate([room(_LEAD_SECONDS), clip.samples, room(rules.silence_seconds + 1.0, seed=8)])
    now = -ended_at

    def begin(_so_far: AudioChunk) -> None:
        ending.begun += 1
        ending.soft_seconds = now

    activity.reset()
    endpointing = Endpointing(rules, no_speech_seconds=rules.no_speech_seconds)
    recorder = UtteranceRecorder(activity, endpointing, Progress(on_soft_end=begin))
    for start in range(0, len(sound) - STEP_SAMPLES + 1, STEP_SAMPLES):
        now += _STEP_SECONDS
        recorder.hear(sound[start : start + STEP_SAMPLES])
        if recorder.is_over:
            break
    ending.hard_seconds = now
    ending.is_missed = recorder.utterance is None
    return ending


def _row(way: str, found: list[_Ending], taken: Sequence[float]) -> EndingRow:
    pairs = [pair for pair in zip(found, taken, strict=True) if not (pair[0].is_missed or pair[0].is_early)]
    ready = [ending.soft_seconds + seconds for ending, seconds in pairs]
    given = [max(early, ending.hard_seconds) for early, (ending, _) in zip(ready, pairs, strict=True)]
    return EndingRow(
        way,
        len(found),
        soft_end=_milliseconds([ending.soft_seconds for ending, _ in pairs], 0.5),
        ready=_milliseconds(ready, 0.5),
        given=_milliseconds(given, 0.5),
        given_p95=_milliseconds(given, 0.95),
        transcripts_each=sum(ending.begun for ending, _ in pairs) / max(1, len(pairs)),
        cut_early=sum(ending.is_early for ending in found),
        missed=sum(ending.is_missed for ending in found),
    )


def _milliseconds(seconds: list[float], share: float) -> float:
    return 1000 * float(np.quantile(seconds, share)) if seconds else 0.0
