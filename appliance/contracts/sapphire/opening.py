"""Opens one tool file of a plugin. What runs the author's code belongs on the plugin's side."""

from __future__ import annotations

import importlib.metadata
import logging
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.contracts.kotoba.blame import log_traceback
from appliance.contracts.kotoba.blame import why_not_loaded as why_nothing_loads
from appliance.contracts.sapphire.exports import Exports, read_exports
from appliance.contracts.sapphire.imports import NotOfferedError, PluginImports
from appliance.contracts.sapphire.manifest import Manifest
from appliance.contracts.sapphire.risk import DerivedRisk, risk_of_file

_LOG = logging.getLogger(__name__)

_DISTRIBUTION = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")


@dataclass(frozen=True)
class OpenedFile:
    """A tool file that ran, and what it offers."""

    path: Path
    module: Any
    exports: Exports
    derived: DerivedRisk


def open_file(imports: PluginImports, folder: Path, relative: str) -> OpenedFile | str:
    """The opened file, or a sentence why it offers nothing ("" when its author wants that). On the plugin's side."""
    path = Path(os.path.normpath(folder / relative))
    is_inside = path.is_relative_to(folder) and path.resolve().is_relative_to(folder.resolve())
    if not is_inside or path.suffix != ".py":
        return "it is not loaded: a tool file is a .py file inside the plugin's folder"
    if not path.is_file():
        return "it is not loaded: there is no such file, although plugin.json names it"
    try:
        derived = risk_of_file(folder, path)
        module = imports.load_file(folder, path)
        found = read_exports(module)
    except BaseException as error:
        log_traceback(_LOG, logging.WARNING, f"{relative} of plugin {folder.name} is not loaded", error)
        return f"it is not loaded: {why_not_loaded(error)}"
    return found if isinstance(found, str) else OpenedFile(path, module, found, derived)


def why_not_loaded(error: BaseException) -> str:
    """Half a sentence for the person, with what to do where that is clear."""
    if isinstance(error, NotOfferedError):
        return f"it imports what this box does not offer: {error}"
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.partition(".")[0]
        return f"it needs the Python package {package}, which is not installed; try: pip install {package}"
    return why_nothing_loads(error)


def missing_packages(manifest: Manifest) -> list[str]:
    """Those of ``pip_dependencies`` that are not installed; versions are not looked at. Reads the disk."""
    missing: list[str] = []
    for requirement in manifest.pip_dependencies:
        match = _DISTRIBUTION.match(requirement)
        try:
            if match is not None:
                importlib.metadata.distribution(match[1])
        except importlib.metadata.PackageNotFoundError:
            missing.append(requirement.strip())
    return missing
