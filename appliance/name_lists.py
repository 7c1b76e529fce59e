"""Lists of names in plain text, for the Tab key: a shell reads them without starting anything of ours."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

_LOG = logging.getLogger(__name__)

#: Beside the control socket: who may read them is who may ask the device itself.
_FOLDER = "names"


def write_names(runtime_folder: Path, lists: Mapping[str, Iterable[str]]) -> None:
    """Replace the lists; a disk that takes nothing costs the Tab key its names, and nothing else. Blocks."""
    folder = runtime_folder / _FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o750)  # whatever the service's own mask is
        for kind, names in lists.items():
            text = "".join(f"{name}\n" for name in sorted(set(names)) if name.isprintable())
            if read_names(runtime_folder, kind) == text.splitlines():
                continue
            half = folder / f".{kind}.{os.getpid()}"
            half.write_text(text, encoding="utf-8")
            half.chmod(0o640)
            half.replace(folder / kind)
    except OSError as error:
        _LOG.info("the lists of names for the shell cannot be written: %s", error)


def read_names(runtime_folder: Path, kind: str) -> list[str]:
    """The list as it was written last; empty when there is none."""
    try:
        return (runtime_folder / _FOLDER / Path(kind).name).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []
