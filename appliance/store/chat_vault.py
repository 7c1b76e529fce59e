"""Private chats: the owner's passphrase, beginning one, making a chat private, opening and sealing."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from appliance.errors import NoPassphraseError, UsageError
from appliance.ports_privacy import Vault
from appliance.store.chat_keys import ChatSeal
from appliance.store.chat_log import WORDS_OF_TURN, StoredChatLog, place_of_turn
from appliance.store.chat_rows import place_of_row
from appliance.store.database import Connection, Database
from appliance.store.shapes import ChatChangeKind, ChatInfo

#: scrypt makes each guess slow, not a short word long.
_SHORTEST_PASSPHRASE = 8

_PUT = "INSERT OR REPLACE INTO vault (one, salt, public_key, wrapped_private_key) VALUES (1, ?, ?, ?)"
_NONE_YET = "private chats need a passphrase first; set one with: appliance chat passphrase"


class ChatVault:
    """What makes chats private. Every method raises ``StoreError``; keys are never written, and go with the process.

    A new private chat needs no passphrase once there is one; only what was sealed needs it to be opened.
    """

    def __init__(self, database: Database, chats: StoredChatLog) -> None:
        self._database = database
        self._chats = chats
        self._keys = chats.keys

    async def has_passphrase(self) -> bool:
        """Whether the owner has set a passphrase."""
        return await self._database.arun(_vault) is not None

    async def set_passphrase(self, passphrase: str, old: str = "") -> None:
        """Set the passphrase, or change it from ``old``; all private chats go on under the new one.

        Raises ``WrongPassphraseError``, ``UsageError`` for one that is too short.
        """
        if len(passphrase) < _SHORTEST_PASSPHRASE:
            raise UsageError(f"a passphrase has at least {_SHORTEST_PASSPHRASE} characters; four words are a good one")
        vault, cipher = await self._database.arun(_vault), self._keys.cipher
        private_key = None
        if vault is not None:
            private_key = await asyncio.to_thread(cipher.open_vault, vault, old)
        fresh = await asyncio.to_thread(cipher.make_vault, passphrase, private_key)
        values = (fresh.salt, fresh.public_key, fresh.wrapped_private_key)
        await self._database.arun(lambda connection: connection.execute(_PUT, values))
        # Whoever knows the old passphrase must not find what it opened.
        await self._database.purge()

    async def begin(self, name: str = "") -> ChatInfo:
        """Begin a private chat and use it. Raises ``NoPassphraseError``."""

        def work(connection: Connection) -> ChatInfo:
            vault = _needed_vault(connection)
            info = self._chats.created(connection, name)
            self._lock_up(connection, vault, info.chat)
            self._keys.learn(connection)
            return self._chats.info_of(connection, info.chat)

        return await self._database.arun(work)

    async def make_private(self, chat: str) -> ChatInfo:
        """Hide a public chat with everything in it, its pictures and what plugins keep for it.

        The files are written anew, so that nothing readable stays in them. What the audit trail says about tools that
        were called before stays, for that is never changed. Raises ``NoPassphraseError``.
        """

        def work(connection: Connection) -> ChatInfo:
            chat_id = self._keys.find(connection, chat)
            info = self._chats.info_of(connection, chat_id)
            if info.is_private:
                return info
            seal = self._lock_up(connection, _needed_vault(connection), chat_id)
            _hide(connection, chat_id, seal)
            self._keys.learn(connection)
            return replace(info, is_private=True, is_open=True)

        info = await self._database.arun(work)
        await self._database.purge(is_rewritten=True)
        await self._chats.tell(ChatChangeKind.VAULTED, info)
        return info

    async def unlock(self, passphrase: str, chat: str = "") -> list[ChatInfo]:
        """Open a private chat, or all of them; until they are locked or the process ends. Which they are.

        Raises ``WrongPassphraseError``, ``NoPassphraseError``.
        """
        vault = await self._database.arun(_needed_vault)
        private_key = await asyncio.to_thread(self._keys.cipher.open_vault, vault, passphrase)

        def work(connection: Connection) -> list[ChatInfo]:
            return [
                self._opened(connection, chat_id, wrapped, private_key)
                for chat_id, wrapped in self._private(connection, chat)
            ]

        return await self._database.arun(work)

    async def lock(self, chat: str = "") -> list[ChatInfo]:
        """Seal a private chat, or all of them; which they are. A turn in it that is on is not kept."""

        def work(connection: Connection) -> list[ChatInfo]:
            sealed = [chat_id for chat_id, _wrapped in self._private(connection, chat)]
            for chat_id in sealed:
                self._keys.drop(chat_id)
            return [self._chats.info_of(connection, chat_id) for chat_id in sealed]

        return await self._database.arun(work)

    async def end(self, chat: str) -> None:
        """Seal the private chat in use and go on in the last public one."""
        await self.lock(chat)
        await self._chats.leave(chat)

    async def delete(self, chat: str) -> None:
        """Delete a private chat for good."""
        await self._chats.delete(chat)

    async def leave_sealed(self) -> bool:
        """At the start: whether the chat in use is a locked one; the last public one is in use then."""

        def work(connection: Connection) -> str:
            row = connection.execute("SELECT id FROM chats WHERE is_current AND is_private").fetchone()
            return "" if row is None or self._keys.is_open(row[0]) else str(row[0])

        sealed = await self._database.arun(work)
        if sealed:
            await self._chats.leave(sealed)
        return bool(sealed)

    def _private(self, connection: Connection, chat: str) -> list[tuple[str, bytes]]:
        """Ids and wrapped keys of that private chat, or of all. Raises ``UsageError`` for a public one."""
        query = "SELECT id, wrapped_key FROM chats WHERE is_private AND length(wrapped_key) > 0"
        rows: list[tuple[str, bytes]] = connection.execute(query).fetchall()
        if not chat:
            return rows
        chat_id = self._keys.find(connection, chat)
        found = [row for row in rows if row[0] == chat_id]
        if not found:
            raise UsageError(f"{self._chats.info_of(connection, chat_id).name} is not private")
        return found

    def _opened(self, connection: Connection, chat_id: str, wrapped: bytes, private_key: bytes) -> ChatInfo:
        self._keys.put(chat_id, self._keys.cipher.unwrap(private_key, wrapped, chat_id))
        return self._chats.info_of(connection, chat_id)

    def _lock_up(self, connection: Connection, vault: Vault, chat_id: str) -> ChatSeal:
        """Give a chat a key; it is private, and open, from now on."""
        cipher = self._keys.cipher
        key = cipher.new_key()
        statement = "UPDATE chats SET is_private = 1, wrapped_key = ? WHERE id = ?"
        connection.execute(statement, (cipher.wrap(vault, key, chat_id), chat_id))
        self._keys.put(chat_id, key)
        return ChatSeal(chat_id, cipher, key)


def _vault(connection: Connection) -> Vault | None:
    row = connection.execute("SELECT salt, public_key, wrapped_private_key FROM vault").fetchone()
    return None if row is None else Vault(*row)


def _needed_vault(connection: Connection) -> Vault:
    vault = _vault(connection)
    if vault is None:
        raise NoPassphraseError(_NONE_YET)
    return vault


def _hide(connection: Connection, chat_id: str, seal: ChatSeal) -> None:
    """Hide everything that a public chat has in the store."""
    for turn_id, *texts in connection.execute(
        f"SELECT turn_id, {', '.join(WORDS_OF_TURN)} FROM turns WHERE chat = ?", (chat_id,)
    ).fetchall():
        closed = [
            seal.close_text(text, place_of_turn(turn_id, c)) for c, text in zip(WORDS_OF_TURN, texts, strict=True)
        ]
        columns = ", ".join(f"{column} = ?" for column in WORDS_OF_TURN)
        connection.execute(f"UPDATE turns SET {columns} WHERE turn_id = ?", (*closed, turn_id))
    rows = "SELECT rowid, plugin, key, sequence, value FROM chat_rows WHERE chat = ?"
    for rowid, plugin, key, sequence, value in connection.execute(rows, (chat_id,)).fetchall():
        closed_value = seal.close_text(value, place_of_row(plugin, key, sequence))
        connection.execute("UPDATE chat_rows SET value = ? WHERE rowid = ?", (closed_value, rowid))
    for image_id, data in connection.execute("SELECT id, data FROM images WHERE chat = ?", (chat_id,)).fetchall():
        closed_data = seal.close_bytes(data, place_of_image(image_id))
        connection.execute("UPDATE images SET data = ? WHERE id = ?", (closed_data, image_id))
    # What a model got and answered in these turns; of a private chat that is not kept.
    of_chat = "SELECT turn_id FROM turn_log WHERE chat = ?"
    connection.execute(f"DELETE FROM rounds WHERE turn_id IN ({of_chat})", (chat_id,))


def place_of_image(image_id: str) -> str:
    """Where a picture belongs, for its seal."""
    return f"images {image_id}"
