"""``appliance plugin safe-mode``: start without any plugin of the owner."""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

from appliance.cli.session import box_or_device
from appliance.cli.shared import print_json

_ASKED: dict[str, dict[str, Any]] = {"on": {"on": True}, "off": {"on": False}, "status": {}}


def run(arguments: argparse.Namespace) -> int:
    """Switch it, or say how it is."""
    return asyncio.run(_run(arguments))


async def _run(arguments: argparse.Namespace) -> int:
    async with box_or_device(arguments) as control:
        found = await control.call("plugin.safe_mode", _ASKED[arguments.wanted])
    if arguments.json:
        print_json(found)
    elif found["on"]:
        print(f"safe mode is on: {found['why']}. None of your plugins is loaded.")
        print("appliance plugin list shows them; appliance plugin safe-mode off loads them again.")
    else:
        print("safe mode is off")
    return 0
