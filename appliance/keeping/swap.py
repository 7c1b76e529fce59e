"""Putting one home into the place of another in a single step, and what is left of the old one."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

from appliance.durable import sync_file, sync_folder
from appliance.home import Home

_BEFORE = ".before-restore-"
_STAGE = ".restoring"
#: The settings of a service in its new home, until they are where it reads them.
SETTINGS_TO_PLACE = "config.toml.restored"
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def stage_of(home: Home) -> Path:
    """Where a new home is put together: on the same disk."""
    return home.folder.with_name(f"{home.folder.name}{_STAGE}")


def put_in_place(home: Home, stage: Path, now: datetime) -> Path | None:
    """Have ``stage`` as the home; where the old one is now, None when there was none. Raises ``OSError``.

    At no moment is there no home, or half of one: the two names are exchanged in one step of the kernel.
    """
    parent = home.folder.parent
    if not home.folder.exists():
        stage.rename(home.folder)
        sync_folder(parent)
        return None
    old = _free_name(home, now)
    # The new one waits under the name that the old one gets.
    stage.rename(old)
    try:
        _exchange(old, home.folder)
    except BaseException:
        old.rename(stage)
        raise
    sync_folder(parent)
    return old


def old_homes(home: Home) -> list[Path]:
    """Homes from before a restore, and what a restore that was cut short has left; oldest first."""
    name = home.folder.name
    return sorted((*home.folder.parent.glob(f"{name}{_BEFORE}*"), *home.folder.parent.glob(f"{name}{_STAGE}")))


def finish_restore(home: Home, now: datetime) -> None:
    """What comes when the new home is in place; again at each start, for a cut may have come first.

    The speech weights, which are in no backup, move over; the settings of a service go where it reads them.
    Raises ``OSError``.
    """
    for old in reversed(old_homes(home)):
        if (old / "models").is_dir() and not home.models_folder.exists():
            (old / "models").rename(home.models_folder)
    settings = home.folder / SETTINGS_TO_PLACE
    if settings.exists() and home.config_file.parent != home.folder:
        place_settings(settings, home.config_file, now)


def place_settings(new: Path, target: Path, now: datetime) -> None:
    """Move a settings file to another disk; the one that is there stays beside it. Raises ``OSError``."""
    if target.exists():
        shutil.copy2(target, target.with_name(f"{target.name}{_BEFORE}{now:%Y%m%dT%H%M%S}"))
    fresh = target.with_name(f".{target.name}.new")
    shutil.copyfile(new, fresh)
    shutil.copymode(target if target.exists() else new, fresh)
    sync_file(fresh)
    fresh.replace(target)
    sync_folder(target.parent)
    new.unlink()


def forget_old_homes(home: Home) -> list[Path]:
    """Remove them; which they were."""
    gone = old_homes(home)
    for old in gone:
        shutil.rmtree(old, ignore_errors=True)
    return gone


def _free_name(home: Home, now: datetime) -> Path:
    time = now.astimezone(UTC).strftime("%Y%m%dT%H%M%S")
    names = (f"{home.folder.name}{_BEFORE}{time}{f'n{number}' if number else ''}" for number in range(1000))
    return next(path for path in map(home.folder.with_name, names) if not path.exists())


def _exchange(one: Path, other: Path) -> None:
    """Both names at once; Python has no call for that. FAT cannot: there it takes three steps."""
    libc = ctypes.CDLL(None, use_errno=True)
    names = (os.fsencode(one), os.fsencode(other))
    if not libc.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE):
        return
    number = ctypes.get_errno()
    if number not in (errno.EINVAL, errno.ENOSYS):
        raise OSError(number, os.strerror(number), str(other))
    third = one.with_name(f"{one.name}.swapping")
    other.rename(third)
    one.rename(other)
    third.rename(one)
