"""Which plugins and which of their tools are loaded, and what is said about those that are not."""

from __future__ import annotations

import asyncio
import builtins
import json
import sys
from pathlib import Path

import pytest

from appliance.contracts.sapphire.contract import Holder, Refusal
from appliance.contracts.sapphire.exports import Flags
from appliance.contracts.sapphire.manifest import ManifestError, parse_manifest
from tests.contracts.gate import Gate
from tests.contracts.sapphire_rig import SAMPLE, SapphireRig, tool_entry, tool_file

SAY = "return 'said', True"


@pytest.mark.contract("S-001", "S-002", "S-003", "S-017", "S-018", "S-170", "S-172")
async def test_the_sample_of_the_page_loads_unchanged_and_answers(box: SapphireRig) -> None:
    folder = box.plugin("my-tool", {"tools/my_tool.py": SAMPLE})
    box.write(folder / "tools" / "undeclared.py", tool_file("undeclared", SAY))

    report = await box.load()

    assert report.problems == ()
    assert box.offered() == {
        "my_tool_do_thing": {
            "type": "function",
            "name": "my_tool_do_thing",
            "description": "Does the thing",
            "parameters": {
                "type": "object",
                "properties": {"target": {"type": "string", "description": "What to do it to"}},
                "required": ["target"],
            },
        }
    }
    assert (await box.call("my_tool_do_thing", target="the lamp")).text == "Did the thing to the lamp"
    tool = box.tool("my_tool_do_thing")
    assert (tool.origin, tool.toolset, tool.facts.emoji) == ("plugin:my-tool", "plugin_my-tool_my_tool", "🔧")


@pytest.mark.contract("S-004")
async def test_one_file_offers_several_tools_and_hears_which_was_called(box: SapphireRig) -> None:
    source = f"TOOLS = [{tool_entry('one')}, {tool_entry('two')}]\ndef execute(n, a, c):\n    return n, True\n"
    box.plugin("p", {"tools/a.py": source})
    await box.load()
    assert [(await box.call(name)).text for name in ("one", "two")] == ["one", "two"]


@pytest.mark.contract("S-169", "S-171", "S-173")
async def test_what_a_file_exports_decides_what_it_offers(box: SapphireRig) -> None:
    two = f"TOOLS = [{tool_entry('a1')}, {tool_entry('a2')}]\ndef execute(n, a, c):\n    return n, True\n"
    box.plugin(
        "p",
        {
            "tools/a.py": f"AVAILABLE_FUNCTIONS = ['a2']\n{two}",
            "tools/off.py": f"ENABLED = False\n{tool_file('off', SAY)}",
            "tools/mode.py": tool_file("m1", SAY, "MODE_FILTER = {'monolith': ['m2']}"),
            "tools/other_mode.py": tool_file("m3", SAY, "MODE_FILTER = {'assembled': []}"),
            "tools/no_execute.py": f"TOOLS = [{tool_entry('n')}]\n",
            "tools/no_tools.py": "def execute(n, a, c):\n    return n, True\n",
            "tools/odd.py": f"TOOLS = ['x', {{'function': {{}}}}, {tool_entry('odd')}, {tool_entry('odd')}]\n"
            "def execute(n, a, c):\n    return n, True\n",
        },
    )

    await box.load()

    assert box.names == ["a2", "m3", "odd"]
    assert box.tool("odd").flags == Flags(None, False, False)
    assert box.sentences == [
        "p: it offers no tools: it has no execute()",
        "p: it offers no tools: it has no TOOLS",
        "p: an entry of TOOLS has no function with a name, and is left out",
        "p: an entry of TOOLS has no function with a name, and is left out",
        "p: TOOLS has odd twice; the first one counts",
    ]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("import not_there_at_all\n", "needs the Python package not_there_at_all, which is not installed; try: pip"),
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)\n", "tried to end the program"),
        ("def (\n", "line 1 is not Python"),
        ("from core import images\n", "does not offer core.images; it offers core.api_fastapi"),
        ("import core.embeddings\n", "does not offer core.embeddings"),
        ("from core.plugin_loader import Loader\n", "does not offer Loader in core.plugin_loader; it offers there: Pl"),
        ("from functions import memory\n", "does not offer functions"),
        ("from config import NOTHING\n", "has no setting NOTHING in config"),
        ("from plugins.gone.tools import x\n", "there is no plugin gone here"),
    ],
)
async def test_a_broken_file_costs_only_itself(box: SapphireRig, source: str, sentence: str) -> None:
    box.plugin("p", {"tools/a.py": source, "tools/b.py": tool_file("b", SAY)})
    box.plugin("q", {"tools/c.py": tool_file("c", SAY)})

    await box.load()

    assert box.names == ["b", "c"]
    assert len(box.sentences) == 1
    assert sentence in box.sentences[0]


