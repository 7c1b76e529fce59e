"""When the box takes a turn for over, and how often that is too early, in the time of the sound.

Each clip is heard twice: whole, and broken off at 60 % of its length. A pause there is a premature end for everybody
who takes the turn for over before it ends. Transcriber and turn detector are asked when the box would ask them, and
what they take is added; the same sound is given to them once, whoever asks.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from appliance.audio import HEARING_FORMAT, AudioChunk, Samples
from appliance.bench.figures import Figure
from appliance.bench.intervals import Values, estimate
from appliance.bench.speech_clips import Clip, room
from appliance.bench.word_errors import word_errors, words_of
from appliance.listen.config import ListenConfig
from appliance.listen.endpointing import Endpointing
from appliance.listen.patience import Look, manner_of
from appliance.listen.unfinished import is_unfinished
from appliance.listen.utterance import STEP_SAMPLES, Progress, UtteranceRecorder
from appliance.ports import Transcriber, VoiceActivityDetector
from appliance.ports_hearing import TurnDetector

FIXED_TIMER, WITHOUT_DETECTOR, _NORMAL = "416 ms timer", "normal, no detector", "normal"
#: Pauses of people in mid-sentence.
PAUSES_SECONDS = (0.3, 0.45, 0.6)
_FIXED_TIMER_SECONDS = 0.416
_BROKEN_OFF_AT = 0.6
_LEAD_SECONDS = 0.8
#: Behind the speech; longer than anybody waits.
_SILENCE_SECONDS = 4.0
_STEP_SECONDS = STEP_SAMPLES / HEARING_FORMAT.sample_rate_hz


@dataclass(frozen=True)
class EndingRow:
    """From the end of speech, in milliseconds, over the whole clips that were not cut.

    ``over`` is when the turn is taken for over, ``given`` when its text is there too. ``transcripts_each`` is how many
    were begun for one clip. ``cut_early`` counts whole clips; ``cut_percent`` is the share of all pauses of
    ``PAUSES_SECONDS`` in broken-off clips that end the turn, ``cut_percent_of`` the same by length of the pause.
    """

    way: str
    utterances: int
    soft_end: float
    over: float
    given: float
    given_p95: float
    transcripts_each: float
    cut_early: int
    missed: int
    cut_percent: float
    cut_percent_of: dict[str, float]
    word_error_percent: float


@dataclass(frozen=True)
class Endings:
    """One row for each way; ``premature`` has, for each clip, the pauses cut by the box and by the fixed timer."""

    rows: list[EndingRow]
    premature: list[tuple[float, float]]


@dataclass(frozen=True)
class _Way:
    """Who says that a turn is over."""

    name: str
    rules: ListenConfig
    looks: tuple[Look, ...] = ()


class _Sound:
    """One stretch of speech; what is heard in its beginnings and thought of their ends, with the seconds it took."""

    def __init__(self, samples: Samples, transcriber: Transcriber, detector: TurnDetector) -> None:
        self.samples = samples
        self._transcriber = transcriber
        self._detector = detector
        self._texts: dict[int, tuple[str, float]] = {}
        self._chances: dict[int, tuple[float, float]] = {}

    async def text(self, so_far: AudioChunk) -> tuple[str, float]:
        """What is said in it."""
        key = len(so_far.samples)
        if key not in self._texts:
            began = time.perf_counter()
            text = (await self._transcriber.transcribe(so_far)).text
            self._texts[key] = text, time.perf_counter() - began
        return self._texts[key]

    async def chance(self, so_far: AudioChunk) -> tuple[float, float]:
        """How likely the turn is over at its end."""
        key = len(so_far.samples)
        if key not in self._chances:
            began = time.perf_counter()
            chance = await self._detector.finished_probability(so_far)
            self._chances[key] = chance, time.perf_counter() - began
        return self._chances[key]


@dataclass
class _Ending:
    """One sound in one way; times are seconds from the end of speech."""

    begun: int = 0
    soft_seconds: float = 0.0
    #: When the text of the last soft end is there.
    ready_seconds: float = 0.0
    text: str = ""
    looks: int = 0
    over_seconds: float = math.inf
    is_missed: bool = False

    @property
    def is_early(self) -> bool:
        """Whether it was over before the person had finished."""
        return not self.is_missed and self.over_seconds < 0.0

    @property
    def given_seconds(self) -> float:
        """When the turn is over and its text is there."""
        return max(self.over_seconds, self.ready_seconds)

    async def soften(self, sound: _Sound, so_far: AudioChunk, now: float) -> None:
        """The transcript is begun."""
        self.begun += 1
        self.text, seconds = await sound.text(so_far)
        self.soft_seconds, self.ready_seconds = now, now + seconds

    async def look(self, sound: _Sound, so_far: AudioChunk, looks: Sequence[Look], now: float) -> None:
        """The turn detector is asked, where this way has one; see ``listen/work_ahead.py``."""
        look, self.looks = looks[self.looks : self.looks + 1], self.looks + 1
        if not look or not self.text.strip() or is_unfinished(self.text, "en"):
            return
        chance, seconds = await sound.chance(so_far)
        if chance >= look[0].finished_probability:
            self.over_seconds = min(self.over_seconds, max(now + seconds, self.ready_seconds))

    def resume(self) -> None:
        """All of that was too early."""
        self.looks, self.over_seconds = 0, math.inf


async def endings(
    clips: Sequence[Clip],
    rules: ListenConfig,
    transcriber: Transcriber,
    detector: TurnDetector,
    activity: VoiceActivityDetector,
) -> Endings:
    """Every way with every clip, one at least; ``rules`` but for patience and silence."""
    ways = _ways(rules)
    whole: dict[str, list[_Ending]] = {way.name: [] for way in ways}
    broken: dict[str, list[_Ending]] = {way.name: [] for way in ways}
    for clip in clips:
        part = clip.samples[: round(_BROKEN_OFF_AT * len(clip.samples))]
        for samples, found in ((clip.samples, whole), (part, broken)):
            sound = _Sound(samples, transcriber, detector)
            for way in ways:
                found[way.name].append(await _ending(sound, way, activity))
    cut = {name: np.array([_pauses_cut(one) for one in found]) for name, found in broken.items()}
    rows = [_row(way.name, clips, whole[way.name], cut[way.name]) for way in ways]
    both = zip(cut[_NORMAL].sum(axis=1), cut[FIXED_TIMER].sum(axis=1), strict=True)
    return Endings(rows, [(float(own), float(timer)) for own, timer in both])


def figures(found: Endings) -> list[Figure]:
    """P18, and the part of P19 that is about transcripts."""
    rows = {row.way: row for row in found.rows}
    box, timer = rows[_NORMAL], rows[FIXED_TIMER]
    share = estimate(np.array(found.premature), _share)
    guard = f"{box.over:.0f} ms to the end of the turn, {timer.over:.0f} ms with the timer"
    return [
        Figure(
            "P18",
            "pauses in mid-sentence that end the turn",
            f"fixed {FIXED_TIMER}",
            share.value,
            1.0,
            share.low,
            share.high,
            own=box.cut_percent,
            peer=timer.cut_percent,
            unit="%",
            guard=guard,
        ),
        Figure(
            "P19",
            "transcripts begun for each turn",
            "one",
            box.transcripts_each,
            1.3,
            box.transcripts_each,
            box.transcripts_each,
            own=box.transcripts_each,
            peer=1.0,
            unit="",
        ),
    ]


def _ways(rules: ListenConfig) -> list[_Way]:
    def patient(patience: Literal["relaxed", "normal", "quick"]) -> _Way:
        manner = manner_of(replace(rules, patience=patience))
        own = replace(rules, patience=patience, silence_seconds=manner.longest_silence_seconds)
        return _Way(patience, own, manner.looks)

    return [
        _Way(FIXED_TIMER, replace(rules, silence_seconds=_FIXED_TIMER_SECONDS)),
        _Way(WITHOUT_DETECTOR, replace(rules, patience="normal", silence_seconds=0.0)),
        patient("quick"),
        patient("normal"),
        patient("relaxed"),
    ]


async def _ending(sound: _Sound, way: _Way, activity: VoiceActivityDetector) -> _Ending:
    stream = np.concatenate([room(_LEAD_SECONDS), sound.samples, room(_SILENCE_SECONDS, seed=8)])
    ending, told = _Ending(), list[tuple[str, AudioChunk | None]]()
    progress = Progress(
        on_soft_end=lambda so_far: told.append(("soft end", so_far)),
        on_pause=lambda so_far: told.append(("pause", so_far)),
        on_resumed=lambda: told.append(("resumed", None)),
    )
    activity.reset()
    endpointing = Endpointing(way.rules, no_speech_seconds=way.rules.no_speech_seconds)
    recorder = UtteranceRecorder(activity, endpointing, progress)
    now = -_LEAD_SECONDS - len(sound.samples) / HEARING_FORMAT.sample_rate_hz
    for start in range(0, len(stream) - STEP_SAMPLES + 1, STEP_SAMPLES):
        now += _STEP_SECONDS
        if now > ending.over_seconds:
            break
        recorder.hear(stream[start : start + STEP_SAMPLES])
        for what, so_far in told:
            if so_far is None:
                ending.resume()
            elif what == "soft end":
                await ending.soften(sound, so_far, now)
            else:
                await ending.look(sound, so_far, way.looks, now)
        told.clear()
        if recorder.is_over:
            ending.over_seconds = min(ending.over_seconds, now)
            break
    ending.is_missed = recorder.utterance is None
    return ending


def _pauses_cut(broken_off: _Ending) -> list[float]:
    """For each pause 1.0 where the turn is over before it ends."""
    return [float(not broken_off.is_missed and broken_off.over_seconds < pause) for pause in PAUSES_SECONDS]


def _share(rows: Values) -> float:
    return float(rows[:, 0].sum() / max(1.0, rows[:, 1].sum()))


def _row(way: str, clips: Sequence[Clip], found: Sequence[_Ending], cut: Values) -> EndingRow:
    whole = [ending for ending in found if not (ending.is_missed or ending.is_early)]
    given = [ending.given_seconds for ending in whole]
    words = [(words_of(clip.text), words_of(ending.text)) for clip, ending in zip(clips, found, strict=True)]
    return EndingRow(
        way,
        len(found),
        soft_end=_milliseconds([ending.soft_seconds for ending in whole], 0.5),
        over=_milliseconds([ending.over_seconds for ending in whole], 0.5),
        given=_milliseconds(given, 0.5),
        given_p95=_milliseconds(given, 0.95),
        transcripts_each=sum(ending.begun for ending in whole) / max(1, len(whole)),
        cut_early=sum(ending.is_early for ending in found),
        missed=sum(ending.is_missed for ending in found),
        cut_percent=100 * float(cut.mean()),
        cut_percent_of={
            f"{pause:g} s": 100 * float(share) for pause, share in zip(PAUSES_SECONDS, cut.mean(axis=0), strict=True)
        },
        word_error_percent=100
        * sum(word_errors(said, heard) for said, heard in words)
        / max(1, sum(len(said) for said, _ in words)),
    )


def _milliseconds(seconds: list[float], share: float) -> float:
    return 1000 * float(np.quantile(seconds, share)) if seconds else 0.0
