"""The database: one writer thread, durable when a door returns.

WAL with ``synchronous=FULL`` is the cheapest setting that keeps its word over a power cut: with NORMAL
acknowledged commits are lost, a fully synced rollback journal costs twice the syncs.

Everything above talks to the small Protocols here, so that a test can put a faulty file layer under them.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from appliance.errors import StoreError

_LOG = logging.getLogger(__name__)

T = TypeVar("T")


class Cursor(Protocol):
    """The rows of one statement."""

    def fetchone(self) -> Any:
        """The next row, or None."""
        ...

    def fetchall(self) -> list[Any]:
        """The remaining rows."""
        ...


class Connection(Protocol):
    """What the store needs of SQLite; ``sqlite3.Connection`` has it. Errors are ``sqlite3.Error``."""

    def execute(self, sql: str, parameters: Any = ..., /) -> Cursor:
        """Run one statement."""
        ...

    def interrupt(self) -> None:
        """End the running statement; from another thread."""
        ...

    def close(self) -> None:
        """Give the file back."""
        ...


@dataclass(frozen=True)
class StoreNote:
    """Something the owner must know about the store: ``key`` of the catalogue sentence, ``text`` for log and CLI."""

    key: str
    text: str


class Database(Protocol):
    """Runs work inside a transaction, one after another; what it returns has been committed and synced.

    Work that raises leaves nothing behind. A caller that is cancelled does not undo work that has begun.
    """

    @property
    def notes(self) -> tuple[StoreNote, ...]:
        """What went wrong at opening; empty when all is well."""
        ...

    @property
    def is_lasting(self) -> bool:
        """False when everything is kept in memory only, because the disk takes nothing."""
        ...

    def run(self, work: Callable[[Connection], T]) -> T:
        """Do ``work`` and wait; for plugin threads and start-up, never on the loop. Raises ``StoreError``."""
        ...

    async def arun(self, work: Callable[[Connection], T]) -> T:
        """Do ``work`` while the loop goes on. Raises ``StoreError``."""
        ...

    async def purge(self, *, is_rewritten: bool = False) -> None:
        """After a deletion: empty the write-ahead log, so that the deleted text is in no file any more.

        ``is_rewritten`` writes the whole file anew first, for what was changed and not deleted. Copies from before
        a migration go too: they hold what was deleted. Raises ``StoreError``.
        """
        ...

    def close(self) -> None:
        """Finish what is queued and give the file back; safe to call twice."""
        ...


class SqliteDatabase:
    """``Database`` on an open, prepared connection; ``recovery.open_database`` makes one.

    ``make_room`` is asked, on the writer's thread, when the disk is full: whether it could free some.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        notes: tuple[StoreNote, ...] = (),
        is_lasting: bool = True,
        finish_purge: Callable[[], None] = lambda: None,
        make_room: Callable[[], bool] = lambda: False,
    ) -> None:
        self._connection = connection
        self._notes = notes
        self._is_lasting = is_lasting
        self._finish_purge = finish_purge
        self._make_room = make_room
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")
        self._closing = threading.Lock()
        self._is_closed = False

    @property
    def notes(self) -> tuple[StoreNote, ...]:
        return self._notes

    @property
    def is_lasting(self) -> bool:
        return self._is_lasting

    def is_in_memory(self, note: StoreNote) -> None:
        """The file is in memory itself: nothing of it lasts, and this is why."""
        self._notes = (*self._notes, note)
        self._is_lasting = False

    def run(self, work: Callable[[Connection], T]) -> T:
        return self._submit(lambda: self._transact(work)).result()

    async def arun(self, work: Callable[[Connection], T]) -> T:
        return await asyncio.wrap_future(self._submit(lambda: self._transact(work)))

    async def purge(self, *, is_rewritten: bool = False) -> None:
        await asyncio.wrap_future(self._submit(lambda: self._checkpoint(is_rewritten)))

    def close(self) -> None:
        with self._closing:
            if not self._is_closed:
                self._is_closed = True
                self._writer.submit(self._connection.close)
                self._writer.shutdown(wait=True)

    def _transact(self, work: Callable[[Connection], T]) -> T:
        """Once more when the disk was full and room could be made: nothing of the first time is left."""
        try:
            return transact(self._connection, work)
        except StoreError as error:
            if not is_disk_full(error.__cause__) or not self._make_room():
                raise
            return transact(self._connection, work)

    def _submit(self, job: Callable[[], T]) -> Future[T]:
        try:
            return self._writer.submit(job)
        except RuntimeError as error:
            raise StoreError("the store is closed: the appliance is stopping") from error

    def _checkpoint(self, is_rewritten: bool) -> None:
        try:
            if is_rewritten:
                # secure_delete wipes what is deleted, but may leave what a page was rearranged from.
                self._connection.execute("VACUUM")
            is_busy = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        except sqlite3.Error as error:
            raise StoreError(explain(error)) from error
        if is_busy:
            _LOG.warning("another program reads the store: deleted text stays in its log until that one ends")
        try:
            self._finish_purge()
        except OSError as error:
            raise StoreError(f"what was deleted may still be in a file ({error.strerror}: {error.filename})") from error


def transact(connection: Connection, work: Callable[[Connection], T]) -> T:
    """Do ``work`` between BEGIN and COMMIT. Raises ``StoreError`` for the database's errors, and work's own."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        result = work(connection)
        connection.execute("COMMIT")
        return result
    except BaseException as error:
        # SQLite may have rolled back by itself already (disk full): then there is no transaction to end.
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        if isinstance(error, sqlite3.Error):
            raise StoreError(explain(error)) from error
        raise


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's result code without its extension; ``SQLITE_ERROR`` when Python made the error itself."""
    return int(getattr(error, "sqlite_errorcode", None) or sqlite3.SQLITE_ERROR) & 0xFF


def is_disk_full(error: BaseException | None) -> bool:
    """Whether SQLite says that the disk takes no more."""
    return isinstance(error, sqlite3.Error) and primary_code(error) == sqlite3.SQLITE_FULL


def explain(error: sqlite3.Error) -> str:
    """What happened and what to do, in one sentence."""
    return _SENTENCES.get(primary_code(error)) or f"the store refused: {error}"


_SENTENCES: dict[int, str] = {
    sqlite3.SQLITE_FULL: "the disk is full: nothing more can be stored; free some space",
    sqlite3.SQLITE_READONLY: "the disk is read-only: nothing can be stored; check the card, then start again",
    sqlite3.SQLITE_CANTOPEN: "the store cannot be opened; check the folder's owner and its rights",
    sqlite3.SQLITE_PERM: "the store may not be opened; check the folder's owner and its rights",
    sqlite3.SQLITE_IOERR: "the disk reports an error: the card may be failing; make a backup and replace it",
    sqlite3.SQLITE_CORRUPT: "the store is damaged; start the appliance again, it puts the damaged file aside",
    sqlite3.SQLITE_NOTADB: "the store is damaged; start the appliance again, it puts the damaged file aside",
    sqlite3.SQLITE_BUSY: "another process holds the store; stop it, then try again",
    sqlite3.SQLITE_LOCKED: "another process holds the store; stop it, then try again",
}
