"""``appliance toolset``: which of the plugins' tools take part in conversations."""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

from appliance.cli.session import box_or_device
from appliance.cli.shared import complain, print_json, print_table
from appliance.control import Control


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("list", help="every toolset, the one in use marked with *")
    show = actions.add_parser("show", help="the tools of one, or of the one in use")
    show.add_argument("name", nargs="?", default="")
    use = actions.add_parser(
        "use", help="use one: all, none, a plugin, a file of one, a saved one; or several together"
    )
    use.add_argument("names", nargs="+", metavar="name")
    new = actions.add_parser("new", help="keep a selection of tools under a name, or keep another under that name")
    new.add_argument("name")
    new.add_argument("tools", nargs="+", metavar="tool")
    delete = actions.add_parser("delete", help="forget a saved one")
    delete.add_argument("name")


def run(arguments: argparse.Namespace) -> int:
    """Do one of them."""
    return asyncio.run(_toolset(arguments))


async def _toolset(arguments: argparse.Namespace) -> int:
    actions = {"list": _list, "show": _show, "use": _use, "new": _new, "delete": _delete}
    async with box_or_device(arguments) as control:
        await actions[arguments.action](arguments, control)
    return 0


async def _list(arguments: argparse.Namespace, control: Control) -> None:
    found = await control.call("toolset.list")
    if arguments.json:
        print_json(found)
        return
    print_table([_row(toolset) for toolset in found["toolsets"]])
    _tell_dangling(found["dangling"])


async def _show(arguments: argparse.Namespace, control: Control) -> None:
    found = await control.call("toolset.show", {"name": arguments.name})
    if arguments.json:
        print_json(found)
        return
    print("\n".join(found["tools"]) or f"{found['name']} has no tools")


async def _use(arguments: argparse.Namespace, control: Control) -> None:
    found = await control.call("toolset.use", {"names": arguments.names})
    if arguments.json:
        print_json(found)
        return
    print(f"{found['name']} is in use: {_counted(found['tools'])} of plugins; the box's own are always there")
    _tell_dangling(found["dangling"])


async def _new(arguments: argparse.Namespace, control: Control) -> None:
    found = await control.call("toolset.save", {"name": arguments.name, "tools": arguments.tools})
    if arguments.json:
        print_json(found)
    else:
        print(f"{found['name']} has {_counted(found['tools'])}; appliance toolset use {found['name']} takes it")


async def _delete(arguments: argparse.Namespace, control: Control) -> None:
    found = await control.call("toolset.delete", {"name": arguments.name})
    if arguments.json:
        print_json(found)
    else:
        print(f"{arguments.name} is forgotten; {found['in_use']} is in use")


def _row(toolset: dict[str, Any]) -> tuple[str, ...]:
    mark = "*" if toolset["in_use"] else ""
    kind = "saved" if toolset["saved"] else ""
    return mark, toolset["name"], kind, _counted(toolset["tools"])


def _counted(tools: list[str]) -> str:
    return f"{len(tools)} {'tool' if len(tools) == 1 else 'tools'}"


def _tell_dangling(names: list[str]) -> None:
    for name in names:
        complain(f"{name} is in use, and there is nothing of that name now; appliance toolset list shows what there is")
