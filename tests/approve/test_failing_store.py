"""A disk that fills up, or takes nothing any more, while a person is asked: nothing runs, and it is said."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from appliance.adapters.fakes.tool import FakeTool
from appliance.clock import FakeClock
from appliance.events import Outcome
from appliance.store.database import Cursor, SqliteDatabase
from appliance.store.recovery import memory_database, open_database, open_sqlite
from appliance.tools.tool import Risk
from tests.approve.rig import Scene


class FailingConnection:
    """SQLite, until a statement that begins with ``fail_on`` comes ``after`` times more; then only that error."""

    def __init__(self, path: str) -> None:
        self.real = open_sqlite(path)
        self.fail_on = "nothing"
        self.after = 0
        self.code = sqlite3.SQLITE_FULL

    def execute(self, sql: str, parameters: Any = (), /) -> Cursor:
        if sql.startswith(self.fail_on):
            self.after -= 1
            if self.after < 0:
                error = sqlite3.OperationalError("the test says so")
                error.sqlite_errorcode = self.code
                raise error
        return self.real.execute(sql, parameters)

    def interrupt(self) -> None:
        self.real.interrupt()

    def close(self) -> None:
        self.real.close()


@pytest.fixture
async def make(tmp_path: Path) -> AsyncIterator[Callable[[], tuple[Scene, FailingConnection]]]:
    made: list[Scene] = []

    def scene() -> tuple[Scene, FailingConnection]:
        connections: list[FailingConnection] = []

        def opener(path: str) -> FailingConnection:
            connections.append(FailingConnection(path))
            return connections[-1]

        made.append(Scene(tmp_path, database=open_database(tmp_path / "appliance.db", FakeClock(), opener=opener)))
        return made[-1], connections[-1]

    yield scene
    for entry in made:
        entry.database.close()


@pytest.mark.parametrize("code", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR])
@pytest.mark.parametrize(
    ("fail_on", "after", "is_pressed"),
    [
        # The request itself, its announcement, its arming.
        ("INSERT INTO approvals", 0, False),
        ("UPDATE approvals", 0, False),
        ("UPDATE approvals", 1, False),
        ("COMMIT", 0, False),
        ("COMMIT", 1, False),
        ("COMMIT", 2, False),
        # The yes, its line in the trail, the intent, the beginning of the run.
        ("UPDATE approvals", 0, True),
        ("UPDATE approvals", 1, True),
        ("INSERT INTO audit ", 0, True),
        ("INSERT INTO audit ", 1, True),
        *(("COMMIT", number, True) for number in range(4)),
    ],
)
async def test_wherever_the_store_fails_before_the_run_nothing_runs(
    make: Callable[[], tuple[Scene, FailingConnection]], fail_on: str, after: int, is_pressed: bool, code: int
) -> None:
    scene, connection = make()
    connection.code = code
    if is_pressed:
        call = await scene.asked()
        connection.fail_on, connection.after = fail_on, after
        scene.hand.press()  # type: ignore[union-attr]
    else:
        connection.fail_on, connection.after = fail_on, after
        call = scene.start()
    result = await call
    assert (result.outcome, scene.runs) == (Outcome.REFUSED, [])
    assert scene.told_person[-1].person_text in scene.catalogue.forms("approve.unrecorded")
    connection.fail_on = "nothing"
    assert await scene.audit.verify() == []
    # And nothing of it runs later.
    call = await scene.asked()
    scene.hand.hold()  # type: ignore[union-attr]
    await call
    assert scene.runs == []


async def test_a_no_stays_a_no_on_a_full_disk(make: Callable[[], tuple[Scene, FailingConnection]]) -> None:
    scene, connection = make()
    call = await scene.asked()
    connection.fail_on = "COMMIT"
    scene.hand.hold()  # type: ignore[union-attr]
    assert "said NO" in (await call).text
    assert scene.runs == []


async def test_a_run_that_cannot_be_closed_keeps_its_result(
    make: Callable[[], tuple[Scene, FailingConnection]],
) -> None:
    scene, connection = make()
    call = await scene.asked()
    connection.fail_on, connection.after = "COMMIT", 4
    scene.hand.press()  # type: ignore[union-attr]
    assert (await call).text == "done"
    assert len(scene.runs) == 1
    connection.fail_on = "nothing"
    assert await scene.audit.open_intents() == [2]


async def test_a_store_in_memory_only_asks_nobody_and_says_why(tmp_path: Path) -> None:
    forgetful = memory_database()
    lost = SqliteDatabase(forgetful._connection, is_lasting=False)
    scene = Scene(tmp_path, database=lost)
    scene.add(FakeTool("note", risk=Risk.WRITE, origin="plugin:notes"))
    result = await scene.start()
    assert (result.outcome, scene.runs, scene.questions) == (Outcome.REFUSED, [], [])
    assert scene.told_person[-1].person_text in scene.catalogue.forms("approve.unrecorded")
    note = await scene.start("note")
    assert "audit trail" in note.text
    assert scene.told_person[-1].person_text in scene.catalogue.forms("approve.unrecorded")
    lost.close()
    forgetful.close()


@pytest.mark.parametrize(
    ("origin", "is_declared", "runs"),
    [("plugin:notes", True, False), ("plugin:notes", False, True), ("box", True, True)],
)
async def test_only_what_nobody_called_a_change_may_go_unrecorded(
    make: Callable[[], tuple[Scene, FailingConnection]], origin: str, is_declared: bool, runs: bool
) -> None:
    scene, connection = make()
    note = scene.add(FakeTool("note", risk=Risk.WRITE, origin=origin, is_risk_declared=is_declared))
    connection.fail_on = "COMMIT"
    await scene.start("note")
    assert bool(note.calls) is runs
