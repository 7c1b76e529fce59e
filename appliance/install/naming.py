"""What a plugin that lies unpacked is: which contract, which name, which version; read, never run."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.errors import RefusedError
from appliance.install.stage import Contract

MANIFEST_FILE = "plugin.json"
_PROJECT_FILE = "pyproject.toml"
#: The name is that of files in the home too.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
#: What archives of repositories and releases add to a name.
_VERSION_TAIL = re.compile(r"-(main|master|head|trunk|v?\d[\w.]*|[0-9a-f]{7,40})$", re.IGNORECASE)
_ARCHIVE_ENDINGS = (".tar.gz", ".tar.xz", ".tar.bz2", ".tgz", ".txz", ".tbz2", ".tbz", ".tar", ".zip")


@dataclass(frozen=True)
class Identity:
    """What it calls itself; a tool module without metadata has no version."""

    name: str
    contract: Contract
    version: str = ""


def identify(place: Path, fallback_name: str, source: str) -> Identity:
    """Look at a folder. ``fallback_name`` is for a tool module, which has no name inside. Raises ``RefusedError``."""
    if (place / MANIFEST_FILE).exists():
        raw = _manifest(place / MANIFEST_FILE, source)
        name, version = raw.get("name"), raw.get("version")
        identity = Identity(name if isinstance(name, str) else "", Contract.TOOL, _line(version))
    else:
        identity = Identity(fallback_name, Contract.MODULE, _line(_project_version(place / _PROJECT_FILE)))
    check_name(identity.name, source)
    return identity


def check_name(name: str, source: str) -> None:
    """Whether a plugin can have this name. Raises ``RefusedError``."""
    if not _NAME.fullmatch(name) or name.endswith("."):
        raise RefusedError(
            f"{source} is refused: {name[:80]!r} cannot be the name of a plugin "
            "(letters, digits, '_', '-' and '.', a letter or digit first, 64 at most)"
        )


def name_from(file_name: str) -> str:
    """A plugin's name from that of an archive or of the folder in it."""
    ending = next((ending for ending in _ARCHIVE_ENDINGS if file_name.lower().endswith(ending)), "")
    return _VERSION_TAIL.sub("", file_name[: len(file_name) - len(ending)])


def _manifest(file: Path, source: str) -> dict[str, Any]:
    try:
        raw = json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise RefusedError(f"{source} is refused: its {MANIFEST_FILE} is not JSON ({error})") from error
    if not isinstance(raw, dict):
        raise RefusedError(f"{source} is refused: its {MANIFEST_FILE} is not one JSON object")
    return raw


def _project_version(file: Path) -> object:
    try:
        project = tomllib.loads(file.read_text(encoding="utf-8")).get("project")
    except (OSError, ValueError, RecursionError):
        return ""
    return project.get("version") if isinstance(project, dict) else ""


def _line(value: object) -> str:
    text = value.strip() if isinstance(value, str) else ""
    return text if text.isprintable() and len(text) <= 64 else ""
