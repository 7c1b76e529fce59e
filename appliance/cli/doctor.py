"""``appliance doctor``: what is wrong with the box, and the one thing to do about each."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

from appliance.cli.session import LocalControl, running_device
from appliance.cli.shared import complain, config_of, credentials_of, home_of, print_json
from appliance.clock import SystemClock
from appliance.config import Config, load
from appliance.control import Control, Json
from appliance.doctor.finding import Finding, Verdict, summary, worst_first
from appliance.errors import ConfigError, RefusedError, UsageError
from appliance.wiring import house_network, http_door, model_endpoint, workers_of
from appliance.wiring_doctor import doctor_of_home

_MARKS = {Verdict.FINE: "fine", Verdict.WRONG: "WRONG", Verdict.CANNOT_TELL: "cannot tell"}
_MARK_WIDTH, _NAME_WIDTH = 13, 28


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "checks", nargs="*", metavar="CHECK", help="only these groups or checks, such as sound machine.disk"
    )
    parser.add_argument(
        "--quick", action="store_true", help="leave out what takes long, sounds, or asks somebody outside"
    )
    parser.add_argument(
        "--record", action="store_true", help="write an archive for somebody who helps, without secrets or words"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="where --record writes it")


def run(arguments: argparse.Namespace) -> int:
    """Exit code 0 when nothing is wrong, else 1."""
    if arguments.out is not None and not arguments.record:
        raise UsageError("--out goes with --record")
    return asyncio.run(_doctor(arguments))


async def _doctor(arguments: argparse.Namespace) -> int:
    config = _config(arguments)
    async with _asked(arguments, config) as (control, is_running):
        findings = await _findings(arguments, control)
        archive = await _record(arguments, config, control, findings) if arguments.record else None
    bad = worst_first(findings)
    if arguments.json:
        print_json(
            {
                "findings": [finding.to_json() for finding in findings],
                "wrong": len(bad),
                "worst": bad[0].check if bad else None,
                "is_running": is_running,
                **({"archive": str(archive)} if archive is not None else {}),
            }
        )
    else:
        print(summary(findings))
        if archive is not None:
            print(f"{archive} holds it all, without secrets, sound or words; look through it before you give it away.")
    return 1 if bad else 0


async def _findings(arguments: argparse.Namespace, control: Control) -> list[Finding]:
    shown: Callable[[Json], None] = (lambda _event: None) if arguments.json else _show
    answer = await control.call("doctor", {"checks": arguments.checks, "quick": arguments.quick}, shown)
    return [Finding.from_json(entry) for entry in answer["findings"]]


def _show(event: Json) -> None:
    finding = Finding.from_json(event["finding"])
    print(f"{_MARKS[finding.verdict]:<{_MARK_WIDTH}}{finding.check:<{_NAME_WIDTH}}{finding.sentence}", flush=True)
    if finding.advice:
        print(f"{'':<{_MARK_WIDTH + _NAME_WIDTH}}-> {finding.advice}", flush=True)


def _config(arguments: argparse.Namespace) -> Config:
    """The settings; a file that is none is a finding too."""
    try:
        return config_of(arguments, keep_going=True)
    except ConfigError as error:
        return replace(load(None, {}), problems=(str(error),))


@asynccontextmanager
async def _asked(arguments: argparse.Namespace, config: Config) -> AsyncIterator[tuple[Control, bool]]:
    """The running box, else its home looked at from outside; and which of both it is."""
    async with AsyncExitStack() as stack:
        device = None
        try:
            device = await stack.enter_async_context(running_device(home_of(arguments)))
        except RefusedError as error:
            complain(f"{error}; this is what can be seen from outside")
        if device is not None:
            yield device, True
        else:
            yield await stack.enter_async_context(_home_doctor(arguments, config)), False


@asynccontextmanager
async def _home_doctor(arguments: argparse.Namespace, config: Config) -> AsyncIterator[Control]:
    clock, home, credentials = SystemClock(), home_of(arguments), credentials_of(arguments)
    door = http_door(config, credentials)
    try:
        async with doctor_of_home(
            home,
            config,
            network=lambda: house_network(config, credentials, clock),
            endpoint=lambda: model_endpoint(config, credentials, clock, door),
            workers=workers_of(home),
            redact=credentials.redact,
        ) as doctor:
            yield LocalControl(doctor.handlers)
    finally:
        await door.close()


async def _record(arguments: argparse.Namespace, config: Config, control: Control, findings: list[Finding]) -> Path:
    from appliance.cli.doctor_record import record

    return await record(arguments, config, control, findings)
