"""The conversations."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from appliance.clock import Clock
from appliance.errors import StoreError
from appliance.store.canonical_json import json_text, storable
from appliance.store.chat_keys import ChatKeys, ChatSeal
from appliance.store.database import Connection, Database
from appliance.store.shapes import ChatChange, ChatChangeKind, ChatInfo, ChatWatcher, TurnRecord

T = TypeVar("T")

_LONGEST_NAME = 80

#: What of a turn is hidden in a private chat.
WORDS_OF_TURN = ("user_text", "reply_text", "heard_text", "items", "did")
_TURN = f"turn_id, {', '.join(WORDS_OF_TURN)}, at"
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


#: ISO times of one box sort as texts, but for an hour when summer time ends.
_LAST_USE = """
SELECT id, max(
    created_at,
    coalesce((SELECT max(at) FROM turns WHERE chat = chats.id), ''),
    coalesce((SELECT max(updated_at) FROM chat_rows WHERE chat = chats.id), ''))
FROM chats WHERE NOT is_current"""

#: The public chat in which somebody spoke last.
_LAST_PUBLIC = """
SELECT id FROM chats WHERE NOT is_private
ORDER BY coalesce((SELECT max(position) FROM turns WHERE chat = chats.id), 0) DESC, rowid DESC LIMIT 1"""


def place_of_turn(turn_id: str, column: str) -> str:
    """Where a text of a turn belongs, for its seal."""
    return f"turns {turn_id} {column}"


class StoredChatLog:
    """``ChatLog`` in the database, with what the ``chat`` command does besides.

    A chat is named by its id or by its name, as people write it. Whatever is deleted is gone from the files when the
    call returns. Every method raises ``StoreError``, also for a chat that does not exist; what needs the words of a
    locked chat raises ``ChatSealedError``. ``vault`` makes private chats, opens and seals them.
    """

    def __init__(self, database: Database, clock: Clock, keys: ChatKeys | None = None) -> None:
        self.keys = keys or ChatKeys()
        self._database = database
        self._clock = clock
        self._watchers: list[ChatWatcher] = []

    def watch(self, watcher: ChatWatcher) -> None:
        """Tell ``watcher`` of every change, when it is stored."""
        self._watchers.append(watcher)

    def is_private(self, chat: str = "") -> bool:
        """Whether that chat, or the one in use, is private, or may have been, not known any more. Any thread."""
        return self.keys.is_private(chat or self.keys.current)

    # ------------------------------------------------------------------------------------ the conversation

    async def current(self) -> str:
        """Id of the chat in use (made when there is none); never a locked one: then it is the last public one."""
        return await self._database.arun(self._current)

    async def append(self, chat: str, record: TurnRecord) -> None:
        """Add a turn; durable when this returns."""
        texts = [storable(text) for text in (record.user_text, record.reply_text, record.heard_text)]
        try:
            lists = [json_text([dict(item) for item in record.items]), json_text(list(record.did))]
        except ValueError as error:
            raise StoreError(f"the turn cannot be stored: {error}") from error
        words = dict(zip(WORDS_OF_TURN, (*texts, *lists), strict=True))

        def work(connection: Connection, chat_id: str) -> None:
            seal = self.keys.seal(connection, chat_id)
            closed = [seal.close_text(text, place_of_turn(record.turn_id, column)) for column, text in words.items()]
            connection.execute(_APPEND, (record.turn_id, *closed, record.at or self._now(), chat_id))

        await self._in_chat(chat, work)

    async def turns(self, chat: str, limit: int) -> list[TurnRecord]:
        """The last ``limit`` turns since the last new topic, oldest first."""
        # The topic in use is at the end of its chat: only the end is read, however long the chat is.
        query = (
            f"SELECT {_TURN} FROM (SELECT * FROM turns WHERE chat = :chat ORDER BY position DESC LIMIT :limit) "
            "WHERE topic = (SELECT topic FROM chats WHERE id = :chat) ORDER BY position DESC"
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

        def work(connection: Connection) -> list[ChatInfo]:
            self.keys.learn(connection)
            return [self._info(row) for row in connection.execute(f"{_INFO} ORDER BY created_at, rowid").fetchall()]

        return await self._database.arun(work)

    async def info(self, chat: str) -> ChatInfo:
        """One chat."""
        return await self._in_chat(chat, self.info_of)

    async def everything(self, chat: str, limit: int = 1000) -> list[TurnRecord]:
        """The last ``limit`` turns of all topics, oldest first."""
        query = f"SELECT {_TURN} FROM turns WHERE chat = :chat ORDER BY position DESC LIMIT :limit"
        return await self._read_turns(chat, query, limit)

    async def create(self, name: str = "") -> ChatInfo:
        """Begin a public chat and use it; without a name it is numbered."""
        return await self._database.arun(lambda connection: self.created(connection, name))

    async def use(self, chat: str) -> ChatInfo:
        """Go on in another chat; not in a locked one."""

        def work(connection: Connection, chat_id: str) -> ChatInfo:
            self.keys.seal(connection, chat_id)
            return self._use(connection, chat_id)

        return await self._in_chat(chat, work)

    async def leave(self, chat: str) -> ChatInfo:
        """Go on in the public chat that was used last, if ``chat`` is the one in use; the one that is in use then."""

        def work(connection: Connection, chat_id: str) -> ChatInfo:
            connection.execute("UPDATE chats SET is_current = 0 WHERE id = ?", (chat_id,))
            return self.info_of(connection, self._fallback(connection))

        return await self._in_chat(chat, work)

    async def rename(self, chat: str, name: str) -> ChatInfo:
        """Give a chat another name, which no other chat has; also a locked one, whose name is no secret."""

        def work(connection: Connection, chat_id: str) -> tuple[str, ChatInfo]:
            before = self.info_of(connection, chat_id)
            free = _free_name(connection, name, chat_id)
            connection.execute("UPDATE chats SET name = ? WHERE id = ?", (free, chat_id))
            self.keys.learn(connection)
            return before.name, self.info_of(connection, chat_id)

        old_name, info = await self._in_chat(chat, work)
        if info.name != old_name:
            await self.tell(ChatChangeKind.RENAMED, info, old_name)
        return info

    async def set_scopes(self, chat: str, scopes: Mapping[str, str]) -> Mapping[str, str]:
        """Say which account of a plugin scope holds in a chat; "" takes a scope back. All of them, afterwards."""

        def work(connection: Connection, chat_id: str) -> Mapping[str, str]:
            self.keys.learn(connection)
            merged = {**self.keys.scopes_of(chat_id), **scopes}
            kept = {scope: account for scope, account in merged.items() if account}
            connection.execute("UPDATE chats SET scopes = ? WHERE id = ?", (json_text(kept), chat_id))
            self.keys.learn(connection)
            return kept

        return await self._in_chat(chat, work)

    async def clear(self, chat: str) -> None:
        """Delete what was said and shown in a chat; the chat stays, and so does what plugins keep for it."""

        def work(connection: Connection, chat_id: str) -> ChatInfo:
            _clear(connection, chat_id)
            return self.info_of(connection, chat_id)

        info = await self._in_chat(chat, work)
        await self._database.purge()
        await self.tell(ChatChangeKind.CLEARED, info)

    async def delete(self, chat: str) -> None:
        """Delete a chat with everything that belongs to it; of a private one the key first, for good.

        When another chat is not chosen afterwards the next turn begins a new one, or, behind a private chat, goes on
        in the last public one.
        """
        info = await self._in_chat(chat, self._destroy_key)
        if info.is_private:
            await self._database.purge()
        await self._database.arun(lambda connection: self._delete(connection, info))
        await self._database.purge()
        await self.tell(ChatChangeKind.DELETED, info)

    async def finish_deletions(self) -> None:
        """Delete the private chats whose deletion was cut short by a power cut: their keys are gone."""
        query = "SELECT id FROM chats WHERE is_private AND wrapped_key = x''"
        for row in await self._database.arun(lambda connection: connection.execute(query).fetchall()):
            await self.delete(str(row[0]))

    async def delete_unused(self, since: datetime) -> list[ChatInfo]:
        """Delete the chats in which nothing has happened since then, but not the one in use; which they were."""
        rows = await self._database.arun(lambda connection: connection.execute(_LAST_USE).fetchall())
        old = [chat for chat, last_use in rows if datetime.fromisoformat(last_use) < since]
        gone = [await self.info(chat) for chat in old]
        for info in gone:
            await self.delete(info.chat)
        return gone

    # --------------------------------------------------------------------------- for the vault, and small things

    async def tell(self, kind: ChatChangeKind, info: ChatInfo, old_name: str = "") -> None:
        """Tell whoever watches what happened."""
        change = ChatChange(kind, info.chat, info.name, info.is_private, old_name)
        for watcher in self._watchers:
            await watcher(change)

    def created(self, connection: Connection, name: str = "") -> ChatInfo:
        """Begin a chat and use it, in a transaction."""
        free = _free_name(connection, name) if name else _next_name(connection)
        chat_id = f"chat-{secrets.token_hex(5)}"
        statement = "INSERT INTO chats (id, name, created_at) VALUES (?, ?, ?)"
        connection.execute(statement, (chat_id, free, self._now()))
        return self._use(connection, chat_id)

    def info_of(self, connection: Connection, chat_id: str) -> ChatInfo:
        """A chat, in a transaction."""
        return self._info(connection.execute(f"{_INFO} WHERE id = ?", (chat_id,)).fetchone())

    async def _in_chat(self, chat: str, work: Callable[[Connection, str], T]) -> T:
        return await self._database.arun(lambda connection: work(connection, self.keys.find(connection, chat)))

    async def _read_turns(self, chat: str, query: str, limit: int) -> list[TurnRecord]:
        def work(connection: Connection, chat_id: str) -> list[TurnRecord]:
            seal = self.keys.seal(connection, chat_id)
            rows = connection.execute(query, {"chat": chat_id, "limit": limit}).fetchall()
            return [_record(row, seal) for row in reversed(rows)]

        return await self._in_chat(chat, work)

    def _current(self, connection: Connection) -> str:
        self.keys.learn(connection)
        row = connection.execute("SELECT id FROM chats WHERE is_current").fetchone()
        if row is None:
            return self.created(connection).chat
        chat_id = str(row[0])
        return self._fallback(connection) if self.keys.is_sealed(connection, chat_id) else chat_id

    def _fallback(self, connection: Connection) -> str:
        """Use the public chat that was used last, or a new one; its id."""
        row = connection.execute(_LAST_PUBLIC).fetchone()
        return (self._use(connection, row[0]) if row else self.created(connection)).chat

    def _use(self, connection: Connection, chat_id: str) -> ChatInfo:
        connection.execute("UPDATE chats SET is_current = 0 WHERE is_current")
        connection.execute("UPDATE chats SET is_current = 1 WHERE id = ?", (chat_id,))
        self.keys.learn(connection)
        return self.info_of(connection, chat_id)

    def _destroy_key(self, connection: Connection, chat_id: str) -> ChatInfo:
        """Nobody can read a private chat any more, whatever becomes of its rows."""
        connection.execute("UPDATE chats SET wrapped_key = x'' WHERE id = ? AND is_private", (chat_id,))
        self.keys.drop(chat_id)
        return self.info_of(connection, chat_id)

    def _delete(self, connection: Connection, info: ChatInfo) -> None:
        connection.execute("DELETE FROM chats WHERE id = ?", (info.chat,))
        last_public = connection.execute(_LAST_PUBLIC).fetchone()
        if info.is_private and info.is_current and last_public:
            self._use(connection, last_public[0])
        self.keys.learn(connection)

    def _info(self, row: Any) -> ChatInfo:
        chat_id, name, is_current, is_private, created_at, turns = row
        is_open = not is_private or self.keys.is_open(chat_id)
        return ChatInfo(chat_id, name, bool(is_current), bool(is_private), created_at, turns, is_open)

    def _now(self) -> str:
        return self._clock.now().isoformat(timespec="seconds")


def _record(row: Any, seal: ChatSeal) -> TurnRecord:
    turn_id, *closed, at = row
    words = [seal.open_text(text, place_of_turn(turn_id, c)) for c, text in zip(WORDS_OF_TURN, closed, strict=True)]
    user_text, reply_text, heard_text, items, did = words
    return TurnRecord(turn_id, user_text, reply_text, heard_text, tuple(json.loads(items)), tuple(json.loads(did)), at)


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
