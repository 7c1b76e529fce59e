"""``appliance models``: the speech weights, what they are for, whether they are here and whole."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from appliance import models
from appliance.cli.shared import complain, config_of, credentials_of, home_of, print_json, print_table
from appliance.errors import WeightsError
from appliance.listen.config import HearConfig
from appliance.speak.config import SpeakConfig
from appliance.wiring import download_door, pip_environment

#: What it means that optional weights are not here.
_WITHOUT = " (the box works without, only less well)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("list", help="every known set of weights")
    verify = actions.add_parser("verify", help="check every byte of the weights that are in use")
    verify.add_argument("names", nargs="*", help="these instead")
    fetch = actions.add_parser("fetch", help="bring the weights that are in use into the home, unless they are here")
    fetch.add_argument("names", nargs="*", help="these instead")
    fetch.add_argument("--for-program", action="store_true", help="put them beside the program, for every home")


def run(arguments: argparse.Namespace) -> int:
    """List, verify or fetch."""
    return {"list": _list, "verify": _verify, "fetch": _fetch}[arguments.action](arguments)


def _in_use(arguments: argparse.Namespace) -> list[str]:
    """Names of the weights that the settings ask for; those that the owner gave as a path are the owner's."""
    config = config_of(arguments)
    hear, speak = config.of(HearConfig), config.of(SpeakConfig)
    names = [] if hear.model_path else [hear.model]
    return [*names, *([] if speak.voice_path else [speak.voice]), models.TURN_DETECTOR]


def _list(arguments: argparse.Namespace) -> int:
    folder, in_use = home_of(arguments).models_folder, _in_use(arguments)
    rows = []
    for name, weights in models.known_weights().items():
        size = weights.size_bytes
        rows.append(
            {
                "name": name,
                "purpose": weights.purpose.value,
                "megabytes": None if size is None else round(size / 1e6, 1),
                "languages": ",".join(weights.languages),
                "licence": weights.licence,
                "is_here": is_here(name, folder),
                "is_used": name in in_use,
            }
        )
    if arguments.json:
        print_json(rows)
        return 0
    print_table(
        [
            (
                "*" if row["is_used"] else "",
                str(row["name"]),
                str(row["purpose"]),
                f"{row['megabytes'] or '?'} MB",
                "here" if row["is_here"] else "-",
                str(row["languages"]),
                str(row["licence"]),
            )
            for row in rows
        ]
    )
    print("\n* is in use. appliance models fetch NAME brings others; hear.model and speak.voice choose them.")
    return 0


def _verify(arguments: argparse.Namespace) -> int:
    folder = home_of(arguments).models_folder
    names = arguments.names or _in_use(arguments)
    problems = {name: found for name in names if (found := models.verify(name, folder))}
    if arguments.json:
        print_json({"names": names, "problems": [problem for found in problems.values() for problem in found]})
    for name, found in problems.items():
        for problem in found:
            complain(problem + (_WITHOUT if _may_lack(arguments, name) else ""))
    whole = [name for name in names if name not in problems]
    lacking = [name for name in problems if not _may_lack(arguments, name)]
    if not lacking and not arguments.json:
        print(f"whole: {', '.join(whole)}")
    return 1 if lacking else 0


def _may_lack(arguments: argparse.Namespace, name: str) -> bool:
    """Whether the box does without these weights; who asks for them by name wants them."""
    return not arguments.names and models.known_weights()[name].is_optional


def _fetch(arguments: argparse.Namespace) -> int:
    asyncio.run(_fetch_all(arguments))
    return 0


async def _fetch_all(arguments: argparse.Namespace) -> None:
    places: dict[str, str] = {}
    config, credentials = config_of(arguments), credentials_of(arguments)
    folder = models.PROGRAM_FOLDER if arguments.for_program else home_of(arguments).models_folder
    environment = pip_environment(config, credentials)
    door = download_door(config, credentials)
    try:
        for name in arguments.names or _in_use(arguments):
            try:
                places[name] = str(await models.fetch(name, folder, door, show_progress, environment=environment))
            except WeightsError as error:
                if not _may_lack(arguments, name):
                    raise
                complain(str(error) + _WITHOUT)
                continue
            if not arguments.json:
                print(f"{name}: {places[name]}")
    finally:
        await door.close()
    if arguments.json:
        print_json(places)


def show_progress(file: str, done_bytes: int, total_bytes: int) -> None:
    """How far a download is, where somebody watches."""
    if sys.stderr.isatty():
        share = f"{100 * done_bytes / total_bytes:3.0f} %" if total_bytes else f"{done_bytes / 1e6:.0f} MB"
        end = "\n" if done_bytes == total_bytes else ""
        print(f"\r  {file} {share}", end=end, file=sys.stderr, flush=True)


def is_here(name: str, folder: Path) -> bool:
    """Whether these weights can be used."""
    try:
        models.locate(name, folder)
    except WeightsError:
        return False
    return True
