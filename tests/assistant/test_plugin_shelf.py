"""Plugins switched, loaded anew and looked at while the box runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from appliance.errors import UsageError
from tests.assistant.conftest import MakeRig
from tests.assistant.rig import Rig as BoxRig
from tests.contracts.rig import tool_source
from tests.contracts.sapphire_rig import tool_entry, tool_file

COUNTED = "import os\nLOADED = []\nLOADED.append(1)\n"


@pytest.fixture
async def box(make_rig: MakeRig) -> AsyncIterator[BoxRig]:
    """A box at rest; plugins are put into its home while it is on."""
    yield await make_rig()


def put(box: BoxRig, place: str, source: str) -> Path:
    path = box.home.plugins_folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, encoding="utf-8")
    return path


def put_tools(box: BoxRig, name: str, manifest: str = "", **files: str) -> None:
    tools = ", ".join(f'"tools/{file}.py"' for file in files)
    capabilities = f'"capabilities": {{"tools": [{tools}]{manifest}}}'
    put(box, f"{name}/plugin.json", f'{{"name": "{name}", "default_enabled": true, {capabilities}}}')
    for file, source in files.items():
        put(box, f"{name}/tools/{file}.py", source)


async def rows(box: BoxRig) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in await box.control.call("plugin.list") if row["is_on"] or row["tools"]}


def names(box: BoxRig) -> set[str]:
    return {tool.name for tool in box.box.registry.tools if tool.origin != "box"}


@pytest.mark.contract("K-092")
async def test_a_plugin_goes_off_and_on_while_its_neighbour_stays_as_it_is(box: BoxRig) -> None:
    put(box, "tides/high.py", COUNTED + tool_source("high", "return str(len(LOADED))"))
    put(box, "moon/full.py", "STATE = []\n" + tool_source("full", "STATE.append(1)\nreturn str(len(STATE))"))
    for name in ("tides", "moon"):
        await box.control.call("plugin.reload", {"name": name})
    assert names(box) == {"high", "full"}
    await box.control.call("tool.run", {"name": "full"})

    off = await box.control.call("plugin.switch", {"name": "tides", "on": False})
    assert (off["is_on"], off["tools"], names(box)) == (False, [], {"full"})
    assert off["note"] == "switched off; appliance plugin on tides switches it on"
    on = await box.control.call("plugin.switch", {"name": "tides", "on": True})

    assert (on["is_on"], on["tools"], names(box)) == (True, ["high"], {"high", "full"})
    assert (await box.control.call("tool.run", {"name": "full"}))["text"] == "2"


async def test_both_contracts_are_listed_with_what_is_wrong_and_what_to_do(box: BoxRig) -> None:
    put(
        box,
        "tides/high.py",
        "import os\n" + tool_source("high", "return 'x'") + "def check():\n    return bool(os.getenv('TIDE_KEY'))\n",
    )
    put(box, "torn/torn.py", "SCHEMA = {\n")
    put_tools(box, "lamps", ', "services": [{"name": "x"}]', lamp=tool_file("lamp_on", "return 'on', True"))
    for name in ("tides", "torn", "lamps"):
        await box.control.call("plugin.reload", {"name": name})
    found = await rows(box)
    assert (found["tides"]["contract"], found["tides"]["missing_keys"]) == ("module", ["TIDE_KEY"])
    assert (found["torn"]["is_loaded"], found["torn"]["tools"]) == (False, [])
    assert found["torn"]["problems"][0].startswith("torn.py: it is not loaded: line 1 is not Python")
    assert (found["lamps"]["contract"], found["lamps"]["tools"]) == ("tool", ["lamp_on"])
    assert found["lamps"]["not_used"] == ["services"]


async def test_a_saved_file_is_loaded_anew_and_a_broken_one_takes_its_tool_away(box: BoxRig) -> None:
    put(box, "tides/high.py", tool_source("high", "return 'noon'"))
    await box.control.call("plugin.reload", {"name": "tides"})
    put(box, "tides/high.py", tool_source("high", "return 'evening'"))
    await box.control.call("plugin.reload", {"name": "tides"})
    assert (await box.control.call("tool.run", {"name": "high"}))["text"] == "evening"
    put(box, "tides/high.py", "SCHEMA = {\n")
    row = await box.control.call("plugin.reload", {"name": "tides"})
    assert (row["is_loaded"], names(box)) == (False, set())
    (box.home.plugins_folder / "tides" / "high.py").unlink()
    assert await box.control.call("plugin.reload", {"name": "tides"}) is None


async def test_two_that_want_one_name_are_told_apart_also_later(box: BoxRig) -> None:
    put_tools(box, "lamps", lamp=tool_file("light", "return 'lamps', True"))
    await box.control.call("plugin.reload", {"name": "lamps"})
    put_tools(box, "bulbs", bulb=tool_file("light", "return 'bulbs', True"))
    await box.control.call("plugin.reload", {"name": "bulbs"})
    assert (await box.control.call("tool.run", {"name": "light"}))["text"] == "lamps"
    why = await box.control.call("tool.why", {"name": "light"})
    assert any("bulbs" in sentence and "has the name of one of plugin:lamps" in sentence for sentence in why["more"])
    await box.control.call("plugin.switch", {"name": "lamps", "on": False})
    await box.control.call("plugin.reload", {"name": "bulbs"})
    assert (await box.control.call("tool.run", {"name": "light"}))["text"] == "bulbs"


async def test_settings_are_typed_kept_and_described_at_once_and_secrets_are_not_shown(box: BoxRig) -> None:
    settings = (
        ', "settings": [{"key": "seconds", "type": "number", "default": 5},'
        ' {"key": "token", "type": "password", "help": "From the maker."}]'
    )
    source = (
        "import json\nfrom pathlib import Path\n"
        "def get_tools():\n"
        "    seconds = json.loads(Path('user/webui/plugins/lamps.json').read_text()).get('seconds')\n"
        f"    return [{tool_entry('lamp', description='takes {seconds} s')}]\n".replace("'takes", "f'takes")
        + "TOOLS = []\n"
        + "def execute(function_name, arguments, config, plugin_settings):\n"
        + "    return repr(plugin_settings), True\n"
    )
    put_tools(box, "lamps", settings, lamp=source.replace("Path('user", f"Path('{box.home.folder}/user"))
    await box.control.call("plugin.reload", {"name": "lamps"})
    changed = await box.control.call(
        "plugin.set", {"name": "lamps", "values": {"seconds": "9", "token": "sesame-open"}}
    )

    assert {setting["key"]: setting["value"] for setting in changed["settings"]} == {"seconds": 9, "token": "set"}
    assert (await box.control.call("tool.why", {"name": "lamp"}))["schema"]["description"] == "takes 9 s"
    ran = await box.control.call("tool.run", {"name": "lamp"})
    assert ran["text"] == "{'seconds': 9, 'token': '[secret]'}"
    for params, sentence in (
        ({"name": "lamps", "values": {"seconds": "soon"}}, "seconds is a number"),
        ({"name": "nobody", "values": {"a": 1}}, "there is no plugin 'nobody'"),
        ({"name": "lamps", "values": {}}, "which settings"),
    ):
        with pytest.raises(UsageError, match=sentence):
            await box.control.call("plugin.set", params)


async def test_everything_about_one_plugin(box: BoxRig) -> None:
    body = "from core import net\nreturn os.environ['LAMP_KEY'], True"
    source = "import subprocess, os\n" + tool_file("lamp", body)
    put_tools(box, "lamps", lamp=source)
    await box.control.call("plugin.reload", {"name": "lamps"})
    found = await box.control.call("plugin.info", {"name": "lamps"})
    (tool,) = found["tools"]
    assert (tool["risk"], tool["why_risk"]) == ("exec", "it imports subprocess (tools/lamp.py, line 1)")
    assert tool["private_chats"] == "in a private chat it is refused, by its flag is_local"
    assert tool["voice"]["fail"]
    assert found["lanes"][0].startswith("core.net: into the house directly")
    assert found["keys"] == {"LAMP_KEY": False}
    assert len(found["digest"]) == 64


async def test_why_finds_a_tool_in_a_plugin_that_is_switched_off(box: BoxRig) -> None:
    put(box, "tides/high.py", tool_source("high_tide", "return 'x'"))
    await box.control.call("plugin.reload", {"name": "tides"})
    await box.control.call("plugin.switch", {"name": "tides", "on": False})
    with pytest.raises(UsageError, match=r"the plugin tides, which is switched off, names it in high\.py"):
        await box.control.call("tool.why", {"name": "high_tide"})


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("def check():\n    return False", "its check() says that it cannot work now"),
        ("def check():\n    raise ValueError('no sea')", "its check() could not be asked: ValueError: no sea"),
    ],
)
async def test_why_says_what_a_check_said(box: BoxRig, lines: str, sentence: str) -> None:
    put(box, "tides/high.py", tool_source("high", "return 'x'") + f"\n{lines}\n")
    await box.control.call("plugin.reload", {"name": "tides"})
    why = await box.control.call("tool.why", {"name": "high"})
    assert why["why_not"] == "it says that it is not available now"
    assert sentence in why["more"]


async def test_why_says_that_a_tool_is_hidden_and_that_it_is_refused_in_private(box: BoxRig) -> None:
    hidden = tool_file("secret_lamp", "return 'x', True", flags='"hidden": True,')
    put_tools(box, "lamps", lamp=hidden)
    await box.control.call("plugin.reload", {"name": "lamps"})
    more = (await box.control.call("tool.why", {"name": "secret_lamp"}))["more"]
    assert more[0].startswith("its author hides it (hidden)")
    assert "in a private chat it is refused, by its flag is_local" in more


async def test_a_switch_that_is_neither_is_a_usage_error(box: BoxRig) -> None:
    with pytest.raises(UsageError, match="on is true, false or null"):
        await box.control.call("plugin.switch", {"name": "x", "on": "yes"})
    with pytest.raises(UsageError, match="which plugin"):
        await box.control.call("plugin.reload", {})
