"""What a returned value becomes."""

from __future__ import annotations

import base64
from types import SimpleNamespace
from typing import Any

import pytest

from appliance.contracts.kotoba.results import FAILURE_NOTE, IMAGE_BELOW, RETURNED_NOTHING, grade
from appliance.contracts.kotoba.returns import ToolResult
from appliance.contracts.kotoba.witness import CallWitness
from appliance.events import Outcome
from appliance.tools.tool import ToolImage

PNG = b"\x89PNG..."
PNG_URL = "data:image/png;base64," + base64.b64encode(PNG).decode()


def text_of(value: Any, tool: str = "tool") -> str:
    return grade(value, CallWitness("call"), tool).text


@pytest.mark.contract("K-116", "K-117", "K-122")
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("A sentence.", "A sentence."),
        ({"a": 1}, "{'a': 1}"),
        (7, "7"),
        (True, "True"),
        (["x"], "['x']"),
        (ToolResult("from a result"), "from a result"),
        ("half an emoji \ud83d", "half an emoji \N{REPLACEMENT CHARACTER}"),
        ("two halves \ud83d\ude00", "two halves \N{GRINNING FACE}"),
    ],
)
def test_what_is_there_reaches_the_model_as_text(value: Any, text: str) -> None:
    result = grade(value, CallWitness("call"), "tool")
    assert (result.text, result.outcome) == (text, Outcome.OK)


@pytest.mark.contract("K-123")
@pytest.mark.parametrize("value", [None, "", " \n", 0, False, {}, [], ToolResult(), ToolResult(" ")])
def test_nothing_is_a_failure(value: Any) -> None:
    result = grade(value, CallWitness("call"), "tool")
    assert (result.text, result.outcome) == (f"{RETURNED_NOTHING} {FAILURE_NOTE}", Outcome.FAILED)


@pytest.mark.contract("K-025", "K-026", "K-135")
def test_sixteen_thousand_characters_pass_whole_and_one_more_is_cut() -> None:
    assert text_of("x" * 16_000) == "x" * 16_000
    cut = text_of("x" * 16_001)
    assert cut.startswith("x" * 16_000 + "\n\n[…truncated: 1 more")
    assert "Summarise" in cut
    assert "more specific" in cut


def test_tools_of_a_browser_get_more() -> None:
    assert text_of("x" * 24_000, "browser__read") == "x" * 24_000
    assert "truncated" in text_of("x" * 24_001, "browser__read")


@pytest.mark.contract("K-121")
@pytest.mark.parametrize("value", [ToolResult("See:", [PNG_URL]), SimpleNamespace(text="See:", images=[PNG_URL])])
def test_images_come_with_the_text(value: Any) -> None:
    result = grade(value, CallWitness("call"), "tool")
    assert result.text == "See:"
    assert result.images == (ToolImage(PNG, "image/png"),)


@pytest.mark.contract("K-119")
def test_an_image_without_text_has_a_placeholder() -> None:
    assert text_of(ToolResult(images=[PNG_URL])) == IMAGE_BELOW
    assert text_of(SimpleNamespace(images=[PNG_URL])) == IMAGE_BELOW


@pytest.mark.parametrize(
    "url",
    [5, "https://example.org/x.png", "data:text/html;base64,AAAA", "data:image/png;base64,!!", "data:image/png,x"],
)
def test_what_is_no_image_is_left_out(url: Any) -> None:
    result = grade(ToolResult("See:", [url, PNG_URL]), CallWitness("call"), "tool")
    assert len(result.images) == 1


@pytest.mark.contract("K-160")
def test_a_result_for_authors_behaves_like_its_text() -> None:
    empty = ToolResult()
    assert (empty.text, empty.images, str(empty), bool(empty)) == ("", [], "", False)
    assert str(ToolResult("a", ["b"])) == "a"
    assert ToolResult("a")
    assert ToolResult(images=["b"])
