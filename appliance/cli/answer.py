"""``appliance answer``: type what a tool of the running device waits for, above all secrets."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import Any

from appliance.cli.session import running_device
from appliance.cli.shared import home_of, print_json, print_table, read_secret
from appliance.errors import NotRunningError, UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("number", nargs="?", help="the number that the box has said; without one, what waits is shown")
    parser.add_argument("--nothing", action="store_true", help="give nothing: the tool goes on without an answer")


def run(arguments: argparse.Namespace) -> int:
    """Show what waits, or answer one."""
    return asyncio.run(_answer(arguments))


async def _answer(arguments: argparse.Namespace) -> int:
    async with running_device(home_of(arguments)) as device:
        if device is None:
            raise NotRunningError("the device does not run, so nothing waits for an answer")
        waiting: list[dict[str, Any]] = await device.call("answer.waiting")
        if arguments.number is None:
            _show(arguments, waiting)
            return 0
        question = next((entry for entry in waiting if entry["number"] == arguments.number), None)
        if question is None:
            raise UsageError(f"no question {arguments.number!r} waits for an answer; it may have expired")
        text = "" if arguments.nothing else await asyncio.to_thread(_read, question)
        await device.call("answer.give", {"number": question["number"], "text": text})
    if arguments.json:
        print_json({"number": question["number"], "given": bool(text)})
    else:
        print(f"{question['tool']} has it" if text else f"{question['tool']} goes on without an answer")
    return 0


def _read(question: dict[str, Any]) -> str:
    """What the person types, hidden when it is a secret; from a pipe it is the first line."""
    what = f"{question['plugin']}/{question['tool']}: {question['label']}"
    if question["detail"] and sys.stdin.isatty():
        print(question["detail"])
    if question["is_secret"]:
        return read_secret(what)
    if not sys.stdin.isatty():
        return sys.stdin.readline().strip()
    try:
        return input(f"{what}: ").strip()
    except EOFError:
        return ""


def _show(arguments: argparse.Namespace, waiting: list[dict[str, Any]]) -> None:
    if arguments.json:
        print_json(waiting)
        return
    if not waiting:
        print("nothing waits for an answer")
    print_table(
        [
            (entry["number"], f"{entry['plugin']}/{entry['tool']}", entry["label"] + _mark(entry["is_secret"]))
            for entry in waiting
        ]
    )


def _mark(is_secret: bool) -> str:
    return " (a secret)" if is_secret else ""
