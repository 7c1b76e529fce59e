"""The audit trail: every way of tampering that it promises to find."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

import pytest

from appliance.clock import FakeClock
from appliance.errors import StoreError
from appliance.store.audit_log import AuditEntry, AuditKind, AuditLog
from appliance.store.database import SqliteDatabase
from appliance.store.recovery import memory_database
from tests.store.private import with_vault


@pytest.fixture
def database() -> Iterator[SqliteDatabase]:
    database = memory_database()
    yield database
    database.close()


@pytest.fixture
def log(database: SqliteDatabase) -> AuditLog:
    return AuditLog(database, FakeClock(), boot="boot-1")


def intent(tool: str = "run_backup") -> AuditEntry:
    return AuditEntry(AuditKind.INTENT, call_id="call-1", tool=tool, origin="plugin:backup", risk="exec")


async def fill(log: AuditLog, count: int = 5) -> None:
    for number in range(count):
        await log.write(intent(f"tool_{number}"))


def tamper(database: SqliteDatabase, statement: str) -> None:
    """As somebody does who owns the file."""
    for guard in ("audit_is_not_changed", "audit_is_not_deleted"):
        database.run(lambda connection, name=guard: connection.execute(f"DROP TRIGGER IF EXISTS {name}"))  # type: ignore[misc]
    database.run(lambda connection: connection.execute(statement))


async def test_lines_say_what_when_and_in_which_boot(log: AuditLog) -> None:
    first = await log.write(intent())
    second = await log.write(AuditEntry(AuditKind.RESULT, intent=first, outcome="ok", detail="executed"))
    assert (first, second) == (1, 2)
    before, after = await log.lines()
    assert (before.sequence, before.at, before.at_seconds, before.boot) == (
        1,
        "2026-05-04T15:07:00.000+00:00",
        1000.0,
        "boot-1",
    )
    assert before.entry == intent()
    assert (after.entry.intent, after.entry.tool, after.entry.call_id, after.entry.outcome) == (
        1,
        "run_backup",
        "call-1",
        "ok",
    )
    assert (before.previous_hash, after.previous_hash) == ("", before.hash)
    assert [line.sequence for line in await log.lines(limit=1)] == [2]
    assert await log.verify() == []


async def test_a_line_can_be_checked_with_sha256sum_alone(log: AuditLog, database: SqliteDatabase) -> None:
    await fill(log, 2)
    rows = database.run(lambda connection: connection.execute("SELECT line, hash FROM audit").fetchall())
    (first, first_hash), (second, _) = rows
    assert hashlib.sha256(first.encode()).hexdigest() == first_hash
    assert json.loads(second)["previous_hash"] == first_hash


async def test_an_empty_trail_is_whole(log: AuditLog) -> None:
    assert await log.verify() == []


_CHANGE = "UPDATE audit SET line = replace(line, 'tool_2', 'tool_X') WHERE sequence = 3"


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        (_CHANGE, ["line 3 was changed"]),
        (
            "UPDATE audit SET line = CAST(x'ff00' AS TEXT) WHERE sequence = 3",
            ["line 3 does not follow from", "line 3 was"],
        ),
        ("UPDATE audit SET hash = 'x' WHERE sequence = 3", ["line 3 was changed", "line 4 does not follow"]),
        ("DELETE FROM audit WHERE sequence = 3", ["lines 3 to 3 are missing"]),
        ("DELETE FROM audit WHERE sequence = 1", ["lines 1 to 1 are missing"]),
        ("DELETE FROM audit WHERE sequence > 3", ["the end was cut off: 5 lines were written, the last one here is 3"]),
        ("DELETE FROM audit", ["the end was cut off: 5 lines were written, the last one here is 0"]),
        ("UPDATE audit_head SET count = 4", ["5 lines are here, but only 4"]),
        ("UPDATE audit_head SET hash = 'x'", ["the last line is not the one"]),
        ("DELETE FROM audit_head", ["the record of how long the trail is was removed"]),
    ],
)
async def test_tampering_is_found(log: AuditLog, database: SqliteDatabase, statement: str, found: list[str]) -> None:
    await fill(log)
    tamper(database, statement)
    faults = await log.verify()
    assert len(faults) == len(found)
    assert all(fault.startswith(start) for fault, start in zip(faults, found, strict=True))


async def test_a_line_rewritten_with_its_own_new_hash_is_found_by_the_next(
    log: AuditLog, database: SqliteDatabase
) -> None:
    await fill(log)
    forged = json.dumps({"kind": "intent", "sequence": 3, "previous_hash": (await log.lines())[1].hash})
    digest = hashlib.sha256(forged.encode()).hexdigest()
    tamper(database, f"UPDATE audit SET line = '{forged}', hash = '{digest}' WHERE sequence = 3")
    assert await log.verify() == ["line 4 does not follow from the line before it"]


async def test_a_cut_end_is_still_found_after_more_was_written(log: AuditLog, database: SqliteDatabase) -> None:
    await fill(log)
    tamper(database, "DELETE FROM audit WHERE sequence > 3")
    assert await log.write(intent()) == 6
    assert await log.verify() == ["lines 4 to 5 are missing"]


async def test_our_own_code_cannot_change_or_delete_a_line(log: AuditLog, database: SqliteDatabase) -> None:
    await fill(log)
    for statement in (_CHANGE, "DELETE FROM audit"):
        with pytest.raises(StoreError, match="audit lines are never"):
            await database.arun(lambda connection, sql=statement: connection.execute(sql))  # type: ignore[misc]
    assert await log.verify() == []


@pytest.mark.parametrize("sequence", [0, 2, 99])
async def test_a_result_without_its_intent_is_refused(log: AuditLog, sequence: int) -> None:
    await log.write(AuditEntry(AuditKind.INTENT))
    await log.write(AuditEntry(AuditKind.DECISION))
    with pytest.raises(StoreError, match="is no intent"):
        await log.write(AuditEntry(AuditKind.RESULT, intent=sequence))
    assert len(await log.lines()) == 2


async def test_a_trail_that_would_not_last_is_refused() -> None:
    forgetful = memory_database()
    lost = SqliteDatabase(forgetful._connection, is_lasting=False)
    with pytest.raises(StoreError, match="memory only"):
        await AuditLog(lost, FakeClock(), "boot").write(intent())
    lost.close()
    forgetful.close()


async def test_whatever_a_stranger_puts_into_a_field_a_line_stays_small_and_in_one_piece(log: AuditLog) -> None:
    await log.write(AuditEntry(AuditKind.INTENT, tool='x"\n{}\ud800' * 10_000, error="é" * 10_000))
    (line,) = await log.lines()
    assert len(line.entry.tool) == len(line.entry.error) == 300
    assert await log.verify() == []


async def test_of_a_private_chat_no_word_enters_the_trail(log: AuditLog, database: SqliteDatabase) -> None:
    chats, vault = await with_vault(database)
    log = AuditLog(database, FakeClock(), boot="boot-1", keys=chats.keys)
    private, public = (await vault.begin()).chat, (await chats.create()).chat
    for chat in (private, public, "deleted meanwhile"):
        entry = AuditEntry(AuditKind.INTENT, tool="note", chat=chat, arguments_preview="words", arguments_digest="d")
        await log.write(entry)
    lines = await log.lines()
    assert [line.entry.arguments_preview for line in lines] == ["", "words", ""]
    assert [line.entry.tool for line in lines] == ["note"] * 3
    keyed, *digests = [line.entry.arguments_digest for line in lines]
    assert digests == ["d", ""]
    assert keyed.startswith("hmac-sha256:") and keyed == chats.keys.fingerprint(private, "d")
    other = (await vault.begin()).chat
    assert chats.keys.fingerprint(other, "d") != keyed, "each chat has its own key"
    await vault.lock(private)
    assert chats.keys.fingerprint(private, "d") == ""


async def test_a_line_of_a_later_version_with_more_fields_can_be_read(log: AuditLog, database: SqliteDatabase) -> None:
    await log.write(intent())
    tamper(database, "UPDATE audit SET line = json_set(line, '$.new_field', 7)")
    assert (await log.lines())[0].entry == intent()


async def test_a_line_that_cannot_be_read_is_a_sentence(log: AuditLog, database: SqliteDatabase) -> None:
    await log.write(intent())
    tamper(database, "UPDATE audit SET line = 'rubbish'")
    with pytest.raises(StoreError, match="audit verify"):
        await log.lines()
