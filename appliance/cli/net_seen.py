"""``appliance net seen``: which hosts were asked, by whom, how often, how many bytes; no address of a page."""

from __future__ import annotations

import argparse
import asyncio
from datetime import timedelta
from typing import Any

from appliance.cli.session import records_or_device
from appliance.cli.shared import print_json, print_table
from appliance.clock import SystemClock
from appliance.errors import UsageError

_MOST_DAYS = 90


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the action."""
    parser.add_argument("--days", type=int, default=1, help="how many days back; 1 is today")


def run(arguments: argparse.Namespace) -> int:
    """Print the record."""
    if not 1 <= arguments.days <= _MOST_DAYS:
        raise UsageError(f"--days is a number from 1 to {_MOST_DAYS}")
    rows = asyncio.run(_rows(arguments))
    if arguments.json:
        print_json(rows)
    elif not rows:
        print("nothing was asked over the network")
    else:
        print_table([("DAY", "LANE", "HOST", "WHO", "REQUESTS", "OUT", "IN"), *map(_row, _sorted(rows))])
    return 0


async def _rows(arguments: argparse.Namespace) -> Any:
    since = SystemClock().now().date() - timedelta(days=arguments.days - 1)
    async with records_or_device(arguments) as control:
        return await control.call("net.seen", {"since": since.isoformat()})


def _sorted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What left the house stands first; each day by itself."""
    return sorted(rows, key=lambda row: (row["day"], row["lane"] != "wan", -row["requests"], row["host"]))


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        row["day"],
        row["lane"],
        row["host"],
        row["who"],
        str(row["requests"]),
        _amount(row["bytes_out"]),
        _amount(row["bytes_in"]),
    )


def _amount(size_bytes: int) -> str:
    if size_bytes < 1_000:
        return f"{size_bytes} B"
    return f"{size_bytes / 1e3:.1f} kB" if size_bytes < 1_000_000 else f"{size_bytes / 1e6:.1f} MB"
