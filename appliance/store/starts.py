"""How the last starts ended: which plugins have brought the box down, and whether it starts without the owner's.

A process that is gone without a word has left notes (``running_notes``): how far it had come, and whose code ran. The
next one judges by them. What follows from that is kept in one file; it is written only when something was decided.

A plugin is quarantined when it has brought the box down three times within a week, and at the first time when that
happened while it was being loaded or had taken all the memory: that would come again at every start. After three bad
starts in a row for which no one plugin is to blame, no plugin of the owner is loaded (safe mode), until the owner
says so. A process of another boot has left nothing that counts: that was a power cut.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from appliance.errors import StoreError
from appliance.store.atomic_file import read_json, write_json
from appliance.store.running_notes import Doing, Left, Phase, RunningNotes

_LOG = logging.getLogger(__name__)

#: So many crashes of one plugin within this time, and it is quarantined.
CRASHES, CRASHES_WITHIN = 3, timedelta(days=7)
#: So many bad starts in a row, and the owner's plugins stay out. The service manager gives up at twice that.
BAD_STARTS = 3
#: A start that lasts so long after the box was ready is a good one.
SETTLED_SECONDS = 60.0

_MOST_CRASHES_KEPT = 50


@dataclass(frozen=True)
class Culprit:
    """Whose code brought the process down; ``is_grave`` when once is enough."""

    plugin: str
    why: str
    is_grave: bool


@dataclass
class _Kept:
    """What the file holds."""

    #: Plugin and time of each crash.
    crashes: list[tuple[str, str]] = field(default_factory=list)
    #: Culprit of each bad start since the last good one, "" for none.
    bad_starts: list[str] = field(default_factory=list)
    #: Plugin -> half a sentence why, and which installation of it that was.
    quarantined: dict[str, tuple[str, str]] = field(default_factory=dict)
    #: Why safe mode is on, half a sentence; "" when it is off.
    safe_mode: str = ""
    #: What the person has been told: about what -> which words.
    told: dict[str, str] = field(default_factory=dict)


class Starts:
    """The file and what was decided. Any thread; what changes something blocks on the disk, and never raises.

    Without a file nothing is remembered.
    """

    def __init__(self, file: Path | None, now: Callable[[], datetime], boot: str = "") -> None:
        self._file = file
        self._now = now
        self._boot = boot
        self._lock = threading.RLock()
        self._kept = _Kept()
        self.notes = RunningNotes(file.with_suffix(".running") if file is not None else None)

    # ---------------------------------------------------------------------------------------- one process

    def begin(
        self,
        *,
        is_device: bool,
        crash_file: str = "",
        crashed_in: Callable[[str], Sequence[str]] = lambda _crash_file: (),
        installation_of: Callable[[str], str] = lambda _plugin: "",
    ) -> Culprit | None:
        """This process begins: judge how the one before ended; who was to blame for its end.

        A process that crashes leaves its stack in ``crash_file``; ``crashed_in`` finds the plugins whose code is on
        such a stack, innermost first. ``installation_of`` tells an installation of a plugin from the next one. The
        caller holds the lock on the home.
        """
        self._kept = self._read()
        left = self.notes.left()
        culprit = None
        if left is not None and left.boot == self._boot:
            culprit = culprit_of(left, crashed_in(left.crash_file) if left.crash_file else ())
            if culprit is not None and not (left.is_device or culprit.is_grave):
                culprit = None  # a command that was killed while a call took too long for its user
            self._judge(left, culprit, installation_of)
        self.notes.begin(self._boot, is_device=is_device, crash_file=crash_file)
        return culprit

    def ready(self) -> None:
        """Everything is loaded."""
        self.notes.reach(Phase.READY)

    def settled(self) -> None:
        """This is a good start."""
        self.notes.reach(Phase.SETTLED)
        with self._lock:
            if self._kept.bad_starts:
                self._kept.bad_starts.clear()
                self._write()

    def end(self) -> None:
        """This process ends by itself."""
        self.notes.end()

    # ------------------------------------------------------------------------------------ what was decided

    def why_quarantined(self, plugin: str, installation: str = "") -> str:
        """Half a sentence; "" when it is not, and when that was another installation of it."""
        why, was = self._kept.quarantined.get(plugin, ("", installation))
        return why if was == installation else ""

    @property
    def quarantined(self) -> Mapping[str, str]:
        """Every quarantined plugin, and why in half a sentence."""
        return {plugin: why for plugin, (why, _installation) in self._kept.quarantined.items()}

    @property
    def why_safe_mode(self) -> str:
        """Why no plugin of the owner is loaded, in half a sentence; "" when they are."""
        return self._kept.safe_mode

    def set_safe_mode(self, is_on: bool) -> None:
        """The owner's word."""
        with self._lock:
            self._kept.safe_mode = "you have switched it on" if is_on else ""
            self._kept.bad_starts.clear()
            self._kept.told.pop("safe mode", None)
            self._write()

    def forgive(self, plugin: str) -> None:
        """The owner wants to try this plugin again, or there is a new version of it."""
        with self._lock:
            before = (len(self._kept.crashes), len(self._kept.quarantined))
            self._kept.crashes = [entry for entry in self._kept.crashes if entry[0] != plugin]
            self._kept.quarantined.pop(plugin, None)
            told = [about for about in self._kept.told if about.endswith(f" {plugin}")]
            for about in told:
                del self._kept.told[about]
            if told or before != (len(self._kept.crashes), len(self._kept.quarantined)):
                self._write()

    def is_news(self, about: str, words: str) -> bool:
        """Whether the person has not been told just that yet; from now on they have been."""
        with self._lock:
            if self._kept.told.get(about) == words:
                return False
            self._kept.told[about] = words
            self._write()
            return True

    # --------------------------------------------------------------------------------------------- private

    def _judge(self, left: Left, culprit: Culprit | None, installation_of: Callable[[str], str]) -> None:
        kept, now = self._kept, self._now()
        _LOG.error(
            "the process before this one came to a bad end (%s): %s", left.phase, culprit or "nobody is to blame"
        )
        if culprit is not None:
            kept.crashes = [*kept.crashes, (culprit.plugin, now.isoformat(timespec="seconds"))][-_MOST_CRASHES_KEPT:]
            count = sum(1 for plugin, when in kept.crashes if plugin == culprit.plugin and _is_recent(when, now))
            if culprit.is_grave or count >= CRASHES:
                times = "" if count < 2 else f", {count} times by now"
                kept.quarantined[culprit.plugin] = (f"{culprit.why}{times}", installation_of(culprit.plugin))
        if left.is_device and left.phase is not Phase.SETTLED:
            kept.bad_starts.append(culprit.plugin if culprit is not None else "")
            if len(kept.bad_starts) >= BAD_STARTS and not kept.safe_mode and not _is_one(kept.bad_starts):
                kept.safe_mode = f"the box came to a bad end {len(kept.bad_starts)} times soon after its start"
        if culprit is not None or left.is_device:
            self._write()

    def _read(self) -> _Kept:
        if self._file is None:
            return _Kept()
        try:
            value, _problem = read_json(self._file, self._now())
        except StoreError as error:
            _LOG.error("%s", error)
            value = None
        return _kept(value if isinstance(value, dict) else {})

    def _write(self) -> None:
        if self._file is None:
            return
        try:
            kept = vars(self._kept)
            quarantined = {plugin: list(entry) for plugin, entry in self._kept.quarantined.items()}
            crashes = [list(entry) for entry in self._kept.crashes]
            write_json(self._file, {**kept, "crashes": crashes, "quarantined": quarantined})
        except StoreError as error:
            _LOG.error("%s", error)


