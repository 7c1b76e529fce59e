"""Which tool modules are loaded, in which order, and what is said about those that are not."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest

from appliance.contracts.kotoba.contract import PluginRecord
from appliance.contracts.kotoba.discover import Source
from appliance.events import Outcome
from appliance.tools.tool import Expressions, Risk, VoiceLines
from tests.contracts.gate import Gate
from tests.contracts.rig import PING, Rig, schema_line, tool_source

SAY = "return 'said'"


@pytest.mark.contract("K-001", "K-002", "K-003", "K-022", "K-113", "K-114", "K-115")
async def test_the_smallest_tool_of_the_page_loads_and_answers(rig: Rig) -> None:
    rig.write("pong/ping.py", PING)

    report = await rig.load()

    assert report.problems == ()
    tool = rig.tool("ping")
    assert (tool.origin, tool.toolset, tool.risk) == ("plugin:pong", "plugin:pong", Risk.READ)
    assert (tool.voice_lines, tool.expressions, tool.is_interactive) == (VoiceLines(), Expressions(), False)
    assert rig.registry.select().schemas == (
        {
            "type": "function",
            "name": "ping",
            "description": "Reply with pong.",
            "parameters": {"type": "object", "properties": {}, "required": []},
        },
    )
    result = await rig.call("ping")
    assert (result.text, result.outcome) == ("pong", Outcome.OK)
    assert report.plugins == (PluginRecord("pong", Source.OWNER, ("ping",), is_loaded=True),)


@pytest.mark.contract("K-012", "K-114")
async def test_folders_and_single_files_load_in_sorted_order(rig: Rig) -> None:
    rig.write("zoo/b.py", tool_source("zoo_b", SAY))
    rig.write("zoo/a.py", tool_source("zoo_a", SAY))
    rig.write("alone.py", tool_source("alone", SAY))

    await rig.load()

    assert rig.names == ["alone", "zoo_a", "zoo_b"]
    assert rig.tool("alone").toolset == "plugin:alone"


async def test_hidden_and_private_names_are_skipped(rig: Rig) -> None:
    for place in ("_off/a.py", ".git/a.py", "_x.py", "p/_private.py", "p/__init__.py", "p/deep/a.py", "p/a.txt"):
        rig.write(place, "raise SystemExit('must not run')")
    rig.write("p/a.py", tool_source("a", SAY))

    report = await rig.load()

    assert (rig.names, report.problems) == (["a"], ())


async def test_a_folder_of_the_other_contract_is_left_alone(rig: Rig) -> None:
    rig.write("other/plugin.json", "{}")
    rig.write("other/tool.py", "raise SystemExit('must not run')")

    report = await rig.load()

    assert (report.tools, report.problems, report.plugins) == ((), (), ())


@pytest.mark.contract("K-004", "K-005", "K-006", "K-007", "K-008")
@pytest.mark.parametrize("source", ["x = 1\n", "SCHEMA = None\n", "SCHEMA = ['a']\n", "SCHEMA = 'a'\n"])
async def test_a_module_without_a_dict_schema_is_no_tool_and_nobody_talks_about_it(
    rig: Rig, source: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="appliance")
    rig.write("helper_only/helper.py", source)
    rig.write("p/helper.py", source)
    rig.write("p/tool.py", tool_source("tool", SAY))

    report = await rig.load()

    assert rig.names == ["tool"]
    assert report.problems == ()
    assert [record.name for record in report.plugins] == ["p"]
    assert [record for record in caplog.records if record.name.startswith("appliance")] == []


@pytest.mark.contract("K-010")
async def test_a_nameless_schema_takes_the_name_of_its_file_and_shows_it_to_the_model(rig: Rig) -> None:
    rig.write("p/tide_table.py", 'SCHEMA = {"description": "Tides."}\nasync def execute(args, ctx): return "high"\n')

    await rig.load()

    assert rig.names == ["tide_table"]
    assert rig.registry.select().schemas[0]["name"] == "tide_table"


@pytest.mark.contract("K-009")
async def test_a_schema_may_name_the_tool_differently_from_its_file(rig: Rig) -> None:
    rig.write("p/file.py", tool_source("other_name", SAY))
    await rig.load()
    assert rig.names == ["other_name"]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import not_there_at_all\n", "it needs the Python package not_there_at_all, which is not installed"),
        ("def broken(:\n", "line 1 is not Python"),
        ("raise RuntimeError('sad')\n", "RuntimeError: sad"),
        ("import sys\nsys.exit(2)\n", "tried to end the program"),
        ("raise KeyboardInterrupt\n", "tried to end the program"),
        ("import asyncio\nraise asyncio.CancelledError\n", "tried to end the program"),
        ("from kotoba.core.loop import run_everything\n", "run_everything"),
        ("import kotoba.core.gate\n", "does not offer kotoba.core.gate; it offers kotoba.tools"),
        ("from . import nowhere\n", "nowhere"),
        ("\x00", "null"),
    ],
)
async def test_a_broken_file_is_named_with_its_reason_and_its_neighbours_load(
    rig: Rig, source: str, words: str
) -> None:
    rig.write("p/a_broken.py", source)
    rig.write("p/b_fine.py", tool_source("fine", SAY))
    rig.write("q/ping.py", PING)

    report = await rig.load()

    assert rig.names == ["fine", "ping"]
    problem = report.problems[0]
    assert (problem.plugin, problem.file) == ("p", "a_broken.py")
    assert problem.sentence.startswith("it is not loaded: ")
    assert words in problem.sentence
    assert (await rig.call("fine")).text == "said"


async def test_a_file_that_is_not_utf8_is_named(rig: Rig) -> None:
    rig.write("p/a.py", "").write_bytes(b"x = '\xff\xfe'\n")
    report = await rig.load()
    assert len(report.problems) == 1


async def test_a_module_that_hangs_while_it_loads_is_given_up_and_the_rest_loads(rig: Rig, gate: Gate) -> None:
    rig.write("p/a_hangs.py", "from tests.contracts.gate import GATES\nGATES[0].block()\n" + schema_line("hangs"))
    rig.write("p/b_fine.py", tool_source("fine", SAY))
    loading = asyncio.create_task(rig.load())
    await gate.reached()

    await rig.clock.advance(20.0)
    report = await loading

    assert rig.names == ["fine"]
    assert report.problems[0].sentence == "it is not loaded: loading it took longer than 20 s"
    assert (await rig.call("fine")).text == "said"


@pytest.mark.contract("K-092")
async def test_a_plugin_that_is_switched_off_is_listed_and_never_opened(rig: Rig) -> None:
    rig.write("off/a.py", "raise SystemExit('must not run')")
    rig.write("on/a.py", tool_source("on", SAY))
    rig.switch_file.write_text(json.dumps({"enabled": [], "disabled": ["off"]}))

    report = await rig.load()

    assert rig.names == ["on"]
    assert report.problems == ()
    assert report.plugins[0] == PluginRecord("off", Source.OWNER, (), is_loaded=False)


@pytest.mark.parametrize("text", ["{", "[]", '{"disabled": "p"}', '{"disabled": [5, null]}'])
async def test_a_damaged_switch_file_switches_nothing_off(rig: Rig, text: str) -> None:
    rig.write("p/a.py", tool_source("a", SAY))
    rig.switch_file.write_text(text)

    report = await rig.load()

    assert rig.names == ["a"]
    assert all("plugins.json" in problem.sentence for problem in report.problems)


@pytest.mark.contract("K-091", "K-092", "K-093")
async def test_switching_off_takes_all_tools_of_a_plugin_whatever_their_toolset_says(rig: Rig) -> None:
    rig.write("p/a.py", tool_source("a", SAY, 'TOOLSET = "core"'))
    rig.write("p/b.py", tool_source("b", SAY, 'TOOLSET = "plugin:q"'))
    rig.write("q/c.py", tool_source("c", SAY))
    await rig.load()
    assert {tool.name: tool.toolset for tool in rig.report.tools} == {"a": "plugin:p", "b": "plugin:p", "c": "plugin:q"}

    rig.switch_file.write_text(json.dumps({"disabled": ["p"]}))
    await rig.load()

    assert rig.names == ["c"]


async def test_the_owners_plugin_beats_the_shipped_one_and_the_list_says_so(rig: Rig) -> None:
    """Architecture 4.10."""
    rig.write("dice/roll.py", tool_source("roll", "return 'shipped'"), is_shipped=True)
    rig.write("dice/roll.py", tool_source("roll", "return 'own'"))

    report = await rig.load()

    assert (await rig.call("roll")).text == "own"
    assert report.plugins[0].note == "instead of the shipped plugin of this name"


async def test_the_owners_tool_beats_a_shipped_one_of_the_same_name(rig: Rig) -> None:
    """Architecture 4.10."""
    rig.write("kitchen/convert.py", tool_source("convert", "return 'shipped'"), is_shipped=True)
    rig.write("mine/convert.py", tool_source("convert", "return 'own'"))

    await rig.load()

    assert (await rig.call("convert")).text == "own"
    assert rig.sentences == ["kitchen: its tool convert is not added: plugin:mine has one of that name"]


async def test_between_strangers_the_first_tool_of_a_name_stays(rig: Rig) -> None:
    rig.write("a/x.py", tool_source("same", "return 'a'"))
    rig.write("b/x.py", tool_source("same", "return 'b'"))

    await rig.load()

    assert (await rig.call("same")).text == "a"


async def test_a_folder_and_a_file_of_one_name_are_one_plugin(rig: Rig) -> None:
    rig.write("p/a.py", tool_source("a", SAY))
    rig.write("p.py", tool_source("b", SAY))

    report = await rig.load()

    assert report.plugins == (PluginRecord("p", Source.OWNER, ("a", "b"), is_loaded=True),)


async def test_missing_folders_hold_nothing(rig: Rig) -> None:
    report = await rig.load()
    assert (report.tools, report.problems, report.plugins) == ((), (), ())


async def test_loading_again_sees_what_was_edited_and_writes_no_byte_code(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    rig.write("p/words.py", "WORD = 'old'\n")
    rig.write("p/a.py", "from .words import WORD\n" + tool_source("a", "return WORD"))
    await rig.load()
    assert (await rig.call("a")).text == "old"

    rig.write("p/words.py", "WORD = 'new'\n")
    await rig.load()

    assert (await rig.call("a")).text == "new"
    assert list(rig.home.rglob("*.pyc")) == []


# ------------------------------------------------------------------------------------------ neighbours


async def test_files_of_a_folder_may_import_each_other_in_every_way(rig: Rig) -> None:
    rig.write("p/helper.py", "from . import words\nimport words as again\nassert again is words\nVALUE = words.WORD\n")
    rig.write("p/words.py", "WORD = 'yes'\n")
    rig.write("p/a.py", "from helper import VALUE\n" + tool_source("a", "return VALUE"))
    rig.write("p/b.py", tool_source("b", "import helper\nfrom .helper import VALUE\nreturn helper.VALUE + VALUE"))

    await rig.load()

    assert rig.sentences == []
    assert (await rig.call("a")).text == "yes"
    assert (await rig.call("b")).text == "yesyes"


async def test_two_plugins_may_have_a_helper_of_one_name(rig: Rig) -> None:
    for plugin in ("p", "q"):
        rig.write(f"{plugin}/helper.py", f"NAME = '{plugin}'\n")
        rig.write(f"{plugin}/top_{plugin}.py", "import helper\n" + tool_source(f"top_{plugin}", "return helper.NAME"))
        rig.write(f"{plugin}/late_{plugin}.py", tool_source(f"late_{plugin}", "import helper\nreturn helper.NAME"))
    await rig.load()

    said = [(await rig.call(name)).text for name in ("top_p", "late_q", "late_p", "top_q")]

    assert said == ["p", "q", "p", "q"]
    assert "helper" not in sys.modules


async def test_a_plugin_gets_its_own_helper_while_a_call_of_another_is_waiting(rig: Rig) -> None:
    for plugin in ("p", "q"):
        rig.write(f"{plugin}/helper.py", f"import threading\nNAME = '{plugin}'\nSTARTED = threading.Event()\n")
    rig.write("p/a.py", tool_source("waits", "import asyncio, helper\nhelper.STARTED.set()\nawait asyncio.sleep(3600)"))
    rig.write("q/a.py", tool_source("asks", "import helper\nreturn helper.NAME"))
    rig.write("p/b.py", "from .helper import STARTED\n")
    await rig.load()
    waiting = rig.start("waits", "call-0")
    started = sys.modules["kotoba_plugin_p.helper"].STARTED
    await asyncio.to_thread(started.wait, 10)

    assert (await rig.call("asks")).text == "q"

    waiting.cancel()


async def test_a_neighbour_never_hides_a_real_module(rig: Rig) -> None:
    rig.write("p/calendar.py", "IS_OURS = True\n")
    rig.write("p/a.py", "import calendar\n" + tool_source("a", "return str(hasattr(calendar, 'IS_OURS'))"))
    await rig.load()
    assert (await rig.call("a")).text == "False"


async def test_a_body_runs_once_even_when_a_neighbour_imports_it_first(rig: Rig) -> None:
    rig.write("p/a.py", "from .b import COUNT\n" + tool_source("a", "return str(len(COUNT))"))
    rig.write("p/b.py", "COUNT = []\nCOUNT.append(1)\n" + tool_source("b", "COUNT.append(1)\nreturn str(len(COUNT))"))
    await rig.load()

    assert (await rig.call("b")).text == "2"
    assert (await rig.call("a")).text == "2"


async def test_a_dataclass_with_postponed_annotations_works_and_the_module_is_known_by_its_name(rig: Rig) -> None:
    rig.write(
        "p/a.py",
        "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int\n"
        + tool_source("a", "return str(Point(3).x)"),
    )
    await rig.load()

    assert (await rig.call("a")).text == "3"
    assert sys.modules["kotoba_plugin_p_a"].Point(4).x == 4


async def test_names_with_dots_and_dashes_load(rig: Rig) -> None:
    rig.write("my-plugin.v2/my-tool.v1.py", tool_source("a", SAY))
    await rig.load()
    assert rig.sentences == []
    assert rig.tool("a").toolset == "plugin:my-plugin.v2"


# ---------------------------------------------------------------------------------------- entry points


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    """A package with three entry points, as pip would leave it."""
    (folder / "tides_package.py").write_text(
        "from types import SimpleNamespace\n"
        "SCHEMA = {'description': 'Tides.'}\n"
        "async def execute(args, ctx): return 'high'\n"
        "class Moon:\n"
        "    SCHEMA = {'name': 'moon', 'description': 'Moon.'}\n"
        "    @staticmethod\n"
        "    async def execute(args, ctx): return 'full'\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    return [
        EntryPoint("tides", "tides_package", "kotoba.tools"),
        EntryPoint("tides", "tides_package:Moon", "kotoba.tools"),
        EntryPoint("broken", "tides_package:Nothing", "kotoba.tools"),
    ]


@pytest.mark.contract("K-011", "K-012")
async def test_tools_of_installed_packages_load_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(tmp_path, entry_points=install(tmp_path, monkeypatch))
    rig.write("z_own/ping.py", PING)
    rig.write("a_shipped/x.py", tool_source("shipped", SAY), is_shipped=True)

    report = await rig.load()

    assert rig.names == ["ping", "tides", "moon", "shipped"]
    assert report.plugins[1] == PluginRecord("tides", Source.ENTRY_POINT, ("tides", "moon"), is_loaded=True)
    assert rig.sentences == [
        "broken: it is not loaded: AttributeError: module 'tides_package' has no attribute 'Nothing'"
    ]
    assert (await rig.call("tides")).text == "high"
    assert (await rig.call("moon")).text == "full"
    await rig.host.close()


async def test_an_entry_point_that_is_switched_off_is_never_loaded(tmp_path: Path) -> None:
    rig = Rig(tmp_path, entry_points=[EntryPoint("off", "not_installed_at_all", "kotoba.tools")])
    rig.switch_file.write_text(json.dumps({"disabled": ["off"]}))

    report = await rig.load()

    assert report.problems == ()
    assert report.plugins == (PluginRecord("off", Source.ENTRY_POINT, (), is_loaded=False),)
    await rig.host.close()


def test_any_object_with_the_attributes_is_read_like_a_module() -> None:
    from appliance.contracts.kotoba import attributes

    found = attributes.read(SimpleNamespace(SCHEMA={"name": "x"}, RISK="exec"), "file", {})

    assert found is not None
    assert (found.name, found.risk) == ("x", Risk.EXEC)
