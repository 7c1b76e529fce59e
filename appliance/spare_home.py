"""A home in memory, for when the real one cannot be used: the box talks, says what is wrong, and forgets.

It has what can still be read of the real one. Nothing that is changed in it comes back.
"""

from __future__ import annotations

import errno
import logging
import os
import pwd
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from appliance.errors import ApplianceError
from appliance.home import Home, HomeTrouble, nearest_existing

_LOG = logging.getLogger(__name__)

#: Speech weights are large and only read: the spare home points to them.
_POINTED_TO = ("models",)
#: What can be made again, or makes no sense in memory.
_LEFT_OUT = frozenset((*_POINTED_TO, "cache", "run", "lock", "installed", "crashes", "ballast"))
#: More than that of plugins or pictures would fill the memory of a small board: then the file stays behind.
_LARGEST_FILE_BYTES = 64 * 2**20


@contextmanager
def usable_home(home: Home) -> Iterator[Home]:
    """This home, locked; or one in memory, with ``trouble``, when it cannot be used.

    Raises ``HomeLockedError`` when another process has it, ``ApplianceError`` when not even memory can be had or the
    path is no folder at all.
    """
    trouble = trouble_of(home)
    if trouble is None:
        with home.lock():
            yield home
        return
    _LOG.error("%s", trouble.text)
    spare = Home(home.memory_folder / "home", home.is_service, trouble, _runtime_of(home))
    _private(home.memory_folder)
    with spare.lock():
        try:
            _furnish(spare, home)
            yield spare
        finally:
            shutil.rmtree(home.memory_folder, ignore_errors=True)


def trouble_of(home: Home) -> HomeTrouble | None:
    """What keeps this home from being used, found by trying; None when nothing does. Makes a home that is missing."""
    is_there = os.access(home.folder, os.F_OK)
    if is_there and not home.folder.is_dir():
        return None  # No home at all: locking it says so.
    if home.is_service and not is_there:
        return HomeTrouble(
            "store.missing",
            f"the home folder {home.folder} is not there: its disk may not be mounted. Nothing is kept until it is. "
            "Mount it and restart the service; if it was moved, write where it is into /etc/appliance/home",
        )
    try:
        home.make()
        probe = home.folder / f".probe.{os.getpid()}"
        os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        probe.unlink()
        for file in home.folder.glob(f"{home.database_file.name}*"):
            # A command that was run as root leaves such files.
            if not os.access(file, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))
    except OSError as error:
        return _explained(home.folder, error)
    return None


def _explained(folder: Path, error: OSError) -> HomeTrouble:
    forgets = "Until then nothing is kept over a restart"
    match error.errno:
        case errno.EROFS:
            return HomeTrouble(
                "store.read_only",
                f"the disk with the home folder {folder} is read-only: the card may be failing, or it was mounted so. "
                f"Look at `dmesg`, back up what is there, and mount it for writing. {forgets}",
            )
        case errno.EACCES | errno.EPERM:
            return HomeTrouble("store.wrong_owner", f"{_whose(folder, Path(error.filename or folder))}. {forgets}")
        case errno.ENOSPC | errno.EDQUOT:
            return HomeTrouble(
                "store.full_at_start", f"the disk with the home folder {folder} is full. Free some space. {forgets}"
            )
        case _:
            return HomeTrouble(
                "store.in_memory",
                f"the home folder {folder} cannot be used ({error.strerror}: {error.filename}). {forgets}",
            )


def _whose(folder: Path, refused: Path) -> str:
    me, there = _name_of(os.geteuid()), nearest_existing(refused)
    owner = f"{there} belongs to {_name_of(there.stat().st_uid)}, and this runs as {me}"
    if os.access(folder, os.F_OK):
        return f"{owner}. Give the home folder back with: sudo chown -R {me}: {folder}"
    make = f"sudo install -d -m 700 -o {me} {folder}"
    return f"the home folder {folder} cannot be reached or made: {owner}. Make it with: {make}"


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _runtime_of(home: Home) -> Path:
    """Where clients look for the device: where systemd says, else in memory."""
    given = home.runtime_folder
    return given if given != home.folder / "run" else home.memory_folder


def _private(folder: Path) -> None:
    """Make a folder in a place where everybody may make folders. Raises ``ApplianceError`` when it is not ours."""
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise ApplianceError(f"{folder} belongs to somebody else; remove it, then start again")


def _furnish(spare: Home, real: Home) -> None:
    """Copy what can be read. Whatever is wrong with one thing does not cost the others."""
    for left in spare.folder.iterdir():
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        elif left.name != "lock":
            left.unlink()
    with suppress(OSError):
        for entry in real.folder.iterdir():
            if entry.name in _POINTED_TO:
                (spare.folder / entry.name).symlink_to(entry)
            elif entry.name not in _LEFT_OUT and not entry.is_symlink():
                _copy(entry, spare.folder / entry.name)
    spare.make()
    spare.installed_folder.mkdir(exist_ok=True, mode=0o700)
    _copy(real.pins_file, spare.pins_file)


def _copy(source: Path, target: Path) -> None:
    try:
        if source.is_dir():
            target.mkdir(exist_ok=True, mode=0o700)
            for entry in source.iterdir():
                _copy(entry, target / entry.name)
        elif source.is_file() and source.stat().st_size <= _LARGEST_FILE_BYTES:
            shutil.copyfile(source, target)
            target.chmod(0o600)
    except OSError as error:
        _LOG.warning("%s cannot be read: %s", source, error.strerror)
