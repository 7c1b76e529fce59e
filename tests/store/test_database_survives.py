"""What the store keeps its word about: commits, opening in every state of the disk, migrations."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from appliance.clock import FakeClock
from appliance.errors import NewerStoreError, StoreError
from appliance.store.database import Connection, Cursor, SqliteDatabase
from appliance.store.recovery import memory_database, open_database, open_sqlite
from appliance.store.schema import MIGRATIONS

PUT = "INSERT INTO documents (collection, key, value) VALUES ('test', ?, '1')"


def keys(database: SqliteDatabase) -> list[str]:
    rows = database.run(lambda connection: connection.execute("SELECT key FROM documents ORDER BY position").fetchall())
    return [row[0] for row in rows]


def put(database: SqliteDatabase, key: str) -> None:
    database.run(lambda connection: connection.execute(PUT, (key,)))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "appliance.db"


class FaultyConnection:
    """Stands between the store and SQLite; statements that begin with ``fail_on`` end with result code ``code``."""

    def __init__(self, path: str, fail_on: str, code: int) -> None:
        self.real = open_sqlite(path)
        self.fail_on = fail_on
        self.code = code

    def execute(self, sql: str, parameters: Any = (), /) -> Cursor:
        if sql.startswith(self.fail_on):
            error = sqlite3.OperationalError("the test says so")
            error.sqlite_errorcode = self.code
            raise error
        return self.real.execute(sql, parameters)

    def interrupt(self) -> None:
        self.real.interrupt()

    def close(self) -> None:
        self.real.close()


# ------------------------------------------------------------------------------------------ transactions


def test_it_is_set_up_to_survive_power_cuts(file: Path) -> None:
    with closing(open_database(file, FakeClock())) as database:
        pragmas = ("journal_mode", "synchronous", "foreign_keys", "secure_delete", "busy_timeout", "user_version")
        values = database.run(lambda c: [c.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas])
        assert values == ["wal", 2, 1, 1, 5000, len(MIGRATIONS)]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_work_that_fails_leaves_nothing_behind() -> None:
    database = memory_database()

    def work(connection: Connection) -> None:
        connection.execute(PUT, ("half",))
        raise KeyError("ours")

    with pytest.raises(KeyError):
        database.run(work)
    assert keys(database) == []
    database.close()


def test_a_broken_rule_of_the_tables_is_a_store_error() -> None:
    database = memory_database()
    statement = "INSERT INTO chat_rows VALUES ('plugin', 'no such chat', 'k', 0, '1', '')"
    with pytest.raises(StoreError, match="FOREIGN KEY"):
        database.run(lambda connection: connection.execute(statement))
    database.close()


async def test_both_doors_share_one_writer_thread() -> None:
    database = memory_database()
    names = [await database.arun(lambda _c: threading.current_thread().name) for _ in range(3)]
    names += [await asyncio.to_thread(database.run, lambda _c: threading.current_thread().name) for _ in range(3)]
    assert len(set(names)) == 1
    assert threading.current_thread().name not in names
    database.close()


async def test_a_closed_store_says_so() -> None:
    database = memory_database()
    database.close()
    database.close()
    with pytest.raises(StoreError, match="closed"):
        await database.arun(lambda connection: connection.execute("SELECT 1"))


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (sqlite3.SQLITE_FULL, "disk is full"),
        (sqlite3.SQLITE_READONLY, "read-only"),
        (sqlite3.SQLITE_IOERR | (3 << 8), "card may be failing"),
        (sqlite3.SQLITE_CORRUPT, "damaged"),
    ],
)
def test_a_disk_that_fails_later_is_a_sentence_and_the_old_rows_stay(file: Path, code: int, says: str) -> None:
    connections: list[FaultyConnection] = []

    def opener(path: str) -> FaultyConnection:
        connections.append(FaultyConnection(path, "nothing yet", code))
        return connections[-1]

    with closing(open_database(file, FakeClock(), opener=opener)) as database:
        put(database, "before")
        connections[0].fail_on = "COMMIT"
        with pytest.raises(StoreError, match=says):
            put(database, "lost")
        connections[0].fail_on = "nothing any more"
        assert keys(database) == ["before"]


_WRITER = """
import sys
from pathlib import Path
from appliance.clock import FakeClock
from appliance.store.recovery import open_database
database = open_database(Path(sys.argv[1]), FakeClock())
number = 0
while True:
    statement = "INSERT INTO documents (collection, key, value) VALUES ('test', ?, ?)"
    database.run(lambda c: c.execute(statement, (str(number), "x" * 2000)))
    print(number, flush=True)
    number += 1
