"""Opening the store, whatever state the disk is in.

Nothing is deleted on suspicion: a damaged file is put aside and we start afresh; a disk that takes nothing gives a
store in memory, so that the box still talks. Only a file of a newer version stops us: we would spoil it.
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path

from appliance.clock import Clock
from appliance.durable import make_folder, sync_file, sync_folder
from appliance.errors import NewerStoreError, StoreError
from appliance.store.aside import move_aside
from appliance.store.database import Connection, SqliteDatabase, StoreNote, explain, is_disk_full, primary_code
from appliance.store.schema import MIGRATIONS

_LOG = logging.getLogger(__name__)

#: Opens the SQLite file at a path; the connection is then used from one thread at a time.
Opener = Callable[[str], Connection]
Migrations = Sequence[Sequence[str]]

#: A healthy store of some MB is checked in milliseconds; a huge one must not hold up the start.
_CHECK_SECONDS = 5.0

#: Less than that is no room for the store's helper files.
_NO_ROOM_BYTES = 64 * 1024

_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_UNWRITABLE = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR}
)
#: The write-ahead log goes with its database, else its last commits were lost.
_PARTS = ("-wal", "-shm", "")
#: A file for sorting or rewriting in a folder of the system would hold what is deleted here.
_PRAGMAS = (
    *("busy_timeout=5000", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"),
    "temp_store=MEMORY",
)
#: Ends, with a number, the name of the copy that is made before a migration.
_SNAPSHOT = ".schema-"


def open_sqlite(path: str) -> sqlite3.Connection:
    """A connection whose transactions are ours to begin and end."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False)


def open_database(
    file: Path,
    clock: Clock,
    *,
    opener: Opener = open_sqlite,
    migrations: Migrations = MIGRATIONS,
    make_room: Callable[[], bool] = lambda: False,
) -> SqliteDatabase:
    """The store at ``file``, brought to our schema. Blocks; call it off the loop.

    Raises ``NewerStoreError`` for a newer schema, ``StoreError`` when another process holds the file or a migration
    fails. Anything else becomes a note: a fresh store beside the damaged one, or a store in memory. ``make_room``
    frees some of a full disk, if it can.
    """
    try:
        connection = _opened_with_room(file, opener, migrations, make_room)
        return SqliteDatabase(connection, finish_purge=lambda: _finish_purge(file), make_room=make_room)
    except _DamagedError as damage:
        return _start_afresh(file, clock, opener, migrations, str(damage))
    except sqlite3.Error as error:
        if primary_code(error) in _DAMAGED:
            return _start_afresh(file, clock, opener, migrations, str(error))
        if primary_code(error) in _UNWRITABLE:
            return _in_memory(file, migrations, explain(error), is_full=_is_full(file, error))
        raise StoreError(explain(error)) from error
    except OSError as error:
        why = f"{error.strerror}: {error.filename}"
        return _in_memory(file, migrations, why, is_full=_is_full(file, error))


def memory_database() -> SqliteDatabase:
    """An empty store in memory: the fake of ``Database``, with all its rules."""
    connection = open_sqlite(":memory:")
    _prepare(connection, None, MIGRATIONS)
    return SqliteDatabase(connection)


class _DamagedError(Exception):
    """SQLite opens the file, but its own check finds faults."""


def _opened(file: Path, opener: Opener, migrations: Migrations) -> Connection:
    make_folder(file.parent)
    # SQLite would make it readable for everybody; its helper files take over our mode.
    os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    connection = opener(str(file))
    try:
        _prepare(connection, file, migrations)
    except BaseException:
        connection.close()
        raise
    return connection


def _opened_with_room(file: Path, opener: Opener, migrations: Migrations, make_room: Callable[[], bool]) -> Connection:
    try:
        return _opened(file, opener, migrations)
    except (sqlite3.Error, OSError) as error:
        if not _is_full(file, error) or not make_room():
            raise
        return _opened(file, opener, migrations)


def _prepare(connection: Connection, file: Path | None, migrations: Migrations) -> None:
    """Set what must be set, check, migrate; ends with one real write, so that a full disk shows now."""
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}").fetchall()
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > len(migrations):
        raise NewerStoreError(
            f"{file or 'the store'} was written by a newer version of this program (schema {version}, we know "
            f"{len(migrations)}); install that version again, or set APPLIANCE_HOME to another folder"
        )
    if version:
        _check(connection)
    if file is not None and 0 < version < len(migrations):
        _snapshot(connection, file.with_name(f"{file.name}{_SNAPSHOT}{version}"))
    _migrate(connection, version, migrations)


