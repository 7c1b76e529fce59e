"""From turns to figures: how long, how many words wrong, at what cost, and the ratios that the goals are about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from appliance.bench.figures import Figure
from appliance.bench.intervals import Estimate, Values, estimate
from appliance.bench.stub_model import AT_ONCE, QUICK
from appliance.bench.turn_clips import CLEAN
from appliance.bench.turn_course import AGAIN, Course
from appliance.bench.turn_system import Turn
from appliance.bench.turn_worker import BOX, PIPECAT, PIPECAT_TUNED, SENTENCES, SEQUENTIAL, SMART_TURN
from appliance.bench.word_errors import word_errors, words_of

#: The silence in which a person is asked whether they have finished: nobody can know earlier.
_PAUSE_MILLISECONDS = 200.0
#: Where a system's ratio to itself may lie on a machine that is quiet enough.
_QUIET_ENOUGH = (0.93, 1.07)
#: A figure of the memory is taken behind so many turns.
MEMORY_TURNS = 22


@dataclass(frozen=True)
class SystemRow:
    """One system under one condition.

    ``early`` answers began before the end of speech; ``cut`` turns were taken before it, with or without a sound; in
    ``missed`` ones nothing was heard or said, or no model was asked. ``transcripts`` and ``requests`` are means for a
    turn, ``cpu_seconds`` is the median.
    """

    system: str
    pace: str
    noise: str
    turns: int
    median_milliseconds: float
    p95_milliseconds: float
    word_error_percent: float
    cpu_seconds: float
    transcripts: float
    requests: float
    early: int
    cut: int
    missed: int


def rows(course: Course) -> list[SystemRow]:
    """A row for each system, pace and noise that was measured; the quick model and a quiet room first."""
    kinds = dict.fromkeys((turn.pace, turn.clip.noise, turn.system) for turn in course.turns)
    ordered = sorted(kinds, key=lambda kind: (kind[0] != QUICK.name, kind[0], kind[1] != CLEAN, kind))
    return [_row(system, course.of(system, pace, noise)) for pace, noise, system in ordered]


def again_ratio(course: Course) -> Estimate:
    """The box against itself."""
    return estimate(_pairs(course, AGAIN, BOX, _milliseconds), _median_ratio)


def is_quiet_enough(again: Estimate) -> bool:
    """Whether the machine was quiet enough for the other ratios to mean something."""
    return _QUIET_ENOUGH[0] <= again.value <= _QUIET_ENOUGH[1]


def figures(course: Course) -> list[Figure]:
    """The figures of the goals that the systems in ``course`` allow."""
    against = [
        ("P1", PIPECAT, "pipecat-ai as it comes", 0.35),
        ("P1b", PIPECAT_TUNED, "pipecat-ai, one reading only", 0.35),
        ("P2", SEQUENTIAL, "faster-whisper, model and piper in a row", 0.20),
        ("P3", SENTENCES, "a copy of the style of GLaDOS", 0.40),
    ]
    costs = [
        ("P15a", SEQUENTIAL, "faster-whisper, model and piper in a row", 0.33),
        ("P15b", SMART_TURN, "a copy of the style of pipecat", 0.45),
        ("P15c", PIPECAT, "pipecat-ai as it comes", 0.45),
    ]
    found = [_first_sound(course, *each) for each in against if course.of(each[1])]
    found.append(_spread(course))
    if course.floors:
        found.append(_above_floor(course))
    if course.of(PIPECAT):
        found.append(_memory(course))
    found += [_cpu(course, *each) for each in costs if course.of(each[1])]
    return [*found, _waste(course)]


# ------------------------------------------------------------------------------------------------------ single ones


def _first_sound(course: Course, figure: str, peer: str, against: str, goal: float) -> Figure:
    pairs = _pairs(course, BOX, peer, _milliseconds)
    more = estimate(_error_pairs(course, BOX, peer), _more_errors_percent)
    guard = f"words wrong {more.value:+.1f} points ({more.low:+.1f} to {more.high:+.1f}), at most +1.0"
    return _figure(figure, "end of speech to first sound", against, goal, pairs, guard=guard)


def _cpu(course: Course, figure: str, peer: str, against: str, goal: float) -> Figure:
    pairs = _pairs(course, BOX, peer, lambda turn: turn.cpu_seconds)
    until_first = _pairs(course, BOX, peer, lambda turn: turn.taken.first_cpu_seconds)
    guard = f"{_median_ratio(until_first):.2f} × until the first sound"
    return _figure(figure, "processor time of a turn", against, goal, pairs, unit="s", guard=guard)


def _spread(course: Course) -> Figure:
    values = np.array([value for turn in course.of(BOX) if (value := turn.milliseconds) is not None])
    found = estimate(values, lambda drawn: float(np.quantile(drawn, 0.95) / np.median(drawn)))
    p95, median = float(np.quantile(values, 0.95)), float(np.median(values))
    name = "95 of 100 turns to the median"
    return Figure("P4", name, "itself", found.value, 1.6, found.low, found.high, own=p95, peer=median)


def _above_floor(course: Course) -> Figure:
    model = float(np.median([floor.turn_model_milliseconds for floor in course.floors]))
    piece = float(np.median([floor.first_piece_milliseconds for floor in course.floors]))
    pairs = np.array(
        [
            (value, _PAUSE_MILLISECONDS + 1000 * turn.clip.lag_seconds + model + piece)
            for turn in course.of(BOX, AT_ONCE.name)
            if (value := turn.milliseconds) is not None
        ]
    )
    guard = f"turn model {model:.0f} ms, first piece {piece:.0f} ms"
    return _figure("P5", "above the floor, model without delay", "the floor", 1.5, pairs, guard=guard)


def _memory(course: Course) -> Figure:
    own, peer = (_megabytes(course, name) for name in (BOX, PIPECAT))
    turns = min(MEMORY_TURNS, *(len(_all_of(course, name)) for name in (BOX, PIPECAT)))
    ratio = own / peer
    name = f"memory after {turns} turns"
    return Figure("P13", name, "pipecat-ai as it comes", ratio, 0.60, ratio, ratio, own=own, peer=peer, unit="MB")


def _waste(course: Course) -> Figure:
    turns = [turn for turn in course.turns if turn.system in (BOX, AGAIN)]
    found = estimate(np.array([float(turn.taken.transcripts) for turn in turns]), lambda drawn: float(np.mean(drawn)))
    calls, early = sum(turn.taken.tool_calls for turn in turns), sum(turn.is_early for turn in turns)
    guard = f"{calls} tool calls and {early} sounds before the end of speech, none allowed"
    name = "transcripts begun for a turn"
    return Figure("P19", name, "itself", found.value, 1.3, found.low, found.high, own=found.value, unit="", guard=guard)


def _figure(
    figure: str, name: str, against: str, goal: float, pairs: Values, *, unit: str = "ms", guard: str = ""
) -> Figure:
    found = estimate(pairs, _median_ratio)
    own, peer = (float(np.median(pairs[:, side])) for side in (0, 1))
    return Figure(figure, name, against, found.value, goal, found.low, found.high, own, peer, unit, guard)


# ----------------------------------------------------------------------------------------------------- arithmetic


def _pairs(course: Course, own: str, peer: str, value: Callable[[Turn], float | None]) -> Values:
    """For every clean clip the medians of both, over the passes in which both count; one row at least."""
    sides = [{(turn.clip.name, turn.number): value(turn) for turn in course.of(name)} for name in (own, peer)]
    of_clip = defaultdict[str, list[tuple[float, float]]](list)
    for key, first in sides[0].items():
        second = sides[1].get(key)
        if first is not None and second is not None and second > 0.0:
            of_clip[key[0]].append((first, second))
    medians = [_middle(pairs) for pairs in of_clip.values()]
    return np.array(medians or [(np.nan, np.nan)])


def _middle(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The pair with the median ratio; of an even number the lower one of the middle."""
    return sorted(pairs, key=lambda pair: pair[0] / pair[1])[(len(pairs) - 1) // 2]


def _error_pairs(course: Course, own: str, peer: str) -> Values:
    """Errors of both and words said, for every clean clip."""
    sides = [defaultdict[str, list[float]](list) for _ in (own, peer)]
    words: dict[str, float] = {}
    for side, name in zip(sides, (own, peer), strict=True):
        for turn in course.of(name):
            words[turn.clip.name] = float(len(words_of(turn.clip.text)))
            side[turn.clip.name].append(_errors(turn))
    shared = [name for name in words if all(side[name] for side in sides)]
    return np.array([(*(np.mean(side[name]) for side in sides), words[name]) for name in shared])


def _row(system: str, turns: Sequence[Turn]) -> SystemRow:
    values = [value for turn in turns if (value := turn.milliseconds) is not None] or [float("nan")]
    words = sum(len(words_of(turn.clip.text)) for turn in turns)
    first = turns[0]
    return SystemRow(
        system,
        first.pace,
        first.clip.noise,
        len(turns),
        float(np.median(values)),
        float(np.quantile(values, 0.95)),
        100 * sum(map(_errors, turns)) / words,
        float(np.median([turn.cpu_seconds for turn in turns])),
        float(np.mean([turn.taken.transcripts for turn in turns])),
        float(np.mean([turn.requests for turn in turns])),
        sum(turn.is_early for turn in turns),
        sum(turn.taken.was_cut for turn in turns),
        sum(turn.milliseconds is None and not turn.is_early for turn in turns),
    )


def _all_of(course: Course, system: str) -> list[Turn]:
    return [turn for turn in course.turns if turn.system == system]


def _megabytes(course: Course, system: str) -> float:
    return _all_of(course, system)[:MEMORY_TURNS][-1].rss_megabytes


def _errors(turn: Turn) -> float:
    return float(word_errors(words_of(turn.clip.text), words_of(turn.taken.heard)))


def _milliseconds(turn: Turn) -> float | None:
    return turn.milliseconds


def _median_ratio(pairs: Values) -> float:
    return float(np.median(pairs[:, 0] / pairs[:, 1]))


def _more_errors_percent(triples: Values) -> float:
    return 100 * float((triples[:, 0] - triples[:, 1]).sum() / triples[:, 2].sum())
