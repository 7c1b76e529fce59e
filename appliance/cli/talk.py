"""``appliance talk``: the same conversation typed, with full voice turns on the speaker."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys

from appliance.cli.ask import Watcher, tell_what_failed
from appliance.cli.session import box_or_device
from appliance.cli.typed_lines import typed_lines
from appliance.control import Control


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--silent", action="store_true", help="show the answers instead of speaking them")


def run(arguments: argparse.Namespace) -> int:
    """Until the end of input (Ctrl-D)."""
    return asyncio.run(_talk(arguments))


async def _talk(arguments: argparse.Namespace) -> int:
    async with box_or_device(arguments, has_sound=not arguments.silent) as control:
        if sys.stdin.isatty():
            print("Type what you would say; Ctrl-D ends it.")
        _prompt()
        async for line in typed_lines():
            if line.strip():
                await _take_turn(arguments, control, line.strip())
            _prompt()
    return 0


async def _take_turn(arguments: argparse.Namespace, control: Control, text: str) -> None:
    """One turn. When it fails that is told, and the next line is taken."""
    watcher = Watcher(None, shows_text=arguments.silent and not arguments.json)
    report = await control.call("ask", {"text": text, "voice": not arguments.silent}, watcher)
    watcher.end_line()
    if arguments.json:
        print(json.dumps({**report, "did": watcher.did(report["turn_id"])}, ensure_ascii=False), flush=True)
    elif not arguments.silent:
        print(report["said"] or report["reply"], flush=True)
    tell_what_failed(report, is_voiced=not arguments.silent)


def _prompt() -> None:
    if sys.stdin.isatty():
        print("> ", end="", flush=True)
