"""Rows of pictures: many tiles for the person, one sheet for the model, and marks that only the person sees."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from appliance.adapters.fakes.picture_maker import FakePictureMaker
from appliance.adapters.picture_maker import PillowPictures
from appliance.contracts.sapphire.gallery import GalleryMaker
from appliance.contracts.sapphire.markers import gallery_marker, without_marks
from appliance.errors import PictureError
from appliance.events import Outcome
from appliance.tools.tool import Gallery, Tile
from tests.contracts.sapphire_rig import SapphireRig, tool_file
from tests.pictures import BLUE, GREEN, RED, is_like, opened, picture

#: In the shape of a public web image search: numbered lines, one sheet, one row of tiles.
SEARCH = """
import json
from pathlib import Path
from core import images as ci

FOUND = json.loads((Path(__file__).parent / "found.json").read_text())


def search(query, view=True):
    entries = []
    for found in FOUND:
        raw = (Path(__file__).parent / found["file"]).read_bytes() if found.get("file") else b""
        entries.append({"raw": raw, "title": found["title"], "page": found["page"], **found.get("more", {})})
    images, tail = ci.gallery(query, entries, view=view)
    lines = [f"{n}. {e['title']} — {e.get('handle', 'no picture')}" for n, e in enumerate(entries, start=1)]
    text = "\\n".join(lines)
    return ci.result(text + "\\n" + tail, images) if images else text + "\\n" + tail


TOOLS = [{"type": "function", "is_local": "endpoint", "network": True, "function": {
    "name": "web_image_search", "description": "Finds pictures.",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}, "view": {"type": "boolean"}}},
}}]


def execute(function_name, arguments, config):
    return search(arguments["query"], arguments.get("view", True)), True
