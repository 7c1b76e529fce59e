"""What a plugin leaves behind in the home: settings, what it stored, its keys."""

from __future__ import annotations

from pathlib import Path

from appliance.durable import sync_folder
from appliance.home import Home
from appliance.install.access import refused_by_disk
from appliance.store.credentials import Credentials


def leavings_of(name: str, home: Home, credentials: Credentials) -> list[str]:
    """Each in words."""
    found = [f"{file.relative_to(home.folder)}" for file in _files(name, home)]
    return found + [f"its key {key}" for key in sorted(credentials.of_plugin(name))]


def throw_away(name: str, home: Home, credentials: Credentials) -> None:
    """Delete them, older generations too. Once more does no harm. Raises ``ApplianceError``. Blocks."""
    for key in credentials.of_plugin(name):
        credentials.remove(f"{name}:{key}")
    try:
        for file in _files(name, home):
            file.unlink(missing_ok=True)
            sync_folder(file.parent)
    except OSError as error:
        raise refused_by_disk(error, f"what {name} left cannot be deleted") from error


def _files(name: str, home: Home) -> list[Path]:
    """Every generation of its files: the one of now, the one before, damaged ones."""
    if not name or "/" in name or name.startswith("."):
        return []
    found: list[Path] = []
    for folder in (home.plugin_settings_folder, home.plugin_state_folder):
        entries = sorted(folder.iterdir()) if folder.is_dir() else []
        found += [path for path in entries if path.name == f"{name}.json" or path.name.startswith(f"{name}.json.")]
    return found
