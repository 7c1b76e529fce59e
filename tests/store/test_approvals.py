"""Rows of requests: they move once, only as what they are, and lose their words when they are over."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from appliance.clock import FakeClock
from appliance.errors import StoreError
from appliance.store.approvals import (
    OPEN_STATES,
    UNDER_WAY_STATES,
    ApprovalState,
    StoredApproval,
    StoredApprovals,
    record_digest,
)
from appliance.store.database import SqliteDatabase
from appliance.store.grants import StoredGrants
from appliance.store.recovery import memory_database, open_database
from tests.store.private import with_vault

RECORD: dict[str, Any] = {"tool": "run_backup", "arguments": {"target": "/home"}}
DIGEST = record_digest(RECORD)


@pytest.fixture
def database() -> Iterator[SqliteDatabase]:
    with closing(memory_database()) as found:
        yield found


@pytest.fixture
def approvals(database: SqliteDatabase) -> StoredApprovals:
    return StoredApprovals(database, FakeClock(), "boot-1")


async def create(approvals: StoredApprovals, request_id: str = "r1", chat: str = "") -> None:
    await approvals.create(request_id, "run_backup", chat, RECORD)


async def state(approvals: StoredApprovals, request_id: str = "r1") -> ApprovalState:
    return (await found(approvals, request_id)).state


async def found(approvals: StoredApprovals, request_id: str = "r1") -> StoredApproval:
    rows = await approvals.in_states(list(ApprovalState))
    return next(row for row in rows if row.request_id == request_id)


async def test_a_request_is_written_down_with_everything(approvals: StoredApprovals) -> None:
    await create(approvals)
    row = await found(approvals)
    assert (row.state, row.digest, row.record) == (ApprovalState.CREATED, DIGEST, RECORD)
    assert (row.tool, row.boot, row.created_at, row.approver) == (
        "run_backup",
        "boot-1",
        "2026-05-04T15:07:00+00:00",
        "",
    )


async def test_it_moves_only_from_where_it_is_and_as_what_it_is(approvals: StoredApprovals) -> None:
    await create(approvals)
    assert not await approvals.move("r1", DIGEST, (ApprovalState.ARMED,), ApprovalState.APPROVED)
    assert not await approvals.move("r1", "other digest", OPEN_STATES, ApprovalState.APPROVED)
    assert not await approvals.move("r2", DIGEST, OPEN_STATES, ApprovalState.APPROVED)
    assert await state(approvals) is ApprovalState.CREATED
    assert await approvals.move("r1", DIGEST, OPEN_STATES, ApprovalState.ARMED)
    assert await approvals.move("r1", DIGEST, OPEN_STATES, ApprovalState.APPROVED, "button")
    assert not await approvals.move("r1", DIGEST, OPEN_STATES, ApprovalState.DENIED, "voice")
    row = await found(approvals)
    assert (row.state, row.approver) == (ApprovalState.APPROVED, "button")


async def test_of_many_that_want_its_one_run_one_gets_it(approvals: StoredApprovals) -> None:
    await create(approvals)
    await approvals.move("r1", DIGEST, OPEN_STATES, ApprovalState.APPROVED, "button")
    runs = await asyncio.gather(*(approvals.consume("r1", DIGEST) for _ in range(10)))
    assert [run.record for run in runs if run is not None] == [RECORD]


@pytest.mark.parametrize("before", [state for state in ApprovalState if state is not ApprovalState.APPROVED])
async def test_nothing_but_an_approved_request_runs(approvals: StoredApprovals, before: ApprovalState) -> None:
    await create(approvals)
    await approvals.move("r1", DIGEST, OPEN_STATES, before)
    assert await approvals.consume("r1", DIGEST) is None


async def test_the_words_go_when_it_is_over(approvals: StoredApprovals, database: SqliteDatabase) -> None:
    await create(approvals)
    await approvals.move("r1", DIGEST, OPEN_STATES, ApprovalState.DENIED, "button")
    row = await found(approvals)
    assert (row.record, row.digest) == (None, DIGEST)
    text = await database.arun(lambda c: c.execute("SELECT record FROM approvals").fetchone())
    assert text == ("",)


async def test_of_a_private_chat_no_word_is_written(approvals: StoredApprovals, database: SqliteDatabase) -> None:
    chats, vault = await with_vault(database)
    private, public = (await vault.begin()).chat, (await chats.create()).chat
    for number, chat in enumerate((private, public, "deleted meanwhile")):
        await create(approvals, f"r{number}", chat)
    records = [row.record for row in await approvals.in_states(OPEN_STATES)]
    assert records == [None, RECORD, None]
    await approvals.move("r0", DIGEST, OPEN_STATES, ApprovalState.APPROVED)
    assert await approvals.consume("r0", DIGEST) is not None
    await approvals.move("r0", DIGEST, UNDER_WAY_STATES, ApprovalState.DONE)
    digests = await database.arun(lambda c: c.execute("SELECT digest FROM approvals ORDER BY id").fetchall())
    assert digests == [("",), (DIGEST,), (DIGEST,)], "a digest of few words tells them"


async def test_an_id_is_given_once(approvals: StoredApprovals) -> None:
    await create(approvals)
    with pytest.raises(StoreError):
        await create(approvals)


async def test_old_rows_go_and_living_ones_stay(approvals: StoredApprovals, database: SqliteDatabase) -> None:
    await create(approvals, "living")
    for number in range(520):
        await create(approvals, f"r{number}")
        await approvals.move(f"r{number}", DIGEST, OPEN_STATES, ApprovalState.DONE)
    assert await state(approvals, "living") is ApprovalState.CREATED
    (count,) = await database.arun(lambda c: c.execute("SELECT count(*) FROM approvals").fetchone())
    assert count <= 502


async def test_a_store_that_would_not_last_takes_no_request(database: SqliteDatabase) -> None:
    lost = SqliteDatabase(database._connection, is_lasting=False)
    with pytest.raises(StoreError, match="memory only"):
        await create(StoredApprovals(lost, FakeClock(), "boot"))
    with pytest.raises(StoreError, match="memory only"):
        await StoredGrants(lost, FakeClock()).add(
            origin="o", tool="t", plugin_digest="d", arguments_json=None, uid=0, days=None
        )
    lost.close()


async def test_rows_and_grants_survive_a_restart(tmp_path: Path) -> None:
    clock = FakeClock()
    with closing(open_database(tmp_path / "appliance.db", clock)) as database:
        await create(StoredApprovals(database, clock, "boot-1"))
        grants = StoredGrants(database, clock)
        await grants.add(origin="plugin:a", tool="t", plugin_digest="d", arguments_json="{}", uid=7, days=1.5)
    with closing(open_database(tmp_path / "appliance.db", clock)) as database:
        (row,) = await StoredApprovals(database, clock, "boot-2").in_states(OPEN_STATES)
        assert (row.request_id, row.boot, row.record) == ("r1", "boot-1", RECORD)
        (grant,) = await StoredGrants(database, clock).all()
        assert (grant.tool, grant.arguments_json, grant.uid) == ("t", "{}", 7)
        assert grant.expires_at == "2026-05-06T03:07:00+00:00"
        assert not grant.is_expired(clock.now())
        assert grant.is_expired(clock.now() + timedelta(days=1.5))
