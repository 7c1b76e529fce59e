"""JSON files that survive a power cut: the old one or the new one, never half of one."""

from __future__ import annotations

import json
import logging
import os
import secrets
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from appliance.durable import make_folder, sync_file, sync_folder, sync_handle
from appliance.errors import StoreError
from appliance.ports import Json
from appliance.store.aside import move_aside
from appliance.store.canonical_json import check_json, storable

_LOG = logging.getLogger(__name__)


def write_json(file: Path, value: Json) -> None:
    """Replace ``file`` by ``value``, mode 0600; durable when this returns. The one before stays as ``.bak``.

    Nothing is written when nothing changed. Raises ``StoreError``; the old file is then untouched. Blocks.
    """
    try:
        check_json(value)
        text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    except ValueError as error:
        raise StoreError(f"{file.name} cannot hold that: {error}") from error
    try:
        _replace(file, storable(text).encode())
    except OSError as error:
        raise StoreError(f"{file} cannot be written: {error.strerror}; check the disk and the folder") from error


def read_json(file: Path, now: datetime) -> tuple[Json, str]:
    """The value in ``file`` (None when there is none), and a sentence about what was wrong ("" when nothing was).

    A file that is not JSON is put aside as ``.corrupt.<time>`` and the one before it (``.bak``) is taken. Also
    clears what a power cut left half written. Raises ``StoreError`` when the disk cannot be read. Blocks.
    """
    try:
        _remove_stale(file)
        value, fault = _parsed(file)
        if not fault:
            return value, ""
        older, older_fault = _parsed(_backup_of(file))
    except OSError as error:
        raise StoreError(f"{file} cannot be read: {error.strerror}; check the disk and the file's owner") from error
    where = "left where it is, the disk takes nothing"
    with suppress(OSError):
        where = f"put aside as {move_aside(file, now).name}"
    used = "nothing older could be read" if older is None or older_fault else "the one before it is used"
    problem = f"{file} was damaged ({fault}); it was {where}, {used}"
    _LOG.error("%s", problem)
    return (None if older_fault else older), problem


def keep_backup(file: Path, *, is_synced: bool = False) -> None:
    """Give the present generation a second name, ``.bak``; at no moment is there no file.

    With ``is_synced`` its bytes are flushed first. FAT cards have no second names. Raises ``OSError``.
    """
    link = temporary_of(file)
    try:
        with suppress(FileNotFoundError, PermissionError):
            os.link(file, link)
            if is_synced:
                sync_file(link)
            link.replace(_backup_of(file))
    finally:
        # Replacing does nothing when both names already mean one file (a cut came right here last time).
        link.unlink(missing_ok=True)


def temporary_of(file: Path) -> Path:
    """In the same folder, else replacing would copy; with our process in its name, so that leftovers are told apart."""
    return file.with_name(f".{file.name}.{os.getpid()}.{secrets.token_hex(4)}.tmp")


def _parsed(file: Path) -> tuple[Json, str]:
    """The value, and what is wrong with the file."""
    try:
        return json.loads(file.read_text(encoding="utf-8")), ""
    except FileNotFoundError:
        return None, ""
    except (ValueError, RecursionError) as error:
        # The text itself may hold secrets, and a JSON error quotes none of it.
        return None, f"{type(error).__name__}: not a JSON text"


def _replace(file: Path, data: bytes) -> None:
    if file.exists() and file.read_bytes() == data:
        return
    make_folder(file.parent)
    fresh = temporary_of(file)
    try:
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as out:
            _give_to_owner(out.fileno(), file.parent)
            out.write(data)
            out.flush()
            sync_handle(out.fileno())
        keep_backup(file)
        fresh.replace(file)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    sync_folder(file.parent)


def _give_to_owner(handle: int, folder: Path) -> None:
    """What root writes into the home of a service is for the service, as everything else in that folder."""
    if os.geteuid() == 0:
        owner = folder.stat()
        os.fchown(handle, owner.st_uid, owner.st_gid)


def _backup_of(file: Path) -> Path:
    return file.with_name(f"{file.name}.bak")


def _remove_stale(file: Path) -> None:
    for left in file.parent.glob(f".{file.name}.*.tmp"):
        if left.name.split(".")[-3] != str(os.getpid()):
            with suppress(OSError):
                left.unlink()
