"""``appliance bench --quick``: the gate of every change of the program."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from typing import TYPE_CHECKING

from appliance.cli.bench_figures import figures_object, print_figures, save
from appliance.cli.shared import complain, config_of, home_of, print_json

if TYPE_CHECKING:
    from appliance.bench.machine import Machine
    from appliance.bench.quick import Gate


def run_quick(arguments: argparse.Namespace) -> int:
    """Exit code 1 when a figure is further over its goal than it may be, or could not be measured."""
    from appliance.bench.machine import describe
    from appliance.bench.quick import ALLOWANCE, quick_checks, run_gate

    machine, shows = describe(), sys.stderr.isatty()
    gate = run_gate(
        quick_checks(config_of(arguments), home_of(arguments)),
        lambda line: print(f"measuring {line}", file=sys.stderr) if shows else None,
    )
    if arguments.json:
        print_json(figures_object(gate.figures))
    else:
        print_figures(gate.figures)
    if arguments.save is not None:
        result = {"machine": dataclasses.asdict(machine), "figures": list(map(dataclasses.asdict, gate.figures))}
        save(arguments.save, "quick", result, lambda: _print_all(machine, gate))
    for problem in gate.problems:
        complain(problem)
    for figure in gate.failed:
        complain(f"{figure.id} is {figure.ratio:.3f} ×, more than {ALLOWANCE:.2f} times its goal of {figure.goal:.2f}")
    return 0 if gate.is_passed else 1


def _print_all(machine: Machine, gate: Gate) -> None:
    print(f"{machine.in_words()}\n")
    print_figures(gate.figures)
