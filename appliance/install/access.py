"""What the disk does not let us do, in words, and who the files belong to."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

from appliance.durable import sync_folder
from appliance.errors import ApplianceError

_READABLE_FOLDER, _READABLE_FILE = 0o755, 0o644
_NOT_ALLOWED = frozenset({errno.EACCES, errno.EPERM})


def refused_by_disk(error: OSError, what: str) -> ApplianceError:
    """An error of the disk with what to do about it."""
    where = f" ({error.filename})" if error.filename else ""
    if error.errno in _NOT_ALLOWED:
        return ApplianceError(f"{what}: the folder belongs to somebody else{where}; {as_root()}")
    if error.errno == errno.EROFS:
        return ApplianceError(f"{what}: the disk is read-only{where}; appliance doctor says more")
    if error.errno == errno.ENOSPC:
        return ApplianceError(f"{what}: the disk is full{where}; make some room and try again")
    return ApplianceError(f"{what}: {error.strerror or error}{where}")


def as_root() -> str:
    """How to run a command of the manager as the one whose the plugins are."""
    return "put sudo before it: sudo appliance plugin ..."


def make_open_folder(folder: Path) -> None:
    """Make a folder that the service may look into; one that is new lasts over a power cut. Raises ``OSError``."""
    if folder.is_dir():
        return
    make_open_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    folder.chmod(_READABLE_FOLDER)  # whatever the umask of the one who types is
    sync_folder(folder.parent)


def hand_over(place: Path, plugins: Path) -> None:
    """Let the service read a plugin that is to lie in ``plugins``, and nobody but that folder's owner write it.

    Raises ``OSError``.
    """
    owner = plugins.stat()
    for path in (place, *place.rglob("*")):
        path.chmod(_READABLE_FOLDER if path.is_dir() else _READABLE_FILE)
        if os.geteuid() == 0:
            os.chown(path, owner.st_uid, owner.st_gid)


def give_to(owner_of: Path, *files: Path) -> None:
    """As root: what we wrote into the home belongs to whom ``owner_of`` belongs to."""
    if os.geteuid() != 0:
        return
    owner = owner_of.stat()
    for file in files:
        with suppress(FileNotFoundError):
            os.chown(file, owner.st_uid, owner.st_gid, follow_symlinks=False)
