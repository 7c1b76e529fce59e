"""What plugin tools keep for a chat: from the import in a tool to the chat's end; hooks and scopes around it."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from appliance.contracts.sapphire.chat_state import PluginChatState, PluginChatStates
from appliance.contracts.sapphire.hooks import HookEvent
from appliance.events import Outcome
from appliance.store.chat_rows import ChatRows
from tests.contracts.sapphire_rig import SapphireRig, tool_file
from tests.store.private import PASSPHRASE

T = TypeVar("T")

#: A tool that runs what it is given on its chat state, as an author writes it.
GAME = tool_file(
    "game",
    "state = plugin_loader.get_chat_state('game')\n"
    "return json.dumps(eval(arguments['do'], {'state': state, 'chat': arguments.get('chat', 'campaign')})), True",
    "import json",
    "from core.plugin_loader import plugin_loader",
    flags="'is_local': True,",
)


async def in_thread(work: Callable[[], T]) -> T:
    """As a plugin calls it: never on the loop."""
    return await asyncio.to_thread(work)


@pytest.fixture
async def state(box: SapphireRig) -> PluginChatState:
    """The state of a plugin, in a box with the chat ``campaign``."""
    await box.chats.create("campaign")
    return PluginChatStates(ChatRows(box.database, box.chats.keys, box.clock)).of("game")


@pytest.mark.contract("S-131", "S-132", "S-134", "S-138")
async def test_a_tool_keeps_and_reads_what_belongs_to_the_chat(box: SapphireRig) -> None:
    await box.chats.create("campaign")
    box.plugin("game", {"tools/g.py": GAME})
    await box.load()
    for do, answer in (
        ("state.put(chat, 'save', {'level': 1})", None),
        ("state.put(chat, 'save', {'level': 2})", None),
        ("state.get(chat, 'save')", {"level": 2}),
        ("state.append(chat, 'journal', 'dawn')", 1),
        ("state.append(chat, 'journal', {'noon': [1, None]})", 2),
        ("state.read_all(chat, 'journal')", ["dawn", {"noon": [1, None]}]),
    ):
        result = await box.call("game", do=do)
        assert (json.loads(result.text), result.outcome) == (answer, Outcome.OK)


@pytest.mark.contract("S-133", "S-136", "S-137", "S-139", "S-140", "S-141", "S-142", "S-144")
async def test_everything_that_the_page_names(box: SapphireRig, state: PluginChatState) -> None:
    def work() -> None:
        assert state.get("campaign", "save") is None
        assert state.get("campaign", "save", 7) == 7
        assert state.append_many("campaign", "journal", ["a", "b", "c"]) == [1, 2, 3]
        with pytest.raises(TypeError, match="JSON only"):
            state.append_many("campaign", "journal", ["d", object()])
        assert state.read_all("campaign", "journal") == ["a", "b", "c"]
        state.replace("campaign", "journal", ["a", "c"])
        assert state.read_all("campaign", "journal") == ["a", "c"]
        assert state.append("campaign", "journal", "d") == 3
        state.put("campaign", "save", 1)
        assert state.keys("campaign") == ["journal", "save"]
        assert state.meta("campaign", "journal") == {"rows": 3, "updated_at": "2026-05-04T15:07:00.000+00:00"}
        assert state.meta("campaign", "nothing") is None
        state.delete("campaign", "journal")
        assert (state.read_all("campaign", "journal"), state.keys("campaign")) == ([], ["save"])
        state.delete("campaign")
        assert state.keys("campaign") == []

    await in_thread(work)


@pytest.mark.contract("S-145")
@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -1.5,
        "",
        "früh 😀 \u0000",
        [],
        {},
        [1, [2, {"three": None}]],
        {"": {"a b": [False]}},
        "@enc1:",
        2**53,
    ],
)
@pytest.mark.parametrize("is_private", [False, True])
async def test_any_json_comes_back_equal(
    box: SapphireRig, state: PluginChatState, value: Any, is_private: bool
) -> None:
    if is_private:
        await box.vault.set_passphrase(PASSPHRASE)
        await box.vault.make_private("campaign")

    def work() -> tuple[Any, list[Any]]:
        state.put("campaign", "slot", value)
        state.append("campaign", "journal", value)
        return state.get("campaign", "slot", "default"), state.read_all("campaign", "journal")

    assert await in_thread(work) == (value, [value])


@pytest.mark.contract("S-143")
async def test_a_value_of_every_chat_that_can_be_seen(box: SapphireRig, state: PluginChatState) -> None:
    await box.vault.set_passphrase(PASSPHRASE)
    await box.chats.create("kitchen")
    await box.vault.begin("diary")

    def work() -> dict[str, Any]:
        for number, chat in enumerate(("campaign", "kitchen", "diary")):
            state.put(chat, "save", number)
        state.append("kitchen", "other", 1)
        return state.get_all_chats("save")

    assert await in_thread(work) == {"campaign": 0, "kitchen": 1, "diary": 2}
    await box.vault.lock()
    assert await in_thread(lambda: state.get_all_chats("save")) == {"campaign": 0, "kitchen": 1}
    assert await in_thread(lambda: state.get_all_chats("journal")) == {}


@pytest.mark.contract("S-146")
async def test_rows_go_with_a_chat_that_is_renamed(box: SapphireRig, state: PluginChatState) -> None:
    await in_thread(lambda: state.put("campaign", "save", 1))
    await box.chats.rename("campaign", "The long war")
    assert await in_thread(lambda: state.get("The long war", "save")) == 1
    assert await in_thread(lambda: state.get("campaign", "save")) is None
    with pytest.raises(ValueError, match="no chat 'campaign'"):
        await in_thread(lambda: state.put("campaign", "save", 2))


@pytest.mark.contract("S-150", "S-151")
async def test_in_a_locked_chat_reads_are_empty_and_writes_raise(box: SapphireRig, state: PluginChatState) -> None:
    await box.vault.set_passphrase(PASSPHRASE)
    await in_thread(lambda: (state.put("campaign", "save", 1), state.append("campaign", "journal", "a")))
    await box.vault.make_private("campaign")
    assert await in_thread(lambda: state.get("campaign", "save")) == 1
    await box.vault.lock("campaign")

    def work() -> None:
        assert state.get("campaign", "save", "default") == "default"
        assert (state.read_all("campaign", "journal"), state.keys("campaign")) == ([], [])
        assert state.meta("campaign", "save") is None
        for write in (
            lambda: state.put("campaign", "save", 2),
            lambda: state.append("campaign", "journal", "b"),
            lambda: state.append_many("campaign", "journal", ["b"]),
            lambda: state.replace("campaign", "journal", []),
            lambda: state.delete("campaign", "save"),
            lambda: state.delete("campaign"),
        ):
            with pytest.raises(RuntimeError, match="private and locked"):
                write()

    await in_thread(work)
    await box.vault.unlock(PASSPHRASE)
    assert await in_thread(lambda: (state.get("campaign", "save"), state.read_all("campaign", "journal"))) == (1, ["a"])


HOOKS = """
from core.plugin_loader import plugin_loader
from core.hooks import HookEvent

