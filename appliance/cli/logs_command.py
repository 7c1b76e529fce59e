"""``appliance logs``: what the device logged, of one turn or one plugin, and what it logs now."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import re
from datetime import datetime, timedelta
from typing import Any

from appliance.cli.session import running_device
from appliance.cli.shared import complain, home_of
from appliance.clock import Clock, SystemClock
from appliance.control import Control
from appliance.errors import ApplianceError, JournalError, NotRunningError, UsageError
from appliance.ports_logs import Journal, LogLine
from appliance.wiring_setup import journal

_SPAN = re.compile(r"(\d+)\s*([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("-f", "--follow", action="store_true", help="go on with what comes, until Ctrl-C")
    parser.add_argument("-n", "--count", type=int, default=200, help="how many of the last lines (200)")
    parser.add_argument("--turn", default="", metavar="ID", help="only of this turn; appliance turns lists them")
    parser.add_argument("--plugin", default="", metavar="NAME", help="only of this plugin, with what it printed")
    parser.add_argument(
        "--since",
        default="",
        metavar="TIME",
        help="only from then on: 10m, 2h, 1d, 15:07, 2026-05-04, 2026-05-04T15:07",
    )


def run(arguments: argparse.Namespace) -> int:
    """From the journal of the service where there is one, else from the memory of the running device."""
    if arguments.count < 1:
        raise UsageError("--count wants a number from 1 on")
    since = since_when(arguments.since, SystemClock())
    return asyncio.run(_logs(arguments, since, journal() if home_of(arguments).is_service else None))


async def _logs(arguments: argparse.Namespace, since: datetime | None, service_journal: Journal | None) -> int:
    fault: ApplianceError = NotRunningError(
        "no device runs on this home; it keeps its log in memory, so there is one only while it runs"
    )
    if service_journal is not None:
        try:
            await show_journal(arguments, service_journal, since)
            return 0
        except JournalError as error:
            fault = error
    async with running_device(home_of(arguments)) as device:
        if device is None:
            raise fault
        if service_journal is not None:
            complain(f"{fault} (this is what the running device has in memory)")
        await show_device(arguments, device, since)
    return 0


async def show_journal(arguments: argparse.Namespace, source: Journal, since: datetime | None) -> None:
    """Print what fits of the journal. Raises ``JournalError``."""
    is_chosen = bool(arguments.turn or arguments.plugin)
    # What is chosen may lie far back: the journal knows no turns.
    count = 100_000 if is_chosen else arguments.count
    kept: list[LogLine] = []
    async for line in source.lines(count=count, since=since, follow=arguments.follow):
        if not line.is_wanted(arguments.turn, arguments.plugin):
            continue
        if arguments.follow or not is_chosen:
            _print(arguments, line)
        else:
            kept.append(line)
    for line in kept[-arguments.count :]:
        _print(arguments, line)


async def show_device(arguments: argparse.Namespace, device: Control, since: datetime | None) -> None:
    """Print what fits of the memory of a running device."""
    params = {
        "turn": arguments.turn,
        "plugin": arguments.plugin,
        "since": since.isoformat() if since is not None else "",
        "count": arguments.count,
        "follow": arguments.follow,
    }

    def show(event: Any) -> None:
        for entry in event["lines"]:
            _print(arguments, LogLine(**entry))

    await device.call("logs.tail", params, show)


def since_when(text: str, clock: Clock) -> datetime | None:
    """The moment that somebody typed; None for "". Raises ``UsageError``."""
    text = text.strip()
    if not text:
        return None
    now = clock.now()
    if span := _SPAN.fullmatch(text):
        return now - timedelta(seconds=int(span[1]) * _SECONDS[span[2]])
    try:
        if time := _CLOCK.fullmatch(text):
            moment = now.replace(hour=int(time[1]), minute=int(time[2]), second=0, microsecond=0)
            return moment if moment <= now else moment - timedelta(days=1)
        moment = datetime.fromisoformat(text)
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=now.tzinfo)
    except ValueError as error:
        raise UsageError(
            f"--since wants 10m, 2h, 1d, a time as 15:07, or a date as 2026-05-04T15:07, not {text!r}"
        ) from error


def _print(arguments: argparse.Namespace, line: LogLine) -> None:
    """One line of text, or one JSON object a line: a log has no end that a document could have."""
    if arguments.json:
        print(json.dumps(dataclasses.asdict(line), ensure_ascii=False), flush=True)
        return
    shown = dataclasses.replace(line, source=line.source.removeprefix("appliance."))
    text = shown.written if line.source else line.text
    print(f"{line.at[:19].replace('T', ' ')} {text}", flush=True)
