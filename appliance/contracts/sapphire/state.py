"""The key-value store that each plugin has: one JSON file, written with every change."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from appliance.durable import make_folder, sync_folder
from appliance.errors import StoreError
from appliance.store.aside import move_aside
from appliance.store.atomic_file import keep_backup, read_json, temporary_of
from appliance.store.canonical_json import check_json, storable

_LOG = logging.getLogger(__name__)

#: What is saved outlives a crash of the program at once, and a power cut after this long: a card that is flushed with
#: every save of a busy plugin wears out and holds everybody up.
_SYNC_SECONDS = 1.0


class PluginState:
    """As plugins see it. Thread-safe; each change is in the file when the method returns.

    ``get`` and ``all`` hand out the values themselves: a change inside one is lost at the next start unless it is
    saved. A value that JSON cannot hold is refused with ``TypeError``, and nothing has changed then.
    """

    def __init__(self, file: Path, now: Callable[[], datetime], tell: Callable[[str], None], sync: SyncSoon) -> None:
        self._file = file
        self._sync = sync
        self._lock = threading.RLock()
        self._values = _read(file, now, tell)

    def get(self, key: str, default: Any = None) -> Any:
        """The value, or ``default``."""
        with self._lock:
            return self._values.get(key, default)

    def save(self, key: str, value: Any) -> None:
        """Keep a value. Raises ``TypeError`` for what is not JSON, ``OSError`` when the disk takes nothing."""
        with self._lock:
            self._replace({**self._values, key: value})

    def delete(self, key: str) -> None:
        """Forget a key; one that is not there is no mistake."""
        with self._lock:
            if key in self._values:
                self._replace({name: value for name, value in self._values.items() if name != key})

    def all(self) -> dict[str, Any]:
        """Every key with its value."""
        with self._lock:
            return dict(self._values)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._replace({})

    def update_with_lock(self, key: str, mutator: Callable[[Any], Any], default: Any = None) -> Any:
        """Save what ``mutator`` makes of the value, with nobody else in between; the new value."""
        with self._lock:
            value = mutator(self._values.get(key, default))
            self.save(key, value)
            return value

    def _replace(self, values: dict[str, Any]) -> None:
        text = _as_json(values)
        fresh = temporary_of(self._file)
        try:
            make_folder(self._file.parent)
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as out:
                out.write(text.encode())
            fresh.replace(self._file)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
        self._values = values
        self._sync.note(self._file)


class PluginStates:
    """One store for each plugin, opened when it is first asked for. Any thread; ``tell`` gets what was wrong."""

    def __init__(self, folder: Path, now: Callable[[], datetime], tell: Callable[[str], None]) -> None:
        self._folder = folder
        self._now = now
        self._tell = tell
        self._lock = threading.Lock()
        self._states: dict[str, PluginState] = {}
        self._sync = SyncSoon()

    def of(self, name: str) -> PluginState:
        """The store of that plugin. Raises ``ValueError`` for a name that is no file name."""
        if not isinstance(name, str) or not name or name.startswith(".") or "/" in name or "\0" in name:
            raise ValueError(f"{name!r} cannot be the name of a plugin")
        with self._lock:
            if name not in self._states:
                file = self._folder / f"{name}.json"
                self._states[name] = PluginState(file, self._now, self._tell, self._sync)
            return self._states[name]

    def forget(self, name: str) -> None:
        """The plugin is gone for good: its file is read anew when it is asked for again."""
        with self._lock:
            self._states.pop(name, None)
        self._sync.flush()

    def close(self) -> None:
        """Make everything last over a power cut."""
        self._sync.flush()


class SyncSoon:
    """Flushes files to the card a moment after they were written, many writes at once. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: set[Path] = set()
        self._timer: threading.Timer | None = None

    def note(self, file: Path) -> None:
        """This file was replaced."""
        with self._lock:
            self._files.add(file)
            if self._timer is None:
                self._timer = threading.Timer(_SYNC_SECONDS, self.flush)
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        """Flush what waits, now."""
        with self._lock:
            files, self._files = self._files, set()
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        for file in files:
            try:
                # A cut after the next save may leave that one unreadable: then there is this one.
                keep_backup(file, is_synced=True)
                sync_folder(file.parent)
            except OSError as error:
                _LOG.error("%s may not last over a power cut: %s", file, error.strerror)


def _as_json(values: dict[str, Any]) -> str:
    try:
        check_json(values)
        return storable(json.dumps(values, ensure_ascii=False, indent=2, allow_nan=False)) + "\n"
    except (ValueError, RecursionError) as error:
        # The contract promises a TypeError, which is what plain json raises for most of these.
        raise TypeError(f"the state of a plugin holds JSON only: {error}") from error


def _read(file: Path, now: Callable[[], datetime], tell: Callable[[str], None]) -> dict[str, Any]:
    try:
        values, problem = read_json(file, now())
        if not problem and file.exists() and not isinstance(values, dict):
            problem = f"it is not one JSON object; it was put aside as {move_aside(file, now()).name}"
    except (StoreError, OSError) as error:
        values, problem = None, str(error)
    kept = dict(values) if isinstance(values, dict) else {}
    if problem:
        rest = "" if kept else "; it starts empty"
        tell(f"what the plugin {file.stem} had stored was damaged: {problem}{rest}")
    return kept
