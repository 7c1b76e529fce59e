"""What a plugin will be able to do, in plain sentences that its owner reads before saying yes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from appliance.contracts.inspected_tools import Found
from appliance.contracts.sapphire.hooks import NOT_HERE
from appliance.contracts.sapphire.manifest import Manifest
from appliance.contracts.sapphire.risk import imported_names, network_module, signs
from appliance.tools.tool import Risk

Trees = Mapping[str, ast.Module]

#: Below every library that knows of proxies.
_RAW = frozenset({"socket", "ssl", "socketserver", "asyncore"})
_DOOR = ("core.net", "core.socks_proxy")
_MOST_NAMED = 4
_ALL = (
    "Its code runs inside the box's program: if its author means ill, it can read what the box knows, chats and keys "
    "included."
)


def abilities(
    trees: Trees, tools: Sequence[Found], background: tuple[str, ...], keys: Mapping[str, bool]
) -> tuple[str, ...]:
    """The sentences, the gravest first."""
    said = [*_programs(trees, tools), *_connections(trees, tools)]
    said += [f"{line[0].upper()}{line[1:]}." for line in background]
    if keys:
        needed = [name for name, is_needed in keys.items() if is_needed]
        more = f", and does nothing useful without {_named(needed)}" if needed else ""
        said.append(f"It asks for these keys: {_named(list(keys))}{more}.")
    return (*said, _ALL)


def background_of(manifest: Manifest | None) -> tuple[str, ...]:
    """What runs without being called, each as half a sentence."""
    if manifest is None:
        return ()
    events = sorted(set(manifest.hooks) - set(NOT_HERE))
    found = [f"it is told of what happens, and may change it ({_named(events)})"] if events else []
    commands = [trigger for command in manifest.voice_commands for trigger in command.triggers]
    if commands:
        found.append(f"it listens for words of its own ({_named(commands)})")
    tasks = [f"{task.name or task.handler}, {task.cron}" for task in manifest.schedule]
    if tasks:
        found.append(f"it runs by itself at set times ({'; '.join(tasks[:_MOST_NAMED])})")
    if manifest.daemon.get("entry"):
        found.append(f"it has a part that runs all the time ({manifest.daemon['entry']})")
    return tuple(found)


def _programs(trees: Trees, tools: Sequence[Found]) -> Iterator[str]:
    places = [
        f"{name} line {line}: {what}"
        for name, tree in trees.items()
        for risk, what, line in signs(tree)
        if risk is Risk.EXEC
    ]
    if places:
        yield f"It runs programs on this box, or code that nobody can read before ({'; '.join(places[:_MOST_NAMED])})."
    elif saying := [tool.name for tool in tools if tool.risk is Risk.EXEC]:
        yield f"It runs programs on this box, as its author says of {_named(saying)}."


def _connections(trees: Trees, tools: Sequence[Found]) -> Iterator[str]:
    files = {name: set(imported_names(tree)) for name, tree in trees.items()}
    if any(module.startswith(_DOOR) for names in files.values() for module in names):
        yield "It talks to other machines: in the house directly, outside it by the way that you set."
    own = sorted(
        {
            module.partition(".")[0]
            for names in files.values()
            for module in names
            if network_module(module) and not module.startswith("core.")
        }
        - _RAW
    )
    if own:
        yield f"It talks to other machines by {_named(own)}, which takes your proxy only if it heeds the environment."
    raw = [PurePosixPath(name).name for name, names in files.items() if {name.split(".")[0] for name in names} & _RAW]
    if raw:
        yield f"It opens connections that no proxy and no record of yours sees (raw sockets, in {_named(raw)})."
    saying = [tool.name for tool in tools if tool.risk is Risk.NETWORK]
    if saying and not any(network_module(module) for names in files.values() for module in names):
        yield f"It talks to other machines, as its author says of {_named(saying)}."


def _named(names: list[str]) -> str:
    rest = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")
