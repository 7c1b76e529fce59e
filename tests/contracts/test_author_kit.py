"""New plugins are good as they are, and their tests run in a box of fakes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.clock import FakeClock
from appliance.contracts.author.checking import check
from appliance.contracts.author.skeletons import skeleton, write_skeleton
from appliance.contracts.kotoba.context import ToolContext
from appliance.errors import UsageError
from appliance.store.credentials import Credentials
from appliance.testing import fixtures
from appliance.testing.scripts import ScriptedModel, ScriptedNetwork
from appliance.testing.under_test import PluginUnderTest

ctx, no_network = fixtures.ctx, fixtures.no_network

SLOW = """
from kotoba.core.loop import note_tool_failure
SCHEMA = {"type": "function", "name": "tides", "description": "Tides.", "parameters": {"type": "object"}}
RISK = "write"
TIMEOUT = 45
ANNOUNCE = "Reading the chart."
HEARTBEAT = ["Still reading.", "Nearly there."]
COMPLETE = "Here it is."
FAIL = "The chart would not load."
EXPRESSIONS = {"focus": "determined", "fail": "confused"}

async def execute(args, ctx):
    if not args:
        note_tool_failure("no harbour")
        return "Which harbour?"
    return "High at noon."
"""


@pytest.fixture
def made(tmp_path: Path) -> Iterator[list[PluginUnderTest]]:
    """Plugins under test that are taken apart at the end."""
    boxes: list[PluginUnderTest] = []
    yield boxes
    for box in boxes:
        box.close()


def open_plugin(made: list[PluginUnderTest], tmp_path: Path, path: Path) -> PluginUnderTest:
    folder = tmp_path / f"box-{len(made)}"
    made.append(PluginUnderTest(path, folder, FakeClock(), ScriptedModel(), ScriptedNetwork()))
    return made[-1]


def write(folder: Path, **files: str) -> Path:
    for name, source in files.items():
        path = folder / "tides" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    return folder / "tides"


@pytest.mark.parametrize("contract", ["module", "tool"])
async def test_a_new_plugin_is_good_without_a_remark(tmp_path: Path, contract: str) -> None:
    write_skeleton(tmp_path, "hall-lamp", contract)
    report = await check(tmp_path / "hall-lamp", Credentials(tmp_path / "none.json", {}, FakeClock()))
    assert report.findings == ()
    assert (report.contract, [tool.name for tool in report.offered]) == (contract, ["hall_lamp"])


@pytest.mark.parametrize("name", ["", "Lamp", "9lamp", "hall lamp", "../lamp", "box_lamp"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"cannot be the name of a plugin|the box's own"):
        skeleton(name, "module")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    write_skeleton(tmp_path, "lamp", "module")
    with pytest.raises(UsageError, match="exists already"):
        write_skeleton(tmp_path, "lamp", "tool")


def test_a_call_by_itself_tells_how_it_ended(made: list[PluginUnderTest], tmp_path: Path) -> None:
    plugin = open_plugin(made, tmp_path, write(tmp_path, tides=SLOW))
    assert (plugin.tools, plugin.offered, plugin.problems) == (["tides"], ["tides"], [])
    assert plugin.schema("tides")["description"] == "Tides."
    good, bad = plugin.call("tides", harbour="Cork"), plugin.call("tides")
    assert (good.outcome, good.text) == ("ok", "High at noon.")
    assert (bad.outcome, bad.error) == ("failed", "no harbour")
    with pytest.raises(AssertionError, match="there is no tool 'tide'; there are: tides"):
        plugin.call("tide")


@pytest.mark.contract("K-054", "K-056", "K-057", "K-109")
def test_a_turn_tells_what_was_heard_around_a_slow_call(made: list[PluginUnderTest], tmp_path: Path) -> None:
    plugin = open_plugin(made, tmp_path, write(tmp_path, tides=SLOW))
    plugin.model.calls("tides", harbour="Cork")
    plugin.model.says("It is high at noon.")
    turn = plugin.ask("when is high tide", slow_seconds=32)
    assert turn.said == ["Reading the chart.", "Still reading.", "Nearly there.", "Here it is.", "It is high at noon."]
    assert turn.faces[:1] == ["determined"]
    assert (turn.calls, turn.steps) == ([("tides", "ok")], [("tides", "green", "")])
    assert plugin.model.results == ["High at noon."]
    assert "tides" in plugin.model.tools


def test_a_turn_tells_of_a_failure(made: list[PluginUnderTest], tmp_path: Path) -> None:
    plugin = open_plugin(made, tmp_path, write(tmp_path, tides=SLOW.replace('"write"', '"exec"')))
    plugin.model.calls("tides")
    plugin.model.says("Tell me the harbour.")
    turn = plugin.ask("when is high tide")
    assert turn.said == ["Reading the chart.", "The chart would not load.", "Tell me the harbour."]
    assert "confused" in turn.faces
    assert turn.steps == [("tides", "red", "no harbour")]


def test_a_script_that_is_too_short_is_told(made: list[PluginUnderTest], tmp_path: Path) -> None:
    plugin = open_plugin(made, tmp_path, write(tmp_path, tides=SLOW))
    with pytest.raises(AssertionError, match="the script has no more answers"):
        plugin.ask("when is high tide")


def test_the_network_answers_as_the_test_says_and_nobody_else_does(made: list[PluginUnderTest], tmp_path: Path) -> None:
    write_skeleton(tmp_path, "lamp", "tool")
    tool = tmp_path / "lamp" / "tools" / "lamp.py"
    body = """
    from core import net
    try:
        answer = net.post("http://lamp.lan/api", json={"on": True}, timeout=5)
    except OSError as error:
        return f"no: {error}", False
    return f"{answer.status_code} {answer.json()['state']} {(plugin_settings or {})['greeting']}", True
