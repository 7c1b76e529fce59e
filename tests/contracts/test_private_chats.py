"""A private chat from its beginning to its deletion, in a whole box with plugins: what is in the files of the home.

The store is a real file, the cipher the real one; sound, model and time are fakes.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from appliance.adapters.chat_cipher import AesChatCipher
from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, calls, says
from appliance.adapters.sentence_matcher import HassilMatcher
from appliance.clock import FakeClock
from appliance.contracts.kotoba.blame import log_traceback
from appliance.home import shipped
from appliance.store.chat_keys import ChatKeys
from appliance.store.database import Connection, SqliteDatabase
from appliance.store.recovery import open_database
from appliance.think.sentences import fixed_lists
from appliance.tools.current_chat import in_chat
from appliance.trace import TraceFile
from tests.assistant.disk import FakeDisk
from tests.assistant.rig import Rig
from tests.contracts.sapphire_rig import SapphireRig, tool_file
from tests.store.private import PASSPHRASE

T = TypeVar("T")

SECRET = "zanzibar-elephant"

#: Keeps what it is told for the chat, fails when it is told to, and prints and raises what it was told.
NOTES = tool_file(
    "note",
    "state = plugin_loader.get_chat_state('diary')\n"
    "chat = scope_rag.get().removeprefix('__rag__:')\n"
    "print('noting', arguments['text'])\n"
    "if arguments.get('fail'):\n"
    "    raise ValueError('cannot note ' + arguments['text'])\n"
    "state.put(chat, 'last', arguments['text'])\n"
    "return f\"{state.append(chat, 'journal', {'text': arguments['text']})} in {chat}\", True",
    "from core.plugin_loader import plugin_loader",
    "from core.chat.function_manager import scope_rag",
    flags="'is_local': True,",
)
OUTSIDE = tool_file("look_up", "return 'looked up', True", flags="'is_local': 'endpoint',")
#: What the plugins' door to HTTP asks in the thread of a request.
PEEK = tool_file(
    "peek",
    "return str(is_private_call()), True",
    "from appliance.tools.current_chat import is_private_call",
    flags="'is_local': True,",
)
MODULE = """
RISK = "network"
SCHEMA = {"type": "function", "name": "phone_home", "description": "Goes out.",
          "parameters": {"type": "object", "properties": {}}}

async def execute(args, context):
    return "went out"
"""


class FileDisk(FakeDisk):
    """The real store on a file; it answers before the loop goes on, so that the fake clock never waits for it."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        super().unplug()
        self.real: SqliteDatabase = open_database(file, FakeClock())

    def run(self, work: Callable[[Connection], T]) -> T:
        return self.real.run(work)

    async def purge(self, *, is_rewritten: bool = False) -> None:
        await self.real.purge(is_rewritten=is_rewritten)

    def unplug(self) -> None:
        self.real.close()


@pytest.fixture(scope="module")
def matcher() -> HassilMatcher:
    matcher = HassilMatcher(shipped("soul") / "en" / "intents.yaml", fixed_lists())
    matcher.load()
    return matcher


@pytest.fixture
async def rig(tmp_path: Path, matcher: HassilMatcher, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Rig]:
    """A box with three plugins, a model in the house, and a passphrase."""
    monkeypatch.setenv("TZ", "UTC")
    home = tmp_path / "home"
    for name, source in (("diary", NOTES), ("outside", OUTSIDE), ("peek", PEEK)):
        manifest = {"name": name, "default_enabled": True, "capabilities": {"tools": ["tools/t.py"]}}
        SapphireRig.write(home / "plugins" / name / "plugin.json", json.dumps(manifest))
        SapphireRig.write(home / "plugins" / name / "tools" / "t.py", source)
        # Threads take real time, and the world of this test takes none.
        SapphireRig.write(home / "user" / "webui" / "plugins" / f"{name}.json", '{"budget_seconds": 80000}')
    SapphireRig.write(home / "plugins" / "phone_home.py", MODULE)
    home.chmod(0o700)
    disk = FileDisk(home / "appliance.db")
    made = Rig(home, matcher, disk=disk, model=FakeModelEndpoint(), is_model_local=True)
    made.keys = ChatKeys(AesChatCipher())
    await made.start()
    made.quiet_step_seconds = 0.05
    assert (await made.control.call("tool.problems")) == []
    await made.control.call("chat.passphrase", {"passphrase": PASSPHRASE})
    yield made
    await made.close()
    disk.unplug()


async def everything_in(home: Path) -> bytes:
    """Every byte of every file, and every name."""

    def read() -> bytes:
        files = [file for file in home.rglob("*") if file.is_file()]
        own = {home / "plugins" / "diary" / "tools" / "t.py"}
        return b"\n".join(str(file).encode() + b"\n" + file.read_bytes() for file in files if file not in own)

    return await asyncio.to_thread(read)


