"""Settings, live descriptions, state, scopes and credentials, as plugins find them."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from appliance.clock import FakeClock
from appliance.contracts.sapphire.state import PluginState, PluginStates
from appliance.errors import StoreError, UsageError
from appliance.events import Outcome
from tests.contracts.gate import Gate
from tests.contracts.sapphire_rig import SapphireRig, tool_file

RELATIVE = """
import json
from pathlib import Path

def _load_settings():
    path = Path("user/webui/plugins/test.json")
    if path.exists():
        return json.loads(path.read_text())
    return {}
"""
FOUR_UP = """
from pathlib import Path
import json

DEFAULTS = {"timeout": 30, "max_results": 10}

def _load_settings():
    path = Path(__file__).parent.parent.parent.parent / "user" / "webui" / "plugins" / "test.json"
    settings = DEFAULTS.copy()
    if path.exists():
        try:
            user = json.loads(path.read_text())
            settings.update(user)
        except Exception:
            pass
    return settings
"""
SHOW = "return json.dumps(_load_settings(), sort_keys=True), True"
FIELDS = [{"key": "color", "type": "string", "default": "red"}, {"key": "size", "type": "number", "default": 2}]


@pytest.fixture
def at_home(box: SapphireRig) -> Iterator[None]:
    """The box runs with its home as the working folder."""
    with chdir(box.home.folder):
        yield


# ---------------------------------------------------------------------------------------------------- settings


@pytest.mark.contract("S-102", "S-103", "S-104", "S-107")
@pytest.mark.parametrize(("sample", "nothing"), [(RELATIVE, {}), (FOUR_UP, {"timeout": 30, "max_results": 10})])
async def test_both_ways_of_the_page_find_the_settings(
    box: SapphireRig, at_home: None, sample: str, nothing: dict[str, Any]
) -> None:
    await box.load_tool(SHOW, sample)
    assert json.loads((await box.call()).text) == nothing
    await box.contract.save_settings("test", {"timeout": 5})
    assert json.loads((await box.call()).text) == {**nothing, "timeout": 5}


@pytest.mark.contract("S-105")
async def test_a_corrupt_settings_file_leaves_the_tool_working(box: SapphireRig) -> None:
    tool_body = f"{SHOW.replace('return ', 'shown = ', 1)}\nreturn str((shown, plugin_settings)), True"
    source = tool_file("probe", tool_body, FOUR_UP, arguments="n, a, c, plugin_settings")
    box.plugin("test", {"tools/probe.py": source}, capabilities={"settings": FIELDS})
    file = box.store_settings("test", '{"timeout": ')
    await box.load()
    assert "'max_results': 10" in (await box.call()).text.replace('"', "'")
    assert "{'color': 'red', 'size': 2}" in (await box.call()).text
    assert file.read_text() == '{"timeout": '

    await box.contract.save_settings("test", {"color": "blue"})
    assert json.loads(file.read_text()) == {"color": "blue"}
    assert len(list(file.parent.glob("test.json.corrupt.*"))) == 1


@pytest.mark.contract("S-012", "S-106", "S-184")
async def test_a_tool_gets_the_defaults_under_what_is_stored_anew_with_each_call(box: SapphireRig) -> None:
    body = (
        "from core.plugin_loader import plugin_loader\n"
        "assert plugin_settings == plugin_loader.get_plugin_settings('test')\n"
        "return str(plugin_settings), True"
    )
    source = tool_file("probe", body, arguments="n, a, c, plugin_settings=None")
    box.plugin("test", {"tools/probe.py": source}, capabilities={"settings": FIELDS})
    box.plugin("other", {"tools/o.py": tool_file("other", "return str(s), True", arguments="n, a, c, s")})
    box.store_settings("test", '{"size": 9, "undeclared": true}')
    await box.load()
    assert (await box.call()).text == "{'color': 'red', 'size': 9, 'undeclared': True}"
    box.store_settings("test", '{"color": "green"}')
    assert (await box.call()).text == "{'color': 'green', 'size': 2}"
    assert (await box.call("other")).text == "{}"


async def test_declared_defaults_are_written_once_for_plugins_that_read_the_file(box: SapphireRig) -> None:
    box.plugin("p", {"tools/a.py": tool_file("a", "return 'x', True")}, capabilities={"settings": FIELDS})
    box.plugin("q", {"tools/b.py": tool_file("b", "return 'x', True")})
    await box.load()
    file = box.home.plugin_settings_folder / "p.json"
    assert json.loads(file.read_text()) == {"color": "red", "size": 2}
    assert not (file.parent / "q.json").exists()
    box.store_settings("p", '{"color": "blue"}')
    await box.load()
    assert json.loads(file.read_text()) == {"color": "blue"}


async def test_saving_merges_key_by_key_and_refuses_what_is_no_json(box: SapphireRig) -> None:
    await box.load_tool("return 'x', True")
    await box.contract.save_settings("test", {"a": 1, "b": {"c": 1}})
    await box.contract.save_settings("test", {"b": {"d": 2}})
    file = box.home.plugin_settings_folder / "test.json"
    assert json.loads(file.read_text()) == {"a": 1, "b": {"d": 2}}
    assert file.stat().st_mode & 0o077 == 0
    with pytest.raises(StoreError):
        await box.contract.save_settings("test", {"a": object()})
    with pytest.raises(UsageError, match="there is no plugin 'nobody'; there are: test"):
        await box.contract.save_settings("nobody", {})


# --------------------------------------------------------------------------------------------------- get_tools

DYNAMIC = """
import json
from pathlib import Path