async def test_a_file_that_hangs_while_it_is_loaded_is_given_up(box: SapphireRig, gate: Gate) -> None:
    box.plugin("p", {"tools/a.py": "from tests.contracts.gate import GATES\nGATES[0].block()\n"})
    box.plugin("q", {"tools/c.py": tool_file("c", SAY)})
    loading = asyncio.create_task(box.load())
    await gate.reached()
    await box.clock.advance(21)
    await loading

    assert box.names == ["c"]
    assert box.sentences == ["p: it is not loaded: it took longer than 20 s"]


async def test_tool_files_stay_inside_their_plugin(box: SapphireRig) -> None:
    box.write(box.home.plugins_folder / "outside.py", "raise SystemExit('must not run')")
    box.plugin("p", capabilities={"tools": ["../outside.py", "tools/missing.py", "/etc/passwd"]})
    await box.load()
    assert box.sentences == [
        "p: it is not loaded: a tool file is a .py file inside the plugin's folder",
        "p: it is not loaded: there is no such file, although plugin.json names it",
        "p: it is not loaded: a tool file is a .py file inside the plugin's folder",
    ]
    assert box.record("p").is_loaded


# ---------------------------------------------------------------------------------------------------- manifest


async def test_a_folder_without_a_usable_manifest_is_told_and_skipped(box: SapphireRig) -> None:
    box.write(box.home.plugins_folder / "a" / "plugin.json", "{")
    box.write(box.home.plugins_folder / "b" / "plugin.json", '{"version": "1"}')
    box.write(box.home.plugins_folder / "c" / "plugin.json", '{"name": "../c"}')
    box.write(box.home.plugins_folder / "d" / "tool.py", "raise SystemExit('the other contract')")
    await box.load()
    assert [sentence.split(":")[0] for sentence in box.sentences] == ["a", "b", "c"]
    assert "is not JSON" in box.sentences[0]
    assert "the name in its plugin.json" in box.sentences[1]


def test_a_manifest_is_read_with_its_defaults_and_keeps_what_is_unknown() -> None:
    manifest = parse_manifest(
        {
            "name": "hello-there",
            "description": "Says hello, and more",
            "priority": "high",
            "unheard_of": {"x": 1},
            "capabilities": {
                "tools": ["tools/a.py", 3],
                "settings": [{"key": "pin", "widget": "password"}, {"key": "n", "type": "number", "default": 3}, {}],
                "scopes": [{"key": "hello"}],
                "hooks": {"pre_chat": "hooks/a.py"},
                "voice_commands": [{"triggers": ["stop"], "bypass_llm": True, "handler": "v.py"}],
                "schedule": [{"name": "daily", "handler": "s.py"}],
                "daemon": {"entry": "daemon.py"},
                "routes": [{"path": "x"}],
                "web": {"settingsUI": "x"},
                "widgets": [],
                "services": [{"name": "x"}],
            },
        }
    )
    assert (manifest.title, manifest.spoken_name, manifest.priority) == ("Says hello", "hello there", 50)
    assert not manifest.is_on_by_default
    assert manifest.defaults == {"n": 3}
    assert [entry.is_secret for entry in manifest.settings] == [True, False]
    assert manifest.scopes[0].default == "default"
    assert manifest.hooks == {"pre_chat": "hooks/a.py"}
    assert (manifest.voice_commands[0].match, manifest.voice_commands[0].is_bypassing_model) == ("exact", True)
    assert (manifest.schedule[0].cron, manifest.schedule[0].is_enabled) == ("0 9 * * *", True)
    assert manifest.daemon == {"entry": "daemon.py"}
    assert manifest.not_used == ("services",)
    assert manifest.raw["unheard_of"] == {"x": 1}
    assert len(manifest.remarks) == 3


@pytest.mark.parametrize("raw", [None, [], {}, {"name": ""}, {"name": 3}, {"name": "a b"}, {"name": ".hidden"}])
def test_a_manifest_without_a_name_that_can_be_a_file_is_none(raw: object) -> None:
    with pytest.raises(ManifestError):
        parse_manifest(raw)


# ---------------------------------------------------------------------------------------------------- on and off


