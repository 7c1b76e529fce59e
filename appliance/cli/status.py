"""``appliance status``: what the box is, has and does now, on one page."""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import statistics
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from appliance import __version__
from appliance.cli.session import running_device
from appliance.cli.shared import complain, home_of, print_json, print_table
from appliance.control import Control
from appliance.crash_file import crash_files
from appliance.home import Home

#: Turns that the usual wait is taken from.
_TURNS = 50


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """No arguments of its own."""


def run(arguments: argparse.Namespace) -> int:
    """Exit code 1 when no device runs."""
    return asyncio.run(_status(arguments))


async def _status(arguments: argparse.Namespace) -> int:
    home = home_of(arguments)
    facts: dict[str, Any] = {"version": __version__, "home": str(home.folder), "settings": str(home.config_file)}
    async with running_device(home) as device:
        if device is not None:
            facts |= {**await device.call("status"), "answers": await _answers(device)}
        else:
            facts["state"] = "not running"
    facts |= {"disk": disk(home), "last crash": last_crash(home)}
    if arguments.json:
        print_json(facts)
    else:
        print_table([(key, _words(value)) for key, value in facts.items()])
    if device is None:
        complain(f"no device runs on this home; {_how_to_start(home)} starts it")
        return 1
    return 0


async def _answers(device: Control) -> str:
    """How long people waited lately."""
    waits = waits_of(await device.call("turns.last", {"count": _TURNS}))
    if not waits:
        return "none yet"
    return f"{statistics.median(waits):.1f} s usually, {max(waits):.1f} s at worst, of the last {len(waits)}"


def waits_of(turns: Sequence[Mapping[str, Any]]) -> list[float]:
    """Seconds from the last word to the first sound of the box, of every spoken turn that was answered."""
    return [
        turn["stages"]["first_sound"] - turn["stages"]["speech_ended"]
        for turn in turns
        if turn["end_reason"] == "answered" and {"first_sound", "speech_ended"} <= turn["stages"].keys()
    ]


def disk(home: Home) -> str:
    """Room on the disk of the home."""
    try:
        usage = shutil.disk_usage(home.folder)
    except OSError as error:
        return f"cannot tell: {error.strerror}"
    return f"{usage.free / 1e9:.1f} GB free of {usage.total / 1e9:.1f} GB"


def last_crash(home: Home) -> str:
    """The newest file with the stacks of a crash; an empty one waits for one."""
    if home.folder.exists() and not os.access(home.folder, os.R_OK | os.X_OK):
        return "cannot tell: only its owner may look into the home"
    for file in reversed(crash_files(home.crash_folder)):
        facts = file.stat()
        if facts.st_size:
            return f"{datetime.fromtimestamp(facts.st_mtime):%Y-%m-%d %H:%M}, {file}"
    return "none"


def _how_to_start(home: Home) -> str:
    return "sudo systemctl start appliance" if home.is_service else "appliance run"


def _words(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {entry}" for key, entry in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "yes" if value is True else "no" if value is False else str(value)
