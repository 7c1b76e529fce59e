"""``appliance bench``: what things cost on this machine, as ratios and shares."""

from __future__ import annotations

import argparse
import dataclasses

from appliance.cli.shared import print_json, print_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    face = actions.add_parser("face", help="every kind of face at once, on buses that only remember")
    face.add_argument("--seconds", type=float, default=60.0, help="how much of a face is made (default: 60)")
    network = actions.add_parser("network", help="the plugins' door to HTTP against bare httpx and bare requests")
    network.add_argument("--rounds", type=int, default=9, help="how often each is measured (default: 9)")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    return _face(arguments) if arguments.action == "face" else _network(arguments)


def _face(arguments: argparse.Namespace) -> int:
    from appliance.bench.face import measure

    rows = measure(max(1.0, arguments.seconds))
    if arguments.json:
        print_json([{**dataclasses.asdict(row), "milliseconds": row.milliseconds} for row in rows])
        return 0
    head = ("", "poses", "each", "share of a core")
    lines = ((row.part, f"{row.poses:,}", f"{row.milliseconds:.2f} ms", f"{row.share_percent:.1f} %") for row in rows)
    print_table([head, *lines])
    return 0


def _network(arguments: argparse.Namespace) -> int:
    from appliance.bench.network import BASE, measure

    rows = measure(max(1, arguments.rounds))
    if arguments.json:
        print_json([dataclasses.asdict(row) for row in rows])
        return 0
    head = ("", "", "per request", f"against {BASE}")
    print_table([head, *((row.job, row.way, f"{row.microseconds:,.0f} µs", f"{row.ratio:.2f} ×") for row in rows)])
    return 0