def test_of_a_tool_of_either_contract_that_fails_the_log_has_the_kind_of_fault_only(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for is_private, words in ((True, False), (False, True)):
        caplog.clear()
        with in_chat("chat", is_private=is_private):
            log_traceback(logging.getLogger("tools"), logging.WARNING, "note raised", ValueError(SECRET))
        assert ("ValueError" in caplog.text, SECRET in caplog.text) == (True, words)


async def talk(rig: Rig) -> None:
    """A private chat by voice with tools that work, fail and are refused."""
    assert rig.model is not None
    rig.model.answers += [
        calls(("note", {"text": SECRET})),
        says(f"I noted the {SECRET}."),
        calls(("note", {"text": SECRET, "fail": True})),
        says(f"No {SECRET} this time."),
        calls(("look_up", {"text": SECRET}), ("phone_home", {"text": SECRET})),
        says(f"I may not look up the {SECRET}."),
    ]
    await rig.asks("Start a private chat.")
    for question in ("Note the", "Note again the", "Look up the"):
        await rig.asks(f"{question} {SECRET}.")


async def test_of_a_private_chat_no_word_is_in_any_file_while_it_lives_and_nothing_after(
    rig: Rig, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    home = tmp_path / "home"
    await rig.asks("What time is it?")
    with (home / "trace.jsonl").open("w") as stream:
        rig.box.bus.subscribe(TraceFile(stream, rig.box.hides_words))
        await talk(rig)

        shown = await rig.control.call("chat.show")
        assert SECRET in json.dumps(shown) and len(shown) == 3, "it is remembered"
        kept = json.dumps(await rig.control.call("turns.show", {"turn_id": shown[0]["turn_id"]}))
        assert SECRET not in kept
        assert SECRET not in json.dumps(await rig.control.call("audit.list"))
        bytes_while = await everything_in(home)
        assert SECRET.encode() not in bytes_while and b"@enc1:" in bytes_while

        await rig.asks("Delete the private chat.")
    await rig.runs(0.5)
    left = await everything_in(home)
    assert SECRET.encode() not in left
    assert b"@enc1:" not in left, "not even what nobody can read any more"
    assert SECRET not in "\n".join(record.getMessage() for record in caplog.records if record.name != "plugin.diary")
    assert [chat["name"] for chat in await rig.control.call("chat.list")] == ["chat 1"]
    disk = rig.disk
    assert isinstance(disk, FileDisk)
    assert disk.run(lambda connection: connection.execute("SELECT count(*) FROM chat_rows").fetchone()) == (0,)
    assert await rig.control.call("audit.verify") == []


@pytest.mark.contract("S-019", "S-157", "S-158")
async def test_tools_that_go_out_do_not_run_in_it(rig: Rig) -> None:
    await talk(rig)
    assert rig.model is not None
    outputs = {
        item["call_id"]: item["output"]
        for request in rig.model.requests
        for item in request.items
        if item.get("type") == "function_call_output"
    }
    assert any("look_up was not run: this chat is private" in output for output in outputs.values())
    assert any("phone_home is not part of this conversation" in output for output in outputs.values())
    offered = {tool["name"] for tool in rig.model.requests[0].tools}
    assert "note" in offered and "phone_home" not in offered
    assert not any("went out" in output or "looked up" in output for output in outputs.values())
    listed = {tool["name"]: tool["why_not"] for tool in await rig.control.call("tool.list")}
    assert listed["phone_home"] == "this chat is private, and it goes out to the network"
    await rig.asks("End the private chat.")
    listed = {tool["name"]: tool["why_not"] for tool in await rig.control.call("tool.list")}
    assert listed["phone_home"] == ""


async def test_a_plugin_knows_the_chat_by_its_name_and_its_rows_are_locked_with_it(rig: Rig) -> None:
    await talk(rig)
    (first, *_) = (await rig.control.call("chat.show"))[0]["items"][1:]
    assert first["type"] in ("function_call", "function_call_output")
    rows = _rows(rig)
    assert rows == [("journal", 1), ("last", 0)]
    await rig.control.call("chat.lock", {})
    ran = await rig.control.call("tool.run", {"name": "note", "arguments": {"text": "public"}})
    assert ran["text"] == "1 in chat 1", "nobody goes on in a chat that is locked"


async def test_the_door_to_the_network_knows_whose_call_it_is(rig: Rig) -> None:
    async def peek() -> str:
        return str((await rig.control.call("tool.run", {"name": "peek", "arguments": {}}))["text"])

    assert await peek() == "False"
    await rig.asks("Start a private chat.")
    assert await peek() == "True"
    await rig.asks("End the private chat.")
    assert await peek() == "False"


def _rows(rig: Rig) -> list[Any]:
    query = "SELECT key, sequence FROM chat_rows ORDER BY key"
    return rig.disk.run(lambda connection: connection.execute(query).fetchall())
