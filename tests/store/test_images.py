"""The pictures of the chats: stored at once, found by handle, hidden and gone with their chat."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from appliance.adapters.chat_cipher import AesChatCipher
from appliance.clock import FakeClock
from appliance.errors import ChatSealedError, NoChatError, PictureError
from appliance.store import images as images_module
from appliance.store.chat_log import StoredChatLog
from appliance.store.database import SqliteDatabase
from appliance.store.images import StoredImages, id_of, new_id
from appliance.store.recovery import open_database
from appliance.store.shapes import TurnRecord
from tests.store.private import PASSPHRASE, with_vault

SECRET = b"\xff\xd8 the cellar door, open \xff\xd9"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SqliteDatabase]:
    database = open_database(tmp_path / "appliance.db", FakeClock())
    yield database
    database.close()


def everything_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


def open_images(disk: SqliteDatabase, chats: StoredChatLog) -> StoredImages:
    return StoredImages(disk, FakeClock(), chats.keys)


@pytest.mark.contract("S-038")
async def test_a_picture_is_there_when_put_returns_and_after_a_restart(disk: SqliteDatabase, tmp_path: Path) -> None:
    chats, _ = await with_vault(disk)
    chat = await chats.current()
    handle = await asyncio.to_thread(open_images(disk, chats).put, SECRET, "image/jpeg", chat=chat, turn_id="t1")
    disk.close()

    again = open_database(tmp_path / "appliance.db", FakeClock())
    images = StoredImages(again, FakeClock())
    stored = await asyncio.to_thread(images.get, handle)
    assert (stored.handle, stored.media_type, stored.data, stored.chat) == (handle, "image/jpeg", SECRET, chat)
    (row,) = await asyncio.to_thread(images.list, chat)
    assert (row.handle, row.turn_id, row.size_bytes, row.is_visible) == (handle, "t1", len(SECRET), False)
    again.close()


@pytest.mark.contract("S-051")
@pytest.mark.parametrize("how", ["delete", "clear"])
async def test_pictures_go_with_their_chat_and_are_in_no_file_then(
    disk: SqliteDatabase, tmp_path: Path, how: str
) -> None:
    chats, _ = await with_vault(disk)
    chat, images = await chats.current(), open_images(disk, chats)
    handle = await asyncio.to_thread(images.put, SECRET, "image/jpeg", chat=chat)
    assert SECRET in everything_in(tmp_path)
    await (chats.delete(chat) if how == "delete" else chats.clear(chat))
    with pytest.raises(PictureError, match="there is no picture img:"):
        await asyncio.to_thread(images.get, handle)
    assert SECRET not in everything_in(tmp_path)


async def test_a_forgotten_turn_takes_its_pictures_along(disk: SqliteDatabase) -> None:
    chats, _ = await with_vault(disk)
    chat, images = await chats.current(), open_images(disk, chats)
    kept, gone = [
        await asyncio.to_thread(images.put, SECRET, "image/jpeg", chat=chat, turn_id=turn) for turn in ("t1", "t2")
    ]
    for turn in ("t1", "t2"):
        await chats.append(chat, TurnRecord(turn, "show me", "here", "here", ()))
    await chats.forget_last(chat)
    assert [row.handle for row in await asyncio.to_thread(images.list, chat)] == [kept]
    assert gone != kept


@pytest.mark.contract("S-034", "S-054")
async def test_a_picture_of_a_private_chat_is_hidden_in_the_file_and_locked_with_it(
    disk: SqliteDatabase, tmp_path: Path
) -> None:
    chats, vault = await with_vault(disk, cipher=AesChatCipher())
    other, diary, images = await chats.current(), (await vault.begin("diary")).chat, open_images(disk, chats)
    handle = await asyncio.to_thread(images.put, SECRET, "image/jpeg", chat=diary)
    assert SECRET not in everything_in(tmp_path)
    for asking in (diary, None):
        stored = await asyncio.to_thread(images.get, handle, asking)
        assert stored.data == SECRET and stored.is_private
    with pytest.raises(PictureError, match="belongs to a private chat"):
        await asyncio.to_thread(images.get, handle, other)
    await vault.lock()
    for asking in (diary, None):
        with pytest.raises(PictureError, match="belongs to a private chat"):
            await asyncio.to_thread(images.get, handle, asking)
    with pytest.raises(ChatSealedError):
        await asyncio.to_thread(images.put, SECRET, "image/jpeg", chat=diary)
    await vault.unlock(PASSPHRASE)
    assert (await asyncio.to_thread(images.get, handle)).data == SECRET


@pytest.mark.contract("S-034")
async def test_a_chat_that_becomes_private_hides_its_pictures(disk: SqliteDatabase, tmp_path: Path) -> None:
    chats, vault = await with_vault(disk, cipher=AesChatCipher())
    chat, images = await chats.current(), open_images(disk, chats)
    handle = await asyncio.to_thread(images.put, SECRET, "image/jpeg", chat=chat)
    await vault.make_private(chat)
    assert SECRET not in everything_in(tmp_path)
    assert (await asyncio.to_thread(images.get, handle, chat)).data == SECRET


async def test_pictures_of_no_chat_make_room_for_newer_ones(
    disk: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(images_module, "_MOST_WITHOUT_CHAT", 3)
    chats, _ = await with_vault(disk)
    images = open_images(disk, chats)
    of_chat = await asyncio.to_thread(images.put, SECRET, "image/png", chat=await chats.current())
    handles = [await asyncio.to_thread(images.put, SECRET, "image/png") for _ in range(5)]
    assert images_are_there(images, [of_chat, *handles]) == [True, False, False, True, True, True]
    assert await asyncio.to_thread(images.last, "") == handles[-1]


def images_are_there(images: StoredImages, handles: list[str]) -> list[bool]:
    def is_there(handle: str) -> bool:
        try:
            return bool(images.get(handle).data)
        except PictureError:
            return False

    return [is_there(handle) for handle in handles]


async def test_a_chat_that_is_not_there_gets_no_picture(disk: SqliteDatabase) -> None:
    chats, _ = await with_vault(disk)
    with pytest.raises(NoChatError):
        await asyncio.to_thread(open_images(disk, chats).put, SECRET, "image/png", chat="nowhere")


def test_an_id_tells_what_the_picture_is() -> None:
    assert new_id("image/png").endswith(".png") and new_id("image/jpeg").endswith(".jpg")
    assert id_of(" img:0123456789ab.jpg ") == id_of("0123456789ab.jpg") == "0123456789ab.jpg"
    assert len({new_id() for _ in range(100)}) == 100


@pytest.mark.parametrize("handle", ["", "img:", "img:../../etc/passwd", "img:0123456789ab.svg", "img:xyz", "doc:1"])
def test_what_is_no_handle_is_told_in_words(handle: Any) -> None:
    with pytest.raises(PictureError, match="is not the handle of a picture"):
        id_of(handle)
