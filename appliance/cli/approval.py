"""``appliance approval``: answer what the device asks, and say what it need not ask about."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable
from typing import Any

from appliance.cli.session import box_or_device
from appliance.cli.shared import print_json, print_table
from appliance.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("pending", help="what waits for an answer, with everything that it is about")
    actions.add_parser("approve", help="say yes to one request").add_argument("id")
    actions.add_parser("deny", help="say no to one request").add_argument("id")
    allow = actions.add_parser("allow", help="let a tool run without asking, until its plugin changes")
    allow.add_argument("tool")
    scope = allow.add_mutually_exclusive_group(required=True)
    scope.add_argument("--arguments", metavar="JSON", help="with exactly these arguments")
    scope.add_argument("--any-arguments", action="store_true", help="with any, unless a shell would see more in them")
    allow.add_argument("--days", type=int, help="for so long; until it is revoked when left out")
    revoke = actions.add_parser("revoke", help="take back what was allowed")
    revoke.add_argument("name", help="its number in the list, or the name of a tool")
    actions.add_parser("list", help="what is allowed without asking")


def run(arguments: argparse.Namespace) -> int:
    """Do it and show the outcome; exit code 1 when a yes came too late."""
    return asyncio.run(_approval(arguments))


async def _approval(arguments: argparse.Namespace) -> int:
    params = _params(arguments)
    async with box_or_device(arguments) as control:
        result = await control.call(f"approval.{arguments.action}", params)
    if arguments.json:
        print_json(result)
    else:
        _SHOW[arguments.action](result)
    return 1 if arguments.action == "approve" and result["ended"] not in ("approved", "asked again") else 0


def _params(arguments: argparse.Namespace) -> dict[str, Any]:
    if arguments.action != "allow":
        return {key: getattr(arguments, key) for key in ("id", "name") if hasattr(arguments, key)}
    try:
        given = None if arguments.any_arguments else json.loads(arguments.arguments)
    except ValueError as error:
        raise UsageError(f"--arguments is no JSON object, such as '{{\"sides\": 6}}': {error}") from error
    return {"tool": arguments.tool, "arguments": given, "any": arguments.any_arguments, "days": arguments.days}


def _show_pending(requests: list[dict[str, Any]]) -> None:
    if not requests:
        print("nothing waits for an answer")
    for request in requests:
        print(f"{request['id']}  {request['tool']}  ({'asked now' if request['is_asked'] else 'waits for its turn'})")
        files = [f"{path}: {digest}" for path, digest in request["files"].items()]
        rows = [(key, str(value)) for key, value in request.items() if key not in _NOT_IN_ROWS and value]
        print_table([*rows, *(("file", line) for line in files)], indent="    ")


def _show_answer(result: dict[str, Any]) -> None:
    print(_ENDINGS.get(result["ended"], result["ended"]))


def _show_grants(grants: list[dict[str, Any]]) -> None:
    if not grants:
        print("nothing is allowed without asking")
    print_table([_grant_row(grant) for grant in grants])


def _show_allowed(grant: dict[str, Any]) -> None:
    print("allowed:")
    print_table([_grant_row(grant)])


def _show_revoked(grants: list[dict[str, Any]]) -> None:
    for grant in grants:
        print(f"{grant['number']} {grant['tool']}: it is asked about again")


def _grant_row(grant: dict[str, Any]) -> tuple[str, ...]:
    until = f"until {grant['expires_at'][:16].replace('T', ' ')}" if grant["expires_at"] else "until revoked"
    state = f"void: {grant['why_void']}" if grant.get("why_void") else until
    scope = grant["arguments_json"] or "any arguments"
    return (str(grant["number"]), grant["tool"], grant["origin"], state, f"by {grant['uid']}", scope)


_NOT_IN_ROWS = ("id", "tool", "files", "is_asked")
_ENDINGS = {
    "approved": "approved: it runs now",
    "asked again": "approved once: it cannot be undone, so it is asked about once more; approve it again",
    "declined": "denied: it does not run",
    "unanswered": "too late: the request has expired, and nothing runs",
    "taken back": "too late: the request was taken back, and nothing runs",
}
_SHOW: dict[str, Callable[[Any], None]] = {
    "pending": _show_pending,
    "approve": _show_answer,
    "deny": _show_answer,
    "allow": _show_allowed,
    "revoke": _show_revoked,
    "list": _show_grants,
}
