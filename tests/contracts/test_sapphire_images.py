"""``core.images`` as tool files use it: what they return, make, name and put aside."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from appliance.adapters.picture_maker import PillowPictures
from appliance.errors import PictureError
from appliance.events import Outcome
from appliance.ports_pictures import LARGEST_PICTURE_BYTES
from appliance.tools.tool import ToolResult
from tests.contracts.sapphire_rig import SapphireRig, tool_file
from tests.pictures import BLUE, GREEN, RED, halves, is_like, opened, picture, with_exif
from tests.store.private import PASSPHRASE

CI = "from core import images as ci"


class Web:
    """What ``core.net.get`` finds; ``pages`` is URL -> (status, body). ``asked`` are the options it was asked with."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[int, bytes]] = {}
        self.asked: list[dict[str, Any]] = []
        self.closed = 0

    def get(self, url: str, **options: Any) -> Any:
        self.asked.append(options)
        if url not in self.pages:
            raise ConnectionError("the name is not known")
        return self._Response(self, *self.pages[url])

    class _Response:
        def __init__(self, web: Web, status_code: int, body: bytes) -> None:
            self.status_code, self._body, self._web = status_code, body, web

        def iter_content(self, size: int) -> Any:
            return (self._body[at : at + size] for at in range(0, len(self._body), size))

        def close(self) -> None:
            self._web.closed += 1


@pytest.fixture
def web() -> Web:
    return Web()


@pytest.fixture
async def box(tmp_path: Path, web: Web) -> AsyncIterator[SapphireRig]:
    """A box whose plugins have ``core.images``, with files for them in its folder."""
    made = SapphireRig(tmp_path, pictures=PillowPictures(), fetch=web.get)
    await made.vault.set_passphrase(PASSPHRASE)
    yield made
    await made.close()


async def run(box: SapphireRig, body: str, *lines: str, chat: str = "", **files: bytes) -> ToolResult:
    """One call of a tool with this body; ``files`` are there as ``read("name")``."""
    for name, data in files.items():
        (box.home.folder / name).write_bytes(data)
    read = f"def read(name):\n    return (Path({str(box.home.folder)!r}) / name).read_bytes()"
    box.plugin("test", {"tools/probe.py": tool_file("probe", body, CI, "from pathlib import Path", read, *lines)})
    await box.load()
    assert box.sentences == []
    return await box.call(chat=chat or await box.chats.current())


# ------------------------------------------------------------------------------------- the sample of the page


@pytest.mark.contract("S-022", "S-023", "S-036")
async def test_the_sample_of_the_page_shows_a_picture(box: SapphireRig) -> None:
    result = await run(
        box, "raw = read('a')\nreturn ci.result(\"Here's the camera.\", [ci.for_chat(raw)]), True", a=picture()
    )
    (image,) = result.images
    assert result.outcome is Outcome.OK
    assert result.text == f"(image {image.handle})\nHere's the camera."
    with opened(image.data) as shown:
        assert shown.format == "JPEG" and is_like(shown.getpixel((5, 5)), RED)


@pytest.mark.contract("S-024", "S-025", "S-026")
async def test_result_is_the_dict_of_the_page(box: SapphireRig) -> None:
    body = (
        "import json\nfirst, second = ci.result('t', [read('a')]), ci.result('t', [read('a')], display_only=True)\n"
        "return json.dumps([first, second, ci.result('t')]), True"
    )
    png = picture(kind="PNG")
    plain, hidden, bare = json.loads((await run(box, body, a=png)).text)
    entry = {"data": base64.b64encode(png).decode(), "media_type": "image/png", "display_only": False}
    assert plain == {"text": "t", "images": [entry]}
    assert hidden == {"text": "t", "images": [{**entry, "display_only": True}]}
    assert bare == {"text": "t", "images": []}


@pytest.mark.contract("S-026")
async def test_a_picture_for_the_person_alone_is_marked_and_stored(box: SapphireRig) -> None:
    result = await run(box, "return ci.result('Look.', [read('a')], display_only=True), True", a=picture())
    (image,) = result.images
    assert image.is_display_only and image.handle in result.text
    (row,) = await asyncio.to_thread(box.shelf.images.list, await box.chats.current())
    assert (row.handle, row.is_visible, row.turn_id) == (image.handle, False, box.turn.turn_id)


async def test_older_plugins_that_write_the_dict_by_hand_work_too(box: SapphireRig) -> None:
    body = (
        "import base64\nraw = base64.encodebytes(read('a')).decode()\n"
        "return {'text': 'x', 'images': [{'data': raw, 'media_type': 'image/jpeg', 'type': 'grid'}, {'no': 1}]}, True"
    )
    result = await run(box, body, a=picture(size=(300, 300)))
    assert len(result.images) == 1 and result.images[0].handle