async def test_a_plugin_that_is_off_is_not_even_opened(box: SapphireRig) -> None:
    bomb = {"tools/a.py": "raise SystemExit('must not run')"}
    box.plugin("shy", bomb, default_enabled=False)
    box.plugin("off", bomb)
    box.plugin("on", {"tools/on.py": tool_file("on", SAY)}, default_enabled=False)
    box.plugin("both", {"tools/both.py": tool_file("both", SAY)})
    box.plugin("curious", {"tools/c.py": "import plugins.off.tools.a\n"})
    box.switch(enabled=("on", "both"), disabled=("off", "both"))

    await box.load()

    assert box.names == ["both", "on"]
    assert [box.record(name).is_loaded for name in ("shy", "off", "on", "both")] == [False, False, True, True]
    assert box.record("shy").note == "switched off; appliance plugin on shy switches it on"
    assert box.sentences == [
        "curious: it is not loaded: it imports what this box does not offer: "
        "there is no plugin off here, or it is switched off"
    ]


async def test_missing_packages_are_named_with_the_way_to_get_them(box: SapphireRig) -> None:
    bomb = {"tools/a.py": "raise SystemExit('must not run')"}
    box.plugin("p", bomb, pip_dependencies=["pytest>=1", "not-there-at-all==2.0", "neither_this"])
    await box.load()
    assert box.sentences == [
        "p: it is not loaded: it needs what is not installed; "
        "install it with: pip install not-there-at-all==2.0 neither_this"
    ]
    assert not box.record("p").is_loaded


async def test_the_owners_plugin_stands_in_for_the_shipped_one_of_its_name(box: SapphireRig) -> None:
    box.plugin("p", {"tools/a.py": tool_file("shipped_tool", SAY)}, is_shipped=True)
    box.plugin("p", {"tools/a.py": tool_file("own_tool", SAY)}, folder="elsewhere")
    await box.load()
    assert box.names == ["own_tool"]
    assert box.record("p").note == "instead of the shipped plugin of this name"


async def test_a_changed_copy_in_a_folder_of_the_same_name_stands_in_too(box: SapphireRig) -> None:
    box.plugin("p", {"tools/a.py": tool_file("a", "return 'shipped', True")}, is_shipped=True)
    box.plugin("mine", {"tools/a.py": tool_file("a", "return 'own', True")}, folder="p")
    await box.load()
    assert [record.name for record in box.report.plugins] == ["mine"]
    assert (await box.call("a")).text == "own"


async def test_plugins_load_in_the_order_of_their_priority_the_owners_first(box: SapphireRig) -> None:
    box.plugin("a", {"tools/a.py": tool_file("a", SAY)}, is_shipped=True, priority=1)
    box.plugin("b", {"tools/b.py": tool_file("b", SAY)}, priority=90)
    box.plugin("c", {"tools/c.py": tool_file("c", SAY)}, priority=10)
    await box.load()
    assert box.names == ["c", "b", "a"]
    assert [box.record(name).priority for name in "abc"] == [1, 190, 110]


# ---------------------------------------------------------------------------------------------------- one name


async def test_between_strangers_the_first_keeps_the_name_and_the_other_is_taken_out_whole(box: SapphireRig) -> None:
    box.plugin("a", {"tools/a.py": tool_file("same", "return 'a', True")})
    box.plugin(
        "b",
        {"tools/b.py": tool_file("same", "return 'b', True"), "tools/c.py": tool_file("other", SAY)},
        capabilities={"scopes": [{"key": "bee"}]},
    )
    report = await box.load()

    assert (box.names, (await box.call("same")).text) == (["same"], "a")
    assert report.refusals == (
        Refusal(
            "b",
            "its tool same has the name of one of plugin:a",
            "switch one of the two off, or give the tool another name",
        ),
    )
    assert not box.record("b").is_loaded
    assert "plugins.b.tools.b" not in sys.modules
    assert box.forgotten == ["b"]


async def test_the_box_keeps_its_names_and_an_owners_tool_beats_a_shipped_one(box: SapphireRig) -> None:
    box.plugin("a", {"tools/a.py": tool_file("set_timer", SAY)})
    box.plugin("b", {"tools/b.py": tool_file("roll_dice", SAY)})
    box.plugin("c", {"tools/c.py": tool_file("lamp", "return 'own', True")})
    box.plugin(
        "d",
        {"tools/d.py": tool_file("lamp", "return 'shipped', True"), "tools/e.py": tool_file("plug", SAY)},
        is_shipped=True,
    )
    taken = {"set_timer": Holder("box"), "roll_dice": Holder("plugin:dice", is_shipped=True)}

    report = await box.load(taken)

    assert box.names == ["roll_dice", "lamp", "plug"]
    assert (await box.call("lamp")).text == "own"
    assert report.taken_over == {"roll_dice"}
    assert [refusal.plugin for refusal in report.refusals] == ["a"]
    assert box.record("d").note == "lamp is that of plugin:c"


