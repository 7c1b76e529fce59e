"""Pictures in a conversation: what the model sees and for how long, and what the person is told about them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from appliance.adapters.fakes.model_endpoint import calls, says
from appliance.errors import BrainBusyError, BrainRequestError
from appliance.ports_think import ModelRequest
from appliance.store.shapes import TurnRecord
from appliance.think.conversation import Conversation
from appliance.think.items import handles_in, pictures_message
from appliance.tools.tool import Gallery, Tile, ToolImage, ToolResult
from tests.think.scene import Scene

CAT = "img:0123456789ab.jpg"
DOG = "img:ba9876543210.jpg"
PHOTO = ToolResult(f"(image {CAT})\nA photo.", images=(ToolImage(b"cat", "image/jpeg", handle=CAT),))


class Album:
    """The pictures that are there."""

    def __init__(self) -> None:
        self.urls = {CAT: "data:image/jpeg;base64,Y2F0", DOG: "data:image/jpeg;base64,ZG9n"}
        self.asked: list[str] = []

    async def find(self, handle: str) -> str:
        self.asked.append(handle)
        return self.urls.get(handle, "")


def shown(request: ModelRequest) -> list[str]:
    """What a model sees, in order."""
    parts = [part for item in request.items if isinstance(item.get("content"), list) for part in item["content"]]
    return [part["image_url"] for part in parts if part["type"] == "input_image"]


def record_of(name: str, handle: str = "", **more: Any) -> TurnRecord:
    items: tuple[dict[str, Any], ...] = (
        {"type": "function_call", "call_id": name, "name": "camera", "arguments": "{}"},
    )
    items += ({"type": "function_call_output", "call_id": name, "output": f"(image {handle})"},)
    if handle:
        items += (dict(pictures_message("camera", [ToolImage(b"", "image/jpeg", handle=handle)])),)
    reply = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": name}]}
    return TurnRecord(name, f"Show {name}.", name, name, (*items, reply), **more)


@pytest.mark.contract("S-023", "S-028")
async def test_a_model_sees_the_picture_in_the_turn_in_which_it_arrives() -> None:
    album = Album()
    scene = Scene(calls(("camera", {})), says("A cat."), find_picture=album.find)
    scene.results["camera"] = PHOTO
    await scene.ask()
    assert shown(scene.fake.requests[0]) == []
    assert shown(scene.fake.requests[1]) == [album.urls[CAT]]
    assert album.asked == [], "it came with the result"


@pytest.mark.contract("S-026", "S-027")
async def test_what_is_for_the_person_alone_never_reaches_the_model() -> None:
    hidden = ToolImage(b"dog", "image/jpeg", is_display_only=True, handle=DOG)
    scene = Scene(calls(("camera", {})), says("Two photos."))
    scene.results["camera"] = ToolResult("Two.", images=(*PHOTO.images, hidden))
    answer = await scene.ask()
    assert shown(scene.fake.requests[1]) == ["data:image/jpeg;base64,Y2F0"]
    kept = json.dumps(answer.items)
    assert handles_in(answer.items) == [CAT], "nor later"
    (item,) = [item for item in answer.items if item["type"] == "shown"]
    assert item == {"type": "shown", "tool": "camera", "pictures": [{"handle": CAT}, {"handle": DOG}], "galleries": []}
    assert "base64" not in kept


@pytest.mark.contract("S-029", "S-030", "S-031", "S-050")
async def test_a_picture_is_seen_again_in_the_next_three_turns_and_then_no_more() -> None:
    album = Album()
    history = [record_of("one", CAT), record_of("two"), record_of("three"), record_of("four")]
    for turns, seen in ((1, [album.urls[CAT]]), (3, [album.urls[CAT]]), (4, [])):
        scene = Scene(says("Yes."), find_picture=album.find)
        await scene.ask("And?", *history[:turns])
        assert shown(scene.fake.requests[0]) == seen
        assert f"(image {CAT})" in json.dumps(scene.fake.requests[0].items), "the handle stays"


@pytest.mark.contract("S-029")
def test_the_owner_chooses_how_long_pictures_are_seen() -> None:
    history = [record_of("one", CAT), record_of("two", DOG)]
    for turns, handles in ((0, []), (1, [DOG]), (2, [CAT, DOG])):
        assert handles_in(Conversation(image_memory_turns=turns).items(history)) == handles


@pytest.mark.contract("S-031")
def test_a_picture_stands_where_it_stood_behind_its_call() -> None:
    kinds = [(item["type"], item.get("role")) for item in Conversation().items([record_of("one", CAT)])]
    assert kinds == [
        ("message", "user"),
        ("function_call", None),
        ("function_call_output", None),
        ("message", "user"),
        ("message", "assistant"),
    ]


def test_a_turn_that_is_too_long_for_the_memory_keeps_its_picture() -> None:
    record = record_of("one", CAT)
    long = TurnRecord(
        "one",
        "Show.",
        "one",
        "one",
        (*record.items, {"type": "function_call_output", "call_id": "one", "output": "x" * 50_000}),
    )
    assert handles_in(Conversation(history_tokens=200).items([long])) == [CAT]


async def test_a_picture_that_was_deleted_leaves_a_word() -> None:
    scene = Scene(says("It is gone."))
    await scene.ask("And?", record_of("one", CAT))
    assert shown(scene.fake.requests[0]) == []
    assert "(a picture that is not there any more)" in json.dumps(scene.fake.requests[0].items)


async def test_no_picture_is_written_down_with_what_the_model_was_asked() -> None:
    scene = Scene(calls(("camera", {})), says("Photos."), find_picture=Album().find)
    unsaved = ToolImage(b"\x00" * 3000, "image/jpeg")
    scene.results["camera"] = ToolResult("Two.", images=(*PHOTO.images, unsaved))
    answer = await scene.ask("And?", record_of("one", DOG))
    assert len(shown(scene.fake.requests[1])) == 3
    assert "base64" not in json.dumps([item for _, request, _ in scene.rounds for item in request.items])
    assert handles_in(scene.rounds[1][1].items) == [DOG, CAT]
    assert "base64" not in json.dumps(answer.items)


# ------------------------------------------------------------------------------------ models that cannot see


async def test_a_model_that_cannot_see_reads_that_the_person_can() -> None:
    scene = Scene(calls(("camera", {})), says("I made a photo."), sees_images="false")
    scene.results["camera"] = PHOTO
    await scene.ask("Show me.", record_of("one", DOG))
    sent = scene.fake.requests[1]
    assert shown(sent) == []
    assert json.dumps(sent.items).count("You cannot see pictures. The user can see these") == 2
    assert len(scene.fake.requests) == 2


async def test_an_endpoint_that_refuses_a_picture_is_not_given_another() -> None:
    scene = Scene(
        calls(("camera", {})),
        [BrainBusyError("500: image input is not supported")],
        says("A photo."),
        says("Yes."),
        find_picture=Album().find,
    )
    scene.results["camera"] = PHOTO
    answer = await scene.ask()
    assert "You cannot see pictures" in json.dumps(scene.fake.requests[2].items)
    await scene.ask("And?", TurnRecord("turn-1", "Show.", "A photo.", "A photo.", answer.items))
    assert shown(scene.fake.requests[3]) == [] and len(scene.fake.requests) == 4


async def test_a_model_that_surely_sees_is_never_asked_without_its_pictures() -> None:
    scene = Scene(calls(("camera", {})), [BrainRequestError("400: too large")], says("No."), sees_images="true")
    scene.results["camera"] = PHOTO
    with pytest.raises(BrainRequestError):
        await scene.ask()
    assert len(scene.fake.requests) == 2


# ------------------------------------------------------------------------------------------------- said aloud


async def news(reply: str, result: ToolResult) -> str:
    """What is said behind the reply."""
    scene = Scene(calls(("camera", {})), says(reply))
    scene.results["camera"] = result
    answer = await scene.ask()
    assert "".join(scene.said) == answer.reply_text
    assert answer.reply_text.startswith(reply)
    return answer.reply_text.removeprefix(reply).strip()


async def test_a_person_who_hears_is_told_of_a_picture_that_the_answer_does_not_speak_of() -> None:
    assert await news("A cat sleeps on the sofa.", PHOTO) in (
        "I have a picture for you.",
        "There is a picture for you.",
    )
    assert await news("Here is a photo of a cat.", PHOTO) == ""
    assert await news("See the pictures.", PHOTO) == ""


async def test_a_row_is_told_with_its_number_and_title() -> None:
    row = Gallery("Cats.", (Tile("Tom"), Tile("Kitty")))
    sheet = ToolImage(b"sheet", "image/jpeg", handle=CAT)
    told = await news("Two cats.", ToolResult("x", images=(sheet,), galleries=(row,)))
    assert told == "I have 2 pictures for you: Cats."
    assert await news("One cat.", ToolResult("x", galleries=(Gallery("Tom", (Tile(),)),))) == (
        "I have a picture for you: Tom."
    )


async def test_a_picture_that_only_the_model_looks_at_again_is_no_news() -> None:
    again = ToolImage(b"cat", "image/jpeg", handle=CAT, was_there=True)
    assert await news("It was red.", ToolResult("x", images=(again,))) == ""
    assert await news("It was red.", ToolResult("x", images=(ToolImage(b"cat", "image/jpeg"),))) == "", (
        "nobody can see it"
    )


async def test_a_question_still_waits_for_its_answer() -> None:
    scene = Scene(calls(("camera", {})), says("Is that your cat?"))
    scene.results["camera"] = PHOTO
    assert (await scene.ask()).wants_answer