"""


def test_what_was_acknowledged_is_there_after_kill_9_in_the_middle_of_writing(file: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", _WRITER, str(file)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if int(line) == 150:
                os.kill(writer.pid, signal.SIGKILL)
                break
        acknowledged = max([150, *(int(line) for line in writer.stdout if line.endswith("\n"))])
    with closing(open_database(file, FakeClock())) as database:
        assert not database.notes
        found = [int(key) for key in keys(database)]
    assert found == list(range(len(found)))
    assert len(found) > acknowledged


# --------------------------------------------------------------------------------------------- migrations

_NEXT = (*MIGRATIONS, ("CREATE TABLE extra (one TEXT)", "INSERT INTO extra VALUES ('migrated')"))


def test_a_store_of_a_newer_version_is_refused_and_left_alone(file: Path) -> None:
    open_database(file, FakeClock(), migrations=_NEXT).close()
    before = file.read_bytes()
    with pytest.raises(
        NewerStoreError, match=rf"schema {len(_NEXT)}, we know {len(MIGRATIONS)}.*install that version again"
    ):
        open_database(file, FakeClock())
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == ["appliance.db"]


def test_a_migration_keeps_the_rows_and_a_snapshot_of_the_store_before_it(file: Path) -> None:
    with closing(open_database(file, FakeClock())) as old:
        put(old, "kept")
    with closing(open_database(file, FakeClock(), migrations=_NEXT)) as new:
        assert keys(new) == ["kept"]
        assert new.run(lambda c: c.execute("SELECT one FROM extra").fetchone()[0]) == "migrated"
    snapshot = file.with_name(f"appliance.db.schema-{len(MIGRATIONS)}")
    assert stat.S_IMODE(snapshot.stat().st_mode) == 0o600
    with closing(open_database(snapshot, FakeClock())) as kept:
        assert keys(kept) == ["kept"]


def test_a_migration_that_fails_changes_nothing(file: Path) -> None:
    with closing(open_database(file, FakeClock())) as old:
        put(old, "kept")
    broken = (*MIGRATIONS, ("CREATE TABLE extra (one TEXT)", "INSERT INTO no_such_table VALUES (1)"))
    with pytest.raises(StoreError, match="no_such_table"):
        open_database(file, FakeClock(), migrations=broken)
    with closing(open_database(file, FakeClock())) as again:
        assert keys(again) == ["kept"]


# ---------------------------------------------------------------------------------------- damaged, unwritable


def garbage(file: Path) -> None:
    file.write_bytes(b"this is no database at all, " * 400)


def cut_in_half(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])


def overwritten_pages(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[4096 * 2 : 4096 * 20] = os.urandom(4096 * 18)
    file.write_bytes(data)


@pytest.mark.parametrize("damage", [garbage, cut_in_half, overwritten_pages])
def test_a_damaged_store_is_put_aside_and_a_new_one_begun(file: Path, damage: Any) -> None:
    with closing(open_database(file, FakeClock())) as database:
        for number in range(300):
            put(database, f"{number} {'x' * 500}")
    damage(file)
    spoiled = file.read_bytes()
    with closing(open_database(file, FakeClock())) as fresh:
        assert [note.key for note in fresh.notes] == ["store.damaged"]
        assert "appliance.db.corrupt.20260504T150700" in fresh.notes[0].text
        assert fresh.is_lasting
        assert keys(fresh) == []
        put(fresh, "new life")
    assert file.with_name("appliance.db.corrupt.20260504T150700").read_bytes() == spoiled
    with closing(open_database(file, FakeClock())) as again:
        assert not again.notes
        assert keys(again) == ["new life"]


def test_of_damaged_stores_the_last_three_are_kept_and_never_overwritten(file: Path) -> None:
    file.parent.mkdir()
    for number in range(5):
        file.write_bytes(f"damaged {number} ".encode() * 100)
        open_database(file, FakeClock()).close()
    kept = sorted(path.read_bytes()[:9] for path in file.parent.glob("*.corrupt.*"))
    assert kept == [b"damaged 2", b"damaged 3", b"damaged 4"]


def test_a_home_that_cannot_be_made_gives_a_store_in_memory_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file, not a folder")
    with closing(open_database(tmp_path / "home" / "appliance.db", FakeClock())) as database:
        assert [note.key for note in database.notes] == ["store.in_memory"]
        assert not database.is_lasting
        put(database, "while it lasts")
        assert keys(database) == ["while it lasts"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (sqlite3.SQLITE_FULL, "store.full_at_start"),
        (sqlite3.SQLITE_READONLY, "store.in_memory"),
        (sqlite3.SQLITE_IOERR, "store.in_memory"),
    ],
)
def test_on_a_disk_that_takes_nothing_the_last_state_is_there_in_memory(file: Path, code: int, said: str) -> None:
    with closing(open_database(file, FakeClock())) as database:
        put(database, "a timer")
    before = file.read_bytes()
    unwritable = open_database(file, FakeClock(), opener=lambda path: FaultyConnection(path, "COMMIT", code))
    with closing(unwritable) as database:
        assert [note.key for note in database.notes] == [said]
        assert keys(database) == ["a timer"]
        put(database, "another")
    assert file.read_bytes() == before


def test_commits_that_are_only_in_the_log_come_into_memory_too(file: Path, tmp_path: Path) -> None:
    with closing(open_database(file, FakeClock())) as running:
        put(running, "in the log")
        cut = tmp_path / "after the cut" / "appliance.db"
        cut.parent.mkdir()
        for part in ("", "-wal"):
            Path(f"{cut}{part}").write_bytes(Path(f"{file}{part}").read_bytes())
    # Before anything is read: else closing the file would already have moved the log into it.
    full = sqlite3.SQLITE_FULL
    with closing(
        open_database(cut, FakeClock(), opener=lambda path: FaultyConnection(path, "PRAGMA", full))
    ) as database:
        assert keys(database) == ["in the log"]


def test_a_full_real_disk_is_noticed_at_the_start(file: Path, tmp_path: Path) -> None:
    """The kernel lets no file grow beyond 40 kB: the one kind of full disk that a test can have without mounting.

    Opening alone works under it; only the first write to the log finds out.
    """
    cut = tmp_path / "after the cut" / "appliance.db"
    cut.parent.mkdir()
    with closing(open_database(file, FakeClock())) as running:
        for number in range(20):
            put(running, str(number))
        for part in ("", "-wal"):
            Path(f"{cut}{part}").write_bytes(Path(f"{file}{part}").read_bytes())
    assert Path(f"{cut}-wal").stat().st_size > 40_000
    script = (
        "import resource, signal, sys; from pathlib import Path; from appliance.clock import FakeClock\n"
        "from appliance.store.recovery import open_database\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))\n"
        "database = open_database(Path(sys.argv[1]), FakeClock())\n"
        "print([note.key for note in database.notes], database.is_lasting); database.close()\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(cut)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['store.in_memory'] False"


def test_a_store_that_another_process_holds_is_a_sentence(file: Path) -> None:
    def opener(path: str) -> FaultyConnection:
        return FaultyConnection(path, "BEGIN", sqlite3.SQLITE_BUSY)

    with pytest.raises(StoreError, match="another process"):
        open_database(file, FakeClock(), opener=opener)


@pytest.fixture(autouse=True)
def no_thread_stays() -> Iterator[None]:
    yield
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("store")]
