"""Whole plugins in the shapes of public ones, unchanged, each with what is particular about it."""

from __future__ import annotations

import asyncio
import base64
import json
import sqlite3
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import chdir
from pathlib import Path

import pytest

from appliance.adapters.picture_maker import PillowPictures
from appliance.contracts.plugin_call import current_plugin
from appliance.contracts.sapphire.core_net import offered
from appliance.events import Outcome
from appliance.tools.tool import Risk, ToolResult
from tests.contracts.sapphire_rig import SapphireRig
from tests.contracts.third_party_world import FOLDER, Machine, install
from tests.network.facades import real_facade
from tests.pictures import BLUE, GREEN, RED, is_like, opened, picture

ACCOUNTS = {"work": {"postbox": "work", "notebook": "work"}, "off": {"postbox": "none", "notebook": "none"}}


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with Machine(picture(BLUE, (2000, 1000), kind="PNG")) as made:
        yield made


@pytest.fixture
async def box(tmp_path: Path, machine: Machine) -> AsyncIterator[SapphireRig]:
    """A box with all of them, at home in its folder, with real HTTP and real pictures."""
    machine.asked.clear()
    with real_facade(who=lambda: f"plugin:{current_plugin()}") as facade:
        made = SapphireRig(
            tmp_path,
            secrets={"PAINTER_API_KEY": "paint-key", "email.work.password": "letter-box-key"},
            network=offered(facade),
            accounts=lambda context: ACCOUNTS.get(context.chat, {}),
            pictures=PillowPictures(),
            fetch=facade.get,
        )
        made.credentials.set("email.work", '{"address": "me@example.com"}')
        for folder in sorted(FOLDER.iterdir()):
            install(folder.name, made.home.plugins_folder)
        with chdir(made.home.folder):
            await made.load()
            assert made.sentences == []
            yield made
            await made.close()


async def saved(box: SapphireRig, plugin: str, **values: object) -> None:
    await box.contract.save_settings(plugin, values)


async def texts(box: SapphireRig, tool: str, *chats: str, **arguments: object) -> list[str]:
    return [(await box.call(tool, chat=chat, **arguments)).text for chat in chats]


async def test_all_of_them_load_and_are_offered(box: SapphireRig) -> None:
    assert len(box.report.plugins) == len(list(FOLDER.iterdir())) == 7
    assert all(record.is_loaded for record in box.report.plugins)
    assert len(box.offered()) == len(box.names) == 13
    risks = {tool.facts.plugin: tool.risk for tool in box.report.tools}
    assert risks == {
        "album": Risk.WRITE,
        "doorbell": Risk.WRITE,
        "notebook": Risk.WRITE,
        "painter": Risk.NETWORK,
        "postbox": Risk.NETWORK,
        "weather": Risk.NETWORK,
        "workshop": Risk.EXEC,
    }


# ------------------------------------------------------------------------------------------- four arguments


@pytest.mark.contract("S-008", "S-069", "S-070", "S-102", "S-112", "S-113")
async def test_the_weather_describes_itself_by_its_settings_and_asks_its_station(
    box: SapphireRig, machine: Machine
) -> None:
    assert box.offered()["weather_now"]["description"] == "The weather in the garden as it is now."
    assert (await box.call("weather_now")).text == "No station is configured. Tell the user to set one."

    await saved(box, "weather", station=machine.url, place="the harbour")

    assert box.offered()["weather_now"]["description"] == "The weather in the harbour as it is now."
    assert (await box.call("weather_now", days="2")).text == "Day 0: 20 °C\nDay 1: 21 °C\nDay 2: 22 °C"
    assert machine.paths == ["/day/0", "/day/1", "/day/2"]


# --------------------------------------------------------------------------- three arguments, scopes, a cache


