"""Figures of the benchmark, as a table and as one object; and results that are kept."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import io
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from appliance.cli.shared import print_json, print_table

if TYPE_CHECKING:
    from appliance.bench.figures import Figure
    from appliance.bench.machine import Machine


def print_figures(figures: Iterable[Figure]) -> None:
    """One line for each."""
    head = ("", "", "against", "ratio", "95 of 100", "goal", "", "medians", "beside it")
    lines = (
        (
            figure.id,
            figure.name,
            figure.against,
            f"{figure.ratio:.3f} ×",
            f"{figure.low:.3f} to {figure.high:.3f}",
            f"≤ {figure.goal:.2f}",
            "met" if figure.is_met else "not met",
            f"{figure.own:,.4g} / {figure.peer:,.4g} {figure.unit}".strip(),
            figure.guard,
        )
        for figure in figures
    )
    print_table([head, *lines])


def figures_object(figures: Iterable[Figure]) -> dict[str, dict[str, float]]:
    """Figure id to ratio, goal and interval."""
    return {
        figure.id: {"ratio": figure.ratio, "goal": figure.goal, "low": figure.low, "high": figure.high}
        for figure in figures
    }


def report(
    arguments: argparse.Namespace,
    name: str,
    machine: Machine,
    result: Mapping[str, Any],
    print_result: Callable[[], None],
    *,
    shown: Any = None,
) -> None:
    """Print a result, or with ``--json`` what is ``shown`` of it (all of it unless given); ``--save`` keeps both forms.

    The machine stands above the text, and beside what is kept.
    """

    def print_it() -> None:
        print(machine.in_words(), end="\n\n")
        print_result()

    if arguments.json:
        print_json(result if shown is None else shown)
    else:
        print_it()
    if arguments.save is not None:
        save(arguments.save, name, {"machine": dataclasses.asdict(machine), **result}, print_it)


def save(folder: Path, name: str, result: Any, print_it: Callable[[], None]) -> None:
    """``result`` as ``NAME.json`` in ``folder``, and what ``print_it`` prints as ``NAME.txt``."""
    folder.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        print_it()
    (folder / f"{name}.txt").write_text(text.getvalue(), encoding="utf-8")
    document = json.dumps(result, ensure_ascii=False, indent=2, default=str)
    (folder / f"{name}.json").write_text(f"{document}\n", encoding="utf-8")
