"""Stands around a process in which plugins run: how the one before ended, and that it is known how this one does."""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import json
import re
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path

from appliance.clock import Clock
from appliance.crash_file import crash_files
from appliance.errors import ApplianceError, StoreError
from appliance.home import Home, shipped
from appliance.memory_watch import MemoryWatch, WatchThread, end_process
from appliance.store.audit_log import this_boot
from appliance.store.plugin_pins import PluginPins
from appliance.store.starts import SETTLED_SECONDS, Starts

_MANIFEST = "plugin.json"
#: How the stack of the thread that crashed begins, and one of its lines.
_CRASHED = re.compile(r"^Current thread .*\n((?:  .*\n?)*)", re.MULTILINE)
_FRAME = re.compile(r'^  File "(.*)", line ', re.MULTILINE)


class CrashGuard:
    """``starts`` says what was decided about the plugins."""

    def __init__(self, starts: Starts, clock: Clock, watch: MemoryWatch) -> None:
        self.starts = starts
        self._clock = clock
        self._watch = watch
        self._settles_at = float("inf")

    def ready(self) -> None:
        """Everything is loaded: from now on the box is what it is by itself."""
        self.starts.ready()
        self._watch.ready()
        self._settles_at = self._clock.monotonic_seconds() + SETTLED_SECONDS

    def each_time(self) -> None:
        """A start that has lasted is a good one. On the thread of the watch."""
        if self._clock.monotonic_seconds() >= self._settles_at:
            self._settles_at = float("inf")
            self.starts.settled()


@contextlib.asynccontextmanager
async def guarded(home: Home, clock: Clock, *, is_device: bool, growth_mb: int) -> AsyncIterator[CrashGuard]:
    """Inside, the caller holds the lock on the home. An end with an exception that nobody foresaw is a bad one.

    A device also has its memory watched: a single command holds nothing for long.
    """
    starts = Starts(home.starts_file, clock.now, this_boot())
    await asyncio.to_thread(_begin, starts, home, is_device=is_device)
    watch = MemoryWatch(starts.notes, growth_mb=growth_mb)
    guard = CrashGuard(starts, clock, watch)
    end = partial(end_process, notes=starts.notes, crash_folder=home.crash_folder)
    thread = WatchThread(watch, end, guard.each_time) if is_device else None
    if thread is not None:
        thread.start()
    try:
        yield guard
    except (ApplianceError, asyncio.CancelledError, KeyboardInterrupt, SystemExit, GeneratorExit):
        starts.end()
        raise
    else:
        starts.end()
    finally:
        if thread is not None:
            thread.stop()


def plugins_on_stack(text: str, roots: Sequence[Path]) -> list[str]:
    """The plugins whose code the thread that crashed was in, innermost first; ``text`` is what faulthandler wrote."""
    found = _CRASHED.search(text)
    names = [_plugin_at(Path(file), roots) for file in _FRAME.findall(found[1] if found else "")]
    return list(dict.fromkeys(filter(None, names)))


def _begin(starts: Starts, home: Home, *, is_device: bool) -> None:
    roots = [home.plugins_folder, home.plugins_folder.resolve(), shipped("plugins")]
    files = crash_files(home.crash_folder) if faulthandler.is_enabled() else []

    def crashed_in(name: str) -> list[str]:
        try:
            text = (home.crash_folder / Path(name).name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return []
        return plugins_on_stack(text, roots)

    def installation_of(plugin: str) -> str:
        try:
            pin = PluginPins(home.pins_file).all().get(plugin)
        except StoreError:
            return ""
        return pin.identity if pin is not None else ""

    starts.begin(
        is_device=is_device,
        crash_file=files[-1].name if is_device and files else "",
        crashed_in=crashed_in,
        installation_of=installation_of,
    )


def _plugin_at(file: Path, roots: Sequence[Path]) -> str:
    """The name of the plugin that a file belongs to; "" for any other file."""
    for root in roots:
        if file.is_relative_to(root) and file != root:
            place = root / file.relative_to(root).parts[0]
            return _named_in_manifest(place) or place.name.removesuffix(".py")
    return ""


def _named_in_manifest(place: Path) -> str:
    try:
        name = json.loads((place / _MANIFEST).read_text(encoding="utf-8-sig"))["name"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""
    return name if isinstance(name, str) else ""
