"""Which plugins the owner switched on and off: one file for both contracts."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from pathlib import Path

from appliance.errors import StoreError
from appliance.store.atomic_file import write_json


@dataclass(frozen=True)
class SwitchState:
    """What the file says. ``problem`` is a sentence when it could not be read; everything is as shipped then."""

    enabled: frozenset[str] = frozenset()
    disabled: frozenset[str] = frozenset()
    problem: str = ""


class PluginSwitch:
    """The switch file: ``{"enabled": […], "disabled": […]}``. Its methods block on the disk; any thread."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()

    def read(self) -> SwitchState:
        """The state now; a missing file says nothing about any plugin."""
        try:
            data = json.loads(self._file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return SwitchState()
        except (OSError, ValueError) as error:
            return SwitchState(problem=f"{self._file} cannot be read, so no plugin is switched off: {error}")
        if not isinstance(data, dict):
            return SwitchState(problem=f"{self._file} is not a JSON object, so no plugin is switched off")
        return SwitchState(_names(data.get("enabled")), _names(data.get("disabled")))

    def set(self, name: str, is_on: bool | None) -> None:
        """Switch a plugin on or off; None: as its author wants it. Durable when this returns.

        Raises ``StoreError``, also when the file cannot be read: what it says of others must not be lost.
        """
        with self._lock:
            state = self.read()
            if state.problem:
                raise StoreError(f"{state.problem}; repair the file or remove it")
            enabled, disabled = state.enabled - {name}, state.disabled - {name}
            if is_on is not None:
                enabled, disabled = (enabled | {name}, disabled) if is_on else (enabled, disabled | {name})
            write_json(self._file, {"enabled": sorted(enabled), "disabled": sorted(disabled)})


def _names(value: object) -> frozenset[str]:
    return frozenset(name for name in value if isinstance(name, str)) if isinstance(value, list) else frozenset()
