"""What plugins keep for a chat: one slot for each key, and a journal of rows in order.

A slot is row 0 of its key; a journal has rows 1, 2, 3… Rows belong to the chat: they are renamed, hidden and deleted
with it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TypeVar

from appliance.clock import Clock
from appliance.errors import ChatSealedError, NoChatError
from appliance.ports import Json
from appliance.store.canonical_json import json_text
from appliance.store.chat_keys import ChatKeys, ChatSeal
from appliance.store.database import Connection, Database

T = TypeVar("T")

_SLOT = 0
_PUT = """
INSERT INTO chat_rows (plugin, chat, key, sequence, value, updated_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (plugin, chat, key, sequence) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at"""
_OF_KEY = "plugin = ? AND chat = ? AND key = ?"


def place_of_row(plugin: str, key: str, sequence: int) -> str:
    """Where a row belongs, for its seal."""
    return f"chat_rows {plugin} {key} {sequence}"


def forget_plugin(connection: Connection, plugin: str) -> None:
    """Delete everything that a plugin keeps, for every chat."""
    connection.execute("DELETE FROM chat_rows WHERE plugin = ?", (plugin,))


class ChatRows:
    """The rows of every plugin. Any thread but the loop's: each method waits for the store, writes until they last.

    A chat is named by its id or its name. Reading from a chat that is locked or not there gives nothing; writing
    raises ``ChatSealedError`` or ``NoChatError``. Values that are not JSON raise ``ValueError`` before anything is
    changed. Every method raises ``StoreError``.
    """

    def __init__(self, database: Database, keys: ChatKeys, clock: Clock) -> None:
        self._database = database
        self._keys = keys
        self._clock = clock

    def put(self, plugin: str, chat: str, key: str, value: Json) -> None:
        """Fill the slot."""
        text = json_text(value)

        def work(connection: Connection, chat_id: str, seal: ChatSeal) -> None:
            self._write(connection, seal, (plugin, chat_id, key), {_SLOT: text})

        self._writing(chat, work)

    def get(self, plugin: str, chat: str, key: str, default: Json = None) -> Json:
        """What is in the slot, or ``default``."""

        def work(connection: Connection, chat_id: str, seal: ChatSeal) -> Json:
            query = f"SELECT value FROM chat_rows WHERE {_OF_KEY} AND sequence = {_SLOT}"
            row = connection.execute(query, (plugin, chat_id, key)).fetchone()
            return default if row is None else json.loads(seal.open_text(row[0], place_of_row(plugin, key, _SLOT)))

        return self._reading(chat, work, default)

    def append(self, plugin: str, chat: str, key: str, values: Sequence[Json]) -> list[int]:
        """Add rows at the end of the journal, all or none; their numbers."""
        texts = [json_text(value) for value in values]

        def work(connection: Connection, chat_id: str, seal: ChatSeal) -> list[int]:
            query = f"SELECT max(sequence) FROM chat_rows WHERE {_OF_KEY}"
            (last,) = connection.execute(query, (plugin, chat_id, key)).fetchone()
            rows = dict(enumerate(texts, (last or _SLOT) + 1))
            self._write(connection, seal, (plugin, chat_id, key), rows)
            return list(rows)

        return self._writing(chat, work)

    def read_all(self, plugin: str, chat: str, key: str) -> list[Json]:
        """Every row of the key in order, its slot first."""

        def work(connection: Connection, chat_id: str, seal: ChatSeal) -> list[Json]:
            query = f"SELECT sequence, value FROM chat_rows WHERE {_OF_KEY} ORDER BY sequence"
            rows = connection.execute(query, (plugin, chat_id, key)).fetchall()
            return [json.loads(seal.open_text(text, place_of_row(plugin, key, number))) for number, text in rows]

        return self._reading(chat, work, [])

    def replace(self, plugin: str, chat: str, key: str, values: Sequence[Json]) -> None:
        """Put these rows, numbered from 1, in the place of everything that the key has."""
        texts = [json_text(value) for value in values]

        def work(connection: Connection, chat_id: str, seal: ChatSeal) -> None:
            connection.execute(f"DELETE FROM chat_rows WHERE {_OF_KEY}", (plugin, chat_id, key))
            self._write(connection, seal, (plugin, chat_id, key), dict(enumerate(texts, _SLOT + 1)))

        self._writing(chat, work)

    def delete(self, plugin: str, chat: str, key: str | None = None) -> None:
        """Delete the rows of a key; without one, everything that the plugin keeps for the chat."""

        def work(connection: Connection, chat_id: str, _seal: ChatSeal) -> None:
            if key is None:
                connection.execute("DELETE FROM chat_rows WHERE plugin = ? AND chat = ?", (plugin, chat_id))
            else:
                connection.execute(f"DELETE FROM chat_rows WHERE {_OF_KEY}", (plugin, chat_id, key))

        self._writing(chat, work)

    def keys(self, plugin: str, chat: str) -> list[str]:
        """The keys in use, sorted."""

        def work(connection: Connection, chat_id: str, _seal: ChatSeal) -> list[str]:
            query = "SELECT DISTINCT key FROM chat_rows WHERE plugin = ? AND chat = ? ORDER BY key"
            return [key for (key,) in connection.execute(query, (plugin, chat_id)).fetchall()]

        return self._reading(chat, work, [])

    def slots(self, plugin: str, key: str) -> dict[str, Json]:
        """What is in the slot of every chat that has one, by the chat's name; of locked chats nothing."""

        def work(connection: Connection) -> dict[str, Json]:
            query = (
                "SELECT chats.id, chats.name, value FROM chat_rows JOIN chats ON chats.id = chat "
                f"WHERE plugin = ? AND key = ? AND sequence = {_SLOT} ORDER BY chats.rowid"
            )
            found: dict[str, Json] = {}
            for chat_id, name, text in connection.execute(query, (plugin, key)).fetchall():
                if not self._keys.is_sealed(connection, chat_id):
                    seal = self._keys.seal(connection, chat_id)
                    found[name] = json.loads(seal.open_text(text, place_of_row(plugin, key, _SLOT)))
            return found

        return self._database.run(work)

    def meta(self, plugin: str, chat: str, key: str) -> dict[str, Json] | None:
        """How many rows a key has and when the last was written (ISO); None when it has none."""

        def work(connection: Connection, chat_id: str, _seal: ChatSeal) -> dict[str, Json] | None:
            query = f"SELECT count(*), max(updated_at) FROM chat_rows WHERE {_OF_KEY}"
            rows, updated_at = connection.execute(query, (plugin, chat_id, key)).fetchone()
            return {"rows": rows, "updated_at": updated_at} if rows else None

        return self._reading(chat, work, None)

    def _write(
        self, connection: Connection, seal: ChatSeal, of_key: tuple[str, str, str], rows: dict[int, str]
    ) -> None:
        plugin, _chat, key = of_key
        now = self._clock.now().isoformat(timespec="milliseconds")
        for sequence, text in rows.items():
            closed = seal.close_text(text, place_of_row(plugin, key, sequence))
            connection.execute(_PUT, (*of_key, sequence, closed, now))

    def _writing(self, chat: str, work: Callable[[Connection, str, ChatSeal], T]) -> T:
        def with_seal(connection: Connection) -> T:
            chat_id = self._keys.find(connection, chat)
            return work(connection, chat_id, self._keys.seal(connection, chat_id))

        return self._database.run(with_seal)

    def _reading(self, chat: str, work: Callable[[Connection, str, ChatSeal], T], nothing: T) -> T:
        try:
            return self._writing(chat, work)
        except (ChatSealedError, NoChatError):
            return nothing
