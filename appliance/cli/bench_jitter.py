"""``appliance bench jitter``: how evenly the face moves while the box works."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.cli.bench_figures import figures_object, print_figures, report
from appliance.cli.shared import print_table

if TYPE_CHECKING:
    from appliance.bench.jitter import JitterRow


def add_jitter_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--seconds", type=float, default=60.0, help="of each heartbeat beside each load (default: 60)")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write the result there, as text and as JSON")


def measure_jitter(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    from appliance.bench.jitter import figures, measure
    from appliance.bench.machine import describe

    machine = describe()
    rows = measure(max(3.0, arguments.seconds))
    found = figures(rows)
    result = {"loads": [_summary(row) for row in rows], "figures": figures_object(found)}

    def print_result() -> None:
        _print_rows(rows)
        print()
        print_figures(found)

    report(arguments, "jitter", machine, result, print_result)
    return 0


def _summary(row: JitterRow) -> dict[str, object]:
    own, timer = row.p99_ms
    worst = {"own_max_ms": max(row.own_ms), "timer_max_ms": max(row.timer_ms), "beats": len(row.own_ms)}
    return {"load": row.load, "own_p99_ms": own, "timer_p99_ms": timer, **worst}


def _print_rows(rows: Sequence[JitterRow]) -> None:
    lines = (
        (
            row.load,
            "{:.2f} ms / {:.2f} ms".format(*row.p99_ms),
            f"{max(row.own_ms):.2f} ms / {max(row.timer_ms):.2f} ms",
        )
        for row in rows
    )
    print_table([("beside", "late by, 99 of 100: face / timer", "at most"), *lines])
