"""``appliance net gear``: what is on the network, as the plugin of that name sees it."""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from typing import Any

from appliance.cli.session import box_or_device
from appliance.cli.shared import complain, print_json, print_table

_TOOL = "lan_gear_look"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the action."""
    parser.add_argument("--scan", action="store_true", help="also knock at every address of the network")


def run(arguments: argparse.Namespace) -> int:
    """Look, which takes some seconds, and print a table."""
    return asyncio.run(_gear(arguments))


async def _gear(arguments: argparse.Namespace) -> int:
    asked = {"form": "data", "scan": arguments.scan}
    async with box_or_device(arguments) as control:
        result = await control.call("tool.run", {"name": _TOOL, "arguments": asked, "yes": False})
    if result["outcome"] != "ok":
        complain(f"the network could not be looked at: {result['text'] or result['error']}")
        return 1
    found = json.loads(result["text"])
    if arguments.json:
        print_json(found)
    else:
        print_table([_row(thing) for thing in found["things"]])
    return 0


def _row(thing: dict[str, Any]) -> tuple[str, ...]:
    kinds = " + ".join([thing["kind"], *thing["also"]])
    name = thing["name"] or "(no name)"
    first_seen = "new" if thing["is_new"] else time.strftime("%Y-%m-%d", time.localtime(thing["first_seen"]))
    reasons = "; ".join(dict.fromkeys(item["says"] for item in thing["evidence"]))
    return (thing["address"], thing["lane"], name, kinds, f"{int(thing['confidence'] * 100)}%", first_seen, reasons)
