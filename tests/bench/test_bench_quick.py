"""The quick gate: what is too bad, the second chance, and how the result is told."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from appliance.bench.figures import Figure
from appliance.bench.quick import OWED, Check, is_too_bad, run_gate
from appliance.cli.bench_figures import figures_object, print_figures
from appliance.errors import WeightsError
from tests.cli.conftest import shell
from tests.cli.shell import Shell

__all__ = ["shell"]


def _figure(ratio: float, name: str = "P8", goal: float = 0.20) -> Figure:
    return Figure(name, "first sound", "piper", ratio, goal, ratio - 0.01, ratio + 0.01, 30.0, 300.0)


def _check(*runs: Sequence[Figure]) -> Check:
    left = list(runs)
    return Check("speaking", lambda: left.pop(0))


def test_a_figure_may_be_a_little_over_its_goal() -> None:
    assert not is_too_bad(_figure(0.20))
    assert not is_too_bad(_figure(0.229))
    assert is_too_bad(_figure(0.231))
    assert is_too_bad(_figure(float("nan")))


def test_what_is_good_is_measured_once() -> None:
    gate = run_gate([_check([_figure(0.1)])])
    assert gate.is_passed
    assert [figure.ratio for figure in gate.figures] == [0.1]


def test_what_is_too_bad_gets_a_second_chance_and_the_better_of_both_counts() -> None:
    gate = run_gate([_check([_figure(0.5), _figure(0.1, "P9")], [_figure(0.21), _figure(0.15, "P9")])])
    assert gate.is_passed
    assert [(figure.id, figure.ratio) for figure in gate.figures] == [("P8", 0.21), ("P9", 0.1)]


def test_what_is_too_bad_three_times_fails_the_gate() -> None:
    gate = run_gate([_check([_figure(0.5)], [_figure(0.6)], [_figure(0.7)])])
    assert not gate.is_passed
    assert [(figure.id, figure.ratio) for figure in gate.failed] == [("P8", 0.5)]


def test_a_goal_that_is_still_owed_is_shown_and_fails_nobody() -> None:
    owed = next(iter(OWED))
    gate = run_gate([_check([_figure(0.9, owed)])])
    assert gate.is_passed
    assert [(figure.id, figure.is_met) for figure in gate.figures] == [(owed, False)]


def test_a_check_that_cannot_be_made_fails_the_gate_and_the_others_are_still_made() -> None:
    def no_weights() -> Sequence[Figure]:
        raise WeightsError("there are no weights")

    gate = run_gate([Check("hearing", no_weights), _check([_figure(0.1)])])
    assert gate.problems == ["hearing: there are no weights"]
    assert not gate.is_passed
    assert len(gate.figures) == 1


def test_it_is_told_what_is_measured() -> None:
    told: list[str] = []
    run_gate([_check([_figure(0.5)], [_figure(0.1)])], told.append)
    assert told == ["speaking", "speaking, once more"]


def test_the_object_has_a_ratio_its_goal_and_its_interval_for_each_figure() -> None:
    assert figures_object([_figure(0.1)]) == {
        "P8": {"ratio": 0.1, "goal": 0.2, "low": pytest.approx(0.09), "high": pytest.approx(0.11)}
    }


def test_the_table_says_what_is_met(capsys: pytest.CaptureFixture[str]) -> None:
    print_figures([_figure(0.1), _figure(0.3, "P9")])
    _head, good, bad = capsys.readouterr().out.splitlines()
    assert "0.100 ×" in good
    assert "≤ 0.20  met" in good
    assert "not met" in bad


def test_who_does_not_say_what_to_measure_is_told_of_the_gate(shell: Shell) -> None:
    ran = shell("bench")
    assert ran.code == 2
    assert "say what to measure, or --quick" in ran.err