"""
    source = tool.read_text()
    tool.write_text(source[: source.index("def execute")] + "def execute(n, a, c, plugin_settings=None):" + body)
    plugin = open_plugin(made, tmp_path, tmp_path / "lamp")

    away = plugin.call("lamp")
    plugin.network.answers("http://lamp.lan/", json={"state": "bright"})
    plugin.set(greeting="Hi")
    there = plugin.call("lamp")
    plugin.network.is_away("http://lamp.lan/")

    assert away.outcome == "failed" and "network.answers" in away.text
    assert (there.outcome, there.text) == ("ok", "200 bright Hi")
    request = plugin.network.requests[-1]
    assert (request.method, request.url, request.body) == ("POST", "http://lamp.lan/api", b'{"on": true}')
    assert plugin.call("lamp").outcome == "failed"


def test_keys_make_a_tool_available(made: list[PluginUnderTest], tmp_path: Path) -> None:
    source = "import os\n" + SLOW + "\ndef check():\n    return bool(os.getenv('TIDE_KEY'))\n"
    plugin = open_plugin(made, tmp_path, write(tmp_path, tides=source))
    assert plugin.offered == []
    plugin.keys(TIDE_KEY="sesame-open")
    assert plugin.offered == ["tides"]


def test_a_broken_plugin_is_told_and_its_module_can_be_looked_at(made: list[PluginUnderTest], tmp_path: Path) -> None:
    plugin = open_plugin(made, tmp_path, write(tmp_path, tides=SLOW, torn="SCHEMA = {"))
    (problem,) = plugin.problems
    assert problem.startswith("torn.py: it is not loaded: line 1 is not Python")
    assert plugin.module("tides").ANNOUNCE == "Reading the chart."


def test_execute_can_be_called_by_hand(ctx: ToolContext) -> None:
    async def by_hand() -> tuple[bool, str | None]:
        assert ctx.workdir is not None
        (ctx.workdir / "note.txt").write_text("hello")
        return await ctx.approval.confirm("open the door"), await ctx.read_text("note.txt")

    assert asyncio.run(by_hand()) == (True, "hello")


def test_no_test_of_a_plugin_reaches_the_network(no_network: None) -> None:
    import socket

    with pytest.raises(OSError, match=r"wanted to reach example\.org"):
        socket.getaddrinfo("example.org", 80)
    with socket.socket() as one, pytest.raises(OSError, match="wanted to reach"):
        one.connect(("192.0.2.1", 80))
