"""``appliance turns``: how fast the last turns were, and exactly what a model got and answered."""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

from appliance.cli.session import records_or_device
from appliance.cli.shared import print_json, print_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--count", type=int, default=20, help="how many of the last turns")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    show = actions.add_parser("show", help="one turn")
    show.add_argument("turn_id")
    show.add_argument("--model", action="store_true", help="what the model got and answered, secrets masked")


def run(arguments: argparse.Namespace) -> int:
    """List the turns, or show one."""
    return asyncio.run(_turns(arguments))


async def _turns(arguments: argparse.Namespace) -> int:
    async with records_or_device(arguments) as control:
        if arguments.action is None:
            turns = await control.call("turns.last", {"count": arguments.count})
            return _print_list(turns, as_json=arguments.json)
        story = await control.call("turns.show", {"turn_id": arguments.turn_id})
    if arguments.json:
        print_json(story)
        return 0
    times = story["times"]
    print(f"{times['turn_id']}  {times['started_at']}  {times['origin']}  {times['end_reason']}")
    print_table(
        [
            (f"{seconds:8.3f} s", stage.replace("_", " "))
            for stage, seconds in sorted(times["stages"].items(), key=lambda s: s[1])
        ]
    )
    print_table([(_span(step), step["tool"], step["kind"], _mark(step)) for step in story["steps"]])
    if arguments.model:
        for model_round in story["rounds"]:
            print(f"\n--- round {model_round['number']}: request")
            print_json(model_round["request"])
            print(f"--- round {model_round['number']}: answer")
            print_json(model_round["answer"])
        if not story["rounds"]:
            print("no model was asked in this turn")
    return 0


def _span(step: dict[str, Any]) -> str:
    ended = step["ended_seconds"]
    return f"{step['started_seconds']:8.3f} s" + (f" to {ended:.3f} s" if ended is not None else " and on")


def _mark(step: dict[str, Any]) -> str:
    """Mark and note of an action's row; a call that only read has none."""
    return ": ".join(filter(None, (step["mark"], step["note"])))


def _print_list(turns: list[dict[str, Any]], *, as_json: bool) -> int:
    if as_json:
        print_json(turns)
        return 0
    if not turns:
        print("no turn yet")
        return 0
    rows = [("turn", "started", "origin", "end", "waited", "whole")]
    for turn in turns:
        stages = turn["stages"]
        waited = stages.get("first_sound")
        if waited is not None:
            waited -= stages.get("speech_ended", 0.0)
        started = turn["started_at"][:19].replace("T", " ")
        rows.append(
            (
                turn["turn_id"],
                started,
                turn["origin"],
                turn["end_reason"],
                _seconds(waited),
                _seconds(stages.get("ended")),
            )
        )
    print_table(rows)
    return 0


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f} s"
