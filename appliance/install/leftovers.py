"""What lies in a plugin's folder without being part of it."""

from __future__ import annotations

from appliance.store.plugin_pins import LEFTOVERS

#: What desktops leave behind.
_LITTER = frozenset({"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", ".directory"})


def is_left_out(parts: tuple[str, ...]) -> bool:
    """Whether a path, in parts, is no part of a plugin."""
    return any(part in LEFTOVERS or part in _LITTER for part in parts)