@pytest.mark.parametrize("junk", [b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"<html>", b"", b"\xff\xd8\xff\xe0"])
@pytest.mark.parametrize("call", ["ci.result('x', [raw])", "ci.for_chat(raw)", "ci.stash(raw)", "ci.media_type(raw)"])
async def test_junk_is_an_image_error_in_words(box: SapphireRig, junk: bytes, call: str) -> None:
    body = (
        f"raw = read('a')\ntry:\n    {call}\nexcept ci.ImageError as error:\n"
        "    return f'{isinstance(error, ValueError)} {error}', True\nreturn 'no error', False"
    )
    result = await run(box, body, a=junk)
    assert result.text.startswith("True ") and "picture" in result.text


async def test_a_plugin_that_claims_a_picture_where_there_is_none_costs_only_that(box: SapphireRig) -> None:
    body = "import base64\nreturn {'text': 'x', 'images': [{'data': base64.b64encode(b'<html>').decode()}]}, True"
    result = await run(box, body)
    assert result.images == () and result.text.startswith("(a picture was left out: ") and result.text.endswith("\nx")


# --------------------------------------------------------------------------------------------- making pictures


@pytest.mark.contract("S-039", "S-040", "S-041", "S-042")
async def test_for_chat_is_upright_bounded_and_a_jpeg(box: SapphireRig) -> None:
    result = await run(box, "return ci.result('', [ci.for_chat(read('a'))]), True", a=with_exif(6, size=(3000, 1000)))
    with opened(result.images[0].data) as shown:
        assert (shown.format, shown.size) == ("JPEG", (512, 1536))
        assert is_like(shown.getpixel((256, 100)), RED) and is_like(shown.getpixel((256, 1400)), BLUE)
    result = await run(
        box, "return str(len(ci.for_chat(read('a'), max_px=100, quality=10))), True", a=picture(size=(900, 900))
    )
    assert int(result.text) < 2000


@pytest.mark.contract("S-043")
async def test_a_contact_sheet_is_one_numbered_picture(box: SapphireRig) -> None:
    body = "return ci.result('Three.', [ci.contact_sheet([read('a'), read('b'), b'broken'])]), True"
    result = await run(box, body, a=picture(RED), b=picture(GREEN))
    with opened(result.images[0].data) as sheet:
        assert sheet.size == (800, 800)
        assert is_like(sheet.getpixel((200, 200)), RED) and is_like(sheet.getpixel((600, 200)), GREEN)


# --------------------------------------------------------------------------------------------- naming pictures

RESOLVE = "r = ci.resolve({source})\nreturn f'{{r.origin}} {{r.media_type}} {{r.size}} {{r.label}}', True"


@pytest.mark.contract("S-037", "S-038")
async def test_a_receipt_is_a_handle_for_any_tool(box: SapphireRig) -> None:
    png = picture(kind="PNG")
    first = await run(box, "return ci.result('x', [read('a')]), True", a=png)
    handle = first.images[0].handle
    result = await run(box, RESOLVE.format(source=repr(handle)))
    assert result.text == f"chat image/png {len(png)} {handle}"
    again = await run(box, f"return str(ci.resolve('{handle}').data == read('a')), True")
    assert again.text == "True"


@pytest.mark.contract("S-045")
async def test_an_absolute_path_names_a_file(box: SapphireRig) -> None:
    jpeg = picture()
    file = box.home.folder / "a"
    result = await run(box, RESOLVE.format(source=repr(str(file))), a=jpeg)
    assert result.text == f"file image/jpeg {len(jpeg)} {file}"


@pytest.mark.contract("S-046")
@pytest.mark.parametrize("url", ["https://cats.example/tom.gif", "http://camera.local/still"])
async def test_a_url_is_fetched_through_the_door(box: SapphireRig, web: Web, url: str) -> None:
    gif = picture(kind="GIF")
    web.pages[url] = (200, gif)
    result = await run(box, RESOLVE.format(source=repr(url)))
    assert result.text == f"web image/gif {len(gif)} {url}"
    assert web.asked == [{"profile": "browser", "timeout": 15, "stream": True}] and web.closed == 1


