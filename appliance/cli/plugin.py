"""``appliance plugin``: the plugins of both contracts, for their owner and for their authors."""

from __future__ import annotations

import argparse
import asyncio
import importlib
from pathlib import Path
from typing import Any

from appliance.cli.plugin_arguments import add_actions
from appliance.cli.session import box_or_device
from appliance.cli.shared import print_json, read_secret
from appliance.control import Control
from appliance.errors import UsageError

#: Actions that have a module of their own.
_ELSEWHERE = {
    "new": "plugin_new",
    "check": "plugin_check",
    "dev": "plugin_dev",
    "test": "plugin_test",
    "install": "plugin_install",
    "update": "plugin_install",
    "rollback": "plugin_remove",
    "remove": "plugin_remove",
    "verify": "plugin_verify",
    "pack": "plugin_pack",
    "sign": "plugin_pack",
    "safe-mode": "plugin_safe_mode",
}


#: Another word -> the one that is used here.
_SAME = {"enable": "on", "disable": "off"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("list", help="every plugin: what it offers, what is wrong with it and what to do")
    for name, help_text, others in (
        ("info", "everything about one: risks and why, ways out, settings, lines, digest", ()),
        ("on", "switch a plugin on", ("enable",)),
        ("off", "switch a plugin off", ("disable",)),
    ):
        actions.add_parser(name, help=help_text, aliases=others).add_argument("name")
    add_actions(actions)
    set_some = actions.add_parser("set", help="change settings of a plugin")
    set_some.add_argument("name")
    set_some.add_argument("values", nargs="+", metavar="KEY=VALUE", help="KEY alone asks for its value, hidden")
    new = actions.add_parser("new", help="begin a plugin: a small whole one, with a test")
    new.add_argument("name")
    new.add_argument("--contract", choices=("module", "tool"), default="module", help="tool module, or plugin tool")
    new.add_argument("--folder", type=Path, help="where to put it (the plugins folder of the home)")
    for name, help_text in (
        ("check", "what it offers, what a model sees, and every trap it is in"),
        ("dev", "work on it: it is loaded anew whenever you save"),
        ("test", "run its tests; needs pytest"),
    ):
        actions.add_parser(name, help=help_text).add_argument("plugin", metavar="PATH|NAME")


def run(arguments: argparse.Namespace) -> int:
    """Do what was asked."""
    if arguments.action in _ELSEWHERE:
        module = importlib.import_module(f"appliance.cli.{_ELSEWHERE[arguments.action]}")
        return int(module.run(arguments))
    return asyncio.run(_plugin(arguments))


async def _plugin(arguments: argparse.Namespace) -> int:
    actions = {"list": _list, "info": _info, "on": _switch, "off": _switch, "set": _set}
    arguments.action = _SAME.get(arguments.action, arguments.action)
    async with box_or_device(arguments) as control:
        return await actions[arguments.action](arguments, control)


async def _list(arguments: argparse.Namespace, control: Control) -> int:
    rows: list[dict[str, Any]] = await control.call("plugin.list")
    if arguments.json:
        print_json(rows)
        return 0
    table: list[tuple[str, ...]] = [
        (
            row["name"],
            row["version"] or "-",
            row["contract"],
            row["source"] or "-",
            row["pin"] or "-",
            _state(row),
            ", ".join(row["tools"]),
        )
        for row in rows
    ]
    width = max((len(name) for name, *_ in table), default=0)
    for line, row in zip(_aligned(table), rows, strict=True):
        print(line)
        for sentence in what_is_wrong(row):
            print(f"{' ' * width}  ! {sentence}")
    return 0


async def _info(arguments: argparse.Namespace, control: Control) -> int:
    found = await control.call("plugin.info", {"name": arguments.name})
    if arguments.json:
        print_json(found)
        return 0
    row = found["plugin"]
    print(f"{row['name']}  {row['version']}  {row['title']}".rstrip())
    print(f"contract  {row['contract']}, from {row['source'] or 'nowhere'}, {_state(row)}")
    if row["pin"]:
        before = f", {row['previous']} is kept for a rollback" if row["previous"] else ""
        print(f"files     {row['pin']}{before}")
    if row["origin"]:
        print(f"came from {row['origin']}, signed by {row['signer'] or 'nobody who is known'}")
    for lane in found["lanes"]:
        print(f"ways out  {lane}")
    for host in found["hosts_today"]:
        print(f"today     {host['lane']} {host['host']}: {host['requests']} requests")
    for tool in found["tools"]:
        _print_tool(tool)
    for setting in found["settings"]:
        print(f"setting   {setting['key']} ({setting['type']}) = {setting['value']!r}  {setting['help']}".rstrip())
    for key, is_there in found["keys"].items():
        print(f"key       {key}: {'there' if is_there else 'missing'}")
    for sentence in what_is_wrong(row):
        print(f"!         {sentence}")
    print(f"digest    {found['digest'] or 'none'}")
    return 0


async def _switch(arguments: argparse.Namespace, control: Control) -> int:
    row = await control.call("plugin.switch", {"name": arguments.name, "on": arguments.action == "on"})
    if arguments.json:
        print_json(row)
    elif row is None:
        print(f"{arguments.name} is gone")
    else:
        tell_row(row)
    return 0 if row is None or row["is_loaded"] == (arguments.action == "on") else 1


async def _set(arguments: argparse.Namespace, control: Control) -> int:
    found = await control.call("plugin.info", {"name": arguments.name})
    fields = {setting["key"]: setting for setting in found["settings"]}
    values = dict(_pair(word, fields) for word in arguments.values)
    changed = await control.call("plugin.set", {"name": arguments.name, "values": values})
    if arguments.json:
        print_json(changed)
        return 0
    for setting in changed["settings"]:
        if setting["key"] in values:
            print(f"{setting['key']} = {setting['value']!r}")
    for key in [key for key in values if key not in fields]:
        print(f"{key} is kept, although {arguments.name} does not declare it")
    return 0


def _pair(word: str, fields: dict[str, dict[str, Any]]) -> tuple[str, str]:
    """One KEY=VALUE; a secret never stands on the command line, where others and the history see it."""
    key, equals, value = word.partition("=")
    is_secret = key in fields and fields[key]["is_secret"]
    if equals and is_secret:
        raise UsageError(f"{key} is a secret: leave out the value, and it is asked for, hidden")
    return key, value if equals else read_secret(key)


def what_is_wrong(row: dict[str, Any]) -> list[str]:
    """Sentences for the owner, with what to do."""
    sentences = [*([row["note"]] if row["note"] else []), *row["problems"]]
    sentences += [
        f"there is no {key}, which its code asks for: appliance credential set {row['name']} {key}"
        for key in row["missing_keys"]
    ]
    if row["not_used"]:
        sentences.append(f"not used on this box: {', '.join(row['not_used'])}")
    return sentences


def tell_row(row: dict[str, Any]) -> None:
    """How a plugin is now."""
    print(f"{row['name']} is {_state(row)}{': ' if row['tools'] else ''}{', '.join(row['tools'])}")
    for sentence in what_is_wrong(row):
        print(f"  ! {sentence}")


def _print_tool(tool: dict[str, Any]) -> None:
    print(f"tool      {tool['name']} ({tool['risk']}: {tool['why_risk']})")
    print(f"          {tool['private_chats']}")
    if tool["why_not"]:
        print(f"          not offered: {tool['why_not']}")
    for phase, line in tool["voice"].items():
        if line:
            print(f"          {phase}: {line if isinstance(line, str) else ' / '.join(line)}")


def _state(row: dict[str, Any]) -> str:
    if not row["is_on"]:
        return "off"
    return "on" if row["is_loaded"] else row["withheld"] or "not loaded"


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(6)]
    return ["  ".join([*map(str.ljust, row[:6], widths), row[6]]).rstrip() for row in rows]
