"""``appliance chat``: the conversations."""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

from appliance.cli.session import records_or_device
from appliance.cli.shared import print_json, print_table

_WITH_CHAT = {
    "use": "go on in another chat",
    "clear": "delete what was said in a chat",
    "delete": "delete a chat with everything in it",
}

_DONE = {"clear": "empty", "delete": "deleted"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("list", help="every chat")
    show = actions.add_parser("show", help="what was said in a chat")
    show.add_argument("chat", nargs="?", default="", help="its name or id; the one in use when left out")
    new = actions.add_parser("new", help="begin a chat and use it")
    new.add_argument("name", nargs="?", default="")
    for action, help_text in _WITH_CHAT.items():
        actions.add_parser(action, help=help_text).add_argument("chat", help="its name or id")
    rename = actions.add_parser("rename", help="give a chat another name")
    rename.add_argument("chat")
    rename.add_argument("name")


def run(arguments: argparse.Namespace) -> int:
    """Do it and show the outcome."""
    return asyncio.run(_chat(arguments))


async def _chat(arguments: argparse.Namespace) -> int:
    params = {key: getattr(arguments, key) for key in ("chat", "name") if hasattr(arguments, key)}
    async with records_or_device(arguments) as control:
        result = await control.call(f"chat.{arguments.action}", params)
    if arguments.json:
        print_json(result)
    elif arguments.action == "list":
        print_table([("*" if chat["is_current"] else " ", *_chat_row(chat)) for chat in result])
    elif arguments.action == "show":
        for turn in result:
            print(f"you: {turn['user_text']}")
            print(f"box: {turn['heard_text'] or '(nothing was heard)'}")
    elif result:
        print(f"{result['name']} ({result['turns']} turns)")
    else:
        print(f"{arguments.chat} is {_DONE[arguments.action]}")
    return 0


def _chat_row(chat: dict[str, Any]) -> tuple[str, ...]:
    private = "private" if chat["is_private"] else ""
    return (chat["name"], f"{chat['turns']} turns", chat["created_at"][:16].replace("T", " "), private)
