"""The settings of plugins: one JSON file each, which plugins also read by themselves."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from appliance.store.aside import move_aside
from appliance.store.atomic_file import write_json

_LOG = logging.getLogger(__name__)


class PluginSettings:
    """Reads and writes ``<folder>/<name>.json``. Any thread; blocks on the disk.

    A file that cannot be read counts as empty: a slip of the owner's pen must not cost the tool. It stays where it is
    until somebody saves.
    """

    def __init__(self, folder: Path, now: Callable[[], datetime]) -> None:
        self._folder = folder
        self._now = now
        self._lock = threading.Lock()
        self._told: set[str] = set()

    def read(self, name: str, defaults: Mapping[str, Any]) -> dict[str, Any]:
        """The stored values over ``defaults``, as they are now."""
        return {**defaults, **self._stored(name)}

    def save(self, name: str, values: Mapping[str, Any]) -> None:
        """Put ``values`` over what is stored, key by key; durable when this returns. Raises ``StoreError``."""
        with self._lock:
            stored = self._stored(name)
            file = self._file(name)
            if name in self._told and file.exists():
                with suppress(OSError):
                    move_aside(file, self._now())
            write_json(file, {**stored, **values})

    def seed(self, name: str, defaults: Mapping[str, Any]) -> None:
        """Write the defaults when nothing is stored, for plugins that read the file. Raises ``StoreError``."""
        with self._lock:
            if defaults and not self._file(name).exists():
                write_json(self._file(name), dict(defaults))

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def _stored(self, name: str) -> dict[str, Any]:
        try:
            value = json.loads(self._file(name).read_text(encoding="utf-8-sig"))
            problem = "" if isinstance(value, dict) else "it is not one JSON object"
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            value, problem = {}, str(error)
        if not problem:
            self._told.discard(name)
            return dict(value)
        if name not in self._told:
            self._told.add(name)
            _LOG.warning("the settings of plugin %s cannot be read, so the defaults hold: %s", name, problem)
        return {}