# ------------------------------------------------------------------------------------------------- imports, modules


async def test_a_tool_file_is_one_module_under_its_canonical_name(box: SapphireRig) -> None:
    """The body runs once, whoever asks for it, and files find each other in every way."""
    counting = "import builtins\nbuiltins.loads = getattr(builtins, 'loads', 0) + 1\nSHARED = []\n"
    box.plugin(
        "a-b",
        {
            "tools/first.py": "import importlib\nsecond = importlib.import_module('plugins.a-b.tools.second')\n"
            "from . import helper\nfrom ..lib.deep import DEEP\n"
            + tool_file("first", "second.SHARED.append(DEEP + helper.WORD)\nreturn str(second.SHARED), True"),
            "tools/second.py": counting + tool_file("second", "return str(SHARED), True"),
            "tools/helper.py": "from config import PRIVATE_ALLOW_UNFLAGGED_TOOLS as WANTED\nWORD = f'help {WANTED}'\n",
            "lib/deep.py": "DEEP = 'deep '\n",
        },
        capabilities={"tools": ["tools/first.py", "tools/second.py"]},
    )
    vars(builtins).pop("loads", None)
    await box.load()
    assert box.sentences == []
    await box.call("first")
    assert (await box.call("second")).text == "['deep help False']"
    assert vars(builtins).pop("loads") == 1
    module = sys.modules["plugins.a-b.tools.second"]
    assert module.__name__ == "plugins.a-b.tools.second"
    assert Path(str(module.__file__)) == box.home.plugins_folder / "a-b" / "tools" / "second.py"


async def test_a_plugin_may_import_another_one_that_is_on(box: SapphireRig) -> None:
    box.plugin("base", {"tools/store.py": tool_file("store", SAY, "SHARED = {'n': 1}")}, priority=60)
    box.plugin(
        "user",
        {"tools/u.py": tool_file("use", "from plugins.base.tools.store import SHARED\nreturn str(SHARED['n']), True")},
    )
    await box.load()
    assert (await box.call("use")).text == "1"


async def test_a_plugin_may_bring_modules_below_core(box: SapphireRig) -> None:
    top = "import sys\nfrom pathlib import Path\nsys.path.append(str(Path(__file__).parent.parent))\n"
    source = top + tool_file("log", "import core.log_parser as parser\nreturn parser.parse(), True")
    box.plugin("log-doctor", {"tools/log.py": source, "core/log_parser.py": "def parse():\n    return 'parsed'\n"})
    before = list(sys.path)
    try:
        await box.load()
        assert (await box.call("log")).text == "parsed"
    finally:
        sys.path[:] = before


async def test_loading_again_starts_from_scratch(box: SapphireRig) -> None:
    folder = box.plugin("p", {"tools/a.py": tool_file("a", "return 'old', True")})
    await box.load()
    box.write(folder / "tools" / "a.py", tool_file("a", "return 'new', True"))
    await box.load()
    assert (await box.call("a")).text == "new"
    assert not list(folder.rglob("*.pyc"))


async def test_config_is_the_business_of_plugins_only(box: SapphireRig) -> None:
    """A neighbour called config.py, of the other contract's plugins or of anybody, is not shadowed."""
    await box.load_tool("import config\nreturn config.__name__, True")
    assert (await box.call()).text == "config"
    assert "config" not in sys.modules


async def test_the_root_config_points_to_the_home_and_carries_the_owners_settings(box: SapphireRig) -> None:
    tool = await box.load_tool(
        "from pathlib import Path\nimport config as root\n"
        "return f'{Path(config.__file__).parent} {root is config} {config.MY_KEY}', True",
        "SETTINGS_GATED = {'probe': 'MY_KEY'}",
    )
    assert not tool.available()
    assert (
        (await box.call()).text == "Error executing probe: this box has no setting MY_KEY in config; "
        "there are: PRIVATE_ALLOW_UNFLAGGED_TOOLS"
    )
    box.write(box.home.folder / "user" / "settings.json", json.dumps({"MY_KEY": "yes"}))
    await box.contract.refresh_checks()
    assert tool.available()
    assert (await box.call()).text == f"{box.home.folder} True yes"
