"""What becomes of the starts that were measured, and what a process takes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from appliance.bench.processes import pss_megabytes
from appliance.bench.start import BOX, EAGER, Start, StartRow, figures


def row(name: str, *starts: tuple[float, float, float]) -> StartRow:
    return StartRow(name, tuple(Start(hears, ready, memory, 10 * memory) for hears, ready, memory in starts))


def test_each_start_is_compared_with_the_one_beside_it() -> None:
    rows = [
        row(BOX, (100.0, 500.0, 30.0), (200.0, 900.0, 30.0), (400.0, 2000.0, 33.0)),
        row(EAGER, (1000.0, 1000.0, 300.0), (2000.0, 2000.0, 300.0), (4000.0, 4000.0, 300.0)),
    ]
    found = {figure.id: figure for figure in figures(rows)}
    assert list(found) == ["P14a", "P14b", "P12"]
    assert found["P14a"].ratio == pytest.approx(0.1) and found["P14a"].is_met
    assert found["P14b"].ratio == pytest.approx(0.5)
    assert found["P12"].ratio == pytest.approx(0.1)
    assert (found["P12"].own, found["P12"].peer, found["P12"].unit) == (30.0, 300.0, "MB")
    assert found["P14b"].low <= found["P14b"].ratio <= found["P14b"].high


def test_without_the_peer_there_is_nothing_to_compare_with() -> None:
    assert figures([row(BOX, (100.0, 500.0, 30.0))]) == []


def _process(proc: Path, pid: int, parent: int, kilobytes: int) -> None:
    folder = proc / str(pid)
    folder.mkdir(parents=True)
    (folder / "stat").write_text(f"{pid} (a (name)) S {parent} " + "0 " * 40)
    (folder / "smaps_rollup").write_text(
        f"00-ff ---p [rollup]\nRss:    9999 kB\nPss:    {kilobytes} kB\nPss_Anon: 1 kB\n"
    )


def test_memory_counts_what_was_started_and_nobody_else(tmp_path: Path) -> None:
    for pid, parent, kilobytes in ((10, 1, 1000), (11, 10, 2000), (12, 11, 4000), (20, 1, 8000)):
        _process(tmp_path, pid, parent, kilobytes)
    assert pss_megabytes(10, tmp_path) == pytest.approx(7.168)


def test_this_process_takes_some_megabytes() -> None:
    assert 5 < pss_megabytes(os.getpid()) < 5000
