"""How late a heartbeat is, and that both kinds can be measured."""

from __future__ import annotations

import json
import subprocess
import sys
import threading

import pytest

from appliance.bench.jitter import JitterRow, figures, lateness_ms
from appliance.bench.jitter_worker import ALL, IDLE, READY, STAGE, TIMER, Work


def test_a_beat_is_late_by_what_the_gap_before_it_is_too_long() -> None:
    assert lateness_ms([1.0, 1.05, 1.11, 1.15, 1.20]) == pytest.approx([0.0, 10.0, 0.0, 0.0], abs=1e-6)


def test_the_figure_is_of_the_worst_hundredth_beside_everything() -> None:
    rows = [
        JitterRow(IDLE, (1.0,) * 100, (1.0,) * 100),
        JitterRow(ALL, (*(0.1,) * 90, *(1.0,) * 10), (*(0.1,) * 90, *(10.0,) * 10)),
    ]
    (figure,) = figures(rows)
    assert (figure.id, figure.goal) == ("P16", 0.30)
    assert figure.ratio == pytest.approx(0.1)
    assert figure.low <= figure.ratio <= figure.high


@pytest.mark.parametrize("way", [STAGE, TIMER])
def test_a_heartbeat_beats_in_a_process_of_its_own_each_time_it_is_asked(way: str) -> None:
    command = [sys.executable, "-m", "appliance.bench.jitter_worker", way, IDLE]
    ran = subprocess.run(command, input="0.4\n0.4\n", capture_output=True, text=True, check=True)
    ready, *asked = map(json.loads, ran.stdout.splitlines())
    assert ready == READY and len(asked) == 2
    for times in asked:
        assert times == sorted(times) and len(times) >= 2
    assert asked[0][-1] < asked[1][0]


def test_work_stands_still_behind_its_time() -> None:
    done = list[int]()
    one_done = threading.Event()

    def piece() -> None:
        done.append(1)
        one_done.set()

    work = Work([piece])
    one_done.clear()
    with work.going_on():
        assert one_done.wait(10.0)
    before = len(done)
    with work.going_on():
        one_done.clear()
        assert one_done.wait(10.0)
    assert len(done) > before
