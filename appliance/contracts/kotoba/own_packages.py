"""The packages that are installed into a plugin's own folder: what it needs, and tools that come as packages.

They lie in ``plugins/<name>/site-packages``, where an installer puts them; the packages of the box never change. A
plugin finds them behind everything that is installed in the box, and only while its own code runs. What is imported
stands in ``sys.modules`` like everything: of two plugins with one package the first to import it decides which.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.metadata
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

from appliance.contracts.kotoba import siblings

#: In a plugin's folder; no Python file of a plugin can have this name, for no module can.
FOLDER = "site-packages"
GROUP = "kotoba.tools"


def entry_points_in(plugin: Path) -> tuple[EntryPoint, ...]:
    """The tools that packages in the plugin's own folder offer, by name. Reads the disk."""
    found = [
        point
        for distribution in importlib.metadata.distributions(path=[str(plugin / FOLDER)])
        for point in distribution.entry_points
        if point.group == GROUP
    ]
    return tuple(sorted(found, key=lambda point: (point.name, point.value)))


def install() -> None:
    """Find plugins' own packages from now on; a second time changes nothing."""
    if not any(isinstance(finder, _OwnPackages) for finder in sys.meta_path):
        sys.meta_path.append(_OwnPackages())


def forget(plugin: Path) -> None:
    """Import the plugin's own packages anew when they are asked for again."""
    place = f"{plugin / FOLDER}/"
    for name, module in list(sys.modules.items()):
        # Not by attribute: that may run the module's own code.
        file = vars(module).get("__file__") if isinstance(module, ModuleType) else None
        if isinstance(file, str) and file.startswith(place):
            del sys.modules[name]


class _OwnPackages(importlib.abc.MetaPathFinder):
    """Looks into the folder of the plugin whose code runs here, after everybody else has looked."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        folder = siblings.current_folder()
        if path is not None or folder is None:
            return None
        return importlib.machinery.PathFinder.find_spec(fullname, [str(folder / FOLDER)])
