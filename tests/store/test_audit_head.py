"""The head of the trail beside the database: a database that was replaced does not go unnoticed."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from appliance.clock import FakeClock
from appliance.errors import StoreError
from appliance.store.audit_head import AuditHead, AuditHeadFile
from appliance.store.audit_log import AuditEntry, AuditKind, AuditLog
from appliance.store.recovery import open_database

INTENT = AuditEntry(AuditKind.INTENT, tool="run_backup")


class Trail:
    """A trail in a folder, as one start of the program sees it."""

    def __init__(self, folder: Path, boot: str = "boot-1") -> None:
        self.folder = folder
        self.head_file = folder / "audit.head"
        self.clock = FakeClock()
        self.database = open_database(folder / "appliance.db", self.clock)
        self.log = AuditLog(self.database, self.clock, boot, AuditHeadFile(self.head_file))

    def close(self) -> None:
        self.database.close()


async def written(folder: Path, count: int) -> None:
    """A start that writes so many lines and ends."""
    with closing(Trail(folder)) as trail:
        await trail.log.begin()
        for _ in range(count):
            await trail.log.write(AuditEntry(AuditKind.DECISION, tool="x"))


def head(folder: Path) -> AuditHead | None:
    return AuditHeadFile(folder / "audit.head").read()


async def test_every_line_moves_the_head_beside_the_database(tmp_path: Path) -> None:
    with closing(Trail(tmp_path)) as trail:
        await trail.log.begin()
        assert head(tmp_path) == AuditHead(0, "")
        for count in (1, 2, 3):
            await trail.log.write(INTENT)
            assert head(tmp_path) == AuditHead(count, (await trail.log.lines())[-1].hash)
        assert await trail.log.verify() == []
    assert (tmp_path / "audit.head").stat().st_mode & 0o777 == 0o600


async def test_a_database_that_was_put_back_to_an_older_one_is_noticed(tmp_path: Path) -> None:
    await written(tmp_path, 3)
    shutil.copy(tmp_path / "appliance.db", tmp_path / "older.db")
    await written(tmp_path, 2)
    for part in ("", "-wal", "-shm"):
        (tmp_path / f"appliance.db{part}").unlink(missing_ok=True)
    shutil.copy(tmp_path / "older.db", tmp_path / "appliance.db")
    with closing(Trail(tmp_path)) as trail:
        (fault,) = await trail.log.verify()
        assert fault.startswith("the database was replaced or cut: 5 lines were written")
        # The next start says it in the trail itself, and goes on from there.
        await trail.log.begin()
        (noted,) = await trail.log.verify()
        assert noted.startswith("line 4 notes: the database was replaced or cut: 5 lines")
    await written(tmp_path, 1)
    with closing(Trail(tmp_path)) as trail:
        assert await trail.log.verify() == [noted]
        assert head(tmp_path) == AuditHead(5, (await trail.log.lines())[-1].hash)


async def test_a_database_that_was_replaced_by_a_longer_one_is_noticed(tmp_path: Path) -> None:
    await written(tmp_path, 2)
    other = tmp_path / "other"
    other.mkdir()
    with closing(Trail(other)) as trail:
        for number in range(9):
            await trail.log.write(AuditEntry(AuditKind.DECISION, tool=f"forged {number}"))
        assert await trail.log.verify() == []
    for part in ("", "-wal", "-shm"):
        (tmp_path / f"appliance.db{part}").unlink(missing_ok=True)
    shutil.copy(other / "appliance.db", tmp_path / "appliance.db")
    with closing(Trail(tmp_path)) as trail:
        (fault,) = await trail.log.verify()
        assert fault.startswith("the database was replaced: its line 2 is not the one that was written")


async def test_a_tail_that_was_cut_with_its_own_head_is_noticed(tmp_path: Path) -> None:
    await written(tmp_path, 4)
    with closing(sqlite3.connect(tmp_path / "appliance.db")) as raw:
        for guard in ("audit_is_not_changed", "audit_is_not_deleted"):
            raw.execute(f"DROP TRIGGER {guard}")
        raw.execute("DELETE FROM audit WHERE sequence > 2")
        raw.execute("UPDATE audit_head SET count = 2, hash = (SELECT hash FROM audit WHERE sequence = 2)")
        raw.commit()
    with closing(Trail(tmp_path)) as trail:
        (fault,) = await trail.log.verify()
        assert fault.startswith("the database was replaced or cut: 4 lines were written")


async def test_a_damaged_database_that_was_put_aside_leaves_a_note(tmp_path: Path) -> None:
    await written(tmp_path, 3)
    (tmp_path / "appliance.db").write_bytes(b"rubbish" * 1000)
    with closing(Trail(tmp_path)) as trail:
        await trail.log.begin()
        (noted,) = await trail.log.verify()
        assert noted.startswith("line 1 notes: the database was replaced or cut: 3 lines were written")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "was removed"),
        ("rubbish", "cannot be read"),
        ('{"count": "x"}', "cannot be read"),
        ("[]", "cannot be read"),
    ],
)
async def test_a_head_that_is_gone_or_spoilt_is_noticed_and_made_anew(
    tmp_path: Path, content: str | None, says: str
) -> None:
    await written(tmp_path, 2)
    if content is None:
        (tmp_path / "audit.head").unlink()
    else:
        (tmp_path / "audit.head").write_text(content, encoding="ascii")
    with closing(Trail(tmp_path)) as trail:
        (fault,) = await trail.log.verify()
        assert says in fault
        await trail.log.begin()
        assert head(tmp_path) == AuditHead(3, (await trail.log.lines())[-1].hash)
        (noted,) = await trail.log.verify()
        assert says in noted


async def test_a_head_that_lags_after_a_power_cut_is_no_fault(tmp_path: Path) -> None:
    await written(tmp_path, 2)
    lagging = (tmp_path / "audit.head").read_text(encoding="ascii")
    await written(tmp_path, 1)
    (tmp_path / "audit.head").write_text(lagging, encoding="ascii")
    with closing(Trail(tmp_path)) as trail:
        assert await trail.log.verify() == []
        await trail.log.begin()
        assert await trail.log.verify() == []
        assert json.loads((tmp_path / "audit.head").read_text(encoding="ascii"))["count"] == 3


async def test_a_line_stands_when_its_head_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / ".audit.head.tmp").mkdir()
    with closing(Trail(tmp_path)) as trail:
        assert await trail.log.write(INTENT) == 1
        assert head(tmp_path) is None


async def test_an_intent_has_one_result(tmp_path: Path) -> None:
    with closing(Trail(tmp_path)) as trail:
        sequence = await trail.log.write(INTENT)
        trail.clock._seconds += 2.5
        await trail.log.write(AuditEntry(AuditKind.RESULT, intent=sequence, outcome="ok"))
        with pytest.raises(StoreError, match="has its result already"):
            await trail.log.write(AuditEntry(AuditKind.RESULT, intent=sequence, outcome="failed"))
        assert (await trail.log.lines())[-1].entry.took_seconds == 2.5


async def test_an_intent_without_a_result_ends_as_unknown_at_the_next_start(tmp_path: Path) -> None:
    with closing(Trail(tmp_path)) as trail:
        await trail.log.write(INTENT)
        closed = await trail.log.write(INTENT)
        await trail.log.write(AuditEntry(AuditKind.RESULT, intent=closed, outcome="ok"))
        assert await trail.log.open_intents() == [1]
    with closing(Trail(tmp_path, "boot-2")) as trail:
        await trail.log.begin()
        last = (await trail.log.lines())[-1].entry
        assert (last.kind, last.intent, last.outcome, last.detail) == ("result", 1, "unknown", "executed:unknown")
        assert last.took_seconds is None
        assert await trail.log.open_intents() == []
        await trail.log.begin()
        assert len(await trail.log.lines()) == 4
        assert await trail.log.verify() == []
