"""SQLite on a recorded disk: a file layer under it that writes down each write, flush, truncation and deletion."""

from __future__ import annotations

import itertools
import sqlite3
from pathlib import Path
from typing import Any

import apsw

from appliance.store.recovery import Opener
from tests.store.crash_disk import RecordedDisk, Step

_JOURNALS = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL
_numbers = itertools.count()


def recorded_opener(disk: RecordedDisk) -> tuple[Opener, object]:
    """Opens databases whose files are recorded; the second value must be kept for as long as one is open."""
    layer = _Layer(disk, f"recorded-{next(_numbers)}")
    return (lambda path: ApswConnection(path, layer.vfs_name)), layer


class Rows:
    """``Cursor`` of rows that were read at once, so that no statement stays open."""

    def __init__(self, rows: list[Any]) -> None:
        self._rows = rows

    def fetchone(self) -> Any:
        return self._rows.pop(0) if self._rows else None

    def fetchall(self) -> list[Any]:
        rows, self._rows = self._rows, []
        return rows


class ApswConnection:
    """``Connection`` of the store over apsw; its errors are those of ``sqlite3``."""

    def __init__(self, path: str, vfs: str) -> None:
        self._connection = apsw.Connection(path, vfs=vfs)

    def execute(self, sql: str, parameters: Any = (), /) -> Rows:
        try:
            return Rows(list(self._connection.execute(sql, parameters)))
        except apsw.Error as error:
            ours = sqlite3.OperationalError(str(error))
            ours.sqlite_errorcode = int(getattr(error, "extendedresult", sqlite3.SQLITE_ERROR))
            raise ours from error

    def interrupt(self) -> None:
        self._connection.interrupt()

    def close(self) -> None:
        self._connection.close()


class _Layer(apsw.VFS):
    def __init__(self, disk: RecordedDisk, name: str) -> None:
        self.disk = disk
        self.vfs_name = name
        super().__init__(name, "")

    def xOpen(self, name: Any, flags: list[int]) -> Any:
        return _File(self.disk, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        super().xDelete(filename, syncdir)
        name = self.disk.name_of(filename)
        if name is not None:
            self.disk.unlinked(name)
            if syncdir:
                self.disk.add(Step("sync folder", str(Path(name).parent)))


class _File(apsw.VFSFile):
    def __init__(self, disk: RecordedDisk, name: Any, flags: list[int]) -> None:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._disk = disk
        self._name = disk.name_of(path) if path else None
        is_new = path is not None and not Path(path).exists()
        super().__init__("", name, flags)
        self._inode = disk.inode_of(self._name) if self._name else 0
        if self._name:
            disk.is_told_by_another(self._name)
        #: SQLite flushes the folder of a journal that it made, with the first flush of the journal itself.
        self._syncs_folder = is_new and bool(flags[0] & _JOURNALS)

    def xWrite(self, data: bytes, offset: int) -> None:
        super().xWrite(data, offset)
        self._add(Step("write", self._name or "", self._inode, offset=offset, data=bytes(data)))

    def xTruncate(self, newsize: int) -> None:
        super().xTruncate(newsize)
        self._add(Step("truncate", self._name or "", self._inode, offset=newsize))

    def xSync(self, flags: int) -> None:
        # The real flush would only cost time.
        self._add(Step("sync", self._name or "", self._inode))
        if self._syncs_folder and self._name:
            self._syncs_folder = False
            self._add(Step("sync folder", str(Path(self._name).parent)))

    def _add(self, step: Step) -> None:
        if self._name is not None:
            self._disk.add(step)
