"""Writes what comes onto a stage, and copies a folder of the owner's there under the same rules as an archive."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from appliance.install.archive_rules import MOST_FILE_BYTES, Parts, Rules
from appliance.install.leftovers import is_left_out


def make_folder(into: Path, parts: Parts) -> None:
    """A folder of the stage with those above it, 0755."""
    for length in range(1, len(parts) + 1):
        folder = into.joinpath(*parts[:length])
        if not folder.is_dir():
            folder.mkdir()
            folder.chmod(0o755)


def write_file(into: Path, parts: Parts, pieces: Iterable[bytes]) -> None:
    """A new file of the stage, 0644; its folders are made."""
    make_folder(into, parts[:-1])
    handle = os.open(into.joinpath(*parts), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    with os.fdopen(handle, "wb") as opened:
        os.fchmod(handle, 0o644)
        for piece in pieces:
            opened.write(piece)


def copy_folder(folder: Path, into: Path, source: str) -> None:
    """Copy a plugin's folder, its leftovers aside. Raises ``RefusedError``, ``OSError``."""
    rules = Rules(source)
    for place, folders, files in os.walk(folder, onerror=_raise):
        above = Path(place).relative_to(folder).parts
        folders[:] = sorted(name for name in folders if not is_left_out((name,)))
        for name in folders:
            _copy_one(Path(place, name), "/".join((*above, name)), into, rules)
        for name in sorted(files):
            if not is_left_out((name,)):
                _copy_one(Path(place, name), "/".join((*above, name)), into, rules)


def copy_file(file: Path, into: Path, source: str) -> None:
    """Copy a lone file. Raises ``RefusedError``, ``OSError``."""
    _copy_one(file, file.name, into, Rules(source))


def _copy_one(path: Path, name: str, into: Path, rules: Rules) -> None:
    found = path.lstat()
    is_folder = stat.S_ISDIR(found.st_mode)
    # A link has the length of its target's name; the kind is judged after the name, as in archives.
    parts = rules.member(name, 0 if is_folder else found.st_size, is_folder=is_folder)
    rules.check_mode(found.st_mode, name)
    if is_folder:
        make_folder(into, parts)
        return
    # Not through a link, nor waiting for a pipe, that has taken its place meanwhile.
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as opened:
        now = os.fstat(handle)
        rules.check_mode(now.st_mode, name)
        if now.st_size > MOST_FILE_BYTES or now.st_size != found.st_size:
            raise rules.refusal("changed while it was read", name)
        write_file(into, parts, rules.pieces(opened, name, now.st_size))


def _raise(error: OSError) -> None:
    raise error
