"""``appliance credential``: the secrets. Their values go in, and never come out."""

from __future__ import annotations

import argparse

from appliance.cli.shared import complain, credentials_of, print_json, print_table, read_secret
from appliance.wiring import MODEL_KEY


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("list", help="their names and where they come from")
    set_one = actions.add_parser("set", help="keep a secret; asks for it, hidden, or takes a line from a pipe")
    set_one.add_argument("name", help=f"such as {MODEL_KEY}, the key of the model")
    actions.add_parser("remove", help="remove a secret from the home").add_argument("name")


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
    credentials = credentials_of(arguments)
    credentials.set(arguments.name, read_secret(arguments.name))
    origin = credentials.origin(arguments.name)
    _report(arguments, f"{arguments.name} is kept. A running device takes it at its next start.")
    if origin != "file":
        complain(f"{arguments.name} is also given by {origin}, and that one is used")
    return 0


def _remove(arguments: argparse.Namespace) -> int:
    credentials = credentials_of(arguments)
    if not credentials.remove(arguments.name):
        complain(f"the home holds no {arguments.name}; appliance credential list shows what it holds")
        return 1
    _report(arguments, f"{arguments.name} is removed. A running device forgets it at its next start.")
    return 0


def _report(arguments: argparse.Namespace, sentence: str) -> None:
    if arguments.json:
        print_json({"name": arguments.name, "from": credentials_of(arguments).origin(arguments.name)})
    else:
        print(sentence)