@pytest.mark.contract("S-007", "S-100", "S-103", "S-153", "S-155")
async def test_the_postbox_asks_once_a_minute_for_each_scope_and_shows_no_address(
    box: SapphireRig, machine: Machine
) -> None:
    await saved(box, "postbox", server=machine.url)
    assert await texts(box, "postbox_inbox", "work", "work", "off", "other") == [
        "1. Hello from the harbour",
        "1. Hello from the harbour (as of a moment ago)",
        "Postbox is disabled for this chat.",
        "No account is configured for this scope.",
    ]
    login = base64.b64encode(b"me@example.com:letter-box-key").decode()
    assert machine.asked == [("/inbox", f"Basic {login}", {"scope": "work"})]

    await box.call("notebook_person", name="Ada", address="ada@example.com")
    assert await texts(box, "postbox_recipients", "work") == ['[{"id": 1, "name": "Ada"}]']
    assert (await box.call("postbox_send", recipient_id="1", text="Hi", chat="work")).text == "Sent."
    assert machine.asked[-1][2] == {"to": "ada@example.com", "text": "Hi"}
    assert await texts(box, "postbox_inbox", "work") == ["1. Hello from the harbour"], "sending empties the cache"


@pytest.mark.contract("S-019", "S-157", "S-158")
async def test_in_a_private_chat_letters_are_read_and_none_is_sent(box: SapphireRig, machine: Machine) -> None:
    await saved(box, "postbox", server=machine.url)
    box.is_private = True
    assert (await box.call("postbox_inbox", chat="work")).outcome is Outcome.OK
    sent = await box.call("postbox_send", recipient_id=1, text="Hi", chat="work")
    assert sent.outcome is Outcome.REFUSED
    assert "/send" not in machine.paths


# -------------------------------------------------------------------------------------------- own database


@pytest.mark.contract("S-152")
async def test_the_notebook_keeps_a_database_of_its_own_in_the_home(box: SapphireRig) -> None:
    await asyncio.gather(*(box.call("notebook_note", chat="work", content=f"note {n}") for n in range(16)))
    found = await texts(box, "notebook_search", "work", "other", "off", query="note 7")
    assert found[0].endswith("note 7")
    assert found[1:] == ["No notes found", "The notebook is disabled for this chat."]
    file = box.home.folder / "user" / "notebook.db"

    def count() -> object:
        connection = sqlite3.connect(file)
        try:
            return connection.execute("SELECT count(*) FROM notes").fetchone()[0]
        finally:
            connection.close()

    assert await asyncio.to_thread(count) == 16


# ------------------------------------------------------------------------------------------------ blacklist


@pytest.mark.contract("S-105", "S-154")
async def test_the_workshop_blocks_by_patterns_and_runs_what_is_left(box: SapphireRig) -> None:
    commands = ("mkfs /dev/sda", "rm -rf /home", ":(){ :|:& };:", "echo a b", "false")
    results = [await box.call("workshop_run", command=command) for command in commands]
    assert [result.text for result in results] == [
        "Blocked: matches 'mkfs'",
        "Blocked: matches 'rm -rf /'",
        "Blocked: matches ':(){ :|:& };:'",
        "$ echo a b\na b\n\nExit code: 0",
        "$ false\n\nExit code: 1",
    ]
    assert [result.outcome for result in results] == [Outcome.FAILED] * 3 + [Outcome.OK, Outcome.FAILED]
    assert {request.risk for request in box.desk.requests} == {Risk.EXEC}

    box.store_settings("workshop", '{"blacklist": ["echo"')
    assert (await box.call("workshop_run", command="echo x")).outcome is Outcome.OK, "its defaults hold"
    box.store_settings("workshop", '{"blacklist": ["ech[ou]", "["]}')
    blocked = [(await box.call("workshop_run", command=command)).text for command in ("echo x", "ls [")]
    assert blocked == ["Blocked: matches 'ech[ou]'", "Blocked: contains '['"]


# ------------------------------------------------------------------------------- five arguments, a picture


