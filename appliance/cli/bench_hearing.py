"""``appliance bench hearing``: its tables and figures, or all of it as JSON."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from appliance.cli.bench_figures import print_figures
from appliance.cli.shared import config_of, home_of, print_json, print_table

if TYPE_CHECKING:
    from appliance.bench.endings import EndingRow
    from appliance.bench.hearing import Result, SilenceRow, WayRow
    from appliance.bench.intervals import Estimate


def measure_hearing(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    from appliance.bench.hearing import measure
    from appliance.listen.config import ListenConfig
    from appliance.wiring_hearing import hearing_parts

    config = config_of(arguments)
    clips = None if arguments.clips is None else max(1, arguments.clips)
    with hearing_parts(config, home_of(arguments)) as parts:
        result = measure(parts, config.of(ListenConfig), clips)
    if arguments.json:
        print_json(dataclasses.asdict(result))
    else:
        _print_hearing(result)
    return 0


def _print_hearing(result: Result) -> None:
    from appliance.bench.hearing import figures

    _print_ways(result.ways)
    print(f"\n{result.clips} clips; {result.full_windows} needed the full window after the short one; ", end="")
    print(f"the box against itself {_interval(result.again_ratio, '.2f', ' ×')}\n")
    _print_silences(result.silences)
    print("\nfrom the end of speech:")
    _print_endings(result.endings.rows)
    print()
    print_figures(figures(result))


def _print_ways(rows: Sequence[WayRow]) -> None:
    head = ("", "median", "95 of 100", "against faster-whisper", "words wrong", "more than the full window")
    lines = (
        (
            row.way,
            f"{row.median_milliseconds:,.0f} ms",
            f"{row.p95_milliseconds:,.0f} ms",
            _interval(row.ratio, ".2f", " ×"),
            f"{row.word_error_percent:.1f} %",
            _interval(row.more_errors_percent, "+.1f", " %"),
        )
        for row in rows
    )
    print_table([head, *lines])
    kinds = list(rows[0].word_error_percent_of)
    of_kind = ((row.way, *(f"{row.word_error_percent_of[kind]:.1f} %" for kind in kinds)) for row in rows)
    print()
    print_table([("words wrong", *kinds), *of_kind])


def _print_silences(rows: Sequence[SilenceRow]) -> None:
    lines = (
        (row.sound, row.way, f"{row.milliseconds:,.1f} ms", f"{row.ratio:.3f} ×", repr(row.heard) if row.heard else "-")
        for row in rows
    )
    print_table([("nobody speaks", "", "", "", "heard"), *lines])


def _print_endings(rows: Sequence[EndingRow]) -> None:
    pauses = list(rows[0].cut_percent_of)
    times = ("pause seen", "turn over", "text given", "95 of 100")
    head = (
        "",
        *times,
        "begun for each",
        "cut early",
        *(f"cut by {pause}" for pause in pauses),
        "words wrong",
        "missed",
    )
    lines = (
        (
            row.way,
            *(f"{value:,.0f} ms" for value in (row.soft_end, row.over, row.given, row.given_p95)),
            f"{row.transcripts_each:.2f}",
            f"{row.cut_early} of {row.utterances}",
            *(f"{row.cut_percent_of[pause]:.0f} %" for pause in pauses),
            f"{row.word_error_percent:.1f} %",
            str(row.missed),
        )
        for row in rows
    )
    print_table([head, *lines])


def _interval(figure: Estimate, form: str, unit: str) -> str:
    return f"{figure.value:{form}}{unit} ({figure.low:{form}} to {figure.high:{form}})"
