"""Which plugins the owner switched on and off: one file for both contracts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class SwitchState:
    """What the file says. ``problem`` is a sentence when it could not be read; everything is as shipped then."""

    enabled: frozenset[str] = frozenset()
    disabled: frozenset[str] = frozenset()
    problem: str = ""


class PluginSwitch:
    """The switch file: ``{"enabled": […], "disabled": […]}``. Its methods read the disk."""

    def __init__(self, file: Path) -> None:
        self._file = file

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


def _names(value: object) -> frozenset[str]:
    return frozenset(name for name in value if isinstance(name, str)) if isinstance(value, list) else frozenset()
