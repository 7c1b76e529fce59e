"""What a plugin consists of, as one digest: a permission for it is one for exactly these files."""

from __future__ import annotations

import hashlib
import importlib.metadata
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.metadata import EntryPoint
from pathlib import Path

from appliance.contracts.kotoba.discover import PluginRoot
from appliance.contracts.kotoba.own_packages import FOLDER, GROUP, entry_points_in
from appliance.contracts.sapphire.manifest import MANIFEST_FILE, ManifestError, read_manifest

_LOG = logging.getLogger(__name__)

#: Left behind by running a plugin, not part of it.
_LEFTOVERS = ("__pycache__", ".git")


class PluginFiles:
    """Finds the files of every plugin. Its methods read the disk and block."""

    def __init__(
        self, roots: Sequence[PluginRoot], entry_points: Callable[[], Iterable[EntryPoint]] | None = None
    ) -> None:
        self._roots = tuple(roots)
        self._entry_points = entry_points or _installed_entry_points

    def digest(self, origin: str) -> str:
        """SHA-256 over names and contents of the files behind ``plugin:<name>``, and over where links lead.

        ``box`` is part of this program. "" when there are no files, or when one cannot be read.
        """
        if not origin.startswith("plugin:"):
            return origin
        try:
            return _digest(self._files(origin.removeprefix("plugin:")))
        except OSError as error:
            _LOG.warning("the files of %s cannot be read: %s", origin, error)
            return ""

    def sources(self, name: str) -> list[Path]:
        """The Python files of a plugin, without its tests and what it only needs. Raises ``OSError``."""
        found = [(Path(label), path) for label, path in self._files(name) if path.suffix == ".py"]
        own = {point.module.partition(".")[0] for root in self._roots for point in entry_points_in(root.folder / name)}
        return [path for label, path in found if "tests" not in label.parts[:-1] and not _is_needed_only(label, own)]

    def _files(self, name: str) -> list[tuple[str, Path]]:
        """Label and place of every file; of a name in several roots all count, for which is loaded may change."""
        found: list[tuple[str, Path]] = []
        if not name or "/" in name or name.startswith("."):
            return found
        for number, root in enumerate(self._roots):
            single = root.folder / f"{name}.py"
            if single.is_file():
                found.append((f"{number}/{single.name}", single))
            for folder in _folders_of(root.folder, name):
                found += [(f"{number}/{folder.name}/{path.relative_to(folder)}", path) for path in _walk(folder)]
        for point in self._entry_points():
            if point.name == name:
                found += _distribution_files(point)
        return found


def _is_needed_only(label: Path, own: set[str]) -> bool:
    """Whether it belongs to a package in the plugin's folder that is not the plugin itself."""
    parts = label.parts
    if FOLDER not in parts:
        return False
    return Path(parts[parts.index(FOLDER) + 1]).stem not in own


def _folders_of(root: Path, name: str) -> list[Path]:
    """Folders of a plugin: the one of its name, and one whose manifest has that name."""
    folders = [root / name] if (root / name).is_dir() else []
    for manifest in sorted(root.glob(f"*/{MANIFEST_FILE}")):
        with suppress(ManifestError):
            if manifest.parent not in folders and read_manifest(manifest.parent).name == name:
                folders.append(manifest.parent)
    return folders


def _walk(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(entry for entry in folders if entry not in _LEFTOVERS)
        links = [entry for entry in folders if (Path(place) / entry).is_symlink()]
        yield from (Path(place) / entry for entry in sorted([*files, *links]))


def _distribution_files(point: EntryPoint) -> list[tuple[str, Path]]:
    files = (point.dist.files if point.dist is not None else None) or []
    places = ((str(file), Path(str(file.locate()))) for file in files)
    return sorted((label, path) for label, path in places if path.is_file() and path.suffix != ".pyc")


def _digest(files: list[tuple[str, Path]]) -> str:
    if not files:
        return ""
    total = hashlib.sha256()
    for label, path in files:
        if path.is_symlink():
            content = f"link to {path.readlink()}".encode("utf-8", "surrogateescape")
            if path.is_file():
                content += path.read_bytes()
        elif path.is_file():
            content = path.read_bytes()
        else:
            continue
        total.update(hashlib.sha256(label.encode("utf-8", "surrogateescape")).digest())
        total.update(hashlib.sha256(content).digest())
    return total.hexdigest()


def _installed_entry_points() -> list[EntryPoint]:
    return list(importlib.metadata.entry_points(group=GROUP))
