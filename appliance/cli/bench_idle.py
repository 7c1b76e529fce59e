"""``appliance bench idle``: what listening costs while nobody speaks."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.cli.bench_figures import figures_object, print_figures, report
from appliance.cli.shared import config_of, credentials_of, print_table

if TYPE_CHECKING:
    from appliance.bench.idle import IdleRow


def add_idle_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--seconds", type=float, default=60.0, help="how long each way is measured (default: 60)")
    parser.add_argument("--peers-venv", type=Path, metavar="FOLDER", help="install pyopen-wakeword and pysilero there")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write the result there, as text and as JSON")


def measure_idle(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    from appliance.bench.idle import figures, measure
    from appliance.bench.machine import describe
    from appliance.wiring import pip_environment

    folder, machine = arguments.peers_venv, describe()
    environment = pip_environment(config_of(arguments), credentials_of(arguments)) if folder else None
    rows = measure(max(4.0, arguments.seconds), folder, environment)
    found = figures(rows)
    result = {"ways": [dataclasses.asdict(row) for row in rows], "figures": figures_object(found)}

    def print_result() -> None:
        _print_rows(rows)
        print()
        print_figures(found)

    report(arguments, "idle", machine, result, print_result)
    return 0


def _print_rows(rows: Sequence[IdleRow]) -> None:
    lines = (
        (row.name, f"{row.share_percent:.2f} %", f"{row.wake_ups_per_second:,.0f}", f"{row.pss_megabytes:.0f} MB")
        for row in rows
    )
    print_table([("listening, nobody speaks to it", "share of a core", "wake-ups a second", "memory (PSS)"), *lines])
