"""The pictures of the chats: in the database, so that they are sealed, cleared and deleted with their chat at once.

A card is written twice for each byte that way, which for pictures of some hundred kilobytes is less than what a day of
talk costs; in return there is no file that a power cut, or a forgotten clean-up, leaves behind.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import Any

from appliance.clock import Clock
from appliance.errors import ChatSealedError, PictureError
from appliance.store.chat_keys import ChatKeys, ChatSeal
from appliance.store.chat_vault import place_of_image
from appliance.store.database import Connection, Database

#: Before the id, in everything that a model or a person reads.
HANDLE = "img:"
#: Pictures of no chat (a tool that was tried by hand, a thread of a plugin): the newest ones.
_MOST_WITHOUT_CHAT = 300

_ID = re.compile(r"[0-9a-f]{12}\.(?:png|jpg)")
_PUT = """
INSERT INTO images (id, chat, turn_id, media_type, data, visible, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)"""
_FORGET_OLD = """
DELETE FROM images WHERE chat IS NULL AND rowid NOT IN (
    SELECT rowid FROM images WHERE chat IS NULL ORDER BY rowid DESC LIMIT ?)"""
_ROW = "id, chat, turn_id, media_type, length(data), visible, created_at"


@dataclass(frozen=True)
class StoredImage:
    """A picture as it was stored; ``chat`` is the id of its chat, "" for none."""

    handle: str
    media_type: str
    data: bytes
    chat: str
    is_private: bool = False


@dataclass(frozen=True)
class ImageRow:
    """A picture in a list. One that is not ``is_visible`` is for the person alone, or one of many on a sheet."""

    handle: str
    chat: str
    turn_id: str
    media_type: str
    size_bytes: int
    is_visible: bool
    created_at: str


class StoredImages:
    """The pictures. Any thread but the loop's: each method waits for the store. Every method raises ``StoreError``.

    A chat is named by its id or its name. A picture of a private chat is there only for that chat, and while it is
    open.
    """

    def __init__(self, database: Database, clock: Clock, keys: ChatKeys | None = None) -> None:
        self._database = database
        self._clock = clock
        self._keys = keys or ChatKeys()

    def put(self, data: bytes, media_type: str, *, chat: str = "", turn_id: str = "", is_visible: bool = False) -> str:
        """Store a picture, of a chat or of none; its handle. It lasts when this returns.

        Raises ``NoChatError``, ``ChatSealedError``.
        """
        image_id = new_id(media_type)

        def work(connection: Connection) -> None:
            chat_id = self._keys.find(connection, chat) if chat else None
            seal = self._keys.seal(connection, chat_id) if chat_id else ChatSeal("")
            closed = seal.close_bytes(data, place_of_image(image_id))
            now = self._clock.now().isoformat(timespec="seconds")
            connection.execute(_PUT, (image_id, chat_id, turn_id or None, media_type, closed, int(is_visible), now))
            if chat_id is None:
                connection.execute(_FORGET_OLD, (_MOST_WITHOUT_CHAT,))

        self._database.run(work)
        return f"{HANDLE}{image_id}"

    def get(self, handle: str, asking_chat: str | None = None) -> StoredImage:
        """The picture with this handle, as ``asking_chat`` (its id) may see it; None is the owner, who may see all.

        Raises ``PictureError`` when there is none.
        """
        image_id = id_of(handle)

        def work(connection: Connection) -> StoredImage:
            query = "SELECT chat, media_type, data FROM images WHERE id = ?"
            row = connection.execute(query, (image_id,)).fetchone()
            if row is None:
                raise _absent(image_id)
            chat_id, media_type, closed = row
            data = self._opened(connection, image_id, chat_id, closed, asking_chat)
            is_private = bool(chat_id) and self._keys.is_private(chat_id)
            return StoredImage(f"{HANDLE}{image_id}", media_type, data, chat_id or "", is_private)

        return self._database.run(work)

    def list(self, chat: str) -> list[ImageRow]:
        """The pictures of a chat, oldest first; of a locked one too, as far as they can be told without their key."""

        def work(connection: Connection) -> list[Any]:
            query = f"SELECT {_ROW} FROM images WHERE chat = ? ORDER BY rowid"
            return connection.execute(query, (self._keys.find(connection, chat),)).fetchall()

        return [_row(row) for row in self._database.run(work)]

    def last(self, chat: str) -> str:
        """Handle of the newest picture of a chat (its id, "" for none); "" when it has none."""
        query = "SELECT id FROM images WHERE chat IS ? ORDER BY rowid DESC LIMIT 1"
        row = self._database.run(lambda connection: connection.execute(query, (chat or None,)).fetchone())
        return f"{HANDLE}{row[0]}" if row else ""

    def _opened(
        self, connection: Connection, image_id: str, chat_id: str | None, closed: bytes, asking_chat: str | None
    ) -> bytes:
        if chat_id is None:
            return closed
        if self._keys.is_private(chat_id) and asking_chat not in (None, chat_id):
            raise _absent(image_id)
        try:
            return self._keys.seal(connection, chat_id).open_bytes(closed, place_of_image(image_id))
        except ChatSealedError as error:
            raise _absent(image_id) from error


def new_id(media_type: str = "image/jpeg") -> str:
    """An id that no picture has."""
    return f"{secrets.token_hex(6)}.{'png' if 'png' in media_type else 'jpg'}"


def id_of(handle: str) -> str:
    """The id in a handle, with or without ``img:``. Raises ``PictureError`` for what is none."""
    image_id = handle.strip().removeprefix(HANDLE)
    if not _ID.fullmatch(image_id):
        raise PictureError(f"{handle[:60]!r} is not the handle of a picture, which is like {HANDLE}0123456789ab.jpg")
    return image_id


def _absent(image_id: str) -> PictureError:
    return PictureError(f"there is no picture {HANDLE}{image_id} (any more), or it belongs to a private chat")


def _row(row: Any) -> ImageRow:
    image_id, chat, turn_id, media_type, size_bytes, visible, created_at = row
    return ImageRow(f"{HANDLE}{image_id}", chat or "", turn_id or "", media_type, size_bytes, bool(visible), created_at)
