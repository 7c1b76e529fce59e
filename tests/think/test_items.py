from __future__ import annotations

import base64
from typing import Any

import pytest

from appliance.think.items import (
    arguments_of,
    assistant_message,
    has_pictures,
    is_whole_call,
    message_text,
    pictures_message,
    sent_back,
    user_message,
)
from appliance.tools.tool import ToolImage


def call(arguments: Any, **fields: Any) -> dict[str, Any]:
    item = {"type": "function_call", "id": "fc_1", "status": "completed", "call_id": "c", "name": "n"}
    return {**item, "arguments": arguments, **fields}


@pytest.mark.parametrize(
    ("raw", "arguments", "is_whole"),
    [
        ('{"a": 1}', {"a": 1}, True),
        ("", {}, True),
        ('{"a": "x\ue200cite\ue201"}', {"a": "xcite"}, True),
        ('{"\\ue200k": ["x\\ud83d"]}', {"k": ["x"]}, True),
        ('{"a": 1', {}, False),
        ("[1]", {}, False),
        ('"text"', {}, False),
        ("[" * 100_000, {}, False),
        (None, {}, False),
        ({"a": 1}, {"a": 1}, True),
    ],
)
def test_arguments_are_always_an_object(raw: Any, arguments: dict[str, Any], is_whole: bool) -> None:
    assert arguments_of(call(raw)) == arguments
    assert is_whole_call(call(raw)) is is_whole


def test_a_call_that_the_endpoint_cut_off_is_not_whole() -> None:
    assert not is_whole_call(call("{}", status="incomplete"))


def test_a_call_goes_back_with_arguments_that_are_surely_json_and_without_an_id() -> None:
    expected = {"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}"}
    assert sent_back(call('{"broken')) == expected
    assert sent_back(call('{"a": "Kyōto"}')) == {**expected, "arguments": '{"a": "Kyōto"}'}


def test_a_message_goes_back_with_what_the_api_wants_to_see_again() -> None:
    item = {**assistant_message("Hi."), "id": "msg_1", "status": "completed", "phase": "commentary"}
    assert sent_back(item) == {**assistant_message("Hi."), "phase": "commentary"}


def test_reasoning_goes_back_only_with_its_content() -> None:
    sealed: dict[str, Any] = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [],
        "encrypted_content": "x",
        "status": None,
    }
    opened = {"type": "reasoning", "id": "rs_2", "summary": [], "content": [{"type": "reasoning_text", "text": "x"}]}
    assert sent_back(sealed) == {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
    assert sent_back(opened) == opened
    assert sent_back({"type": "reasoning", "id": "rs_3", "summary": [], "encrypted_content": None}) is None


def test_items_that_say_nothing_do_not_go_back() -> None:
    assert sent_back({"type": "web_search_call", "id": "ws_1"}) is None
    assert sent_back(assistant_message(" \n")) is None


def test_the_text_of_a_message_is_found_in_every_form() -> None:
    assert message_text(user_message("Hi")) == "Hi"
    assert message_text({"type": "message", "role": "user", "content": "Hi"}) == "Hi"
    assert message_text({"type": "message", "content": [{"type": "refusal", "refusal": "No."}, "odd", {}]}) == "No."
    assert message_text(call("{}")) == "" == message_text({"type": "message", "content": None})


def test_pictures_travel_as_data() -> None:
    item = pictures_message("camera", [ToolImage(b"\x89PNG", "image/png")])
    assert has_pictures(item) and not has_pictures(user_message("Hi"))
    url = item["content"][1]["image_url"]
    assert base64.b64decode(url.removeprefix("data:image/png;base64,")) == b"\x89PNG"
