"""``appliance plugin dev``: work on a plugin while a box has it loaded; each save loads it anew.

The plugin is linked into the home for as long as the command runs, so that it is found where an installed one would be
(plugins of the second contract find their settings from there). With a running device it is that device which loads it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from appliance.cli.ask import Watcher, tell_what_failed
from appliance.cli.plugin import tell_row
from appliance.cli.plugin_place import find_plugin
from appliance.cli.session import box_or_device
from appliance.cli.shared import complain, home_of
from appliance.cli.typed_lines import typed_lines
from appliance.clock import SystemClock
from appliance.contracts.author.trial import plugin_name
from appliance.control import Control
from appliance.errors import ApplianceError, UsageError
from appliance.home import Home

_LOOK_SECONDS = 0.5
_WATCHED = (".py", ".json", ".yaml", ".yml", ".toml", ".md", ".txt")
_HELP = """ask TEXT           one typed turn
run TOOL {JSON}    call a tool of yours; a call that waits for a press is allowed
why TOOL           what a model gets of it, and why it is not offered
list               how the plugin is now
quit               end (Ctrl-D)"""

#: Path -> when and how large it was.
_Snapshot = Mapping[Path, tuple[int, int]]


def run(arguments: argparse.Namespace) -> int:
    """Until the end of input (Ctrl-D)."""
    return asyncio.run(_dev(arguments))


async def _dev(arguments: argparse.Namespace) -> int:
    home = home_of(arguments)
    path = find_plugin(arguments.plugin, home)
    name = plugin_name(path)
    home.make()
    async with (
        box_or_device(arguments) as control,
        _linked(control, name, path, home),
        _switched_on(control, name),
    ):
        print("Type help for what you can do here; every save loads the plugin anew.", flush=True)
        watching = asyncio.create_task(_reload_on_save(control, name, path), name="watch files")
        try:
            await _take_commands(arguments, control, name)
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
    return 0


@contextlib.asynccontextmanager
async def _linked(control: Control, name: str, path: Path, home: Home) -> AsyncIterator[None]:
    """Have the plugin in the home and loaded, and out again at the end; one that lives there stays."""
    link = home.plugins_folder / path.name
    is_guest = link.parent.resolve() != path.parent.resolve()
    if is_guest:
        _make_link(link, path)
    try:
        await control.call("plugin.reload", {"name": name, "dev": True})
        yield
    finally:
        if is_guest:
            link.unlink(missing_ok=True)
        await control.call("plugin.reload", {"name": name})


def _make_link(link: Path, path: Path) -> None:
    if link.is_symlink() and link.resolve() == path:
        link.unlink()  # left by a session that was killed
    if link.exists() or link.is_symlink():
        raise UsageError(f"{link} is there already; move it away while you work on {path}")
    try:
        link.symlink_to(path)
    except OSError as error:
        raise ApplianceError(f"{link} cannot be made: {error.strerror}; run this as the owner of the home") from error


@contextlib.asynccontextmanager
async def _switched_on(control: Control, name: str) -> AsyncIterator[None]:
    """Have it on; the switch forgets that at the end."""
    was = next((row for row in await control.call("plugin.list") if row["name"] == name), None)
    was_off = was is not None and not was["is_on"]
    tell(await control.call("plugin.switch", {"name": name, "on": True}) if was_off else was, name)
    try:
        yield
    finally:
        if was_off:
            await control.call("plugin.switch", {"name": name, "on": None})


async def _reload_on_save(control: Control, name: str, path: Path) -> None:
    clock, before = SystemClock(), await asyncio.to_thread(_snapshot, path)
    while True:
        await clock.sleep(_LOOK_SECONDS)
        now = await asyncio.to_thread(_snapshot, path)
        if now == before:
            continue
        before = now
        try:
            tell(await control.call("plugin.reload", {"name": name, "dev": True}), name)
        except ApplianceError as error:
            complain(str(error))


def tell(row: Any, name: str) -> None:
    """How the plugin is after it was loaded."""
    if row is None:
        complain(f"{name} offers no tool: appliance plugin check says why")
    else:
        tell_row(row)
    sys.stdout.flush()


def _snapshot(path: Path) -> _Snapshot:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.suffix in _WATCHED]
    found: dict[Path, tuple[int, int]] = {}
    for file in files:
        with contextlib.suppress(OSError):  # gone between two looks
            state = file.stat()
            found[file] = (state.st_mtime_ns, state.st_size)
    return found


async def _take_commands(arguments: argparse.Namespace, control: Control, name: str) -> None:
    _prompt()
    async for line in typed_lines():
        word, _, rest = line.strip().partition(" ")
        if word in ("quit", "exit"):
            return
        try:
            await _do(word, rest.strip(), arguments, control, name)
        except ApplianceError as error:
            complain(str(error))
        _prompt()


async def _do(word: str, rest: str, arguments: argparse.Namespace, control: Control, name: str) -> None:
    match word:
        case "":
            return
        case "ask":
            watcher = Watcher(None, shows_text=True)
            report = await control.call("ask", {"text": rest, "voice": False}, watcher)
            watcher.end_line()
            for line in watcher.did(report["turn_id"]):
                print(f"did    {line}")
            tell_what_failed(report, is_voiced=False)
        case "run":
            tool, _, given = rest.partition(" ")
            params = {"name": tool, "arguments": _arguments(given), "yes": True}
            result = await control.call("tool.run", params)
            print(f"{result['outcome']}: {result['text']}")
            if result["error"]:
                print(f"error: {result['error']}")
        case "why":
            found = await control.call("tool.why", {"name": rest})
            print("\n".join([found["why_not"] or "it is offered", *found["more"]]))
            print(json.dumps(found["schema"], indent=2, ensure_ascii=False))
        case "list":
            rows = await control.call("plugin.list")
            tell(next((row for row in rows if row["name"] == name), None), name)
        case _:
            print(_HELP)


def _arguments(text: str) -> Any:
    try:
        return json.loads(text or "{}")
    except ValueError as error:
        raise UsageError(
            f"the arguments are not JSON ({error}); give one object, such as '{{\"sides\": 6}}'"
        ) from error


def _prompt() -> None:
    if sys.stdin.isatty():
        print("> ", end="", flush=True)