@pytest.mark.contract("S-047", "S-048")
@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("https://big.example/", "it is larger than 20 MB"),
        ("https://gone.example/", "the server answered 404"),
        ("https://moved.example/", "the server answered 302"),
        ("https://page.example/", "not a picture that can be read here"),
        ("https://nowhere.example/", "the name is not known"),
        ("doc:3", "this box keeps no library of documents"),
        ("img:000000000000.jpg", "there is no picture img:000000000000.jpg"),
        ("img:../../etc/passwd", "is not the handle of a picture"),
        ("/nowhere/at/all.png", "there is no file /nowhere/at/all.png"),
        ("/etc/passwd", "not a picture that can be read here"),
        ("/dev/zero", "there is no file /dev/zero"),
        ("pictures/tom.png", "names no picture; a handle like img:"),
        ("file:///etc/passwd", "names no picture"),
        ("", "names no picture"),
        (None, "names no picture"),
    ],
)
async def test_a_source_that_cannot_be_used_is_told_in_words(
    box: SapphireRig, web: Web, source: Any, words: str
) -> None:
    """S-044 as far as this box goes: there is no library here (see deviations.tsv)."""
    web.pages = {
        "https://big.example/": (200, picture() + b"\0" * LARGEST_PICTURE_BYTES),
        "https://gone.example/": (404, b""),
        "https://moved.example/": (302, b""),
        "https://page.example/": (200, b"<!DOCTYPE html>"),
    }
    body = f"try:\n    ci.resolve({source!r})\nexcept ci.ImageError as error:\n    return str(error), True"
    assert words in (await run(box, body)).text
    assert web.closed == len([page for page in web.pages if page == source])


async def test_without_a_network_a_url_is_told_in_words(tmp_path: Path) -> None:
    box = SapphireRig(tmp_path, pictures=PillowPictures())
    result = await run(box, "return str(ci.resolve('https://cats.example/')), True")
    assert result.text == "Error executing probe: this box has no way to the network here"
    await box.close()


# ---------------------------------------------------------------------------------------------- putting aside


@pytest.mark.contract("S-049", "S-050", "S-051")
async def test_a_stashed_picture_is_stored_at_once_and_hidden_from_the_model(box: SapphireRig) -> None:
    png = halves(kind="PNG")
    result = await run(box, "h = ci.stash(read('a'))\nassert ci.resolve(h).data == read('a')\nreturn h, True", a=png)
    assert result.outcome is Outcome.OK and result.images == ()
    (row,) = await asyncio.to_thread(box.shelf.images.list, await box.chats.current())
    assert (row.handle, row.is_visible, row.turn_id) == (result.text, False, box.turn.turn_id)
    visible = await run(box, "return ci.stash(read('a'), 'image/png', visible=True), True")
    assert (await asyncio.to_thread(box.shelf.images.list, await box.chats.current()))[-1].is_visible
    last = await run(box, "return 'img:' + ci.last_image_id(), True")
    assert last.text == visible.text
    assert (await run(box, "return ci.new_id('image/png')[12:], True")).text == ".png"


@pytest.mark.contract("S-051")
async def test_a_picture_can_be_put_into_another_chat_by_its_name(box: SapphireRig) -> None:
    other = await box.chats.create("holiday")
    await box.chats.create("today")
    result = await run(box, "return ci.stash(read('a'), chat_name='holiday'), True", a=picture())
    assert [row.handle for row in await asyncio.to_thread(box.shelf.images.list, other.chat)] == [result.text]
    assert (await run(box, "return str(ci.last_image_id('holiday')), True")).text in result.text
    for wrong in ("", "nowhere"):
        result = await run(box, f"return ci.stash(read('a'), chat_name={wrong!r}), True")
        assert result.outcome is Outcome.FAILED and "picture" in result.text


async def test_a_thread_that_a_plugin_began_by_itself_stashes_into_no_chat(box: SapphireRig) -> None:
    body = (
        "import threading\nfound = []\nt = threading.Thread(target=lambda: found.append(ci.stash(read('a'))))\n"
        "t.start(); t.join()\nreturn found[0], True"
    )
    result = await run(box, body, a=picture())
    assert await asyncio.to_thread(box.shelf.images.list, await box.chats.current()) == []
    assert (await asyncio.to_thread(box.shelf.images.get, result.text)).chat == ""


@pytest.mark.contract("S-034", "S-051", "S-054")
async def test_in_a_private_chat_pictures_are_sealed_with_it(box: SapphireRig) -> None:
    usual = await box.chats.current()
    diary = (await box.vault.begin("diary")).chat
    result = await run(box, "return ci.stash(read('a')), True", chat=diary, a=picture())
    look = f"return ci.resolve('{result.text}').origin, True"
    assert (await run(box, look, chat=diary)).text == "chat"
    assert "belongs to a private chat" in (await run(box, look, chat=usual)).text
    await box.vault.lock()
    assert "belongs to a private chat" in (await run(box, look, chat=diary)).text
    assert (
        "the picture is not stored: diary is private and locked"
        in (await run(box, "return ci.stash(read('a')), True", chat=diary)).text
    )


