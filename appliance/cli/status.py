"""``appliance status``: what the box is, has and does now."""

from __future__ import annotations

import argparse
import asyncio

from appliance.cli.session import running_device
from appliance.cli.shared import complain, home_of, print_json, print_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """No arguments of its own."""


def run(arguments: argparse.Namespace) -> int:
    """Exit code 1 when no device runs."""
    return asyncio.run(_status(arguments))


async def _status(arguments: argparse.Namespace) -> int:
    home = home_of(arguments)
    async with running_device(home) as device:
        status = await device.call("status") if device is not None else {"state": "not running"}
    facts = {"home": str(home.folder), **status}
    if arguments.json:
        print_json(facts)
    else:
        print_table([(key, _words(value)) for key, value in facts.items()])
    if device is None:
        complain("no device runs on this home; appliance run starts it")
        return 1
    return 0


def _words(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {entry}" for key, entry in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "yes" if value is True else "no" if value is False else str(value)
