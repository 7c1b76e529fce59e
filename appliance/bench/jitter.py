"""How evenly the face moves while the box works (P16): its heartbeat against a timer thread with Python's defaults.

Both beat 20 times a second in processes of the same kind, one after the other, for each kind of work. A beat is as late
as the gap before it is longer than it should be; what counts is the hundredth that is worst.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from appliance.bench.figures import Figure
from appliance.bench.intervals import Values, estimate
from appliance.bench.jitter_worker import ALL, BEATS_PER_SECOND, HEARING, IDLE, PYTHON, SPEAKING, STAGE, TIMER
from appliance.errors import ApplianceError

LOADS = (IDLE, HEARING, SPEAKING, PYTHON, ALL)
#: Without privileges: real-time priority is not used (see ``appliance.promptness``).
_GOAL = 0.30
#: Both take turns, so that what else the machine does hits both.
_TURNS = 3


@dataclass(frozen=True)
class JitterRow:
    """One kind of work: how late each beat was, of the box's own and of the timer's."""

    load: str
    own_ms: tuple[float, ...]
    timer_ms: tuple[float, ...]

    @property
    def p99_ms(self) -> tuple[float, float]:
        """Of the box's own, of the timer's."""
        return _p99(np.array(self.own_ms)), _p99(np.array(self.timer_ms))


def measure(seconds: float, loads: Sequence[str] = LOADS) -> list[JitterRow]:
    """Each kind of work for ``seconds`` with each heartbeat. Raises ``ApplianceError`` when a process fails."""
    return [_row(load, seconds / _TURNS) for load in loads]


def figures(rows: Sequence[JitterRow]) -> list[Figure]:
    """P16, of everything at once."""
    return [_figure(row) for row in rows if row.load == ALL]


def lateness_ms(times: Sequence[float]) -> list[float]:
    """How late each beat was against the one before it."""
    gaps = np.diff(np.array(times)) - 1.0 / BEATS_PER_SECOND
    return [float(late) for late in np.maximum(0.0, gaps) * 1e3]


def _figure(row: JitterRow) -> Figure:
    own, timer = np.array(row.own_ms), np.array(row.timer_ms)
    # Each heartbeat is drawn again by itself: their beats are no pairs.
    spread = estimate(np.arange(float(len(own))), lambda drawn: _p99(own[drawn.astype(int)]) / _p99(timer))
    return Figure(
        "P16",
        "how late the face's heartbeat is, worst hundredth",
        "a timer thread in the same kind of process",
        _p99(own) / _p99(timer),
        _GOAL,
        spread.low,
        spread.high,
        *row.p99_ms,
        guard="no real-time priority",
    )


def _p99(late_ms: Values) -> float:
    return float(np.quantile(late_ms, 0.99))


def _row(load: str, seconds: float) -> JitterRow:
    late: dict[str, list[float]] = {STAGE: [], TIMER: []}
    for _ in range(_TURNS):
        for way, beats in late.items():
            beats += lateness_ms(_run(way, load, seconds))
    return JitterRow(load, tuple(late[STAGE]), tuple(late[TIMER]))


def _run(way: str, load: str, seconds: float) -> list[float]:
    command = [sys.executable, "-m", "appliance.bench.jitter_worker", way, load, str(seconds)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise ApplianceError(f"the heartbeat {way!r} beside {load!r} broke: {ran.stderr.strip()[-300:]}")
    times: list[float] = json.loads(ran.stdout.splitlines()[-1])
    return times
