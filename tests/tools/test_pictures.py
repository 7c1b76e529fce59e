"""What becomes of the pictures that a tool returns: stored, with a receipt, fit for a model."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator

import pytest

from appliance.adapters.fakes.audit_trail import FakeAuditTrail
from appliance.adapters.fakes.desk import FakeDesk
from appliance.adapters.fakes.picture_maker import FakePictureMaker
from appliance.adapters.fakes.tool import FakeTool
from appliance.clock import FakeClock
from appliance.errors import StoreError
from appliance.events import Outcome
from appliance.store.chat_log import StoredChatLog
from appliance.store.database import SqliteDatabase
from appliance.store.images import StoredImages
from appliance.store.recovery import memory_database
from appliance.tools.pictures import PictureShelf
from appliance.tools.registry import Registry
from appliance.tools.runner import Runner
from appliance.tools.tool import CallContext, ToolCall, ToolImage, ToolResult
from appliance.turn import Turn
from tests.store.private import with_vault

CAT = ToolImage(b"picture of a cat", "image/png")


@pytest.fixture
def database() -> Iterator[SqliteDatabase]:
    database = memory_database()
    yield database
    database.close()


@pytest.fixture
async def chats(database: SqliteDatabase) -> StoredChatLog:
    return (await with_vault(database))[0]


@pytest.fixture
def shelf(database: SqliteDatabase, chats: StoredChatLog) -> PictureShelf:
    return PictureShelf(StoredImages(database, FakeClock(), chats.keys), FakePictureMaker())


async def context(chats: StoredChatLog) -> CallContext:
    return CallContext("c", "turn-1", await chats.current(), "voice", Turn("voice"))


def seen(url: str) -> bytes:
    assert url.startswith("data:image/jpeg;base64,")
    return base64.b64decode(url.partition(",")[2])


@pytest.mark.contract("S-036")
async def test_each_picture_is_stored_and_has_a_receipt_in_their_order(
    shelf: PictureShelf, chats: StoredChatLog
) -> None:
    call = await context(chats)
    only_person = ToolImage(b"picture of a dog", "image/jpeg", is_display_only=True)
    result = await shelf.keep(ToolResult("Two.", Outcome.FAILED, (CAT, only_person)), call)
    first, second = result.images
    assert result.text == f"(image {first.handle})\n(image {second.handle})\nTwo."
    assert result.outcome is Outcome.FAILED and second.is_display_only and not first.is_display_only
    rows = await asyncio.to_thread(shelf.images.list, call.chat)
    assert [(row.handle, row.turn_id, row.is_visible) for row in rows] == [
        (first.handle, "turn-1", True),
        (second.handle, "turn-1", False),
    ]
    assert (await asyncio.to_thread(shelf.images.get, first.handle)).data == CAT.data


@pytest.mark.contract("S-031")
async def test_a_model_sees_later_what_it_saw_first(shelf: PictureShelf, chats: StoredChatLog) -> None:
    call = await context(chats)
    for data in (b"picture of a cat", b"picture of where I live"):
        (image,) = (await shelf.keep(ToolResult("", images=(ToolImage(data, "image/png"),)), call)).images
        again = PictureShelf(shelf.images, FakePictureMaker())
        assert seen(await again.for_model(image.handle, call.chat)) == image.data
        assert b"where" not in (await asyncio.to_thread(shelf.images.get, image.handle)).data


async def test_a_copy_for_the_model_is_made_once_but_of_a_private_chat_none_is_kept(database: SqliteDatabase) -> None:
    chats, vault = await with_vault(database)
    maker = FakePictureMaker()
    shelf = PictureShelf(StoredImages(database, FakeClock(), chats.keys), maker)
    for chat, made in ((await chats.current(), 1), ((await vault.begin()).chat, 3)):
        handle = await asyncio.to_thread(shelf.put, CAT.data, chat=chat)
        maker.made = 0
        for _ in range(3):
            assert await shelf.for_model(handle, chat)
        assert maker.made == made


async def test_what_was_deleted_is_not_shown_again_although_it_was_just_seen(
    shelf: PictureShelf, chats: StoredChatLog
) -> None:
    call = await context(chats)
    (image,) = (await shelf.keep(ToolResult("", images=(CAT,)), call)).images
    assert await shelf.for_model(image.handle, call.chat)
    await chats.clear(call.chat)
    assert await shelf.for_model(image.handle, call.chat) == ""


async def test_what_is_no_picture_is_left_out_and_the_text_says_so(shelf: PictureShelf, chats: StoredChatLog) -> None:
    result = await shelf.keep(ToolResult("Here.", images=(ToolImage(b"<svg>", "image/png"), CAT)), await context(chats))
    assert len(result.images) == 1
    assert result.text.startswith("(a picture was left out: this is not a picture that can be read here)\n(image img:")


async def test_only_so_many_pictures_are_taken(shelf: PictureShelf, chats: StoredChatLog) -> None:
    result = await shelf.keep(ToolResult("Many.", images=(CAT,) * 12), await context(chats))
    assert len(result.images) == 8
    assert "(only the first 8 of 12 pictures were taken)\nMany." in result.text


async def test_a_full_disk_costs_the_handle_and_not_the_picture(database: SqliteDatabase, chats: StoredChatLog) -> None:
    class FullImages(StoredImages):
        def put(self, *_given: object, **_named: object) -> str:
            raise StoreError("the disk is full: nothing more can be stored; free some space")

    shelf = PictureShelf(FullImages(database, FakeClock()), FakePictureMaker())
    result = await shelf.keep(ToolResult("Here.", images=(CAT,)), await context(chats))
    assert result.text == "Here." and result.images[0].handle == "" and result.images[0].data


@pytest.mark.contract("S-037", "S-052")
async def test_a_picture_that_is_stored_already_is_not_stored_again(shelf: PictureShelf, chats: StoredChatLog) -> None:
    call = await context(chats)
    handle = await asyncio.to_thread(shelf.put, CAT.data, chat=call.chat)
    claimed = ToolImage(b"something else", "image/png", handle=handle)
    result = await shelf.keep(ToolResult("Again.", images=(claimed,)), call)
    assert result.text == f"(image {handle})\nAgain." and result.images[0].was_there
    assert result.images[0].data == seen(await shelf.for_model(handle, call.chat)), "what counts is what is stored"
    assert len(await asyncio.to_thread(shelf.images.list, call.chat)) == 1

    unknown = ToolImage(CAT.data, "image/png", handle="img:000000000000.png")
    (fresh,) = (await shelf.keep(ToolResult("", images=(unknown,)), call)).images
    assert fresh.handle not in ("", unknown.handle) and not fresh.was_there


async def test_whoever_has_a_screen_is_shown_each_picture(shelf: PictureShelf, chats: StoredChatLog) -> None:
    shown: list[bytes] = []
    shelf.show = shown.append
    result = await shelf.keep(ToolResult("", images=(CAT,)), await context(chats))
    assert shown == [result.images[0].data]
    await shelf.keep(ToolResult("No picture."), await context(chats))
    assert len(shown) == 1


async def test_pictures_that_cannot_be_kept_do_not_change_how_the_call_went() -> None:
    async def broken(_result: ToolResult, _context: CallContext) -> ToolResult:
        raise RuntimeError("a fault of ours")

    tool = FakeTool("camera", results=ToolResult("A photo.", images=(CAT,)))
    turn, registry = Turn("voice"), Registry()
    turn.commit()
    registry.add(tool)
    runner = Runner(desk=FakeDesk(), audit=FakeAuditTrail(), clock=FakeClock(), keep_pictures=broken)
    call = CallContext("", turn.turn_id, "chat-1", "voice", turn)
    result = await runner.run(ToolCall("c", "camera"), call, registry.select())
    assert (result.text, result.outcome, result.images) == ("A photo.", Outcome.OK, ())
