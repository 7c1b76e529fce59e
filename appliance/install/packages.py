"""What a plugin needs beside the box, brought into the plugin's own folder: wheels only, each by its digest.

The packages of the box never change. What the box has in a fitting version is not brought again; what it has in
another version could not be brought either, for whoever asks for it gets the one of the box.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.errors import ApplianceError, RefusedError

#: Where the loader looks for a plugin's own packages.
FOLDER = "site-packages"
LOCK_FILE = "requirements.lock"
#: A name, extras, versions, a marker: no option of pip, no path, no URL.
_REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\s*(\[[A-Za-z0-9,._\s-]*\])?\s*\(?[^@/\\]*")
_WAIT_SECONDS = 900.0
_TOLD_CHARACTERS = 400


@dataclass(frozen=True)
class Wheel:
    """One package as it was resolved."""

    name: str
    version: str
    sha256: str

    @property
    def line(self) -> str:
        """In a file of requirements; pip takes nothing but these very bytes."""
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}"


class OwnPackages:
    """Brings packages with pip. ``environment`` makes pip's, with the way out of the house that the box takes."""

    def __init__(self, environment: Callable[[], Mapping[str, str]], python: str = sys.executable) -> None:
        self._environment = environment
        self._python = python

    def bring(self, folder: Path, requirements: Sequence[str]) -> tuple[Wheel, ...]:
        """Put what is needed into ``folder/site-packages``, and what it is into ``folder/requirements.lock``.

        Raises ``RefusedError`` for what no plugin may need, ``ApplianceError`` when it cannot be had. Blocks.
        """
        for requirement in requirements:
            if not _REQUIREMENT.fullmatch(requirement):
                raise RefusedError(f"it needs {requirement!r}, which is no package by name and version; ask its author")
        with tempfile.TemporaryDirectory(prefix="appliance-packages-") as scratch:
            wheels = self._resolve(requirements, Path(scratch))
            if wheels:
                self._install(folder, wheels)
        return wheels

    def _resolve(self, requirements: Sequence[str], scratch: Path) -> tuple[Wheel, ...]:
        """What the box lacks, by name."""
        report = scratch / "report.json"
        options = ("--dry-run", "--report", str(report), "--only-binary", ":all:", "--")
        self._pip(options, requirements, "its packages cannot be had")
        try:
            found = json.loads(report.read_text(encoding="utf-8"))["install"]
            wheels = sorted((_wheel(entry) for entry in found), key=lambda wheel: wheel.name)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ApplianceError(f"pip says nothing that is understood of {', '.join(requirements)}") from error
        for wheel in wheels:
            if version := _version_in_box(wheel.name):
                raise RefusedError(
                    f"it needs {wheel.name} {wheel.version}, but the box itself uses {wheel.name} {version}, "
                    "and of two only one can be there; ask its author for a version that works with that"
                )
        return tuple(wheels)

    def _install(self, folder: Path, wheels: Sequence[Wheel]) -> None:
        lock = folder / LOCK_FILE
        lines = [f"# For Python {sys.version_info.major}.{sys.version_info.minor}.", *(wheel.line for wheel in wheels)]
        lock.write_text("\n".join(lines) + "\n", encoding="utf-8")
        options = ("--target", str(folder / FOLDER), "--no-deps", "--require-hashes", "--only-binary", ":all:")
        self._pip((*options, "--no-compile", "-r", str(lock)), (), "its packages cannot be brought")

    def _pip(self, options: Sequence[str], words: Sequence[str], what: str) -> None:
        command = [self._python, "-I", "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
        try:
            subprocess.run(
                [*command, *options, *words],
                env=dict(self._environment()),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_WAIT_SECONDS,
                check=True,
            )
        except subprocess.CalledProcessError as error:
            raise ApplianceError(f"{what}: {_last_words(error.stderr)}") from error
        except subprocess.TimeoutExpired as error:
            raise ApplianceError(f"{what}: pip took longer than {_WAIT_SECONDS / 60:g} minutes") from error


def _wheel(entry: Mapping[str, Any]) -> Wheel:
    metadata, archive = entry["metadata"], entry["download_info"]["archive_info"]
    return Wheel(str(metadata["name"]), str(metadata["version"]), str(archive["hashes"]["sha256"]))


def _version_in_box(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _last_words(text: str) -> str:
    """What pip says last is what is wrong; a URL in it may hold a password."""
    lines = [line.removeprefix("ERROR: ") for line in text.splitlines() if line.startswith("ERROR: ")]
    said = lines[-1] if lines else "pip gave no reason"
    return re.sub(r"://[^/\s@]*@", "://", said)[:_TOLD_CHARACTERS]
