"""What was installed, and exactly which bytes: one file that the plugin manager writes and the loader reads."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from appliance.errors import StoreError
from appliance.store.atomic_file import read_json, write_json
from appliance.store.canonical_json import canonical_json

#: Left behind by running a plugin, or by its author's tools: never part of it.
LEFTOVERS = frozenset(("__pycache__", ".git"))


@dataclass(frozen=True)
class PluginPin:
    """One installed plugin; ``files`` maps each path inside its folder ("/" between) to the SHA-256 of its bytes.

    ``place`` is the folder's name below ``plugins/``, or that of a lone file. ``origin`` says where it came from, in
    words. ``signer`` names who signed it ("" when nobody is known to). ``python`` is "3.11": what its own packages
    were made for, "" without any.
    """

    name: str
    contract: str
    version: str
    place: str
    origin: str
    digest: str
    files: Mapping[str, str] = field(default_factory=dict)
    installed_at: str = ""
    signer: str = ""
    python: str = ""

    @property
    def identity(self) -> str:
        """Tells this installation from any other, one of the same bytes too."""
        return f"{self.digest} {self.installed_at}".rstrip()


class PluginPins:
    """The file with all pins. Its methods block on the disk; writers hold the manager's lock."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def all(self) -> dict[str, PluginPin]:
        """Every pin by name; a missing file pins nothing. Raises ``StoreError`` when the file cannot be read."""
        value, problem = read_json(self._file, datetime.now(UTC))
        if problem and value is None:
            raise StoreError(problem)
        entries = value if isinstance(value, dict) else {}
        return {name: _pin(name, entry) for name, entry in entries.items() if isinstance(entry, dict)}

    def put(self, pin: PluginPin) -> None:
        """Keep it; durable when this returns. Raises ``StoreError``."""
        self._write({**self.all(), pin.name: pin})

    def remove(self, name: str) -> None:
        """Forget it. Raises ``StoreError``."""
        self._write({key: pin for key, pin in self.all().items() if key != name})

    def _write(self, pins: Mapping[str, PluginPin]) -> None:
        write_json(self._file, {name: asdict(pins[name]) for name in sorted(pins)})


def file_digests(place: Path) -> dict[str, str]:
    """SHA-256 of every file of a plugin's folder, or of a lone file, by its path inside.

    Links and what is no regular file count by their kind and target, so that a plugin that grows one has changed.
    Raises ``OSError``. Blocks.
    """
    if place.is_file() and not place.is_symlink():
        return {place.name: _sha256(place)}
    return {path.relative_to(place).as_posix(): _fingerprint(path) for path in sorted(_walk(place))}


def digest_of(files: Mapping[str, str]) -> str:
    """One digest over names and digests of all files."""
    return hashlib.sha256(canonical_json(dict(files)).encode()).hexdigest()


def _walk(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in LEFTOVERS]
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        yield from (Path(place) / name for name in (*files, *links))


def _fingerprint(path: Path) -> str:
    if path.is_symlink():
        return f"link to {path.readlink()}"
    return _sha256(path) if path.is_file() else "no regular file"


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _pin(name: str, entry: Mapping[str, Any]) -> PluginPin:
    """From a file that an older or newer version may have written."""
    known = {key: str(entry.get(key, "")) for key in PluginPin.__dataclass_fields__ if key not in ("name", "files")}
    files = entry.get("files")
    return PluginPin(name=name, files=dict(files) if isinstance(files, dict) else {}, **known)