def _check(connection: Connection) -> None:
    """Raises ``_DamagedError`` with SQLite's own words; a check that takes too long counts as passed."""
    alarm = threading.Timer(_CHECK_SECONDS, connection.interrupt)
    alarm.daemon = True
    alarm.start()
    try:
        verdict = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.Error as error:
        if primary_code(error) != sqlite3.SQLITE_INTERRUPT:
            raise
        _LOG.warning("checking the store took more than %g s and was left at that", _CHECK_SECONDS)
        return
    finally:
        alarm.cancel()
        alarm.join()
    if verdict != "ok":
        raise _DamagedError(verdict)


def _migrate(connection: Connection, version: int, migrations: Migrations) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statements in migrations[version:]:
            for statement in statements:
                connection.execute(statement)
        # Written even when nothing changed: this is the write that finds a disk that takes nothing.
        connection.execute(f"PRAGMA user_version={len(migrations)}")
        connection.execute("COMMIT")
    except sqlite3.Error:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _snapshot(connection: Connection, target: Path) -> None:
    """Copy the store before a migration; the copy is whole and on the disk, or it is not there."""
    unfinished = target.with_name(f"{target.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    os.close(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    # Over the same connection: it reads what is in the write-ahead log, and stands on the same file layer.
    connection.execute("VACUUM INTO ?", (str(unfinished),)).fetchall()
    sync_file(unfinished)
    unfinished.replace(target)
    sync_folder(target.parent)


def _finish_purge(file: Path) -> None:
    """Remove the copies from before a migration, and make it last that the write-ahead log is empty."""
    for copy in file.parent.glob(f"{file.name}{_SNAPSHOT}*"):
        copy.unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        sync_file(Path(f"{file}-wal"))
    sync_folder(file.parent)


def _start_afresh(file: Path, clock: Clock, opener: Opener, migrations: Migrations, why: str) -> SqliteDatabase:
    try:
        moved = move_aside(file, clock.now(), parts=_PARTS)
        connection = _opened(file, opener, migrations)
    except (OSError, sqlite3.Error, _DamagedError) as error:
        return _in_memory(file, migrations, f"it is damaged ({why}) and cannot be put aside ({error})")
    text = f"the store was damaged ({why}); it was put aside as {moved} and a new one was begun"
    _LOG.error("%s", text)
    note = StoreNote("store.damaged", text)
    return SqliteDatabase(connection, notes=(note,), finish_purge=lambda: _finish_purge(file))


def _is_full(file: Path, error: sqlite3.Error | OSError) -> bool:
    """Whether it failed for want of room; SQLite calls that a fault of the disk when it is about a helper file."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    if primary_code(error) != sqlite3.SQLITE_IOERR:
        return is_disk_full(error)
    found = os.statvfs(file.parent)
    return found.f_bavail * found.f_frsize < _NO_ROOM_BYTES


def _in_memory(file: Path, migrations: Migrations, why: str, *, is_full: bool = False) -> SqliteDatabase:
    """A store in memory with what the disk last held, if that can still be read."""
    connection = open_sqlite(":memory:")
    try:
        _copy_last_state(file, connection)
        _prepare(connection, None, migrations)
    except (OSError, sqlite3.Error, _DamagedError) as error:
        _LOG.warning("the store's last state cannot be read: %s", error)
        connection.close()
        connection = open_sqlite(":memory:")
        _prepare(connection, None, migrations)
    why = "the disk is full: free some space, then start again" if is_full else why
    text = f"the store cannot be written ({why}); until the next start everything is kept in memory only"
    _LOG.error("%s", text)
    note = StoreNote("store.full_at_start" if is_full else "store.in_memory", text)
    return SqliteDatabase(connection, notes=(note,), is_lasting=False)


def _copy_last_state(file: Path, memory: sqlite3.Connection) -> None:
    """SQLite cannot read a write-ahead log on a disk that takes nothing; it can in a copy held in RAM."""
    if not file.exists():
        return
    ram = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=ram if ram.is_dir() else None) as folder:
        copy = Path(folder) / "copy.db"
        for part in ("", "-wal"):
            with suppress(FileNotFoundError):
                shutil.copyfile(f"{file}{part}", f"{copy}{part}")
        with closing(open_sqlite(str(copy))) as source:
            source.execute("PRAGMA journal_mode=DELETE").fetchall()
            source.backup(memory)
