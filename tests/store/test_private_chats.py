"""Private chats in the store: hidden in the file, sealed by a restart, gone for good when deleted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from appliance.adapters.chat_cipher import AesChatCipher
from appliance.clock import FakeClock, settle
from appliance.errors import (
    ChatSealedError,
    NoPassphraseError,
    StoreError,
    UsageError,
    WrongPassphraseError,
)
from appliance.store.chat_keys import ChatKeys
from appliance.store.chat_log import StoredChatLog
from appliance.store.chat_rows import ChatRows
from appliance.store.chat_vault import ChatVault
from appliance.store.database import SqliteDatabase
from appliance.store.recovery import memory_database, open_database
from appliance.store.retention import Retention
from appliance.store.schema import MIGRATIONS
from appliance.store.shapes import ChatChange, ChatChangeKind, TurnRecord
from appliance.store.turn_log import TurnLog
from tests.store.private import PASSPHRASE, with_vault

SECRET = "the-cellar-key-lies-under-the-fern"


def record(name: str, text: str = SECRET) -> TurnRecord:
    items = ({"role": "user", "content": f"user {text}"},)
    return TurnRecord(name, f"asked {text}", f"said {text}", f"heard {text}", items, did=(f"did {text}",))


def everything_in(folder: Path) -> bytes:
    """Every byte of every file."""
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


@pytest.fixture
def database() -> Iterator[SqliteDatabase]:
    database = memory_database()
    yield database
    database.close()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SqliteDatabase]:
    database = open_database(tmp_path / "appliance.db", FakeClock())
    yield database
    database.close()


# ------------------------------------------------------------------------------------------------ hidden


async def test_what_is_said_in_a_private_chat_is_in_no_file_and_can_be_read_while_it_is_open(
    disk: SqliteDatabase, tmp_path: Path
) -> None:
    chats, vault = await with_vault(disk, cipher=AesChatCipher())
    private = await vault.begin("diary")
    assert (private.is_private, private.is_open, private.is_current) == (True, True, True)
    await chats.append(private.chat, record("one"))
    (turn,) = await chats.turns(private.chat, 9)
    assert turn == record("one").__class__(**{**vars(record("one")), "at": turn.at})
    assert SECRET.encode() not in everything_in(tmp_path)


async def test_a_restart_seals_private_chats_and_the_passphrase_opens_them(tmp_path: Path) -> None:
    disk = open_database(tmp_path / "appliance.db", FakeClock())
    chats, vault = await with_vault(disk)
    usual = await chats.current()
    diary = await vault.begin("diary")
    await chats.append("diary", record("one"))
    disk.close()

    disk = open_database(tmp_path / "appliance.db", FakeClock())
    chats, vault = await with_vault(disk)
    assert await chats.current() == usual, "nobody goes on in a chat that is locked"
    for attempt in (chats.everything("diary"), chats.append("diary", record("two")), chats.use("diary")):
        with pytest.raises(ChatSealedError, match="diary is private and locked; `appliance chat unlock` opens it"):
            await attempt
    with pytest.raises(WrongPassphraseError):
        await vault.unlock("wrong horse battery")
    assert [info.name for info in await vault.unlock(PASSPHRASE)] == ["diary"]
    assert [turn.turn_id for turn in await chats.everything("diary")] == ["one"]
    await vault.lock()
    assert not (await chats.info("diary")).is_open and chats.is_private(diary.chat)
    disk.close()


async def test_a_private_chat_can_begin_while_the_others_are_locked(database: SqliteDatabase) -> None:
    chats, vault = await with_vault(database)
    await vault.begin("old")
    await vault.lock()
    new = await vault.begin()
    await chats.append(new.chat, record("one"))
    assert [(info.name, info.is_open) for info in await chats.chats()] == [("old", False), ("chat 1", True)]


async def test_without_a_passphrase_there_is_no_private_chat(database: SqliteDatabase) -> None:
    _, vault = await with_vault(database)
    bare = memory_database()
    chats = StoredChatLog(bare, FakeClock(), ChatKeys())
    for work in (ChatVault(bare, chats).begin(), ChatVault(bare, chats).unlock(PASSPHRASE)):
        with pytest.raises(NoPassphraseError, match="appliance chat passphrase"):
            await work
    assert await chats.chats() == [], "and nothing is begun that would look like one"
    with pytest.raises(UsageError, match="at least 8 characters"):
        await vault.set_passphrase("short", PASSPHRASE)
    bare.close()


async def test_the_passphrase_can_be_changed_by_who_knows_it(database: SqliteDatabase) -> None:
    chats, vault = await with_vault(database)
    await vault.begin("diary")
    await chats.append("diary", record("one"))
    with pytest.raises(WrongPassphraseError):
        await vault.set_passphrase("another good one", "not the old one")
    await vault.set_passphrase("another good one", PASSPHRASE)
    await vault.lock()
    with pytest.raises(WrongPassphraseError):
        await vault.unlock(PASSPHRASE)
    await vault.unlock("another good one", "diary")
    assert len(await chats.everything("diary")) == 1


async def test_a_row_that_was_moved_to_another_place_does_not_pass(database: SqliteDatabase) -> None:
    chats, vault = await with_vault(database)
    await vault.begin("diary")
    for name in ("one", "two"):
        await chats.append("diary", record(name, name))
    swap = "UPDATE turns SET reply_text = (SELECT heard_text FROM turns WHERE turn_id = 'one') WHERE turn_id = 'two'"
    await database.arun(lambda connection: connection.execute(swap))
    with pytest.raises(StoreError):
        await chats.everything("diary")


@pytest.mark.contract("S-147")
async def test_a_chat_that_goes_private_is_hidden_with_all_that_it_has(disk: SqliteDatabase, tmp_path: Path) -> None:
    chats, vault = await with_vault(disk, cipher=AesChatCipher())
    rows = ChatRows(disk, chats.keys, FakeClock())
    log = TurnLog(disk, FakeClock(), str)
    told: list[ChatChange] = []

    async def watch(change: ChatChange) -> None:
        told.append(change)

    chats.watch(watch)
    talk = await chats.create("talk")
    log.begin("one", talk.chat, "voice")
    log.add_round("one", {"input": SECRET}, {"output": SECRET})
    await log.end("one", "answered")
    for number in range(40):
        await chats.append("talk", record(f"turn-{number}", f"{SECRET} {number} " * 20))
    await asyncio.to_thread(rows.append, "game", "talk", "journal", [SECRET, {"deep": [SECRET]}])
    picture = "INSERT INTO images (id, chat, media_type, data, created_at) VALUES ('i', ?, 'image/png', ?, '')"
    await disk.arun(lambda connection: connection.execute(picture, (talk.chat, SECRET.encode())))
    assert SECRET.encode() in everything_in(tmp_path)

    await vault.make_private("talk")

    assert SECRET.encode() not in everything_in(tmp_path), "not even where the words were before"
    assert len(await chats.everything("talk")) == 40
    journal = await asyncio.to_thread(rows.read_all, "game", "talk", "journal")
    assert journal == [SECRET, {"deep": [SECRET]}]
    assert [(change.kind, change.name) for change in told] == [(ChatChangeKind.VAULTED, "talk")]
    story = await log.show("one")
    assert story is not None and story.rounds == ()
    await vault.lock()
    assert await asyncio.to_thread(rows.read_all, "game", "talk", "journal") == []


# ------------------------------------------------------------------------------------------------- deleted


@pytest.mark.contract("S-148")
@pytest.mark.parametrize("is_private", [True, False])
@pytest.mark.parametrize("is_locked", [True, False])
async def test_a_deleted_chat_leaves_no_word_no_row_and_no_key(
    disk: SqliteDatabase, tmp_path: Path, is_private: bool, is_locked: bool
) -> None:
    chats, vault = await with_vault(disk, cipher=AesChatCipher())
    rows = ChatRows(disk, chats.keys, FakeClock())
    (tmp_path / "appliance.db.schema-1").write_text(f"an older copy: {SECRET}")
    info = await (vault.begin("diary") if is_private else chats.create("diary"))
    await chats.append("diary", record("one"))
    await asyncio.to_thread(rows.append, "game", "diary", "journal", [SECRET])
    wrapped = await disk.arun(lambda c: c.execute("SELECT wrapped_key FROM chats WHERE name = 'diary'").fetchone()[0])
    if is_locked and is_private:
        await vault.lock()
    await chats.delete("diary")
    left = everything_in(tmp_path)
    assert SECRET.encode() not in left and b"@enc1:" not in left
    assert wrapped is None or wrapped not in left
    assert b"diary" not in left and info.chat.encode() not in left
    assert await asyncio.to_thread(rows.keys, "game", "diary") == []


async def test_a_deletion_that_was_cut_short_is_finished_at_the_next_start(database: SqliteDatabase) -> None:
    chats, vault = await with_vault(database)
    await vault.begin("diary")
    await database.arun(lambda c: c.execute("UPDATE chats SET wrapped_key = x'' WHERE name = 'diary'"))
    chats, vault = await with_vault(database)
    assert await vault.unlock(PASSPHRASE) == [], "its key is gone"
    await chats.finish_deletions()
    assert await chats.chats() == []


async def test_after_a_private_chat_the_last_public_one_goes_on(database: SqliteDatabase) -> None:
    chats, vault = await with_vault(database)
    usual = await chats.current()
    await chats.append(usual, record("one"))
    await chats.create("never used")
    await chats.use(usual)
    private = await vault.begin()
    await vault.end(private.chat)
    assert await chats.current() == usual
    again = await vault.begin()
    await chats.delete(again.chat)
    assert await chats.current() == usual


async def test_a_watcher_hears_what_happened_when_it_is_stored(database: SqliteDatabase) -> None:
    chats, vault = await with_vault(database)
    told: list[tuple[str, str, str, list[str]]] = []

    async def watch(change: ChatChange) -> None:
        names = [info.name for info in await chats.chats()]
        told.append((change.kind.value, change.old_name, change.name, names))

    chats.watch(watch)
    await vault.begin("diary")
    await chats.rename("diary", "Diary")
    await chats.rename("Diary", "Diary")
    await chats.clear("diary")
    await chats.delete("diary")
    assert told == [
        ("renamed", "diary", "Diary", ["Diary"]),
        ("cleared", "", "Diary", ["Diary"]),
        ("deleted", "", "Diary", []),
    ]


# -------------------------------------------------------------------------------------- how long chats are kept


async def test_chats_that_nobody_used_for_long_are_deleted_once_a_day(database: SqliteDatabase) -> None:
    clock = FakeClock()
    chats, vault = await with_vault(database, clock)
    rows = ChatRows(database, chats.keys, clock)
    for name in ("old", "played", "spoken"):
        await chats.create(name)
    await vault.begin("locked")
    await vault.lock()
    await clock.advance(9 * 86_400)
    await chats.append("spoken", TurnRecord("one", "a", "b", "b", ()))
    await asyncio.to_thread(rows.put, "game", "played", "save", 1)
    current = await chats.create("current")
    await clock.advance(3 * 86_400)
    gone = await chats.delete_unused(clock.now() - timedelta(days=10))
    assert [info.name for info in gone] == ["old", "locked"]

    keeper = asyncio.create_task(Retention(chats, clock, 10).run())
    await settle()
    for _ in range(60):
        if len(await chats.chats()) == 1:
            break
        await clock.advance(86_400 / 4)
    assert [info.chat for info in await chats.chats()] == [current.chat], "the one in use stays, however old"
    keeper.cancel()


async def test_a_clock_that_is_not_set_makes_nothing_old(database: SqliteDatabase) -> None:
    clock = FakeClock(trusted=False)
    chats, _ = await with_vault(database, clock)
    await chats.create("old")
    await chats.create("current")
    await clock.advance(20 * 86_400)
    keeper = asyncio.create_task(Retention(chats, clock, 10).run())
    await settle()
    await clock.advance(86_400)
    assert len(await chats.chats()) == 2
    keeper.cancel()


async def test_chats_are_kept_for_ever_unless_the_owner_says_otherwise(database: SqliteDatabase) -> None:
    clock = FakeClock()
    chats, _ = await with_vault(database, clock)
    await chats.create("old")
    await chats.create("current")
    retention = Retention(chats, clock, 0)
    keeper = asyncio.create_task(retention.run())
    await clock.advance(400 * 86_400)
    assert len(await chats.chats()) == 2
    retention.change(10)
    for _ in range(60):
        if len(await chats.chats()) == 1:
            break
        await settle()
    assert len(await chats.chats()) == 1, "what the owner says while it runs holds at once"
    keeper.cancel()


# ----------------------------------------------------------------------------------------------- an older store


async def test_a_store_of_the_version_before_gets_its_vault(tmp_path: Path) -> None:
    file = tmp_path / "appliance.db"
    older = open_database(file, FakeClock(), migrations=MIGRATIONS[:2])
    insert = "INSERT INTO chats (id, name, is_current, created_at) VALUES ('chat-1', 'kitchen', 1, '2026-01-01')"
    await older.arun(lambda connection: connection.execute(insert))
    older.close()
    disk = open_database(file, FakeClock())
    chats, vault = await with_vault(disk)
    assert await chats.current() == "chat-1"
    assert (await vault.make_private("kitchen")).is_private
    copies = await asyncio.to_thread(lambda: list(tmp_path.glob("*.schema-*")))
    assert not copies, "the copy from before would still have its words"
    disk.close()
