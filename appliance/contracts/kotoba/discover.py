"""Which tool modules there are, before any of them is opened."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path

from appliance.contracts.kotoba.own_packages import entry_points_in

#: A folder with this file belongs to the other contract.
_MANIFEST = "plugin.json"


class Source(enum.StrEnum):
    """Where a plugin comes from, in the order of loading: of two tools with one name the first stays."""

    OWNER = "owner"
    ENTRY_POINT = "entry point"
    SHIPPED = "shipped"


@dataclass(frozen=True)
class PluginRoot:
    """A folder that holds plugins."""

    folder: Path
    source: Source


@dataclass(frozen=True)
class FoundPlugin:
    """A plugin and its tools, in the order in which they are loaded: files, then what packages point at.

    ``folder`` is None when there are no neighbours that a file may import.
    """

    name: str
    source: Source
    files: tuple[Path, ...] = ()
    folder: Path | None = None
    entry_points: tuple[EntryPoint, ...] = ()


@dataclass(frozen=True)
class Discovery:
    """``shadowed`` names the shipped plugins that stay closed because the owner has one of that name."""

    plugins: tuple[FoundPlugin, ...]
    shadowed: frozenset[str] = frozenset()


def discover(roots: Iterable[PluginRoot], entry_points: Iterable[EntryPoint] = ()) -> Discovery:
    """Look through the roots and the installed packages. Reads the disk; a root that is missing holds nothing."""
    found = [plugin for root in roots for plugin in _plugins_in(root)]
    found += [FoundPlugin(point.name, Source.ENTRY_POINT, entry_points=(point,)) for point in entry_points]
    own = {plugin.name for plugin in found if plugin.source is not Source.SHIPPED}
    shadowed = frozenset(plugin.name for plugin in found if plugin.source is Source.SHIPPED and plugin.name in own)
    kept = [plugin for plugin in found if not (plugin.source is Source.SHIPPED and plugin.name in own)]
    order = list(Source)
    return Discovery(tuple(sorted(kept, key=lambda plugin: order.index(plugin.source))), shadowed)


def _plugins_in(root: PluginRoot) -> list[FoundPlugin]:
    """A folder and a single file of one name are one plugin."""
    files: dict[str, list[Path]] = {}
    folders: dict[str, Path] = {}
    for entry in _entries(root.folder):
        if entry.name.startswith((".", "_")):
            continue
        if entry.is_dir():
            if not (entry / _MANIFEST).exists():
                files.setdefault(entry.name, []).extend(_tool_files(entry))
                folders[entry.name] = entry
        elif entry.suffix == ".py":
            files.setdefault(entry.stem, []).append(entry)
    return [_plugin(name, root.source, found, folders.get(name)) for name, found in files.items()]


def _plugin(name: str, source: Source, files: list[Path], folder: Path | None) -> FoundPlugin:
    return FoundPlugin(name, source, tuple(files), folder, entry_points_in(folder) if folder is not None else ())


def _tool_files(folder: Path) -> list[Path]:
    return [file for file in _entries(folder) if file.suffix == ".py" and not file.name.startswith((".", "_"))]


def _entries(folder: Path) -> list[Path]:
    """Sorted; a folder that cannot be read is as good as empty."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
