"""``appliance bench start``: from the start of the process until it hears, and until it answers; and its memory."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.cli.bench_figures import figures_object, print_figures, report
from appliance.cli.shared import config_of, credentials_of, print_table

if TYPE_CHECKING:
    from appliance.bench.start import StartRow


def add_start_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--rounds", type=int, default=10, help="how often each is started (default: 10)")
    parser.add_argument("--peers", type=Path, metavar="FOLDER", help="put pyopen-wakeword and pysilero there first")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write the result there, as text and as JSON")


def measure_start(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    from appliance.bench.machine import describe
    from appliance.bench.start import figures, measure
    from appliance.wiring import pip_environment

    folder, machine = arguments.peers, describe()
    environment = pip_environment(config_of(arguments), credentials_of(arguments)) if folder else None
    rows = measure(max(1, arguments.rounds), folder, environment)
    found = figures(rows)
    result = {"programs": [dataclasses.asdict(row) for row in rows], "figures": figures_object(found)}

    def print_result() -> None:
        _print_rows(rows)
        print()
        print_figures(found)

    report(arguments, "start", machine, result, print_result)
    return 0


def _print_rows(rows: Sequence[StartRow]) -> None:
    lines = (
        (
            row.name,
            f"{row.median('listening_ms'):,.0f} ms",
            f"{row.median('ready_ms'):,.0f} ms",
            f"{row.median('listening_megabytes'):.0f} MB",
            f"{row.median('ready_megabytes'):.0f} MB",
        )
        for row in rows
    )
    print_table([("", "hears after", "answers after", "memory (PSS) then", "and then"), *lines])
