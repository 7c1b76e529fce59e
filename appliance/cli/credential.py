"""``appliance credential``: the secrets. Their values go in, and never come out."""

from __future__ import annotations

import argparse
import asyncio

from appliance.cli.session import running_device
from appliance.cli.shared import complain, credentials_of, home_of, print_json, print_table, read_secret
from appliance.wiring import MODEL_KEY


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("list", help="their names and where they come from")
    set_one = actions.add_parser("set", help="keep a secret; asks for it, hidden, or takes a line from a pipe")
    remove = actions.add_parser("remove", help="remove a secret from the home")
    for parser in (set_one, remove):
        parser.add_argument("plugin", nargs="?", default="", help="the one plugin that finds it; all do without")
        parser.add_argument("name", help=f"such as {MODEL_KEY}, the key of the model")


def run(arguments: argparse.Namespace) -> int:
    """List, set or remove."""
    return {"list": _list, "set": _set, "remove": _remove}[arguments.action](arguments)


def _list(arguments: argparse.Namespace) -> int:
    credentials = credentials_of(arguments)
    # Of the environment, only the one that we would use; the others are not ours.
    names = sorted({*credentials.names, *([MODEL_KEY] if credentials.origin(MODEL_KEY) else [])})
    rows = [{"name": name, "from": credentials.origin(name)} for name in names]
    if arguments.json:
        print_json(rows)
    else:
        print_table([(row["name"], row["from"]) for row in rows])
        if not rows:
            print("there are none; appliance credential set NAME keeps one")
    return 0


def _set(arguments: argparse.Namespace) -> int:
    credentials, name = credentials_of(arguments), _whole_name(arguments)
    credentials.set(name, read_secret(arguments.name))
    origin = credentials.origin(name)
    _report(arguments, f"{_shown(arguments)} is kept. {_tell_device(arguments)}")
    if origin != "file":
        complain(f"{arguments.name} is also given by {origin}, and that one is used")
    return 0


def _remove(arguments: argparse.Namespace) -> int:
    credentials = credentials_of(arguments)
    if not credentials.remove(_whole_name(arguments)):
        complain(f"the home holds no {_shown(arguments)}; appliance credential list shows what it holds")
        return 1
    _report(arguments, f"{_shown(arguments)} is removed. {_tell_device(arguments)}")
    return 0


def _whole_name(arguments: argparse.Namespace) -> str:
    return f"{arguments.plugin}:{arguments.name}" if arguments.plugin else str(arguments.name)


def _shown(arguments: argparse.Namespace) -> str:
    return f"{arguments.name} of {arguments.plugin}" if arguments.plugin else str(arguments.name)


def _tell_device(arguments: argparse.Namespace) -> str:
    """Let a running device read the secrets again, and a plugin find its own; what came of it, in a sentence."""
    return asyncio.run(_told(arguments))


async def _told(arguments: argparse.Namespace) -> str:
    async with running_device(home_of(arguments)) as device:
        if device is None:
            return "The device does not run, and finds it so at its next start."
        await device.call("credential.changed", {"plugin": arguments.plugin})
    if not arguments.plugin:
        return "The running device has read it; what it has begun with the one before goes on to its end."
    return f"The running device has loaded {arguments.plugin} anew."


def _report(arguments: argparse.Namespace, sentence: str) -> None:
    if arguments.json:
        print_json({"name": _whole_name(arguments), "from": credentials_of(arguments).origin(_whole_name(arguments))})
    else:
        print(sentence)
