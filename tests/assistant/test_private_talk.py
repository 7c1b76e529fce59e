"""Private chats by voice: how one begins and ends, who answers in it, what is left of it; and talks that rest."""

from __future__ import annotations

import asyncio
import io
import json

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, calls, says
from appliance.adapters.fakes.tool import FakeTool
from appliance.clock import settle
from appliance.errors import BrainRequestError
from appliance.events import ErrorRaised
from appliance.tools.tool import Risk
from appliance.trace import TraceFile
from tests.assistant.conftest import MakeRig
from tests.assistant.rig import Rig
from tests.store.private import PASSPHRASE

SECRET = "purple elephant"


def was_said(rig: Rig, key: str) -> bool:
    """Whether the last that was heard is the end of this sentence of the box."""
    return any(form.endswith(rig.said[-1]) for form in rig.sentences(key))


async def private(rig: Rig) -> Rig:
    """The owner has set a passphrase, and a person has begun a private chat."""
    await rig.control.call("chat.passphrase", {"passphrase": PASSPHRASE})
    await rig.asks("Start a private chat.")
    assert was_said(rig, "private.begun")
    return rig


async def test_what_is_said_in_a_private_chat_stays_in_it(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint(says("Blue."), says(f"A {SECRET}, I see."), says("We talked of the sky."))
    rig = await make_rig(model=model, is_model_local=True)
    await rig.asks("Which colour is the sky?")
    await private(rig)
    await rig.asks(f"I have a {SECRET}.")
    assert len(model.requests[-1].items) == 1, "it knows nothing of the other talk"

    await rig.asks("End the private chat.")
    assert was_said(rig, "private.ended")
    await rig.asks("What did we talk about?")
    assert SECRET not in str(model.requests[-1].items)
    assert SECRET not in rig.disk.text
    listed = await rig.control.call("chat.list")
    assert [(chat["name"], chat["is_private"], chat["is_open"]) for chat in listed] == [
        ("chat 1", False, True),
        ("chat 2", True, False),
    ]
    shown = await rig.control.call("chat.show", {"chat": "chat 2", "passphrase": PASSPHRASE})
    assert [turn["user_text"] for turn in shown] == [f"I have a {SECRET}."]
    assert not (await rig.control.call("chat.list"))[1]["is_open"], "opened for that once"


async def test_a_model_outside_of_the_house_is_never_asked(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint(says("Never."))
    rig = await private(await make_rig(model=model))
    await rig.asks(f"Who owns the {SECRET}?")
    assert was_said(rig, "private.model_outside")
    await rig.asks("What time is it?")
    assert "15:07" in rig.said[-1] or "3" in rig.said[-1] or "seven" in rig.said[-1]
    assert model.requests == []
    await rig.asks("Back to the usual chat.")
    await rig.asks("Who are you, really?")
    assert len(model.requests) == 1


async def test_tools_that_go_out_have_no_part_in_it(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint(calls(("note", {"text": SECRET})), says("Noted."))
    rig = await make_rig(model=model, is_model_local=True)
    note = FakeTool("note", risk=Risk.WRITE)
    rig.adds(note)
    await private(rig)
    await rig.asks("Write it down.")
    assert [arguments for arguments, _context in note.calls] == [{"text": SECRET}]
    written = [line for line in await rig.audit() if line["tool"] == "note"]
    assert written and SECRET not in json.dumps(written)
    intent = written[0]
    assert (intent["risk"], intent["arguments_preview"]) == ("write", "")
    assert intent["arguments_digest"].startswith("hmac-sha256:")


async def test_deleted_by_voice_it_is_gone_for_good(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("I see.")), is_model_local=True)
    await rig.asks("What time is it?")
    await private(rig)
    await rig.asks(f"I have a {SECRET}.")
    await rig.asks("Delete the private chat.")
    assert was_said(rig, "private.deleted")
    await settle()
    assert [chat["name"] for chat in await rig.control.call("chat.list")] == ["chat 1"]
    await rig.asks("End the private chat.")
    assert was_said(rig, "private.not_private")


async def test_words_meant_for_a_chat_that_was_closed_from_elsewhere_go_nowhere(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint(says("I see."), says("Blue."))
    rig = await private(await make_rig(model=model, is_model_local=True))
    await rig.asks("What do you think of secrets?")
    await rig.control.call("chat.lock", {})
    await rig.control.call("tool.run", {"name": "box_time", "arguments": {}})
    await rig.asks(f"I have a {SECRET}.")
    assert was_said(rig, "private.closed")
    assert len(model.requests) == 1 and SECRET not in rig.disk.text
    await rig.asks("Which colour is the sky?")
    assert rig.said[-1] == "Blue."


async def test_what_was_heard_in_it_is_told_nowhere_else(make_rig: MakeRig) -> None:
    rig = await private(await make_rig())
    await rig.asks("Who are you?")
    await rig.asks("What did I just say?")
    assert "Who are you?" in rig.said[-1]
    await rig.asks("End the private chat.")
    await rig.asks("What did I just say?")
    assert was_said(rig, "talk.nothing_heard")


async def test_without_a_passphrase_the_box_says_what_to_do(make_rig: MakeRig) -> None:
    rig = await make_rig()
    await rig.asks("Start a private chat.")
    assert was_said(rig, "private.no_passphrase")
    assert [chat["is_private"] for chat in await rig.control.call("chat.list")] == [False]


async def test_a_restart_locks_it_and_the_box_says_so(make_rig: MakeRig) -> None:
    before = await private(await make_rig(model=FakeModelEndpoint(says("I see.")), is_model_local=True))
    await before.asks(f"I have a {SECRET}.")
    rig = await make_rig(disk=before.disk)
    await rig.rests()
    assert was_said(rig, "private.restarted")
    assert (await rig.control.call("status"))["chat"] == "open"
    await rig.asks("Start a private chat.")
    assert was_said(rig, "private.begun"), "nobody need type the passphrase for a new one"
    await rig.asks("This is private.")
    assert was_said(rig, "private.already")


async def test_a_trace_and_an_error_of_a_private_chat_hold_no_word_of_it(make_rig: MakeRig) -> None:
    failing = [BrainRequestError(f"cannot read: {SECRET}")]
    model = FakeModelEndpoint(says(f"A {SECRET}."), failing, failing, says("Blue."))  # ahead, and in earnest
    rig = await make_rig(model=model, is_model_local=True)
    stream = io.StringIO()
    rig.box.bus.subscribe(TraceFile(stream, rig.box.hides_words))
    await private(rig)
    await rig.asks(f"I have a {SECRET}.")
    await rig.asks(f"Tell me about my {SECRET}.")
    assert SECRET not in stream.getvalue() and "(private)" in stream.getvalue()
    assert [fact.message for fact in rig.told(ErrorRaised)] == ["BrainRequestError"]
    await rig.asks("End the private chat.")
    await rig.asks("Which colour is the sky?")
    assert "Blue." in stream.getvalue()
    before = len(stream.getvalue())
    await rig.control.call("chat.new", {"private": True})
    await rig.asks("What time is it?")
    assert "What time" not in stream.getvalue()[before:], "from the first word on, also when it began at a shell"


async def test_a_chat_that_is_locked_in_the_middle_of_a_turn_keeps_nothing_anywhere(make_rig: MakeRig) -> None:
    gate = asyncio.Event()
    answer = says(f"A {SECRET}.")
    model = FakeModelEndpoint([gate, *answer])
    rig = await private(await make_rig(model=model, is_model_local=True))
    typing = asyncio.create_task(rig.types(f"I have a {SECRET}."))
    await rig.until(lambda: model.open_answers)
    await rig.control.call("chat.lock", {})
    await rig.control.call("tool.run", {"name": "box_time", "arguments": {}})
    gate.set()
    await typing
    assert SECRET not in rig.disk.text
    report = await rig.types("What did I just say?")
    assert SECRET not in report["reply"]


# ---------------------------------------------------------------------------------------------------- it rests


async def test_a_spoken_talk_rests_and_a_typed_one_goes_on(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint(says("Blue."), says("Still blue."), says("Of what?"))
    rig = await make_rig(model=model, settings={"chats.rest_minutes": "30"})
    await rig.asks("Which colour is the sky?")
    await rig.clock.advance(31 * 60)
    await rig.types("Which colour was it?")
    assert len(model.requests[-1].items) == 3
    await rig.clock.advance(31 * 60)
    await rig.asks("And tomorrow?")
    assert len(model.requests[-1].items) == 1
    assert len(await rig.control.call("chat.show")) == 3, "what was said stays in the chat"


async def test_a_talk_that_goes_on_in_time_does_not_rest(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint(says("Blue."), says("Blue."))
    rig = await make_rig(model=model)
    await rig.asks("Which colour is the sky?")
    await rig.clock.advance(20 * 60)
    await rig.asks("And now?")
    assert len(model.requests[-1].items) == 3


async def test_with_nought_a_talk_never_rests(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint(says("Blue."), says("Blue."))
    rig = await make_rig(model=model, settings={"chats.rest_minutes": "0"})
    await rig.asks("Which colour is the sky?")
    await rig.clock.advance(9 * 3600)
    await rig.asks("And now?")
    assert len(model.requests[-1].items) == 3
