"""``config``: the settings of the host, as plugins see them."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

_LOG = logging.getLogger(__name__)


class RootConfig:
    """What the box says, with the owner's ``user/settings.json`` over it; unknown names are ``AttributeError``."""

    def __init__(self, home: Path, values: Mapping[str, Any]) -> None:
        self._own = dict(values)
        self._file = home / "user" / "settings.json"
        self._values = dict(values)
        self.module = ModuleType("config", "Settings of the host, read only.")
        # Plugins find their data from here: what is beside this file is the home.
        self.module.__file__ = str(home / "config.py")
        vars(self.module)["__getattr__"] = self._attribute

    def get(self, name: str, default: Any = None) -> Any:
        """The setting as last read."""
        return self._values.get(name, default)

    def refresh(self) -> None:
        """Read the owner's file again. Blocks; a file that cannot be read changes nothing."""
        try:
            given = json.loads(self._file.read_text(encoding="utf-8-sig"))
        except FileNotFoundError:
            given = {}
        except (OSError, ValueError, RecursionError) as error:
            _LOG.warning("%s cannot be read: %s", self._file, error)
            return
        if isinstance(given, dict):
            self._values = {**self._own, **given}

    def _attribute(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            offered = ", ".join(sorted(self._values)) or "nothing"
            raise AttributeError(f"this box has no setting {name} in config; there are: {offered}") from None
