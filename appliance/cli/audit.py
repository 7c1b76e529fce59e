"""``appliance audit``: who did what, when, with whose permission; and whether the trail is whole."""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

from appliance.cli.session import records_or_device
from appliance.cli.shared import complain, print_json, print_table

#: Details that say what the rest of the line says too.
_PLAIN = ("decision", "executed", "executed:failed", "executed:interrupted")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--count", type=int, default=50, help="how many of the last lines")
    parser.add_subparsers(dest="action", metavar="ACTION").add_parser("verify", help="check the whole trail")


def run(arguments: argparse.Namespace) -> int:
    """List or verify; exit code 1 when the trail is not whole."""
    return asyncio.run(_audit(arguments))


async def _audit(arguments: argparse.Namespace) -> int:
    async with records_or_device(arguments) as control:
        if arguments.action == "verify":
            faults = await control.call("audit.verify")
            return _report(arguments, faults)
        lines = await control.call("audit.list", {"count": arguments.count})
    if arguments.json:
        print_json(lines)
    else:
        print_table([_row(line) for line in lines])
    return 0


def _row(line: dict[str, Any]) -> tuple[str, ...]:
    entry = line["entry"]
    facts = (
        entry["verdict"] or entry["outcome"],
        entry["approver"],
        f"{entry['took_seconds']:.1f} s" if entry["took_seconds"] else "",
        entry["arguments_preview"],
        entry["error"],
        "" if entry["detail"] in _PLAIN else entry["detail"],
    )
    return (str(line["sequence"]), line["at"][:19], entry["kind"], entry["tool"], " ".join(filter(None, facts)))


def _report(arguments: argparse.Namespace, faults: list[str]) -> int:
    if arguments.json:
        print_json({"is_whole": not faults, "faults": faults})
    elif not faults:
        print("the audit trail is whole")
    for fault in faults:
        complain(f"the audit trail is not whole: {fault}")
    return 1 if faults else 0
