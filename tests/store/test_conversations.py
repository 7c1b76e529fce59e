"""Chats, turns, topics, forgetting; the latencies and the model's rounds beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appliance.adapters.fakes.chat_log import FakeChatLog
from appliance.clock import FakeClock
from appliance.errors import StoreError
from appliance.store import turn_log
from appliance.store.chat_log import StoredChatLog
from appliance.store.database import SqliteDatabase
from appliance.store.recovery import memory_database, open_database
from appliance.store.shapes import ChatLog, TurnRecord
from appliance.store.turn_log import TurnLog
from tests.store.private import with_vault


def record(name: str, user_text: str = "what time is it") -> TurnRecord:
    items = ({"role": "user", "content": user_text}, {"role": "assistant", "content": "three"})
    return TurnRecord(name, user_text, "three o'clock", "three", items, did=("told the time",))


def ids(records: list[TurnRecord]) -> list[str]:
    return [entry.turn_id for entry in records]


@pytest.fixture
def database() -> Iterator[SqliteDatabase]:
    database = memory_database()
    yield database
    database.close()


@pytest.fixture
def chats(database: SqliteDatabase) -> StoredChatLog:
    return StoredChatLog(database, FakeClock())


@pytest.fixture
def log(database: SqliteDatabase) -> TurnLog:
    return TurnLog(database, FakeClock(), lambda text: text.replace("sk-secret", "[secret]"))


# ------------------------------------------------------------------------- what every ChatLog does, fake and real


@pytest.fixture(params=["stored", "fake"])
def any_log(request: pytest.FixtureRequest, chats: StoredChatLog) -> ChatLog:
    return chats if request.param == "stored" else FakeChatLog()


async def test_turns_come_back_in_order_and_at_most_as_many_as_asked_for(any_log: ChatLog) -> None:
    chat = await any_log.current()
    for name in ("one", "two", "three"):
        await any_log.append(chat, record(name))
    assert await any_log.current() == chat
    assert ids(await any_log.turns(chat, 2)) == ["two", "three"]
    assert ids(await any_log.turns(chat, 9)) == ["one", "two", "three"]
    assert await any_log.turns(chat, 0) == []


async def test_after_a_new_topic_earlier_turns_are_not_seen(any_log: ChatLog) -> None:
    chat = await any_log.current()
    await any_log.append(chat, record("before"))
    await any_log.new_topic(chat)
    assert await any_log.turns(chat, 9) == []
    await any_log.append(chat, record("after"))
    assert ids(await any_log.turns(chat, 9)) == ["after"]


async def test_forgetting_takes_the_last_turn_only_and_says_when_there_is_none(any_log: ChatLog) -> None:
    chat = await any_log.current()
    for name in ("one", "two"):
        await any_log.append(chat, record(name))
    assert await any_log.forget_last(chat)
    assert ids(await any_log.turns(chat, 9)) == ["one"]
    assert await any_log.forget_last(chat)
    assert not await any_log.forget_last(chat)


async def test_what_was_said_just_before_a_new_topic_can_still_be_forgotten(any_log: ChatLog) -> None:
    chat = await any_log.current()
    await any_log.append(chat, record("before"))
    await any_log.new_topic(chat)
    assert await any_log.forget_last(chat)
    await any_log.append(chat, record("after"))
    assert ids(await any_log.turns(chat, 9)) == ["after"]


# --------------------------------------------------------------------------------------------------- stored


async def test_a_turn_comes_back_as_it_was_with_the_time_added(chats: StoredChatLog) -> None:
    chat = await chats.current()
    await chats.append(chat, record("one", "früh \u0000 „Grüße“ 😀"))
    assert await chats.turns(chat, 1) == [
        TurnRecord(
            "one",
            "früh \u0000 „Grüße“ 😀",
            "three o'clock",
            "three",
            record("one", "früh \u0000 „Grüße“ 😀").items,
            ("told the time",),
            "2026-05-04T15:07:00+00:00",
        )
    ]


async def test_half_an_emoji_from_a_model_does_not_cost_the_turn(chats: StoredChatLog) -> None:
    chat = await chats.current()
    await chats.append(chat, record("one", "fine \ud83d\ude00 broken \ud83d!"))
    assert (await chats.turns(chat, 1))[0].user_text == "fine 😀 broken \ufffd!"


async def test_the_conversation_is_there_after_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "appliance.db"
    database = open_database(file, FakeClock())
    first = StoredChatLog(database, FakeClock())
    chat = await first.current()
    await first.append(chat, record("one"))
    await first.new_topic(chat)
    await first.append(chat, record("two"))
    database.close()
    database = open_database(file, FakeClock())
    again = StoredChatLog(database, FakeClock())
    assert await again.current() == chat
    assert ids(await again.turns(chat, 9)) == ["two"]
    assert ids(await again.everything(chat)) == ["one", "two"]
    database.close()


async def test_chats_are_made_used_renamed_and_listed(chats: StoredChatLog) -> None:
    first = await chats.current()
    second = await chats.create("Kitchen  plans")
    assert (second.name, second.is_current, second.turns) == ("Kitchen plans", True, 0)
    assert await chats.current() == second.chat
    await chats.append("kitchen plans", record("one"))
    await chats.use(first)
    await chats.rename("Kitchen Plans", "kitchen plans")
    assert [(info.name, info.is_current, info.turns) for info in await chats.chats()] == [
        ("chat 1", True, 0),
        ("kitchen plans", False, 1),
    ]
    assert (await chats.create()).name == "chat 2"


async def test_two_chats_cannot_have_one_name(chats: StoredChatLog) -> None:
    await chats.create("Holiday")
    with pytest.raises(StoreError, match="another chat is named 'HOLIDAY'"):
        await chats.create("HOLIDAY")
    other = await chats.create()
    with pytest.raises(StoreError, match="choose a different name"):
        await chats.rename(other.chat, "holiday")
    with pytest.raises(StoreError, match="1 to 80"):
        await chats.rename(other.chat, " \n ")


async def test_a_chat_that_does_not_exist_is_a_sentence(chats: StoredChatLog) -> None:
    calls: list[Callable[[], object]] = [
        lambda: chats.append("nobody", record("one")),
        lambda: chats.turns("nobody", 1),
        lambda: chats.use("nobody"),
        lambda: chats.delete("nobody"),
        lambda: chats.clear("nobody"),
        lambda: chats.forget_last("nobody"),
    ]
    for call in calls:
        with pytest.raises(StoreError, match="no chat 'nobody'"):
            await call()  # type: ignore[misc]


async def test_after_the_chat_in_use_is_deleted_a_fresh_one_is_begun(chats: StoredChatLog) -> None:
    gone = await chats.current()
    await chats.delete(gone)
    assert await chats.current() != gone
    assert len(await chats.chats()) == 1


async def fill(database: SqliteDatabase, chat: str, log: TurnLog, chats: StoredChatLog, name: str, words: str) -> None:
    """A turn with everything that can hold what was said."""
    log.begin(name, chat, "voice")
    log.add_round(name, {"input": words}, [{"text": f"you said {words}"}])
    await chats.append(chat, record(name, words))
    await log.end(name, "answered")
    await database.arun(
        lambda c: c.execute(
            "INSERT INTO images (id, chat, turn_id, media_type, data, created_at) VALUES (?, ?, ?, 'image/png', ?, '')",
            (f"{name}.png", chat, name, words.encode()),
        )
    )
    await database.arun(
        lambda c: c.execute(
            "INSERT OR IGNORE INTO chat_rows VALUES ('notes', ?, 'k', 0, ?, '')", (chat, f"row {words}")
        )
    )


@pytest.mark.parametrize("how", ["delete", "clear", "forget"])
async def test_what_is_deleted_is_in_no_file_of_the_home(tmp_path: Path, how: str) -> None:
    database = open_database(tmp_path / "appliance.db", FakeClock())
    chats, log = StoredChatLog(database, FakeClock()), TurnLog(database, FakeClock(), str)
    chat = await chats.current()
    other = (await chats.create()).chat
    for number in range(60):
        await fill(database, other, log, chats, f"other-{number}", f"keep this {number} " * 20)
    await fill(database, chat, log, chats, "one", "my-private-words " * 400)

    def found() -> bool:
        return any(b"my-private-words" in path.read_bytes() for path in tmp_path.iterdir())

    assert found()
    if how == "forget":
        assert await chats.forget_last(chat)
        await database.arun(lambda c: c.execute("DELETE FROM chat_rows WHERE chat = ?", (chat,)))
        await database.purge()
    elif how == "clear":
        await database.arun(lambda c: c.execute("DELETE FROM chat_rows WHERE chat = ?", (chat,)))
        await chats.clear(chat)
    else:
        await chats.delete(chat)
    assert not found()
    assert len(await chats.everything(other)) == 60
    database.close()


async def test_clearing_keeps_the_chat_and_what_plugins_keep_for_it(
    database: SqliteDatabase, chats: StoredChatLog, log: TurnLog
) -> None:
    chat = await chats.current()
    await fill(database, chat, log, chats, "one", "words")
    await chats.clear(chat)
    assert await chats.everything(chat) == []
    count = "SELECT (SELECT count(*) FROM chat_rows), (SELECT count(*) FROM images), (SELECT count(*) FROM rounds)"
    assert await database.arun(lambda c: c.execute(count).fetchone()) == (1, 0, 0)


# -------------------------------------------------------------------------------------------------- turn log


async def test_latencies_and_rounds_of_a_turn_are_shown_with_secrets_masked(chats: StoredChatLog, log: TurnLog) -> None:
    chat = await chats.current()
    log.begin("turn-1", chat, "voice")
    log.stage("turn-1", "hear", 0.41237)
    log.stage("turn-1", "think", 1.5)
    log.add_round("turn-1", {"instructions": "be kind", "input": [{"key": "sk-secret"}]}, [{"type": "function_call"}])
    log.add_round("turn-1", {"instructions": "be kind"}, [{"type": "message"}])
    await log.end("turn-1", "answered")
    story = await log.show("turn-1")
    assert story is not None
    assert (story.times.chat, story.times.origin, story.times.end_reason) == (chat, "voice", "answered")
    assert story.times.stages == {"hear": 0.4124, "think": 1.5}
    assert story.times.started_at == "2026-05-04T15:07:00.000+00:00"
    assert [entry.number for entry in story.rounds] == [1, 2]
    assert story.rounds[0].request == {"instructions": "be kind", "input": [{"key": "[secret]"}]}
    assert story.rounds[1].answer == [{"type": "message"}]
    assert await log.show("turn-2") is None


async def test_the_last_turns_come_newest_first_and_an_unknown_turn_is_no_trouble(log: TurnLog) -> None:
    log.stage("never begun", "hear", 1.0)
    log.add_round("never begun", {}, {})
    await log.end("never begun", "answered")
    for name in ("one", "two", "three"):
        log.begin(name, "", "typed")
        await log.end(name, "failed")
        await log.end(name, "told twice")
    assert [(times.turn_id, times.end_reason) for times in await log.last(2)] == [
        ("three", "failed"),
        ("two", "failed"),
    ]


async def test_rounds_of_old_turns_go_and_their_latencies_stay(log: TurnLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_log, "_TURNS_WITH_ROUNDS", 2)
    monkeypatch.setattr(turn_log, "_TURNS_KEPT", 3)
    for name in ("one", "two", "three", "four"):
        log.begin(name, "", "typed")
        log.add_round(name, {"for": name}, {})
        await log.end(name, "answered")
    assert [times.turn_id for times in await log.last(9)] == ["four", "three", "two"]
    stories = [await log.show(name) for name in ("two", "three", "four")]
    assert [len(story.rounds) for story in stories if story] == [0, 1, 1]


async def test_forgetting_a_turn_forgets_later_requests_that_repeat_it(chats: StoredChatLog, log: TurnLog) -> None:
    chat = await chats.current()
    for name in ("one", "two", "failed later"):
        log.begin(name, chat, "voice")
        log.add_round(name, {"input": name}, {})
        await log.end(name, "answered")
    await chats.append(chat, record("one"))
    await chats.append(chat, record("two"))
    await chats.forget_last(chat)
    stories = [await log.show(name) for name in ("one", "two", "failed later")]
    assert [len(story.rounds) for story in stories if story] == [1, 0, 0]


async def test_a_turn_whose_chat_was_deleted_meanwhile_leaves_nothing(chats: StoredChatLog, log: TurnLog) -> None:
    chat = await chats.current()
    log.begin("one", chat, "voice")
    log.add_round("one", {"input": "private"}, {})
    await chats.delete(chat)
    await log.end("one", "answered")
    assert await log.last(9) == []


async def test_of_a_private_chat_only_the_latencies_are_kept(database: SqliteDatabase, log: TurnLog) -> None:
    _chats, vault = await with_vault(database)
    private = await vault.begin("secret")
    log.begin("one", private.chat, "voice")
    log.add_round("one", {"input": "private"}, {})
    await log.end("one", "answered")
    story = await log.show("one")
    assert story is not None
    assert story.rounds == ()


async def test_a_round_that_is_no_json_is_a_store_error(log: TurnLog) -> None:
    log.begin("one", "", "typed")
    log.add_round("one", {"not json": object()}, {})
    with pytest.raises(StoreError, match="rounds of one"):
        await log.end("one", "answered")
