"""What a plugin tool is to the rest of the box: its risk, its lines, its flags, its place beside the other contract."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from appliance.clock import FakeClock
from appliance.contracts.kotoba.contract import KotobaContract
from appliance.contracts.kotoba.discover import PluginRoot, Source
from appliance.contracts.kotoba.module_tool import Surroundings
from appliance.contracts.plugin_files import PluginFiles
from appliance.contracts.sapphire.exports import Flags
from appliance.contracts.sapphire.risk import risk_of_file, with_flags
from appliance.contracts.switch import PluginSwitch
from appliance.events import Outcome
from appliance.tools.tool import CallContext, Risk, VoiceLines
from appliance.turn import Turn
from tests.contracts.sapphire_rig import SapphireRig, tool_file

SAY = "return 'said', True"


# -------------------------------------------------------------------------------------------------------- risk


@pytest.mark.parametrize(
    ("source", "risk", "reason"),
    [
        ("import json\n", Risk.WRITE, "neither"),
        ("import os\nos.path.join('a')\nos.environ\n", Risk.WRITE, "neither"),
        ("import urllib.parse\nfrom urllib.parse import quote\n", Risk.WRITE, "neither"),
        ("import requests\n", Risk.NETWORK, "it imports requests (t.py, line 1)"),
        ("def f():\n    from core import net\n", Risk.NETWORK, "it imports core.net (t.py, line 2)"),
        ("import urllib.request\n", Risk.NETWORK, "it imports urllib.request"),
        ("from core.socks_proxy import get_session\n", Risk.NETWORK, "it imports core.socks_proxy.get_session"),
        ("import requests\nimport subprocess as s\n", Risk.EXEC, "it imports subprocess (t.py, line 2)"),
        ("import os\nos.system('x')\n", Risk.EXEC, "it uses os.system (t.py, line 2)"),
        ("from os import execv\n", Risk.EXEC, "it imports os.execv"),
        ("import asyncio\nasyncio.create_subprocess_shell('x')\n", Risk.EXEC, "asyncio.create_subprocess_shell"),
        ("import ctypes\n", Risk.EXEC, "ctypes"),
        ("def f(x):\n    return eval(x)\n", Risk.EXEC, "it calls eval() (t.py, line 2)"),
        ("import re\nre.compile('x')\nmodel.eval()\n", Risk.WRITE, "neither"),
    ],
)
def test_the_risk_is_read_off_the_code(tmp_path: Path, source: str, risk: Risk, reason: str) -> None:
    (tmp_path / "t.py").write_text(source)
    derived = risk_of_file(tmp_path, tmp_path / "t.py")
    assert derived.risk is risk
    assert reason in derived.reason


@pytest.mark.parametrize(
    "line",
    [
        "from .helper import run",
        "from . import helper",
        "import helper",
        "from ..lib.helper import run",
        "from plugins.p.lib import helper",
        "import importlib; importlib.import_module('plugins.p.lib.helper')",
    ],
)
def test_what_a_file_imports_from_its_plugin_counts_too(tmp_path: Path, line: str) -> None:
    for place, source in (
        ("tools/t.py", line),
        ("tools/other.py", "import ctypes"),
        ("lib/helper.py", "import subprocess"),
        ("tests/helper.py", "import ctypes"),
    ):
        SapphireRig.write(tmp_path / place, source + "\n")
    derived = risk_of_file(tmp_path, tmp_path / "tools" / "t.py")
    assert derived.reason == "it imports subprocess (lib/helper.py, line 1)"


@pytest.mark.parametrize(
    ("flags", "risk"),
    [
        (Flags(), Risk.WRITE),
        (Flags(is_local=True), Risk.WRITE),
        (Flags(is_local=False), Risk.NETWORK),
        (Flags(is_local="endpoint"), Risk.NETWORK),
        (Flags(is_network=True), Risk.NETWORK),
    ],
)
def test_a_flag_that_says_it_goes_out_counts(tmp_path: Path, flags: Flags, risk: Risk) -> None:
    (tmp_path / "t.py").write_text("import json\n")
    assert with_flags(risk_of_file(tmp_path, tmp_path / "t.py"), flags).risk is risk


async def test_the_owners_judgement_replaces_what_was_read(tmp_path: Path) -> None:
    box = SapphireRig(tmp_path, risks={"judged": Risk.READ})
    top = "import subprocess"
    box.plugin("p", {"tools/a.py": tool_file("judged", SAY, top), "tools/b.py": tool_file("plain", SAY, top)})
    await box.load()
    assert (box.tool("judged").risk, box.tool("judged").is_risk_declared) == (Risk.READ, True)
    assert (box.tool("plain").risk, box.tool("plain").is_risk_declared) == (Risk.EXEC, False)
    assert box.record("p").risk_reasons["plain"] == "it imports subprocess (tools/b.py, line 1)"
    await box.call("plain")
    assert [request.risk for request in box.desk.requests] == [Risk.EXEC]
    await box.close()


# ------------------------------------------------------------------------------------------------------- lines


async def test_a_plugin_without_words_gets_friendly_ones_with_its_name(box: SapphireRig) -> None:
    box.plugin("hue", {"tools/a.py": tool_file("lamp", SAY)}, display_name="Hue Lamps")
    await box.load()
    lines = box.tool("lamp").voice_lines
    assert "Hue Lamps" in lines.announce
    assert lines.heartbeat and "Hue Lamps" in lines.heartbeat[0]
    assert lines.complete and lines.fail
    assert "{" not in "".join((lines.announce, *lines.heartbeat, lines.complete, lines.fail))


async def test_settings_and_soul_bring_their_own_lines(tmp_path: Path) -> None:
    box = SapphireRig(tmp_path, soul={"plug": {"fail": "The soul is sorry."}, "p": {"heartbeat": ["Hm."]}})
    box.plugin("p", {"tools/a.py": tool_file("lamp", SAY), "tools/b.py": tool_file("plug", SAY)})
    await box.load()
    block = {"before": "I see to it.", "fail": "Sorry.", "after": "", "plug": {"before": "The plug, then."}}
    await box.contract.save_settings("p", {"voice": block})
    assert box.tool("lamp").voice_lines == VoiceLines("I see to it.", ("Hm.",), "", "Sorry.")
    assert box.tool("plug").voice_lines == VoiceLines("The plug, then.", ("Hm.",), "", "The soul is sorry.")
    await box.contract.save_settings("p", {"voice": "af_heart"})
    assert box.tool("lamp").voice_lines.announce != "I see to it.", "a text is the plugin's own business"
    await box.contract.change_soul({"p": {"heartbeat": []}, "plug": {"after": "There."}})
    assert (box.tool("plug").voice_lines.heartbeat, box.tool("plug").voice_lines.complete) == ((), "There.")
    assert "sorry" not in box.tool("plug").voice_lines.fail
    await box.close()


# ------------------------------------------------------------------------------------------------------- flags


@pytest.mark.contract("S-019", "S-157", "S-158", "S-159", "S-160", "S-161", "S-162")
@pytest.mark.parametrize(
    ("flag", "usual", "unflagged_allowed"),
    [
        ("'is_local': True,", True, True),
        ("", False, True),
        ("'is_local': False,", False, False),
        ("'is_local': 'endpoint',", False, False),
        ("'is_local': 'cloud',", False, False),
    ],
)
async def test_a_private_chat_runs_only_what_stays_in_the_house(
    box: SapphireRig, flag: str, usual: bool, unflagged_allowed: bool
) -> None:
    await box.load_tool("return 'ran', True", flags=flag)
    assert (await box.call()).text == "ran"
    box.is_private = True
    result = await box.call()
    assert (result.outcome is Outcome.OK) == usual
    if not usual:
        assert result.outcome is Outcome.REFUSED
        assert "this chat is private" in result.text
    box.write(box.home.folder / "user" / "settings.json", '{"PRIVATE_ALLOW_UNFLAGGED_TOOLS": true}')
    await box.contract.refresh_checks()
    assert ((await box.call()).outcome is Outcome.OK) == unflagged_allowed


async def test_a_tool_can_see_that_the_chat_is_private(box: SapphireRig) -> None:
    body = "from core.chat.function_manager import scope_private\nreturn str(scope_private.get()), True"
    await box.load_tool(body, flags="'is_local': True,")
    box.is_private = True
    assert (await box.call()).text == "True"


@pytest.mark.contract("S-020", "S-163", "S-164", "S-165")
async def test_labels_and_hiding_stop_nothing(box: SapphireRig) -> None:
    await box.load_tool(SAY, flags="'hidden': True, 'network': True,")
    assert box.tool("probe").flags == Flags(None, is_network=True, is_hidden=True)
    assert box.offered() == {}
    assert (await box.call()).text == "said"


# ------------------------------------------------------------------------------------------- beside the others


async def test_success_and_failure_reach_whoever_watches_the_call(box: SapphireRig) -> None:
    await box.load_tool("return 'x', arguments['good']")
    outcomes = [(await box.call(good=good)).outcome for good in (True, False)]
    assert outcomes == [Outcome.OK, Outcome.FAILED]
    assert [result.outcome for result in box.observer.results] == outcomes


async def test_the_network_modules_are_served_when_the_box_has_them(tmp_path: Path) -> None:
    network: dict[str, dict[str, Any]] = {
        "core.net": {"get": lambda url: f"got {url}"},
        "core.socks_proxy": {"register_direct_hosts": lambda fn, owner: None},
    }
    box = SapphireRig(tmp_path, network=network)
    await box.load_tool(
        "import core.net as again\nassert again is net\nreturn net.get('http://nas/'), True",
        "from core import net\nfrom core.socks_proxy import register_direct_hosts\n"
        "register_direct_hosts(lambda: ['x.example'], owner='test')",
    )
    assert (await box.call()).text == "got http://nas/"
    box.switch(disabled=("test",))
    await box.load()
    assert box.forgotten == ["test"]
    await box.close()


async def test_both_contracts_live_side_by_side(box: SapphireRig, tmp_path: Path) -> None:
    """The same helper names, in one folder of plugins and in one process."""
    roots = [PluginRoot(box.home.plugins_folder, Source.OWNER)]
    modules = KotobaContract(
        host=box.host,
        clock=FakeClock(),
        roots=roots,
        switch=PluginSwitch(box.home.switch_file),
        surroundings=Surroundings(workdir=tmp_path / "work"),
        entry_points=lambda: (),
    )
    folder = box.home.plugins_folder / "other"
    box.write(folder / "config.py", "NAME = 'a neighbour'\n")
    box.write(
        folder / "show.py",
        "import config\nfrom kotoba.tools import ToolContext\n"
        "SCHEMA = {'type': 'function', 'name': 'show', 'description': 'x'}\n"
        "async def execute(args, ctx):\n    import config as again\n    return config.NAME + again.NAME\n",
    )
    await box.load_tool("import config\nreturn str(config.PRIVATE_ALLOW_UNFLAGGED_TOOLS), True")
    report = await modules.load()
    assert [tool.name for tool in report.tools] == ["show"]
    turn = Turn("voice")
    context = CallContext("c", turn.turn_id, "chat", "voice", turn)
    shown = await report.tools[0].invoke({}, context)
    assert (await box.call()).text == "False"
    assert shown.text == "a neighboura neighbour"


def test_a_permission_is_for_the_files_of_a_plugin_whatever_its_folder_is_called(tmp_path: Path) -> None:
    rig = SapphireRig(tmp_path)
    folder = rig.plugin("lamp", {"tools/a.py": tool_file("a", SAY)}, folder="my-lamp-main")
    files = PluginFiles([PluginRoot(rig.home.plugins_folder, Source.OWNER)], lambda: ())
    before = files.digest("plugin:lamp")
    assert before
    rig.write(folder / "tools" / "a.py", tool_file("a", "return 'changed', True"))
    assert files.digest("plugin:lamp") not in ("", before)
