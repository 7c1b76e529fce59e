"""What plugins keep for a chat: order, many threads, and a process that is killed in mid-write."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.clock import FakeClock
from appliance.contracts.sapphire.state import PluginStates
from appliance.errors import NoChatError
from appliance.store.chat_log import StoredChatLog
from appliance.store.chat_rows import ChatRows
from appliance.store.database import SqliteDatabase
from appliance.store.recovery import open_database

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SqliteDatabase]:
    database = open_database(tmp_path / "appliance.db", FakeClock())
    yield database
    database.close()


@pytest.fixture
def rows(disk: SqliteDatabase) -> ChatRows:
    """The rows of a store with the chat ``campaign``."""
    chats = StoredChatLog(disk, FakeClock())
    disk.run(lambda connection: chats.created(connection, "campaign"))
    return ChatRows(disk, chats.keys, FakeClock())


@pytest.mark.contract("S-130")
def test_thirty_two_threads_on_one_state_and_one_journal_lose_nothing(rows: ChatRows, tmp_path: Path) -> None:
    state = PluginStates(tmp_path / "plugin_state", FakeClock().now, lambda _sentence: None).of("game")
    numbers: list[tuple[int, int, list[int]]] = []

    def work(who: int) -> None:
        for step in range(6):
            state.save(f"key-{who}", step)
            state.update_with_lock("sum", lambda value: (value or 0) + 1)
            numbers.append((who, step, rows.append("game", "campaign", "journal", [[who, step, 1], [who, step, 2]])))
            rows.put("game", "campaign", f"slot-{who}", step)

    threads = [threading.Thread(target=work, args=(who,)) for who in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    journal = rows.read_all("game", "campaign", "journal")
    assert len(journal) == 32 * 6 * 2
    assert sorted(number for *_, pair in numbers for number in pair) == list(range(1, 385)), "each number once"
    for who, step, (first, second) in numbers:
        assert [journal[first - 1], journal[second - 1]] == [[who, step, 1], [who, step, 2]], "as it was told"
        assert second == first + 1, "nothing in between"
    for who in range(32):
        assert [step for author, step, part in journal if (author, part) == (who, 1)] == list(range(6)), "in order"
        assert rows.get("game", "campaign", f"slot-{who}") == 5
    stored = json.loads((tmp_path / "plugin_state" / "game.json").read_text())
    assert stored["sum"] == 32 * 6 and {stored[f"key-{who}"] for who in range(32)} == {5}


def test_a_writer_that_is_killed_two_hundred_times_loses_nothing_that_it_told(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.store.killed_writer", str(tmp_path), "200"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    assert report["faults"] == []
    assert report["told"] >= 200, "every writer wrote something before it was killed"


def test_a_journal_goes_on_where_it_ended(rows: ChatRows, disk: SqliteDatabase) -> None:
    assert rows.append("game", "campaign", "journal", ["a"]) == [1]
    assert rows.append("game", "campaign", "journal", ["b", "c"]) == [2, 3]
    assert rows.append("game", "campaign", "journal", []) == []
    assert rows.append("other", "campaign", "journal", ["not yours"]) == [1]
    rows.replace("game", "campaign", "journal", ["a", "B"])
    assert rows.append("game", "campaign", "journal", ["d"]) == [3]
    assert rows.read_all("game", "campaign", "journal") == ["a", "B", "d"]


@pytest.mark.contract("S-135")
def test_an_append_looks_at_no_other_row(rows: ChatRows, disk: SqliteDatabase) -> None:
    rows.append("game", "campaign", "journal", list(range(5000)))
    plan = disk.run(
        lambda connection: connection.execute(
            "EXPLAIN QUERY PLAN SELECT max(sequence) FROM chat_rows WHERE plugin = ? AND chat = ? AND key = ?",
            ("game", "x", "journal"),
        ).fetchall()
    )
    (step,) = [row[-1] for row in plan]
    assert "SEARCH" in step and "plugin=? AND chat=? AND key=?" in step, step
    assert rows.append("game", "campaign", "journal", ["last"]) == [5001]


def test_a_value_that_is_no_json_changes_nothing(rows: ChatRows) -> None:
    rows.append("game", "campaign", "journal", ["a"])
    for work in (
        lambda: rows.append("game", "campaign", "journal", ["b", float("nan")]),
        lambda: rows.replace("game", "campaign", "journal", ["x", {1: "key"}]),
        lambda: rows.put("game", "campaign", "slot", object()),
    ):
        with pytest.raises(ValueError, match=r"JSON|compliant"):
            work()
    assert rows.read_all("game", "campaign", "journal") == ["a"]
    assert rows.keys("game", "campaign") == ["journal"]


def test_a_chat_that_is_not_there_is_empty_and_takes_nothing(rows: ChatRows) -> None:
    assert rows.get("game", "nobody", "k", "default") == "default"
    assert (rows.read_all("game", "nobody", "k"), rows.keys("game", "nobody")) == ([], [])
    assert rows.meta("game", "nobody", "k") is None
    with pytest.raises(NoChatError, match="no chat 'nobody'"):
        rows.put("game", "nobody", "k", 1)