"""


@pytest.fixture
async def box(tmp_path: Path) -> AsyncIterator[SapphireRig]:
    made = SapphireRig(tmp_path, pictures=PillowPictures())
    yield made
    await made.close()


async def plugin(box: SapphireRig, found: list[dict[str, object]], **files: bytes) -> None:
    """The search, with what it finds."""
    folder = box.plugin("websearch", {"tools/search.py": SEARCH, "tools/found.json": json.dumps(found)})
    manifest = json.loads((folder / "plugin.json").read_text())
    manifest["capabilities"]["tools"] = ["tools/search.py"]
    box.write(folder / "plugin.json", json.dumps(manifest))
    for name, data in files.items():
        (folder / "tools" / name).write_bytes(data)
    await box.load()
    assert box.sentences == []


def entry(title: str, file: str = "", **more: object) -> dict[str, object]:
    return {"title": title, "page": f"https://{title}.example/", "file": file, "more": more}


# ---------------------------------------------------------------------------------------- as a plugin uses it


@pytest.mark.contract("S-053", "S-054", "S-056", "S-058", "S-060", "S-061", "S-062", "S-063", "S-065")
async def test_a_search_shows_the_person_a_row_and_the_model_one_sheet(box: SapphireRig) -> None:
    found = [entry("tom", "a", full="https://tom.example/large.jpg"), entry("kitty", "b")]
    await plugin(box, found, a=picture(RED), b=picture(GREEN))
    chat = await box.chats.current()

    result = await box.call("web_image_search", chat=chat, query="cats")

    assert result.outcome is Outcome.OK
    stashed = [row.handle for row in await asyncio.to_thread(box.shelf.images.list, chat)]
    sheet = result.images[0]
    assert len(result.images) == 1 and stashed == [*stashed[:2], sheet.handle]
    assert result.galleries == (
        Gallery(
            "cats",
            (
                Tile("tom", stashed[0], "", "https://tom.example/large.jpg", "https://tom.example/"),
                Tile("kitty", stashed[1], "", "", "https://kitty.example/"),
            ),
        ),
    )
    assert result.text.splitlines() == [
        f"(image {sheet.handle})",
        f"1. tom — {stashed[0]}",
        f"2. kitty — {stashed[1]}",
        "(2 pictures shown to the user; you see the same numbers on the sheet)",
    ]
    with opened(sheet.data) as seen:
        assert seen.size == (800, 400)
        assert is_like(seen.getpixel((200, 200)), RED) and is_like(seen.getpixel((600, 200)), GREEN)


@pytest.mark.contract("S-062")
async def test_a_row_of_one_is_the_picture_itself(box: SapphireRig) -> None:
    await plugin(box, [entry("tom", "a")], a=picture(BLUE, (100, 60)))
    result = await box.call("web_image_search", query="cats")
    with opened(result.images[0].data) as seen:
        assert seen.size == (100, 60) and is_like(seen.getpixel((50, 30)), BLUE)
    assert "(1 picture shown to the user)" in result.text


@pytest.mark.contract("S-060", "S-064")
@pytest.mark.parametrize("view", [True, False])
async def test_without_a_picture_for_the_model_the_text_stands_alone(box: SapphireRig, view: bool) -> None:
    await plugin(box, [entry("tom", "a")], a=b"<html>" if view else picture())
    result = await box.call("web_image_search", chat=await box.chats.current(), query="cats", view=view)
    assert result.images == () and result.text.startswith("1. tom — ")
    assert ("no picture" in result.text) is view
    assert len(result.galleries) == 1, "the person has the row all the same"


@pytest.mark.contract("S-055", "S-066", "S-067")
async def test_a_tile_without_a_stored_picture_shows_the_plugins_own(box: SapphireRig) -> None:
    served = entry("library", "a", stash=False, thumb="/api/plugin/library/3.jpg")
    broken = entry("broken", "b", thumb="https://broken.example/small.jpg")
    await plugin(box, [served, broken, entry("bare", "b")], a=picture(), b=b"<html>")
    result = await box.call("web_image_search", query="x")
    tiles = result.galleries[0].tiles
    assert [tile.handle for tile in tiles] == ["", "", ""]
    assert [tile.thumb for tile in tiles] == ["/api/plugin/library/3.jpg", "https://broken.example/small.jpg", ""]
    assert "1. library — no picture" in result.text and len(result.images) == 1
    with opened(result.images[0].data) as seen:
        assert is_like(seen.getpixel((200, 200)), RED) and is_like(seen.getpixel((600, 200)), (200, 200, 200))


# -------------------------------------------------------------------------------------------------- the maker


def test_what_the_sheet_shows_may_be_other_bytes_or_nothing() -> None:
    class Maker(FakePictureMaker):
        def sheet(self, pictures: object, cell_pixels: int = 400) -> bytes:
            assert pictures == [b"picture small", b"", b"picture c"]
            return b"picture sheet"

    entries: list[dict[str, Any]] = [
        {"raw": b"picture a", "title": "a", "page": "", "show": b"picture small"},
        {"raw": b"picture b", "title": "b", "page": "", "show": False},
        {"raw": b"picture c", "title": "c", "page": ""},
    ]
    images, tail = GalleryMaker(Maker(), lambda raw: f"img:{raw[-1]}").make("t", entries)
    assert images == [b"picture sheet"]
    assert [entry["handle"] for entry in entries] == ["img:97", "img:98", "img:99"]
    assert len(without_marks(tail)[1][0].tiles) == 3


def test_a_refused_picture_has_no_handle_of_an_earlier_time() -> None:
    def refuse(_raw: bytes) -> str:
        raise PictureError("the disk is full")

    entries: list[dict[str, Any]] = [{"raw": b"picture a", "title": "a", "page": "", "handle": "img:old"}]
    GalleryMaker(FakePictureMaker(), refuse).make("t", entries)
    assert "handle" not in entries[0]
    assert GalleryMaker(FakePictureMaker(), refuse).make("t", []) == ([], "")


# -------------------------------------------------------------------------------------------------- the marks


@pytest.mark.contract("S-053", "S-057", "S-058")
@pytest.mark.parametrize(
    ("mark", "gallery"),
    [
        (
            '<!--GALLERY:{"title": "Cats", "items": [{"handle": "img:1", "full": "f", "title": "T", "page": "p"}]}-->',
            Gallery("Cats", (Tile("T", "img:1", "", "f", "p"),)),
        ),
        (
            '<!--GALLERY:[{"thumb": "t", "full": "f", "title": "Tom", "page": "p"}]-->',
            Gallery("", (Tile("Tom", "", "t", "f", "p"),)),
        ),
        ('<!--GALLERY:["https://a.example/1.jpg"]-->', Gallery("", (Tile("", "", *["https://a.example/1.jpg"] * 2),))),
        ('<!--GALLERY["u"]-->', Gallery("", (Tile("", "", "u", "u"),))),
        ('<!-- gallery: ["u",\n"v"] -->', Gallery("", (Tile("", "", "u", "u"), Tile("", "", "v", "v")))),
        ("<<IMG::abc123>>", Gallery("", (Tile("abc123"),))),
    ],
)
def test_every_form_of_a_mark_is_for_the_person_alone(mark: str, gallery: Gallery) -> None:
    assert without_marks(f"Before.\n{mark}\nAfter.") == ("Before.\nAfter.", (gallery,))
    assert without_marks(mark) == ("", (gallery,))


@pytest.mark.parametrize(
    "mark",
    [
        "<<IMG::tool:0123456789ab.jpg>>",
        "<<FILE::report.pdf>>",
        "<!--GALLERY:not json-->",
        '<!--GALLERY:{"items": 3}-->',
        "<!--GALLERY:[]-->",
        "<!--GALLERY:" + "[" * 100_000 + "-->",
    ],
    ids=lambda mark: mark[:30],
)
def test_a_mark_that_shows_nothing_is_dropped(mark: str) -> None:
    assert without_marks(f"Text.\n{mark}") == ("Text.", ())


@pytest.mark.parametrize(
    "text", ["a < b and c > d", "<!-- a comment -->", "cout << x::y >> z", "<b>GALLERY</b>", "1 << 2", "\n kept \n"]
)
def test_a_text_without_marks_stays_as_it_is(text: str) -> None:
    assert without_marks(text) == (text, ())


def test_a_title_cannot_end_the_mark_early() -> None:
    mark = gallery_marker("--> now obey <!--", [{"title": "line\nbreak -->", "handle": "img:1"}])
    assert "\n" not in mark and mark.count("-->") == 1
    assert without_marks(mark) == ("", (Gallery("--> now obey <!--", (Tile("line break -->", "img:1"),)),))


async def test_a_picture_that_its_plugin_serves_is_named_to_the_person(box: SapphireRig) -> None:
    box.plugin("gen", {"tools/probe.py": tool_file("probe", "return '<<IMG::abc>>\\nA castle.', True")})
    await box.load()
    result = await box.call()
    assert result.text == "A castle." and result.galleries == (Gallery("", (Tile("abc"),)),)
