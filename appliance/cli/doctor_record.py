"""``appliance doctor --record``: gathers what somebody who helps wants to see."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from appliance.cli.session import records_or_device
from appliance.cli.shared import check_writable, credentials_of, home_of
from appliance.clock import SystemClock
from appliance.config import Config
from appliance.control import Control, Json
from appliance.doctor import record as archive
from appliance.doctor.finding import Finding, summary
from appliance.errors import ApplianceError
from appliance.store.credentials import Credentials
from appliance.wiring import house_network
from appliance.wiring_doctor import machine

_TURNS = 200
_LOG_LINES = 500


async def record(arguments: argparse.Namespace, config: Config, control: Control, findings: list[Finding]) -> Path:
    """Write the archive; where it is. Raises ``ApplianceError`` when it cannot be written."""
    home, credentials = home_of(arguments), credentials_of(arguments)
    file: Path = arguments.out or Path(f"appliance-doctor-{SystemClock().now():%Y%m%d-%H%M%S}.tar.gz")
    check_writable(file)
    await _learn_secrets(home.plugin_settings_folder, config, credentials)
    told: dict[str, Json] = {"findings.txt": "\n".join(map(_line, findings)) + f"\n{summary(findings)}\n"}
    told |= {"findings.json": [finding.to_json() for finding in findings]}
    told |= {"settings.json": archive.settings(config)}
    told |= {"versions.json": await asyncio.to_thread(archive.versions, machine())}
    told |= await asyncio.to_thread(archive.crashes, home.crash_folder)
    told |= {
        "status.json": await _asked(partial(control.call, "status"), dict),
        "plugins.json": await _asked(partial(control.call, "plugin.list"), archive.plugins),
        "turns.json": await _asked(partial(_turns, arguments), archive.turns),
        "log.txt": await _asked(partial(_log, control), archive.log_lines),
    }
    try:
        await asyncio.to_thread(archive.write_archive, file, told, credentials.redact)
    except FileExistsError as error:
        raise ApplianceError(f"{file} is there already; name another file with --out") from error
    return file


async def _learn_secrets(settings_folder: Path, config: Config, credentials: Credentials) -> None:
    """What is no credential by its name and must be masked all the same."""
    for secret in await asyncio.to_thread(archive.plugin_secrets, settings_folder):
        credentials.hide(secret)
    for name in credentials.names:
        credentials.get(name)
    try:
        house_network(config, credentials, SystemClock()).proxy()
    except ApplianceError:
        return  # a proxy that makes no sense is told without its address


async def _asked(ask: Callable[[], Awaitable[Json]], picked: Callable[[Any], Json]) -> Json:
    """What is picked of the answer, else why there is none."""
    try:
        return picked(await ask())
    except ApplianceError as error:
        return f"not there: {error}\n"


async def _turns(arguments: argparse.Namespace) -> Json:
    async with records_or_device(arguments) as records:
        return await records.call("turns.last", {"count": _TURNS})


async def _log(control: Control) -> list[Mapping[str, Any]]:
    lines: list[Mapping[str, Any]] = []
    await control.call("logs.tail", {"count": _LOG_LINES}, lambda event: lines.extend(event["lines"]))
    return lines


def _line(finding: Finding) -> str:
    return f"{finding.verdict.value:<12}{finding.check:<28}{finding.sentence} {finding.advice}".rstrip()
