"""``appliance bench``: what things cost on this machine, as ratios and shares."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

from appliance.cli.bench_echo import add_echo_arguments, measure_echo
from appliance.cli.bench_growth import add_growth_arguments, measure_growth
from appliance.cli.bench_hearing import measure_hearing
from appliance.cli.bench_idle import add_idle_arguments, measure_idle
from appliance.cli.bench_jitter import add_jitter_arguments, measure_jitter
from appliance.cli.bench_quick import run_quick
from appliance.cli.bench_start import add_start_arguments, measure_start
from appliance.cli.bench_turn import add_turn_arguments, measure_turns
from appliance.cli.bench_wake import add_wake_arguments, measure_wake
from appliance.cli.shared import print_json, print_table
from appliance.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--quick", action="store_true", help="the cheap figures only, and whether they are good enough")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="with --quick: write the result there too")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    face = actions.add_parser("face", help="every kind of face at once, on buses that only remember")
    face.add_argument("--seconds", type=float, default=60.0, help="how much of a face is made (default: 60)")
    network = actions.add_parser("network", help="the plugins' door to HTTP against bare httpx and bare requests")
    network.add_argument("--rounds", type=int, default=9, help="how often each is measured (default: 9)")
    hearing = actions.add_parser("hearing", help="the transcriber against faster-whisper as it comes: time and errors")
    hearing.add_argument("--clips", type=int, default=None, help="take only so many (default: all, about 90)")
    panel = actions.add_parser("panel", help="what an open page costs: processor time, and the time of a turn")
    panel.add_argument("--turns", type=int, default=60, help="how many turns with and without it (default: 60)")
    panel.add_argument("--seconds", type=float, default=20.0, help="how long it is only open (default: 20)")
    speaking = actions.add_parser("speaking", help="the voice streamed in windows against piper-tts")
    speaking.add_argument("--rounds", type=int, default=5, help="how often each is measured (default: 5)")
    add_idle_arguments(actions.add_parser("idle", help="listening while nobody speaks, against what others run"))
    add_wake_arguments(actions.add_parser("wake", help="calls that are missed, and an hour of what is no call"))
    add_start_arguments(actions.add_parser("start", help="until it hears, until it answers, and its memory meanwhile"))
    add_jitter_arguments(actions.add_parser("jitter", help="how evenly the face moves while the box works"))
    add_echo_arguments(actions.add_parser("echo", help="people who talk over the box, and its own voice, in rooms"))
    growth = "what ten and a hundred times the tools, messages and hosts cost"
    add_growth_arguments(actions.add_parser("growth", help=growth))
    turn = "the box against its peers: from the end of speech to the first sound of the answer"
    add_turn_arguments(actions.add_parser("turn", help=turn))


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    if arguments.quick:
        return run_quick(arguments)
    if arguments.action is None:
        raise UsageError("say what to measure, or --quick: appliance bench --help lists it")
    return {
        "face": _face,
        "network": _network,
        "panel": _panel,
        "speaking": _speaking,
        "hearing": measure_hearing,
        "idle": measure_idle,
        "wake": measure_wake,
        "start": measure_start,
        "jitter": measure_jitter,
        "growth": measure_growth,
        "turn": measure_turns,
        "echo": measure_echo,
    }[arguments.action](arguments)


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


def _panel(arguments: argparse.Namespace) -> int:
    from appliance.bench.panel import GOAL_PERCENT, measure

    result = measure(max(1.0, arguments.seconds), max(2, arguments.turns))
    if arguments.json:
        print_json(dataclasses.asdict(result))
        return 0
    ratio = result.turn_ratio
    print(f"an open page takes {result.share_percent:.2f} % of a core (goal: under {GOAL_PERCENT:g} %)")
    print(
        f"a turn with it takes {ratio.value:.3f} × of one without ({ratio.low:.3f} to {ratio.high:.3f}), "
        f"{result.turn_milliseconds:.1f} ms, {result.turns} of each"
    )
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
