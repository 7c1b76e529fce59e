"""``appliance bench turn``: the box against its peers, from the end of speech to the first sound of the answer."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.cli.bench_figures import print_figures, save
from appliance.cli.shared import complain, config_of, credentials_of, home_of, print_json, print_table

if TYPE_CHECKING:
    from appliance.bench.turn import Result
    from appliance.bench.turn_figures import SystemRow
    from appliance.bench.turn_system import Turn

_SYSTEMS = ("sequential", "sentences", "smart turn")


def add_turn_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--clips", type=int, default=None, help="take only so many (default: all, in noise too)")
    parser.add_argument("--passes", type=int, default=3, help="how often each system hears each clip (default: 3)")
    parser.add_argument(
        "--against",
        default=",".join(_SYSTEMS),
        metavar="NAMES",
        help=f"loops to compare with, of: {', '.join(_SYSTEMS)} (default: all)",
    )
    parser.add_argument("--threads", type=int, default=0, help="cores for each system (default: all, at most 4)")
    parser.add_argument("--one-pace", action="store_true", help="only the quick model, not one at once and a slow one")
    parser.add_argument("--peers", action="store_true", help="pipecat-ai too; the first time 860 MB are fetched")
    parser.add_argument("--peers-venv", type=Path, metavar="FOLDER", help="where it is installed (default: the cache)")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write the result there, as text and as JSON")


def measure_turns(arguments: argparse.Namespace) -> int:
    """Exit code 1 when the machine was too busy for the figures to mean anything."""
    from appliance.bench.peers import environment_of
    from appliance.bench.turn import Wanted, measure
    from appliance.wiring import pip_environment

    home, config = home_of(arguments), config_of(arguments)
    peers = None
    if arguments.peers or arguments.peers_venv:
        folder = arguments.peers_venv or home.cache_folder / "peers"
        peers = environment_of(folder, pip_environment(config, credentials_of(arguments)), say=complain)
    wanted = Wanted(
        most_clips=arguments.clips and max(1, arguments.clips),
        passes=max(1, arguments.passes),
        systems=[name for name in _SYSTEMS if name in arguments.against.split(",")],
        has_other_paces=not arguments.one_pace,
        threads=max(0, arguments.threads),
        settings=dict(pair.partition("=")[::2] for pair in arguments.set),
        peers_folder=peers,
    )
    result = measure(config, home, wanted, _tell if sys.stderr.isatty() or arguments.debug else lambda _turn: None)
    if arguments.json:
        print_json(dataclasses.asdict(result))
    else:
        print_result(result)
    if arguments.save is not None:
        save(arguments.save, "turn", dataclasses.asdict(result), lambda: print_result(result))
    if not result.is_quiet:
        complain(f"the machine is too busy: the box against itself is {result.again_ratio.value:.2f} ×, not near 1")
    return 0 if result.is_quiet else 1


def print_result(result: Result) -> None:
    """The machine, the figures, and what is behind them."""
    print(result.machine.in_words())
    if result.throttled_after:
        print(f"throttled {result.throttled_after} at the end")
    print(f"whisper {result.weights}, {result.threads} threads for each system, {result.passes} passes")
    print(f"{result.clips} clips (SHA-256 {result.clips_sha256[:16]})")
    again, busy = result.again_ratio, "" if result.is_quiet else ": too busy, the figures mean nothing"
    print(f"the box against itself {again.value:.3f} × ({again.low:.3f} to {again.high:.3f}){busy}\n")
    print_figures(result.figures)
    print("\nfrom the end of speech to the first sound:")
    _print_rows(result.rows)


def _print_rows(rows: Sequence[SystemRow]) -> None:
    head = ("", "model", "noise", "turns", "median", "95 of 100", "words wrong", "processor", "transcripts", "requests")
    lines = (
        (
            row.system,
            row.pace,
            row.noise,
            str(row.turns),
            f"{row.median_milliseconds:,.0f} ms",
            f"{row.p95_milliseconds:,.0f} ms",
            f"{row.word_error_percent:.1f} %",
            f"{row.cpu_seconds:.2f} s",
            f"{row.transcripts:.2f}",
            f"{row.requests:.2f}",
            f"{row.early} / {row.cut} / {row.missed}",
        )
        for row in rows
    )
    print_table([(*head, "early / cut / missed"), *lines])


def _tell(turn: Turn) -> None:
    first = f"{turn.milliseconds:,.0f} ms" if turn.milliseconds is not None else "does not count"
    heard = turn.taken.heard or turn.taken.problem
    print(f"{turn.number} {turn.pace:14} {turn.clip.name:10} {turn.system:16} {first:>14}  {heard}", file=sys.stderr)
