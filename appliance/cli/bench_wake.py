"""``appliance bench wake``: calls that are missed, and false wakes in an hour of what is no call."""

from __future__ import annotations

import argparse
import dataclasses
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.cli.bench_figures import report
from appliance.cli.shared import config_of, home_of, print_table

if TYPE_CHECKING:
    from appliance.bench.wake import CallRow, HourRow, NearMissRow, Result


def add_wake_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--minutes", type=float, default=60.0, help="how much sound without a call (default: 60)")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write the result there, as text and as JSON")


def measure_wake(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    from appliance.bench.machine import describe
    from appliance.bench.wake import measure
    from appliance.wiring_wake import wake_parts

    machine = describe()
    with wake_parts(config_of(arguments), home_of(arguments)) as parts:
        result = measure(parts, sound_seconds=60.0 * max(1.0, arguments.minutes))

    report(arguments, "wake", machine, dataclasses.asdict(result), lambda: _print_result(result))
    return 0


def _print_result(result: Result) -> None:
    _print_calls(result.calls)
    print()
    _print_near_misses(result.near_misses)
    print()
    _print_hour(result.hour)
    times = result.milliseconds
    if times:
        slow = statistics.quantiles(times, n=20)[-1] if len(times) > 1 else times[0]
        print(f"\n{len(times)} second looks took {statistics.median(times):.0f} ms, 95 of 100 at most {slow:.0f} ms")


def _print_calls(rows: Sequence[CallRow]) -> None:
    head = ("calls", "", "said", "found by the model", "with the gate", "after a second look", "refused of those found")
    lines = (
        (
            row.voice,
            row.condition,
            str(row.calls),
            str(row.found_without_gate),
            str(row.found),
            str(row.accepted),
            f"{row.refused_percent:.1f} %",
        )
        for row in rows
    )
    print_table([head, *lines])


def _print_near_misses(rows: Sequence[NearMissRow]) -> None:
    head = ("near-misses", "half", "said", "found", "after a second look")
    lines = (
        (
            row.voice,
            "second" if row.is_second_half else "first",
            *map(str, (row.said, row.found, row.accepted)),
        )
        for row in rows
    )
    print_table([head, *lines])


def _print_hour(rows: Sequence[HourRow]) -> None:
    hours = sum(row.minutes for row in rows) / 60.0
    found, accepted = sum(row.found for row in rows), sum(row.accepted for row in rows)
    head = ("no call at all", "minutes", "false wakes", "after a second look")
    lines = [(row.part, f"{row.minutes:.1f}", str(row.found), str(row.accepted)) for row in rows]
    last = ("an hour of all", "60.0", f"{found / hours:.1f}", f"{accepted / hours:.1f}")
    print_table([head, *lines, last])
