"""The conversations."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from typing import Any, TypeVar

from appliance.clock import Clock
from appliance.errors import StoreError
from appliance.store.canonical_json import json_text, storable
from appliance.store.database import Connection, Database
from appliance.store.shapes import ChatInfo, TurnRecord

T = TypeVar("T")

_LONGEST_NAME = 80

_TURN = "turn_id, user_text, reply_text, heard_text, items, did, at"
_APPEND = f"""
INSERT INTO turns ({_TURN}, chat, topic)
SELECT ?, ?, ?, ?, ?, ?, ?, id, topic FROM chats WHERE id = ?"""
_INFO = """
SELECT id, name, is_current, is_private, created_at, (SELECT count(*) FROM turns WHERE turns.chat = chats.id)
FROM chats"""

#: A later turn's request to a model repeats what was said before; to forget a turn is to forget those too.
_FORGET_ROUNDS_SINCE = """
DELETE FROM rounds WHERE turn_id IN (
    SELECT turn_id FROM turn_log WHERE chat = :chat
    AND position >= (SELECT position FROM turn_log WHERE turn_id = :turn))"""


class StoredChatLog:
    """``ChatLog`` in the database, with what the ``chat`` command does besides.

    A chat is named by its id or by its name, as people write it. Whatever is deleted is gone from the files when the
    call returns. Every method raises ``StoreError``, also for a chat that does not exist.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    # ------------------------------------------------------------------------------------ the conversation

    async def current(self) -> str:
        """Id of the chat in use (made when there is none)."""
        return await self._database.arun(self._current)

    async def append(self, chat: str, record: TurnRecord) -> None:
        """Add a turn; durable when this returns."""
        texts = [storable(text) for text in (record.user_text, record.reply_text, record.heard_text)]
        try:
            lists = [json_text([dict(item) for item in record.items]), json_text(list(record.did))]
        except ValueError as error:
            raise StoreError(f"the turn cannot be stored: {error}") from error
        values = (record.turn_id, *texts, *lists, record.at or self._now())
        await self._in_chat(chat, lambda connection, chat_id: connection.execute(_APPEND, (*values, chat_id)))

    async def turns(self, chat: str, limit: int) -> list[TurnRecord]:
        """The last ``limit`` turns since the last new topic, oldest first."""
        query = (
            f"SELECT {_TURN} FROM turns WHERE chat = :chat AND topic = (SELECT topic FROM chats WHERE id = :chat) "
            "ORDER BY position DESC LIMIT :limit"
        )
        return await self._read_turns(chat, query, limit)

    async def new_topic(self, chat: str) -> None:
        """Later turns no longer see the earlier ones (which stay listed)."""
        statement = "UPDATE chats SET topic = topic + 1 WHERE id = ?"
        await self._in_chat(chat, lambda connection, chat_id: connection.execute(statement, (chat_id,)))

    async def forget_last(self, chat: str) -> bool:
        """Delete the last turn for good, of whatever topic; False when there is none."""
        is_forgotten = await self._in_chat(chat, _forget_last)
        await self._database.purge()
        return is_forgotten

    # ------------------------------------------------------------------------------------- the chat command

    async def chats(self) -> list[ChatInfo]:
        """Every chat, oldest first."""
        query = f"{_INFO} ORDER BY created_at, rowid"
        rows = await self._database.arun(lambda connection: connection.execute(query).fetchall())
        return [_info(row) for row in rows]

    async def everything(self, chat: str, limit: int = 1000) -> list[TurnRecord]:
        """The last ``limit`` turns of all topics, oldest first."""
        query = f"SELECT {_TURN} FROM turns WHERE chat = :chat ORDER BY position DESC LIMIT :limit"
        return await self._read_turns(chat, query, limit)

    async def create(self, name: str = "", *, is_private: bool = False) -> ChatInfo:
        """Begin a chat and use it; without a name it is numbered."""

        def work(connection: Connection) -> ChatInfo:
            free = _free_name(connection, name) if name else _next_name(connection)
            return self._create(connection, free, is_private)

        return await self._database.arun(work)

    async def use(self, chat: str) -> ChatInfo:
        """Go on in another chat."""
        return await self._in_chat(chat, _use)

    async def rename(self, chat: str, name: str) -> ChatInfo:
        """Give a chat another name, which no other chat has."""

        def work(connection: Connection) -> ChatInfo:
            chat_id = _find(connection, chat)
            free = _free_name(connection, name, chat_id)
            connection.execute("UPDATE chats SET name = ? WHERE id = ?", (free, chat_id))
            return _info_of(connection, chat_id)

        return await self._database.arun(work)

    async def clear(self, chat: str) -> None:
        """Delete what was said and shown in a chat; the chat stays, and so does what plugins keep for it."""
        await self._in_chat(chat, _clear)
        await self._database.purge()

    async def delete(self, chat: str) -> None:
        """Delete a chat with everything that belongs to it."""
        statement = "DELETE FROM chats WHERE id = ?"
        await self._in_chat(chat, lambda connection, chat_id: connection.execute(statement, (chat_id,)))
        await self._database.purge()

    # ---------------------------------------------------------------------------------------------- small

    async def _in_chat(self, chat: str, work: Callable[[Connection, str], T]) -> T:
        return await self._database.arun(lambda connection: work(connection, _find(connection, chat)))

    async def _read_turns(self, chat: str, query: str, limit: int) -> list[TurnRecord]:
        def work(connection: Connection, chat_id: str) -> list[Any]:
            return connection.execute(query, {"chat": chat_id, "limit": limit}).fetchall()

        return [_record(row) for row in reversed(await self._in_chat(chat, work))]

    def _current(self, connection: Connection) -> str:
        row = connection.execute("SELECT id FROM chats WHERE is_current").fetchone()
        return str(row[0]) if row else self._create(connection, _next_name(connection), False).chat

    def _create(self, connection: Connection, name: str, is_private: bool) -> ChatInfo:
        chat_id = f"chat-{secrets.token_hex(5)}"
        statement = "INSERT INTO chats (id, name, is_private, created_at) VALUES (?, ?, ?, ?)"
        connection.execute(statement, (chat_id, name, int(is_private), self._now()))
        return _use(connection, chat_id)

    def _now(self) -> str:
        return self._clock.now().isoformat(timespec="seconds")


