"""``appliance say``: speak a text."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from appliance.cli.session import box_or_device
from appliance.cli.shared import check_writable, complain, print_json
from appliance.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("text", help="what to say")
    parser.add_argument("--out", type=Path, help="write it to this WAV instead of playing it")


def run(arguments: argparse.Namespace) -> int:
    """Exit code 0 when it was heard whole or written."""
    if not arguments.text.strip():
        raise UsageError("there is nothing to say: the text is empty")
    check_writable(arguments.out)
    return asyncio.run(_say(arguments))


async def _say(arguments: argparse.Namespace) -> int:
    async with box_or_device(arguments, has_sound=True, record_to=arguments.out) as control:
        result = await control.call("say", {"text": arguments.text})
    if arguments.json:
        print_json(result)
    if not result["heard"]:
        complain(
            "there is nothing in it that can be spoken"
            if arguments.out
            else "nothing could be heard; appliance devices shows the speakers, --out writes it to a WAV"
        )
        return 1
    if arguments.out and not arguments.json:
        print(f"wrote {arguments.out}")
    return 0