async def test_a_file_of_any_other_kind_is_stored_as_a_plain_picture(box: SapphireRig) -> None:
    archive = picture(GREEN) + b"PK\x03\x04 an archive behind it"
    for data in (archive, picture(GREEN, kind="WEBP"), with_exif(1, words="at my home", left=GREEN)):
        result = await run(box, "return ci.stash(read('a')), True", a=data)
        stored = await asyncio.to_thread(box.shelf.images.get, result.text)
        assert stored.media_type == "image/jpeg" and box.shelf.maker.look(stored.data).is_plain
        assert b"archive" not in stored.data and b"home" not in stored.data
        with opened(stored.data) as shown:
            assert is_like(shown.getpixel((5, 5)), GREEN)


@pytest.mark.contract("S-059")
async def test_a_foreign_picture_is_looked_at_through_a_third_party(box: SapphireRig) -> None:
    body = "return ci.proxied('https://cats.example/a b.jpg?x=1&y=2#z'), True"
    assert (await run(box, body)).text == (
        "https://external-content.duckduckgo.com/iu/?u=https%3A%2F%2Fcats.example%2Fa%20b.jpg%3Fx%3D1%26y%3D2%23z&f=1"
    )
    assert (await run(box, "return ci.proxied('/api/plugin/x/1.jpg'), True")).text == "/api/plugin/x/1.jpg"


# --------------------------------------------------------------------------------- the tools that ship with the box


@pytest.fixture
async def shipped_box(tmp_path: Path) -> AsyncIterator[SapphireRig]:
    made = SapphireRig(tmp_path, pictures=PillowPictures())
    made.shipped.symlink_to(Path(__file__).parents[2] / "plugins")
    yield made
    await made.close()


@pytest.mark.contract("S-032", "S-037", "S-052")
async def test_the_box_brings_a_tool_that_looks_again_and_one_that_keeps(shipped_box: SapphireRig) -> None:
    box = shipped_box
    png = picture(kind="PNG")
    chat = await box.chats.current()
    await box.load()
    handle = await asyncio.to_thread(box.shelf.put, png, chat=chat)

    seen = await box.call("memory_view_image", chat=chat, image_id=handle)
    assert seen.outcome is Outcome.OK and [image.handle for image in seen.images] == [handle]
    assert not seen.images[0].is_display_only and len(await asyncio.to_thread(box.shelf.images.list, chat)) == 1
    without = await box.call("memory_view_image", chat=chat, image_id=handle.removeprefix("img:"))
    assert without.images[0].handle == handle

    saved = await box.call("memory_save_image", chat=chat, image_id=handle, description="Tom's new hat!")
    assert saved.text.startswith("Saved as tom-s-new-hat.png")
    second = await box.call("memory_save_image", chat=chat, image_id=handle, description="Tom's new hat!")
    assert second.outcome is Outcome.OK and second.text != saved.text
    await box.chats.clear(chat)
    assert (box.home.folder / "user/pictures/tom-s-new-hat.png").read_bytes() == png
    kept = await box.call("memory_view_image", chat=chat, image_id="tom-s-new-hat.png")
    assert kept.outcome is Outcome.OK and len(kept.images) == 1


@pytest.mark.parametrize("source", ["/etc/passwd", "https://cats.example/", "../../credentials.json", "", "doc:1"])
async def test_those_tools_open_nothing_but_pictures_of_the_box(shipped_box: SapphireRig, source: str) -> None:
    await shipped_box.load()
    for tool in ("memory_view_image", "memory_save_image"):
        result = await shipped_box.call(tool, image_id=source)
        assert result.outcome is Outcome.FAILED and "is not the handle of a picture" in result.text


async def test_they_step_aside_for_a_plugin_that_brings_its_own(shipped_box: SapphireRig) -> None:
    body = tool_file("memory_view_image", "return 'mine', True")
    shipped_box.plugin("memory", {"tools/look.py": body})
    await shipped_box.load()
    assert (await shipped_box.call("memory_view_image")).text == "mine"
    assert {"memory_view_image", "memory_save_image"} <= set(shipped_box.names)
    assert "memory_view_image is that of plugin:memory" in shipped_box.record("pictures").note


async def test_they_run_in_a_private_chat(shipped_box: SapphireRig) -> None:
    await shipped_box.load()
    shipped_box.is_private = True
    result = await shipped_box.call("memory_view_image", image_id="img:000000000000.png")
    assert "there is no picture" in result.text


def test_an_image_error_is_a_value_error() -> None:
    assert issubclass(PictureError, ValueError)