@pytest.mark.contract("S-009", "S-013", "S-022", "S-023", "S-026", "S-036", "S-107")
async def test_the_painter_shows_what_its_machine_painted(box: SapphireRig, machine: Machine) -> None:
    unreachable = await box.call("painter_paint", prompt="a cat")
    assert unreachable.text == "The machine at http://127.0.0.1:9 is not reachable. Tell the user to switch it on."
    assert unreachable.outcome is Outcome.FAILED

    await saved(box, "painter", server=f"{machine.url}/")
    painted = await box.call("painter_paint", prompt="a cat", seed="7", chat=await box.chats.current())

    assert machine.paths == ["/prompt", "/history/j1", "/view?file=out.png"]
    assert machine.asked[0][1:] == ("Bearer paint-key", {"prompt": "a cat", "seed": 7})
    (image,) = painted.images
    assert painted.text == f"(image {image.handle})\nPainted it, seed=7"
    assert not image.is_display_only
    with opened(image.data) as seen:
        assert seen.size == (1536, 768) and is_like(seen.getpixel((9, 9)), BLUE)

    await saved(box, "painter", for_eyes_only=True)
    painted = await box.call("painter_paint", prompt="a cat", chat=await box.chats.current())
    assert painted.images[0].is_display_only


# ------------------------------------------------------------------------------------------- many pictures


@pytest.mark.contract("S-052", "S-060", "S-061", "S-062", "S-063", "S-106")
async def test_the_album_shows_a_row_and_then_one_of_it(box: SapphireRig, tmp_path: Path) -> None:
    trip = tmp_path / "photos" / "trip"
    trip.mkdir(parents=True)
    for name, colour in (("beach", RED), ("forest", GREEN)):
        (trip / f"{name}.jpg").write_bytes(picture(colour))
    await saved(box, "album", folder=str(tmp_path / "photos"))
    chat = await box.chats.current()

    def ask(tool: str, **arguments: object) -> asyncio.Task[ToolResult]:
        return box.start(tool, chat=chat, **arguments)

    shown = await ask("album_browse", folder="trip")
    ((gallery,), (sheet,)) = shown.galleries, shown.images
    assert [tile.title for tile in gallery.tiles] == ["beach", "forest"]
    assert f"2. forest — {gallery.tiles[1].handle}" in shown.text and "GALLERY" not in shown.text
    with opened(sheet.data) as seen:
        assert seen.size == (800, 400)

    photo = await ask("album_show", image_id=gallery.tiles[1].handle)
    with opened(photo.images[0].data) as seen:
        assert is_like(seen.getpixel((9, 9)), GREEN)
    assert (await ask("album_browse", folder="../..")).text == "Folder not found"
    assert (await ask("album_show", image_id="img:nothing")).outcome is Outcome.FAILED


# -------------------------------------------------------------------------------------- a daemon and a tool


@pytest.mark.contract("S-121", "S-122")
async def test_the_doorbells_tool_and_daemon_are_one_module_and_one_state(box: SapphireRig) -> None:
    assert (await box.call("doorbell_who")).text == "Nobody listens to the bell."
    await saved(box, "doorbell", door="garden gate")
    await box.beside.daemons.go_live()
    assert box.beside.daemons.running == ("doorbell",)
    assert [(await box.call("doorbell_ring", who=who)).text for who in ("Ada", "Bo")] == [
        "Rang at the garden gate."
    ] * 2
    assert (await box.call("doorbell_who")).text == "Bo rang last; 2 in all"
    state = box.home.folder / "user" / "plugin_state" / "doorbell.json"
    assert json.loads(state.read_text()) == {"count": 2}
    module = sys.modules["plugins.doorbell.daemon"]
    assert module.last_ring == "Bo"

    box.switch(disabled=("doorbell",))
    await box.load()
    assert not module.is_listening() and "plugins.doorbell.daemon" not in sys.modules
    assert json.loads(state.read_text()) == {"count": 2}, "what it has stored stays"
