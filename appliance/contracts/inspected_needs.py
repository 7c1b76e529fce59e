"""What a plugin needs beside the box: read off its requirements, its manifest and the metadata of its packages."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.contracts.kotoba.own_packages import FOLDER, GROUP
from appliance.contracts.sapphire.manifest import Manifest

_REQUIREMENTS_FILE = "requirements.txt"
_PROJECT_FILE = "pyproject.toml"
_COMMENT = re.compile(r"(^|\s)#.*$")
_EXTRA = re.compile(r"\bextra\s*==")


@dataclass(frozen=True)
class Needs:
    """Requirements, each as in a requirements file; ``remarks`` are sentences."""

    requirements: tuple[str, ...]
    remarks: tuple[str, ...] = ()


def needs_of(place: Path, manifest: Manifest | None) -> Needs:
    """Read the disk; a file that cannot be read asks for nothing, and is told."""
    remarks: list[str] = []
    found: list[str] = list(manifest.pip_dependencies) if manifest is not None else []
    if place.is_dir():
        found += _from_file(place / _REQUIREMENTS_FILE, remarks)
        found += _from_project(place / _PROJECT_FILE, remarks) if manifest is None else []
        found += _from_packages(place)
    return Needs(tuple(dict.fromkeys(map(str.strip, found))), tuple(remarks))


def _from_file(file: Path, remarks: list[str]) -> Iterator[str]:
    try:
        lines = file.read_text(encoding="utf-8-sig").replace("\\\n", " ").splitlines()
    except FileNotFoundError:
        return
    except (OSError, ValueError):
        remarks.append(f"its {file.name} cannot be read, so nothing is brought for it")
        return
    for line in lines:
        requirement = _COMMENT.sub("", line).partition(" --")[0].strip()
        if requirement.startswith("-"):
            remarks.append(f"its {file.name} has an option, {requirement!r}, which is left out")
        elif requirement:
            yield requirement


def _from_project(file: Path, remarks: list[str]) -> list[str]:
    try:
        project: Any = tomllib.loads(file.read_text(encoding="utf-8")).get("project", {})
        found = project.get("dependencies", [])
        return [entry for entry in found if isinstance(entry, str)]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError, AttributeError, TypeError):
        remarks.append(f"its {file.name} cannot be read, so nothing is brought for it")
        return []


def _from_packages(place: Path) -> Iterable[str]:
    """What the packages that are the plugin itself name; not what is for their extras."""
    for distribution in importlib.metadata.distributions(path=[str(place / FOLDER)]):
        if any(point.group == GROUP for point in distribution.entry_points):
            yield from (need for need in distribution.requires or () if not _EXTRA.search(need))