def chat_deleted(event):
    assert isinstance(event, HookEvent)
    state = plugin_loader.get_chat_state("game")
    seen = [event.metadata["name"], state.read_all(event.metadata["name"], "journal"), state.get_all_chats("save")]
    plugin_loader.get_plugin_state("game").save("deleted", seen)

def handle(event):
    store = plugin_loader.get_plugin_state("game")
    store.save("other", [*store.get("other", []), event.metadata])
    if "old" not in event.metadata:
        state = plugin_loader.get_chat_state("game")
        store.save("left", state.read_all(event.chat_name, "journal"))
"""


@pytest.mark.contract("S-149", "S-167", "S-168", "S-148")
async def test_hooks_are_told_when_rows_are_gone_or_stay(box: SapphireRig, state: PluginChatState) -> None:
    hooks = dict.fromkeys(("chat_deleted", "chat_cleared", "chat_renamed"), "hooks/chats.py")
    box.plugin(
        "game", {"hooks/chats.py": HOOKS, "tools/g.py": GAME}, capabilities={"hooks": hooks, "tools": ["tools/g.py"]}
    )
    await box.load()
    assert box.sentences == []
    await in_thread(lambda: (state.put("campaign", "save", 1), state.append("campaign", "journal", "a")))
    kept = box.contract.states.of("game")

    await box.chats.clear("campaign")
    assert kept.get("left") == ["a"], "clearing a chat keeps its rows, and tells"
    await box.chats.rename("campaign", "war")
    assert kept.get("other")[-1] == {"name": "war", "chat": "war", "old": "campaign", "new": "war"}
    await box.chats.delete("war")
    assert kept.get("deleted") == ["war", [], {}]
    gone = await box.database.arun(lambda c: c.execute("SELECT count(*) FROM chat_rows").fetchone())
    assert gone == (0,)


async def test_rows_go_in_one_transaction_with_their_chat(box: SapphireRig, state: PluginChatState) -> None:
    await in_thread(lambda: state.append_many("campaign", "journal", ["a", "b"]))

    def fail(connection: Any) -> None:
        connection.execute("DELETE FROM chats WHERE name = 'campaign'")
        raise sqlite3.OperationalError("the disk is full")

    with pytest.raises(Exception, match="the disk is full"):
        await box.database.arun(fail)
    assert await in_thread(lambda: state.read_all("campaign", "journal")) == ["a", "b"]


@pytest.mark.contract("S-152")
async def test_a_plugin_may_have_a_database_of_its_own(box: SapphireRig) -> None:
    body = (
        "import sqlite3\nfrom pathlib import Path\n"
        "with sqlite3.connect(Path(__file__).parent / 'own.db') as db:\n"
        "    db.execute('CREATE TABLE IF NOT EXISTS notes (text)')\n"
        "    db.execute('INSERT INTO notes VALUES (?)', (arguments['text'],))\n"
        "    return str(db.execute('SELECT count(*) FROM notes').fetchone()[0]), True"
    )
    await box.load_tool(body)
    assert [(await box.call(text="a")).text, (await box.call(text="b")).text] == ["1", "2"]


# -------------------------------------------------------------------------------------------------- hooks


async def load_hooks(box: SapphireRig, **plugins: tuple[str, dict[str, Any]]) -> None:
    """Plugins with one hook file each, which is given an event called ``moment``."""
    for name, (body, manifest) in plugins.items():
        source = "def moment(event):\n" + "\n".join(f"    {line}" for line in body.splitlines()) + "\n"
        capabilities = {"hooks": {"moment": "h.py"}}
        box.plugin(name, {"h.py": source}, capabilities=capabilities, **manifest)
    await box.load()


async def test_hooks_run_by_priority_on_one_event_and_one_that_fails_costs_itself(
    box: SapphireRig, caplog: pytest.LogCaptureFixture
) -> None:
    await load_hooks(
        box,
        late=("event.input += ' late'", {"priority": 60}),
        early=("event.input += ' early'", {"priority": 10}),
        broken=("event.input += ' broken'\nraise SystemExit('no')", {"priority": 20}),
    )
    event = await box.beside.hooks.fire("moment", input="first")
    assert event.input == "first early broken late"
    assert "the hook moment of plugin broken failed: it called sys.exit" in caplog.text
    assert (await box.beside.hooks.fire("another moment")).input == ""


async def test_a_hook_that_is_a_coroutine_is_told_to_its_author(
    box: SapphireRig, caplog: pytest.LogCaptureFixture
) -> None:
    box.plugin("p", {"h.py": "async def moment(event):\n    pass\n"}, capabilities={"hooks": {"moment": "h.py"}})
    await box.load()
    await box.beside.hooks.fire("moment")
    assert "the hook moment of plugin p failed: a hook must be a plain def" in caplog.text


async def test_a_hook_can_end_the_round(box: SapphireRig) -> None:
    await load_hooks(
        box,
        first=("event.response = 'mine'\nevent.stop_propagation = True", {"priority": 1}),
        second=("event.response = 'no, mine'", {"priority": 2}),
    )
    event = await box.beside.hooks.fire("moment")
    assert (event.response, event.stop_propagation) == ("mine", True)


async def test_a_hook_that_hangs_is_left_behind(box: SapphireRig, caplog: pytest.LogCaptureFixture) -> None:
    gate = "from tests.contracts.gate import GATES\nGATES[0].block()"
    from tests.contracts.gate import GATES, Gate

    GATES[:] = [made := Gate()]
    await load_hooks(box, stuck=(gate, {"priority": 1}), good=("event.input = 'done'", {"priority": 2}))
    firing = asyncio.create_task(box.beside.hooks.fire("moment"))
    await made.reached()
    await box.clock.advance(11)
    assert (await firing).input == "done"
    assert "took longer than 10 s" in caplog.text
    made.open()


async def test_in_a_private_chat_only_aware_plugins_are_told(box: SapphireRig) -> None:
    await load_hooks(
        box,
        aware=("event.context_parts.append('aware')", {"privacy_aware": True}),
        other=("event.context_parts.append('other')", {}),
    )
    assert (await box.beside.hooks.fire("moment", is_private=True)).context_parts == ["aware"]
    assert sorted((await box.beside.hooks.fire("moment")).context_parts) == ["aware", "other"]


async def test_hooks_that_cannot_be_used_are_told_and_the_plugin_loads(box: SapphireRig) -> None:
    files = {
        "good.py": "def moment(event):\n    event.input = 'x'\n",
        "bad.py": "import nothing_here\n",
        "empty.py": "",
    }
    hooks = {"moment": "good.py", "on_wake": "bad.py", "post_chat": "empty.py", "pre_chat": "../outside.py"}
    box.plugin(
        "p",
        {**files, "tools/t.py": tool_file("probe", "return 'x', True")},
        capabilities={"hooks": hooks, "tools": ["tools/t.py"]},
    )
    await box.load()
    assert box.names == ["probe"]
    bad, empty, outside = box.sentences
    assert "is not used" in bad and "No module named 'nothing_here'" in bad
    assert empty == "p: its hook post_chat is not used: it has neither post_chat() nor handle()"
    assert "is not used" in outside and ".py file inside the plugin's folder" in outside
    assert box.beside.hooks.has("moment") and not box.beside.hooks.has("on_wake")
    box.switch(disabled=("p",))
    await box.load()
    assert not box.beside.hooks.has("moment"), "a plugin that is not loaded is told nothing"


def test_an_event_of_a_hook_begins_empty() -> None:
    assert HookEvent().context_parts is not HookEvent().context_parts


# -------------------------------------------------------------------------------------------------- scopes


async def test_a_chat_has_its_own_accounts(box: SapphireRig) -> None:
    await box.chats.create("office")
    assert await box.chats.set_scopes("office", {"email": "work", "github": "none"}) == {
        "email": "work",
        "github": "none",
    }
    assert await box.chats.set_scopes("office", {"github": ""}) == {"email": "work"}
    office = (await box.chats.info("office")).chat
    assert box.chats.keys.scopes_of(office) == {"email": "work"}
    await box.chats.rename("office", "desk")
    assert (box.chats.keys.scopes_of(office), box.chats.keys.name_of(office)) == ({"email": "work"}, "desk")
    await box.chats.delete("desk")
    assert box.chats.keys.scopes_of(office) == {}


async def test_what_a_tool_does_to_a_scope_ends_with_its_call(box: SapphireRig) -> None:
    body = (
        "from core.chat.function_manager import scope_email\n"
        "before = scope_email.get()\nscope_email.set('changed')\nreturn str(before), True"
    )
    box.plugin("mail", {"tools/m.py": tool_file("mail", body)}, capabilities={"scopes": [{"key": "email"}]})
    await box.load()
    assert [(await box.call("mail")).text, (await box.call("mail")).text] == ["default", "default"]
