"""A store that answers at once, on a disk that can fill up."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from appliance.errors import StoreError
from appliance.store.database import Connection, StoreNote, transact
from appliance.store.recovery import open_sqlite
from appliance.store.schema import MIGRATIONS

T = TypeVar("T")


class FakeDisk:
    """A ``Database`` in memory without a thread of its own, so that the fake clock never waits for it.

    It outlives the box on it: hand the same one to the next box to play a restart. ``is_full`` makes every piece of
    work fail.
    """

    def __init__(self, *, is_lasting: bool = True, note: str = "") -> None:
        self.notes = (StoreNote(note, "the store has a problem"),) if note else ()
        self.is_lasting = is_lasting
        self.is_full = False
        self._connection = open_sqlite(":memory:")
        self._connection.execute("PRAGMA foreign_keys=ON")
        for statement in (statement for version in MIGRATIONS for statement in version):
            self._connection.execute(statement)

    def run(self, work: Callable[[Connection], T]) -> T:
        if self.is_full:
            raise StoreError("the disk is full: nothing more can be stored; free some space")
        return transact(self._connection, work)

    async def arun(self, work: Callable[[Connection], T]) -> T:
        return self.run(work)

    async def purge(self, *, is_rewritten: bool = False) -> None:
        self.run(lambda _connection: None)

    def close(self) -> None:
        """Nothing is lost: the next box goes on with it."""

    def unplug(self) -> None:
        """The test is over."""
        self._connection.close()

    @property
    def text(self) -> str:
        """Everything that is stored, as one text: what is not in it was really deleted."""
        return "\n".join(self._connection.iterdump())