def _find(connection: Connection, chat: str) -> str:
    query = "SELECT id FROM chats WHERE id = :chat OR name = :chat ORDER BY id = :chat DESC LIMIT 1"
    row = connection.execute(query, {"chat": storable(chat)}).fetchone()
    if row is None:
        raise StoreError(f"there is no chat {chat!r}; `appliance chat list` shows them")
    return str(row[0])


def _info_of(connection: Connection, chat_id: str) -> ChatInfo:
    return _info(connection.execute(f"{_INFO} WHERE id = ?", (chat_id,)).fetchone())


def _info(row: Any) -> ChatInfo:
    chat_id, name, is_current, is_private, created_at, turns = row
    return ChatInfo(chat_id, name, bool(is_current), bool(is_private), created_at, turns)


def _record(row: Any) -> TurnRecord:
    turn_id, user_text, reply_text, heard_text, items, did, at = row
    return TurnRecord(turn_id, user_text, reply_text, heard_text, tuple(json.loads(items)), tuple(json.loads(did)), at)


def _use(connection: Connection, chat_id: str) -> ChatInfo:
    connection.execute("UPDATE chats SET is_current = 0 WHERE is_current")
    connection.execute("UPDATE chats SET is_current = 1 WHERE id = ?", (chat_id,))
    return _info_of(connection, chat_id)


def _forget_last(connection: Connection, chat_id: str) -> bool:
    query = "SELECT turn_id FROM turns WHERE chat = ? ORDER BY position DESC LIMIT 1"
    row = connection.execute(query, (chat_id,)).fetchone()
    if row is None:
        return False
    connection.execute(_FORGET_ROUNDS_SINCE, {"chat": chat_id, "turn": row[0]})
    connection.execute("DELETE FROM images WHERE turn_id = ?", (row[0],))
    connection.execute("DELETE FROM turns WHERE turn_id = ?", (row[0],))
    return True


def _clear(connection: Connection, chat_id: str) -> None:
    for table in ("turns", "images", "turn_log"):
        connection.execute(f"DELETE FROM {table} WHERE chat = ?", (chat_id,))


def _free_name(connection: Connection, name: str, own_id: str = "") -> str:
    """``name``, tidy; raises ``StoreError`` when it is no name, or another chat has it (case does not matter)."""
    tidy = " ".join(storable(name).split())
    if not tidy or len(tidy) > _LONGEST_NAME or not tidy.isprintable():
        raise StoreError(f"the name of a chat has 1 to {_LONGEST_NAME} printable characters")
    query = "SELECT 1 FROM chats WHERE name = ? AND id != ?"
    if connection.execute(query, (tidy, own_id)).fetchone() is not None:
        raise StoreError(f"another chat is named {tidy!r}; choose a different name")
    return tidy


def _next_name(connection: Connection) -> str:
    taken = {row[0].lower() for row in connection.execute("SELECT name FROM chats").fetchall()}
    number = 1
    while f"chat {number}" in taken:
        number += 1
    return f"chat {number}"
