"""A chat of years costs a turn no more than one of a day."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest

from appliance.clock import FakeClock
from appliance.store.chat_log import StoredChatLog
from appliance.store.database import Connection
from appliance.store.recovery import open_database

_INSERT = """
INSERT INTO turns (turn_id, chat, topic, user_text, reply_text, heard_text, did, items, at)
VALUES (?, ?, 0, 'what time is it', 'three', 'three', '[]', '[]', '2026-01-01T00:00:00+00:00')"""
#: SQLite tells after each so many steps of its machine.
_EACH = 10


def fill(connection: Connection, *, chat: str, count: int) -> None:
    for number in range(count):
        connection.execute(_INSERT, (f"turn-{number}", chat))


async def steps_of(
    file: Path, count: int, work: Callable[[StoredChatLog, str], Awaitable[object]], *, is_new_topic: bool
) -> int:
    """Work that SQLite does for ``work`` in a chat of so many turns."""
    opened: list[sqlite3.Connection] = []

    def open_it(path: str) -> sqlite3.Connection:
        opened.append(sqlite3.connect(path, isolation_level=None, check_same_thread=False))
        return opened[0]

    database = open_database(file, FakeClock(), opener=open_it)
    chats = StoredChatLog(database, FakeClock())
    chat = await chats.current()
    await database.arun(partial(fill, chat=chat, count=count))
    if is_new_topic:
        await chats.new_topic(chat)
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += _EACH
        return 0

    opened[0].set_progress_handler(step, _EACH)
    await work(chats, chat)
    opened[0].set_progress_handler(None, 0)
    database.close()
    return steps


@pytest.mark.parametrize("is_new_topic", [False, True], ids=["going on", "behind a new topic"])
async def test_what_a_model_gets_costs_the_same_in_a_chat_of_any_length(tmp_path: Path, is_new_topic: bool) -> None:
    async def history(chats: StoredChatLog, chat: str) -> None:
        assert len(await chats.turns(chat, 20)) == (0 if is_new_topic else 20)

    short = await steps_of(tmp_path / "short.db", 50, history, is_new_topic=is_new_topic)
    long = await steps_of(tmp_path / "long.db", 3_000, history, is_new_topic=is_new_topic)
    assert 0 < long <= short + 2 * _EACH


async def test_a_topic_is_read_whole_and_nothing_before_it(tmp_path: Path) -> None:
    database = open_database(tmp_path / "chat.db", FakeClock())
    chats = StoredChatLog(database, FakeClock())
    chat = await chats.current()
    await database.arun(partial(fill, chat=chat, count=5))
    await chats.new_topic(chat)
    insert = _INSERT.replace("?, 0,", "?, 1,")
    await database.arun(lambda connection: [connection.execute(insert, (f"new-{n}", chat)) for n in range(3)] and None)
    assert [turn.turn_id for turn in await chats.turns(chat, 20)] == ["new-0", "new-1", "new-2"]
    assert [turn.turn_id for turn in await chats.turns(chat, 2)] == ["new-1", "new-2"]
    database.close()
