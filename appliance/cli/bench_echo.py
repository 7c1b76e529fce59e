"""``appliance bench echo``: people who talk over the box, and its own voice, in simulated rooms."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from appliance.cli.bench_figures import print_figures
from appliance.cli.shared import config_of, home_of, print_json, print_table

if TYPE_CHECKING:
    from appliance.bench.echo import RoomResult


def add_echo_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--rooms", type=int, default=None, help="take only so many, spread over all (default: all, 72)")


def measure_echo(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    from appliance.bench.echo import figures, measure, rooms
    from appliance.wiring_duplex import echo_parts

    chosen = list(rooms())
    if arguments.rooms is not None:
        chosen = chosen[:: max(1, len(chosen) // max(1, arguments.rooms))][: max(1, arguments.rooms)]
    with echo_parts(config_of(arguments), home_of(arguments)) as parts:
        results = measure(parts, chosen)
    if arguments.json:
        print_json([dataclasses.asdict(result) for result in results])
    else:
        print_rooms(results)
        print()
        print_figures(figures(results))
    return 0


def print_rooms(results: Sequence[RoomResult]) -> None:
    """One line for each room, and a line for all."""
    head = ("room: delay, reverberation, echo, skew", "mode", "echo", "removed", "lowered", "paused", "itself", "woken")
    tail = ("stop: silent", "stopped", "barge-in: silent", "words lost", "of a core")
    lines = (
        (
            result.room.name,
            result.mode,
            f"{-result.echo_loss_decibels:+.0f} dB",
            f"{result.removed_decibels:.0f} dB",
            f"{result.ducks}",
            f"{result.holds}",
            f"{result.self_triggers}",
            f"{result.wakes}",
            _milliseconds(result.stop_seconds),
            "yes" if result.is_stopped else "no",
            _milliseconds(result.barge_in_seconds),
            f"{result.words_lost:.0%}",
            f"{result.cost_share:.1%}",
        )
        for result in results
    )
    print_table([(*head, *tail), *lines])
    noticed = [result.barge_in_seconds is not None for result in results]
    print(
        f"\n{len(results)} rooms: {sum(result.self_triggers for result in results)} self-triggers, "
        f"{sum(result.wakes for result in results)} wake words found in its own voice, "
        f"{sum(result.is_stopped for result in results)} stops obeyed, {sum(noticed)} barge-ins noticed"
    )


def _milliseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e3:.0f} ms"
