"""How evenly the face moves while the box works (P16): its heartbeat against a timer thread with Python's defaults.

Both beat 20 times a second, each in a process of its own that works as hard, for each kind of work. They take turns of
a few seconds, in which the other one stands still, so that what else the machine does hits both. A beat is as late as
the gap before it is longer than it should be; what counts is the hundredth that is worst.

Until December 2026 each heartbeat had three short turns in processes that were started for each of them: of a hundred
beats the worst hundredth is a single one, and the ratio was between 0.2 and 0.65 in the same state of the program. Now
each process is started once. What the box does for its threads (``appliance.promptness``) the timer's process does not.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from appliance.bench.figures import Figure
from appliance.bench.intervals import Values, estimate
from appliance.bench.jitter_worker import ALL, BEATS_PER_SECOND, HEARING, IDLE, PYTHON, SPEAKING, STAGE, TIMER
from appliance.errors import ApplianceError
from appliance.promptness import environment_as_it_came, keep_algebra_on_one_thread

LOADS = (IDLE, HEARING, SPEAKING, PYTHON, ALL)
#: Without privileges: real-time priority is not used (see ``appliance.promptness``).
_GOAL = 0.30
#: How long one beats before it is the other's turn.
_TURN_SECONDS = 2.5


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
    return [_row(load, max(1, round(seconds / _TURN_SECONDS))) for load in loads]


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


def _row(load: str, turns: int) -> JitterRow:
    late: dict[str, list[float]] = {STAGE: [], TIMER: []}
    with contextlib.ExitStack() as stack:
        workers = {way: stack.enter_context(_worker(way, load)) for way in late}
        for way in (STAGE, TIMER) * turns:
            late[way] += lateness_ms(_asked(workers[way], f"{_TURN_SECONDS}\n"))
    return JitterRow(load, tuple(late[STAGE]), tuple(late[TIMER]))


@contextlib.contextmanager
def _worker(way: str, load: str) -> Iterator[subprocess.Popen[str]]:
    """A process that has loaded everything, and stands still."""
    command = [sys.executable, "-m", "appliance.bench.jitter_worker", way, load]
    keep_algebra_on_one_thread()
    given = dict(os.environ) if way == STAGE else environment_as_it_came()
    environment = {**given, "PYTHONPATH": str(Path(__file__).parents[2])}
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        try:
            _asked(process, "")
            yield process
        except (OSError, ValueError) as error:
            log.seek(0)
            raise ApplianceError(f"the heartbeat {way!r} beside {load!r} broke: {log.read().strip()[-300:]}") from error
        finally:
            process.kill()


def _asked(worker: subprocess.Popen[str], question: str) -> list[float]:
    """Raises ``OSError`` or ``ValueError`` when it has ended."""
    assert worker.stdin is not None and worker.stdout is not None
    worker.stdin.write(question)
    worker.stdin.flush()
    times: list[float] = json.loads(worker.stdout.readline())
    return times
