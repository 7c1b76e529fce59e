"""``appliance bench``: what things cost on this machine, as ratios and shares."""

from __future__ import annotations

import argparse
import dataclasses

from appliance.cli.bench_hearing import measure_hearing
from appliance.cli.shared import print_json, print_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    face = actions.add_parser("face", help="every kind of face at once, on buses that only remember")
    face.add_argument("--seconds", type=float, default=60.0, help="how much of a face is made (default: 60)")
    network = actions.add_parser("network", help="the plugins' door to HTTP against bare httpx and bare requests")
    network.add_argument("--rounds", type=int, default=9, help="how often each is measured (default: 9)")
    hearing = actions.add_parser("hearing", help="the transcriber against faster-whisper as it comes: time and errors")
    hearing.add_argument("--clips", type=int, default=None, help="take only so many (default: all, about 90)")
    speaking = actions.add_parser("speaking", help="the voice streamed in windows against piper-tts")
    speaking.add_argument("--rounds", type=int, default=5, help="how often each is measured (default: 5)")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    return {"face": _face, "network": _network, "speaking": _speaking, "hearing": measure_hearing}[arguments.action](
        arguments
    )


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


def _speaking(arguments: argparse.Namespace) -> int:
    from appliance.bench.speaking import measure

    rows = measure(max(1, arguments.rounds))
    if arguments.json:
        print_json([dataclasses.asdict(row) for row in rows])
        return 0
    lines = (
        (
            row.figure,
            row.name,
            f"{row.ratio:.3f} × ({row.low:.3f} to {row.high:.3f})",
            f"≤ {row.goal:.2f} ×" if row.goal is not None else "",
            f"{row.milliseconds:,.0f} ms",
            f"{row.sentences}",
        )
        for row in rows
    )
    print_table([("", "", "against piper-tts", "goal", "median", "sentences"), *lines])
    return 0