def culprit_of(left: Left, crashed_in: Sequence[str] = ()) -> Culprit | None:
    """Who brought that process down, if it was one plugin.

    Best is what the process said itself, then the stack that crashed, then who was at work: a call before a thread
    that only waits somewhere.
    """
    at_work = [entry.plugin for entry in left.running if entry.doing is not Doing.THREAD]
    has_thread = [entry.plugin for entry in left.running if entry.doing is Doing.THREAD]
    known = [left.accused.plugin] if left.accused is not None else list(crashed_in[:1])
    suspects = {*(known or at_work or has_thread)}
    if len(suspects) != 1:
        return None
    plugin = suspects.pop()
    doing = {entry.doing for entry in left.running if entry.plugin == plugin}
    if left.accused is not None and left.accused.doing is Doing.MEMORY:
        return Culprit(plugin, "it took more memory than the box has for plugins", is_grave=True)
    if doing & {Doing.IMPORT, Doing.START}:
        return Culprit(plugin, "it brought the box down while it was being loaded", is_grave=True)
    is_soon = bool(known) and left.phase is not Phase.SETTLED and Doing.CALL not in doing
    return Culprit(plugin, "it brought the box down", is_grave=is_soon)


def _is_one(bad_starts: Sequence[str]) -> bool:
    """Whether one plugin is to blame for all."""
    return len(set(bad_starts)) == 1 and bool(bad_starts[0])


def _is_recent(when: str, now: datetime) -> bool:
    """Either way: a clock that was not set then, or is not set now, is no reason to forget."""
    try:
        return abs(now - datetime.fromisoformat(when)) <= CRASHES_WITHIN
    except (ValueError, TypeError):
        return False


def _kept(value: Mapping[str, Any]) -> _Kept:
    """From a file that an older or newer version may have written."""
    quarantined = value.get("quarantined")
    entries = quarantined.items() if isinstance(quarantined, dict) else ()
    return _Kept(
        crashes=[_pair(entry) for entry in _list(value.get("crashes")) if _is_pair(entry)],
        bad_starts=[str(entry) for entry in _list(value.get("bad_starts"))],
        quarantined={str(plugin): _pair(entry) for plugin, entry in entries if _is_pair(entry)},
        safe_mode=str(value.get("safe_mode") or ""),
        told=_texts(value.get("told")),
    )


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2


def _pair(value: list[Any]) -> tuple[str, str]:
    return str(value[0]), str(value[1])


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _texts(value: object) -> dict[str, str]:
    return {str(key): str(entry) for key, entry in value.items()} if isinstance(value, dict) else {}
