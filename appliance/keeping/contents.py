"""What of a home goes into a backup."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from appliance.home import Home
from appliance.store.plugin_pins import LEFTOVERS

#: Can be fetched or made again, or tells of this machine and this moment only.
_LEFT_OUT = frozenset(("models", "cache", "run", "lock", "ballast", "crashes", "backups.json"))
#: The plugin manager's stages, older versions and what is under way.
_LEFT_OUT_OF_INSTALLED = frozenset(("stage", "previous", "journal.json", "lock"))
#: Copied in ways of their own: the database while it is used, the head that fits that copy, the secrets sealed.
_APART = ("appliance.db", "audit.head", "credentials.json")
#: How this machine started is nothing to bring back.
_STARTS = "starts."


def files_of(home: Home) -> Iterator[tuple[str, Path]]:
    """Each file that goes in as it is, with its path inside the home; no links, no leftovers."""
    for place, folders, files in os.walk(home.folder):
        inside = Path(place).relative_to(home.folder)
        folders[:] = sorted(
            name for name in folders if _is_kept(inside / name) and not (Path(place) / name).is_symlink()
        )
        for name in sorted(files):
            path = Path(place) / name
            if _is_kept(inside / name) and path.is_file() and not path.is_symlink():
                yield (inside / name).as_posix(), path


def _is_kept(inside: Path) -> bool:
    top, name = inside.parts[0], inside.name
    if top in _LEFT_OUT or top.startswith((*_APART, _STARTS)) or name in LEFTOVERS:
        return False
    if top == "installed" and len(inside.parts) > 1 and inside.parts[1] in _LEFT_OUT_OF_INSTALLED:
        return False
    return not (name.startswith(".") and name.endswith(".tmp")) and ".corrupt." not in name
