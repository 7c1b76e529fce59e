"""Where the plugin is that an author means: by a path, or by its name in the home or among the shipped ones."""

from __future__ import annotations

from pathlib import Path

from appliance.contracts.author.trial import check_path, plugin_name
from appliance.errors import UsageError
from appliance.home import Home, shipped


def find_plugin(word: str, home: Home) -> Path:
    """The folder or file. Raises ``UsageError`` when there is none."""
    path = Path(word)
    if path.exists():
        check_path(path.resolve())
        return path.resolve()
    for root in (home.plugins_folder, shipped("plugins")):
        for entry in sorted(root.iterdir()) if root.is_dir() else []:
            is_plugin = entry.is_dir() or entry.suffix == ".py"
            if is_plugin and word in (entry.stem, entry.name, plugin_name(entry)):
                check_path(entry)
                return entry
    raise UsageError(
        f"there is no plugin {word!r}: give the path of a folder or file, or a name of appliance plugin list"
    )
