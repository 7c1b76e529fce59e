"""``appliance chat``: the conversations, and those among them that only their owner can read."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import Any

from appliance.cli import chat_pictures
from appliance.cli.session import records_or_device
from appliance.cli.shared import complain, print_json, print_table, read_secret
from appliance.control import Control
from appliance.errors import UsageError

_WITH_CHAT = {
    "use": "go on in another chat",
    "clear": "delete what was said in a chat; what plugins keep for it stays",
    "delete": "delete a chat with everything in it; of a private one the key first, for good",
    "private": "make a chat private, with everything in it",
}
_MAYBE_CHAT = {
    "lock": "lock a private chat of the running device, or all of them",
    "unlock": "open a private chat of the running device with the passphrase, or all of them",
}

_DONE = {"clear": "empty", "delete": "deleted"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("list", help="every chat")
    show = actions.add_parser("show", help="what was said in a chat")
    show.add_argument("chat", nargs="?", default="", help="its name or id; the one in use when left out")
    show.add_argument("--unlock", action="store_true", help="read the passphrase, and open a locked chat for this once")
    new = actions.add_parser("new", help="begin a chat and use it")
    new.add_argument("name", nargs="?", default="")
    new.add_argument("--private", action="store_true", help="only its owner can read it again")
    for action, help_text in _WITH_CHAT.items():
        actions.add_parser(action, help=help_text).add_argument("chat", help="its name or id")
    for action, help_text in _MAYBE_CHAT.items():
        sub = actions.add_parser(action, help=help_text)
        sub.add_argument("chat", nargs="?", default="", help="its name or id; all private chats when left out")
    actions.add_parser("passphrase", help="set or change the passphrase of private chats, typed or from a pipe")
    rename = actions.add_parser("rename", help="give a chat another name")
    rename.add_argument("chat")
    rename.add_argument("name")
    chat_pictures.add_arguments(actions.add_parser("image", help="the pictures of a chat; with --out, one as a file"))
    scope = actions.add_parser("scope", help="which account a plugin works with in a chat")
    scope.add_argument("chat", help="its name or id")
    scope.add_argument(
        "scopes", nargs="*", metavar="SCOPE=ACCOUNT", help='such as email=work; "none" is no account, "" the usual one'
    )


def run(arguments: argparse.Namespace) -> int:
    """Do it and show the outcome."""
    return asyncio.run(_chat(arguments))


async def _chat(arguments: argparse.Namespace) -> int:
    params = {key: getattr(arguments, key) for key in ("chat", "name", "private") if hasattr(arguments, key)}
    if arguments.action == "scope":
        params["scopes"] = _scopes(arguments.scopes)
    if getattr(arguments, "unlock", False):
        params["passphrase"] = _passphrase("passphrase of private chats")
    async with records_or_device(arguments) as control:
        if arguments.action == "passphrase":
            await _set_passphrase(control)
            return 0
        if arguments.action == "image":
            return await chat_pictures.run(arguments, control)
        if arguments.action == "private" or params.get("private"):
            await _need_passphrase(control)
        if arguments.action == "unlock":
            params["passphrase"] = _passphrase("passphrase of private chats")
        result = await control.call(f"chat.{arguments.action}", params)
    if arguments.json:
        print_json(result)
    else:
        _show(arguments, result)
    return 0


def _show(arguments: argparse.Namespace, result: Any) -> None:
    """For people."""
    if arguments.action == "list":
        print_table([("*" if chat["is_current"] else " ", *_chat_row(chat)) for chat in result])
    elif arguments.action == "show":
        for turn in result:
            print(f"you: {turn['user_text']}")
            for line in chat_pictures.shown_lines(turn):
                print(line)
            print(f"box: {turn['heard_text'] or '(nothing was heard)'}")
    elif arguments.action == "scope":
        print_table([(scope, account) for scope, account in sorted(result.items())])
    elif arguments.action in _MAYBE_CHAT:
        word = "locked" if arguments.action == "lock" else "open"
        print(f"{', '.join(chat['name'] for chat in result) or 'no private chat'}: {word}")
    elif result:
        print(f"{result['name']} ({result['turns']} turns){', private' if result['is_private'] else ''}")
    else:
        print(f"{arguments.chat} is {_DONE[arguments.action]}")


def _chat_row(chat: dict[str, Any]) -> tuple[str, ...]:
    private = "" if not chat["is_private"] else "private" if chat["is_open"] else "private, locked"
    return (chat["name"], f"{chat['turns']} turns", chat["created_at"][:16].replace("T", " "), private)


def _scopes(pairs: list[str]) -> dict[str, str]:
    scopes: dict[str, str] = {}
    for pair in pairs:
        scope, equals, account = pair.partition("=")
        if not equals or not scope.isidentifier():
            raise UsageError(f"SCOPE=ACCOUNT is wanted, such as email=work, not {pair!r}")
        scopes[scope] = account.strip()
    return scopes


# ------------------------------------------------------------------------------------------------ the passphrase


async def _need_passphrase(control: Control) -> None:
    """The first private chat asks for one."""
    if not await control.call("chat.has_passphrase"):
        await _set_passphrase(control)


async def _set_passphrase(control: Control) -> None:
    params = {}
    if await control.call("chat.has_passphrase"):
        params["old"] = _passphrase("passphrase until now")
    params["passphrase"] = _passphrase("new passphrase for private chats")
    if sys.stdin.isatty() and params["passphrase"] != _passphrase("the same once more"):
        raise UsageError("these were two different passphrases; nothing is changed")
    await control.call("chat.passphrase", params)
    complain("the passphrase is set; nobody can read private chats without it, and nobody can find it out")


def _passphrase(what: str) -> str:
    passphrase = read_secret(what)
    if not passphrase:
        raise UsageError(f"no {what} was given; type it, or send it from a pipe")
    return passphrase
