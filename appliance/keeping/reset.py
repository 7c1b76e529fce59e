"""Emptying a home before the box is given away."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path

from appliance.durable import sync_folder
from appliance.home import Home
from appliance.keeping.backup import backups_file, known_backups
from appliance.keeping.swap import forget_old_homes

#: Nothing in them is the owner's own.
_KEPT = frozenset(("models", "lock"))


def reset(home: Home, now: datetime, *, keep_plugins: bool = False) -> list[Path]:
    """Remove all that is the owner's; which files and folders those were. The caller holds the home's lock.

    The keys go first: whatever happens then, private chats are closed for good. Cut short, it is done by doing it
    again. Flash memory may keep old blocks that no program reaches. Raises ``OSError``. Blocks.
    """
    gone: list[Path] = []
    _destroy_keys(home.database_file)
    for file in _secrets(home):
        _remove(file, gone)
    for backup in known_backups(home, now):
        _remove(backup, gone)
    gone += forget_old_homes(home)
    shutil.rmtree(home.memory_folder, ignore_errors=True)
    kept = _KEPT | ({"plugins", "installed"} if keep_plugins else set())
    _remove(home.installed_folder / "previous", gone)
    for entry in sorted(home.folder.iterdir()):
        if entry.name not in kept and entry != backups_file(home):
            _remove(entry, gone)
    for elsewhere in (
        home.config_file,
        home.cache_folder,
        *home.config_file.parent.glob("config.toml.before-restore-*"),
    ):
        if home.folder not in elsewhere.parents:
            _remove(elsewhere, gone)
    # Last: a reset that is cut short must find the backups again.
    _remove(backups_file(home), gone)
    sync_folder(home.folder)
    os.sync()
    return gone


def _destroy_keys(database: Path) -> None:
    """In place, so that they are gone before anything else is touched; a store that is damaged is removed anyhow."""
    if not database.exists():
        return
    with suppress(sqlite3.Error), closing(sqlite3.connect(database, isolation_level=None)) as store:
        store.execute("PRAGMA synchronous=FULL")
        store.execute("PRAGMA secure_delete=ON").fetchall()
        store.execute("DELETE FROM vault")
        store.execute("UPDATE chats SET wrapped_key = x'' WHERE is_private")
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _secrets(home: Home) -> list[Path]:
    """The files with keys and secrets, and every copy of them."""
    name = home.database_file.name
    return [
        *home.folder.glob("credentials.json*"),
        *home.folder.glob(f"{name}.*"),
        *home.folder.glob(f"{name}-*"),
        home.database_file,
    ]


def _remove(path: Path, gone: list[Path]) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif path.exists() or path.is_symlink():
        path.unlink()
    else:
        return
    gone.append(path)
