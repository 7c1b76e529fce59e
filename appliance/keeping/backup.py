"""Putting a home into one file, while the device runs."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from appliance.errors import StoreError, UsageError
from appliance.home import Home
from appliance.keeping.archive import CONFIG, HOME, SEALED_KEYS, BackupError, Manifest, write_archive
from appliance.keeping.contents import files_of
from appliance.keeping.keys import Keys, keys_in, seal, take_out
from appliance.ports_privacy import ChatCipher
from appliance.store.atomic_file import read_json, write_json

#: scrypt makes each guess slow, not a short word long.
SHORTEST_PASSPHRASE = 8


@dataclass(frozen=True)
class BackupReport:
    """What was written where."""

    file: Path
    size_bytes: int
    manifest: Manifest


def make_backup(
    home: Home, target: Path, *, cipher: ChatCipher, version: str, now: datetime, passphrase: str = ""
) -> BackupReport:
    """Write everything that the owner would miss into one file; with a passphrase the keys too.

    Raises ``BackupError``, ``UsageError`` for a passphrase that is too short. Blocks.
    """
    if passphrase and len(passphrase) < SHORTEST_PASSPHRASE:
        raise UsageError(f"a passphrase has at least {SHORTEST_PASSPHRASE} characters; four words are a good one")
    if not home.folder.is_dir():
        raise BackupError(f"there is no home at {home.folder}, so there is nothing to keep")
    _check_place(home, target)
    try:
        # Beside the target: there is room, and what lies there is the owner's to see.
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as folder:
            return _make(home, target, Path(folder), cipher, version, now, passphrase)
    except OSError as error:
        raise BackupError(f"{target} cannot be written: {error.strerror} ({error.filename})") from error
    except sqlite3.Error as error:
        raise BackupError(f"the store cannot be copied: {error}") from error


def backups_file(home: Home) -> Path:
    """Where the backups of this home are written down."""
    return home.folder / "backups.json"


def known_backups(home: Home, now: datetime) -> list[Path]:
    """Where backups of this home were written to; some may be gone."""
    value, _problem = read_json(backups_file(home), now)
    return [Path(entry) for entry in value if isinstance(entry, str)] if isinstance(value, list) else []


def _make(
    home: Home, target: Path, folder: Path, cipher: ChatCipher, version: str, now: datetime, passphrase: str
) -> BackupReport:
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    manifest = Manifest(program=version, made_at=now.isoformat(timespec="seconds"), schema=0, python=python)
    apart: list[tuple[str, Path]] = []
    copy, keys = folder / "appliance.db", Keys()
    if home.database_file.exists():
        schema = _copy_store(home.database_file, copy)
        keys = keys_in(copy)
        manifest = replace(manifest, schema=schema, private_chats=take_out(copy))
        apart += [(f"{HOME}appliance.db", copy), (f"{HOME}audit.head", _head_of(copy, folder / "audit.head"))]
    if passphrase:
        kept, _problem = read_json(home.folder / "credentials.json", now)
        credentials = kept if isinstance(kept, dict) else {}
        apart.append((SEALED_KEYS, folder / "keys"))
        sealed = seal(replace(keys, credentials=credentials), passphrase, cipher)
        (folder / "keys").write_bytes(sealed)
        manifest = replace(manifest, has_keys=True)
    whole, size_bytes = write_archive(target, [*apart, *_plain_files(home, target)], manifest)
    _remember(home, target, now)
    return BackupReport(target, size_bytes, whole)


def _plain_files(home: Home, target: Path) -> Iterator[tuple[str, Path]]:
    yield CONFIG, home.config_file
    for name, path in files_of(home):
        if path not in (home.config_file, target):
            yield f"{HOME}{name}", path


def _copy_store(source: Path, copy: Path) -> int:
    """A copy of the store at one moment, with what is only in its log yet; its schema."""
    os.close(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    with closing(sqlite3.connect(source, timeout=10)) as live, closing(sqlite3.connect(copy)) as fresh:
        live.backup(fresh)
        fresh.execute("PRAGMA journal_mode=DELETE").fetchall()
        return int(fresh.execute("PRAGMA user_version").fetchone()[0])


def _head_of(store: Path, file: Path) -> Path:
    """The head of the audit trail as it is in that copy: the one beside the live store may be further on."""
    with closing(sqlite3.connect(store)) as copy:
        count, digest = copy.execute("SELECT count, hash FROM audit_head").fetchone() or (0, "")
    file.write_text(json.dumps({"count": count, "hash": digest}))
    return file


def _remember(home: Home, target: Path, now: datetime) -> None:
    """So that a reset finds it. A home that cannot be written is no reason to have no backup."""
    known = [str(path) for path in known_backups(home, now)]
    if str(target) not in known:
        try:
            write_json(backups_file(home), [*known, str(target)])
        except StoreError:
            return


def _check_place(home: Home, target: Path) -> None:
    if not target.parent.is_dir():
        raise BackupError(f"there is no folder {target.parent}; name a file in one that there is")
    if home.folder in target.parents:
        raise BackupError(
            f"{target} is inside the home that it is to keep; name a file elsewhere, best on another disk"
        )