RUNS = []
LOADS = []

def _load_settings():
    path = Path(__file__).parents[3] / "user/webui/plugins/test.json"
    return json.loads(path.read_text()) if path.exists() else {}

def get_tools():
    cfg = _load_settings()
    RUNS.append(1)
    if cfg.get("break"):
        raise RuntimeError("broken on purpose")
    names = ["draw", *cfg.get("extra", [])]
    return [{"type": "function", "is_local": cfg.get("local", True), "function": {
        "name": name,
        "description": "Draws for " + cfg.get("who", "nobody"),
        "parameters": {"type": "object", "properties": {cfg.get("arg", "text"): {"type": "string"}}},
    }} for name in names]

TOOLS = [{"type": "function", "function": {"name": "static", "description": "static",
          "parameters": {"type": "object", "properties": {}}}}]

def execute(n, a, c):
    return f"{n} {len(RUNS)}", True
"""


@pytest.mark.contract("S-108", "S-109", "S-110", "S-112", "S-113", "S-114", "S-115", "S-116", "S-117")
async def test_descriptions_follow_the_settings_at_once(box: SapphireRig) -> None:
    box.plugin("test", {"tools/draw.py": DYNAMIC})
    box.store_settings("test", '{"who": "Ada"}')
    await box.load()
    assert box.offered()["draw"]["description"] == "Draws for Ada"
    tool = box.tool("draw")
    live, module = tool.entry.live, tool.facts.module
    before = box.offered()["draw"]

    assert await box.contract.save_settings("test", {"who": "Bo", "arg": "scene", "local": False}) == 1

    assert before["description"] == "Draws for Ada", "a turn that is on keeps what it was told"
    after = box.offered()["draw"]
    assert (after["description"], list(after["parameters"]["properties"])) == ("Draws for Bo", ["scene"])
    assert tool.entry.live is live
    assert live["description"] == "Draws for Bo"
    assert tool.flags.is_local is True
    assert tool.facts.module is module is sys.modules["plugins.test.tools.draw"]
    assert (await box.call("draw")).text == "draw 2"


@pytest.mark.contract("S-116", "S-118", "S-119")
async def test_tools_that_come_and_go_or_change_their_name_wait_for_the_next_load(box: SapphireRig) -> None:
    box.plugin("test", {"tools/draw.py": DYNAMIC})
    box.store_settings("test", '{"extra": ["paint"]}')
    await box.load()
    await box.toolsets.save("art", ["paint"])
    await box.toolsets.use(["art"])
    assert await box.contract.save_settings("test", {"extra": ["erase"]}) == 1
    assert list(box.offered()) == ["paint"]
    assert (await box.call("paint")).text == "paint 2"
    await box.toolsets.use(["all"])
    assert list(box.offered()) == ["draw", "paint"]
    await box.load()
    assert list(box.offered()) == ["draw", "erase"]


@pytest.mark.contract("S-111")
async def test_a_get_tools_that_raises_leaves_the_static_list(box: SapphireRig) -> None:
    box.plugin("test", {"tools/draw.py": DYNAMIC})
    box.store_settings("test", '{"break": true}')
    await box.load()
    assert list(box.offered()) == ["static"]
    assert box.sentences == ["test: its get_tools() failed (RuntimeError: broken on purpose), so its TOOLS are used"]
    assert (await box.call("static")).text == "static 1"


async def test_a_get_tools_that_raises_on_a_save_keeps_what_was(box: SapphireRig) -> None:
    box.plugin("test", {"tools/draw.py": DYNAMIC})
    await box.load()
    assert await box.contract.save_settings("test", {"break": True, "who": "Bo"}) == 0
    assert box.offered()["draw"]["description"] == "Draws for nobody"
    assert "broken on purpose" in box.sentences[0]


@pytest.mark.contract("S-120")
async def test_a_save_without_get_tools_changes_nothing(box: SapphireRig) -> None:
    await box.load_tool("return 'x', True")
    before = box.offered()
    assert await box.contract.save_settings("test", {"who": "Bo"}) == 0
    assert box.offered() == before


# ------------------------------------------------------------------------------------------------------- state


@pytest.fixture
def states(tmp_path: Path) -> Iterator[tuple[PluginStates, list[str]]]:
    told: list[str] = []
    made = PluginStates(tmp_path / "plugin_state", FakeClock().now, told.append)
    yield made, told
    made.close()


@pytest.mark.contract("S-121", "S-122", "S-123", "S-124", "S-126", "S-127", "S-128", "S-129")
async def test_a_plugin_keeps_its_state_as_the_page_shows(box: SapphireRig) -> None:
    body = (
        "from core.plugin_loader import plugin_loader\n"
        "state = plugin_loader.get_plugin_state('my-plugin')\n"
        "assert state is plugin_loader.get_plugin_state('my-plugin')\n"
        "seen = [state.get('counter', 0)]\n"
        "state.save('counter', 42)\nstate.save('other', [1])\n"
        "seen += [state.get('counter', 0), state.all()]\n"
        "state.delete('counter')\nstate.delete('counter')\n"
        "seen.append(state.all())\n"
        "state.save('kept', {'a': None})\n"
        "return repr(seen + [plugin_loader.get_plugin_state('another').all()]), True"
    )
    await box.load_tool(body)
    assert (await box.call()).text == "[0, 42, {'counter': 42, 'other': [1]}, {'other': [1]}, {}]"
    file = box.home.folder / "user" / "plugin_state" / "my-plugin.json"
    assert json.loads(file.read_text()) == {"other": [1], "kept": {"a": None}}
    assert file.stat().st_mode & 0o077 == 0
    assert list(file.parent.iterdir()) == [file]
    box.contract.states.of("my-plugin").clear()
    assert json.loads(file.read_text()) == {}


@pytest.mark.contract("S-125")
def test_state_is_there_after_a_restart(states: tuple[PluginStates, list[str]], tmp_path: Path) -> None:
    states[0].of("p").save("k", {"n": 1.5, "text": "ü"})
    again = PluginStates(tmp_path / "plugin_state", states[0]._now, lambda _sentence: None)
    assert again.of("p").all() == {"k": {"n": 1.5, "text": "ü"}}


@pytest.mark.parametrize("value", [object(), {1, 2}, {3: "x"}, float("nan"), b"bytes"])
def test_what_json_cannot_hold_is_refused_before_anything_changes(
    states: tuple[PluginStates, list[str]], tmp_path: Path, value: Any
) -> None:
    state = states[0].of("p")
    state.save("k", 1)
    for attempt in (lambda: state.save("k", value), lambda: state.update_with_lock("k", lambda _old: value)):
        with pytest.raises(TypeError, match="JSON only"):
            attempt()
    assert state.all() == {"k": 1}
    assert [path.name for path in (tmp_path / "plugin_state").iterdir()] == ["p.json"]


@pytest.mark.parametrize("text", ["{", "[1]", "null"])
def test_a_damaged_file_is_set_aside_and_told(
    states: tuple[PluginStates, list[str]], tmp_path: Path, text: str
) -> None:
    folder = tmp_path / "plugin_state"
    folder.mkdir()
    (folder / "p.json").write_text(text)
    state = states[0].of("p")
    assert state.all() == {}
    assert [path.read_text() for path in folder.glob("p.json.corrupt.*")] == [text]
    assert "what the plugin p had stored was damaged" in states[1][0]
    state.save("k", 1)
    assert json.loads((folder / "p.json").read_text()) == {"k": 1}


@pytest.mark.parametrize("name", ["", "../p", "/etc/p", ".p", "a/b", "a\0b"])
def test_a_name_that_is_no_file_name_gets_no_store(states: tuple[PluginStates, list[str]], name: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name"):
        states[0].of(name)


@pytest.mark.contract("S-130")
def test_thirty_two_threads_lose_nothing(states: tuple[PluginStates, list[str]], tmp_path: Path) -> None:
    state = states[0].of("p")

    def work(number: int) -> None:
        for step in range(8):
            state.save(f"key-{number}", step)
            state.update_with_lock("journal", lambda rows, step=step: [*(rows or []), (number, step)])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    stored = json.loads((tmp_path / "plugin_state" / "p.json").read_text())
    assert {stored[f"key-{number}"] for number in range(32)} == {7}
    assert len(stored["journal"]) == 256
    for number in range(32):
        assert [step for who, step in stored["journal"] if who == number] == list(range(8))


def test_a_full_disk_loses_neither_the_old_state_nor_the_truth(
    states: tuple[PluginStates, list[str]], tmp_path: Path
) -> None:
    state: PluginState = states[0].of("p")
    state.save("k", 1)
    (tmp_path / "plugin_state" / "p.json").unlink()
    (tmp_path / "plugin_state" / "p.json").mkdir()  # replacing a folder by a file fails
    with pytest.raises(OSError):
        state.save("k", 2)
    assert state.get("k") == 1


# ------------------------------------------------------------------------------------- scopes, what is not there


@pytest.mark.contract("S-096", "S-098", "S-100", "S-101", "S-099")
async def test_scopes_are_there_while_their_plugin_is(box: SapphireRig) -> None:
    body = (
        "from core.chat.function_manager import scope_email, scope_rag, scope_private\n"
        "return str((scope_email.get(), scope_rag.get(), scope_private.get())), True"
    )
    box.plugin("mail", {"tools/m.py": tool_file("mail", body)}, capabilities={"scopes": [{"key": "email"}]})
    box.plugin("peek", {"tools/p.py": tool_file("peek", "from core.chat.function_manager import scope_bitcoin\n")})
    await box.load()
    assert (await box.call("mail", chat="kitchen")).text == "('default', '__rag__:kitchen', False)"
    peek = await box.call("peek")
    assert peek.outcome is Outcome.FAILED
    assert "does not offer scope_bitcoin in core.chat.function_manager; it has scope_email, scope_pri" in peek.text

    box.switch(disabled=("mail",))
    await box.load()
    with pytest.raises(ImportError, match="scope_email"):
        exec("from core.chat.function_manager import scope_email")
    exec("from core.chat.function_manager import scope_rag, scope_private")


@pytest.mark.contract("S-097")
async def test_turns_side_by_side_do_not_see_each_others_account(tmp_path: Path, gate: Gate) -> None:
    accounts = {"a": {"email": "work"}, "b": {"email": "none"}, "c": {"email": ""}}
    box = SapphireRig(tmp_path, accounts=lambda context: accounts.get(context.chat, {}))
    body = (
        "from core.chat.function_manager import scope_email\nfrom tests.contracts.gate import GATES\n"
        "before = scope_email.get()\nGATES[0].block()\nreturn str((before, scope_email.get())), True"
    )
    box.plugin("mail", {"tools/m.py": tool_file("mail", body)}, capabilities={"scopes": [{"key": "email"}]})
    await box.load()
    calls = [box.start("mail", chat=chat) for chat in "abcd"]
    for _ in calls:
        await gate.reached()
    gate.open()
    results = await asyncio.gather(*calls)
    assert [result.text for result in results] == [str((one, one)) for one in ("work", None, "default", "default")]
    await box.close()


async def test_a_scope_that_cannot_be_is_told(box: SapphireRig) -> None:
    fields = [{"key": "two words"}, {"key": "rag"}, {"key": "mine"}]
    box.plugin("p", {"tools/a.py": tool_file("a", "return 'x', True")}, capabilities={"scopes": fields})
    await box.load()
    assert box.sentences == [
        "p: its scope 'two words' is not a name that Python can import",
        "p: its scope rag exists already, from the box",
    ]


async def test_what_the_plugin_loader_does_not_have_is_said(box: SapphireRig) -> None:
    await box.load_tool(
        "from core.plugin_loader import plugin_loader\n"
        "assert plugin_loader.get_plugin_info('nobody') is None\n"
        "assert plugin_loader.get_plugin_info('test')['loaded']\n"
        "return plugin_loader.get_web_page('x')"
    )
    text = (await box.call()).text
    assert text.startswith(
        "Error executing probe: the plugin_loader of this box does not offer get_web_page; it offers "
    )
    assert "get_chat_state, " in text and "get_plugin_info, get_plugin_settings, get_plugin_state" in text


# ------------------------------------------------------------------------------------------------- credentials


@pytest.mark.contract("S-013")
async def test_credentials_are_found_under_the_names_of_the_owner(tmp_path: Path) -> None:
    box = SapphireRig(
        tmp_path,
        secrets={
            "HA_TOKEN": "ha-token-1",
            "WEATHER_API_KEY": "weather-key",
            "SSH_SERVERS": '[{"name": "nas", "host": "nas.lan", "user": "me"}, "junk"]',
            "bitcoin.cold": '{"label": "Cold"}',
            "bitcoin.cold.wif": "wif-secret",
        },
    )
    box.credentials.set("email.work", '{"address": "me@example.com", "imap_port": 143}')
    box.credentials.set("email.work.password", "mail-secret")
    body = (
        "c = credentials\n"
        "mail = c.get_email_account('work')\n"
        "assert mail['app_password'] == 'mail-secret' and mail['address'] == 'me@example.com'\n"
        "assert mail['imap_port'] == 143 and mail['auth_type'] == 'password'\n"
        "assert c.get_email_account('none')['address'] == ''\n"
        "assert c.list_email_accounts() == [{'scope': 'work', 'address': 'me@example.com'}]\n"
        "assert c.get_ssh_servers() == [{'name': 'nas', 'host': 'nas.lan', 'user': 'me', 'port': 22, "
        "'key_path': '', 'enabled': True}]\n"
        "assert c.get_bitcoin_wallet('cold') == {'label': 'Cold', 'wif': 'wif-secret'}\n"
        "assert c.get_ha_token() == 'ha-token-1' and c.get_service_api_key('weather') == 'weather-key'\n"
        "assert c.get_llm_api_key('nobody') == '' and not c.has_socks_credentials()\n"
        "assert c.get_gcal_account() == {} and not c.has_gcal_account()\n"
        "return c.set_ha_token('x')"
    )
    await box.load_tool(body, arguments="n, a, config, s, credentials")
    assert (await box.call()).text == (
        "Error executing probe: the credentials manager of this box does not offer set_ha_token; secrets are changed "
        "by their owner, with: appliance credential set NAME"
    )
    await box.close()
