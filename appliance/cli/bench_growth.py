"""``appliance bench growth``: what ten and a hundred times the tools, messages and hosts cost."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.cli.bench_figures import report
from appliance.cli.shared import print_table

if TYPE_CHECKING:
    from appliance.bench.growth import GrowthRow


def add_growth_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write the result there, as text and as JSON")


def measure_growth(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    from appliance.bench.growth import measure
    from appliance.bench.machine import describe

    machine = describe()
    rows = measure()
    jobs = [{**dataclasses.asdict(row), "ratios": row.ratios} for row in rows]

    report(arguments, "growth", machine, {"jobs": jobs}, lambda: _print_rows(rows), shown=jobs)
    return 0


def _print_rows(rows: Sequence[GrowthRow]) -> None:
    lines = (
        (
            row.job,
            "in each turn" if row.is_in_turn else "",
            " → ".join(f"{count:,}" for count in row.counts),
            " → ".join(f"{cost:,.2f}" for cost in row.milliseconds) + " ms",
            ", ".join(f"{ratio:.1f} ×" for ratio in row.ratios),
        )
        for row in rows
    )
    print_table([("", "", "of them", "processor time", "by step"), *lines])
