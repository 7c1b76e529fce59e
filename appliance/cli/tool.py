"""``appliance tool``: the tools as a model sees them; run one; why one is not offered."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from typing import Any

from appliance.cli.session import box_or_device
from appliance.cli.shared import complain, print_json, print_table
from appliance.control import Control
from appliance.errors import UsageError

#: Exit code of each outcome: a refusal is policy, everything else that is not ok has failed.
_EXIT_CODES = {"ok": 0, "refused": 3}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("list", help="every tool")
    run_one = actions.add_parser("run", help="run one tool")
    run_one.add_argument("name")
    run_one.add_argument("arguments", nargs="?", default="{}", help="one JSON object")
    run_one.add_argument("--yes", action="store_true", help="you, the owner, allow exactly this call")
    why = actions.add_parser("why", help="why a tool is or is not offered, and what a model gets of it")
    why.add_argument("name")


def run(arguments: argparse.Namespace) -> int:
    """List, run or explain."""
    return asyncio.run(_tool(arguments))


async def _tool(arguments: argparse.Namespace) -> int:
    actions = {"list": _list, "run": _run, "why": _why}
    async with box_or_device(arguments) as control:
        return await actions[arguments.action](arguments, control)


async def _list(arguments: argparse.Namespace, control: Control) -> int:
    tools: list[dict[str, Any]] = await control.call("tool.list")
    if arguments.json:
        print_json(tools)
        return 0
    print_table([(tool["name"], tool["risk"], tool["origin"], _about(tool)) for tool in tools])
    for problem in await control.call("tool.problems"):
        complain(problem)
    return 0


async def _run(arguments: argparse.Namespace, control: Control) -> int:
    try:
        given = json.loads(arguments.arguments)
    except ValueError as error:
        raise UsageError(
            f"the arguments are not JSON ({error}); give one object, such as '{{\"sides\": 6}}'"
        ) from error
    params = {"name": arguments.name, "arguments": given, "yes": arguments.yes}
    result = await control.call("tool.run", params, _show_question)
    if arguments.json:
        print_json(result)
    elif result["outcome"] == "ok":
        print(result["text"])
    if result["outcome"] != "ok":
        complain(_why_failed(arguments, result))
    return _EXIT_CODES.get(result["outcome"], 1)


async def _why(arguments: argparse.Namespace, control: Control) -> int:
    found = await control.call("tool.why", {"name": arguments.name})
    if arguments.json:
        print_json(found)
        return 0
    offered = f"is not offered: {found['why_not']}" if found["why_not"] else "is offered"
    print(f"{found['name']} ({found['risk']}, from {found['origin']}) {offered}")
    for sentence in found["more"]:
        print(f"  {sentence}")
    if found["schema"]:
        print_json(found["schema"])
    return 0


def _why_failed(arguments: argparse.Namespace, result: dict[str, Any]) -> str:
    """For the owner: the text of a result is written for a model."""
    name = arguments.name
    if result["error"].startswith("unreachable") and not arguments.yes:
        return f"{name} waits for a hand on the button, and nobody can press one here; --yes allows exactly this call"
    return f"{name} ended as {result['outcome']}: {result['error'] or result['text']}"


def _about(tool: dict[str, Any]) -> str:
    first_sentence = str(tool["description"]).split(". ")[0].rstrip(".")
    labels = "".join(f" [{label}]" for label in tool["labels"])
    why_not = f" (not offered: {tool['why_not']})" if tool["why_not"] else ""
    return f"{first_sentence}{labels}{why_not}"


def _show_question(event: dict[str, Any]) -> None:
    """What a person is asked while the call waits."""
    print(event.get("text", ""), end="", file=sys.stderr, flush=True)
