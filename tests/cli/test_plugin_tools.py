"""Plugins of the second contract in a whole box: listed, run by the owner, called by a model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.scripted_model import ScriptedModel
from tests.cli.shell import Shell
from tests.contracts.sapphire_rig import tool_file
from tests.responses_server import Answer, Call

WHERE = """import json
from pathlib import Path
shown = []
for path in (Path("user/webui/plugins/lamp.json"), Path(__file__).parents[3] / "user/webui/plugins/lamp.json"):
    shown.append(json.loads(path.read_text())["color"])
from core import net
return f"{arguments.get('room', '')} {shown} {plugin_settings} {net.classify('lamp.lan')}", True"""


def plugin(shell: Shell, name: str, *tools: tuple[str, str], place: str = "plugins") -> None:
    """Write a plugin; ``tools`` are names with the bodies of their ``execute``."""
    manifest = {
        "name": name,
        "default_enabled": True,
        "capabilities": {
            "tools": [f"tools/{tool}.py" for tool, _ in tools],
            "settings": [{"key": "color", "type": "string", "default": "red"}],
        },
    }
    shell.write(f"{place}/{name}/plugin.json", json.dumps(manifest))
    for tool, body in tools:
        source = tool_file(tool, body, arguments="function_name, arguments, config, plugin_settings")
        shell.write(f"{place}/{name}/tools/{tool}.py", source)


@pytest.mark.contract("S-001", "S-102", "S-103")
def test_the_owner_lists_and_runs_them_from_anywhere(shell: Shell) -> None:
    plugin(shell, "lamp", ("lamp_light", WHERE))

    listed = {line.split()[0]: line.split()[1:3] for line in shell("tool", "list").out.splitlines()}
    ran = shell("tool", "run", "lamp_light", '{"room": "hall"}')

    assert listed["lamp_light"] == ["network", "plugin:lamp"]
    assert (ran.code, ran.out) == (0, "hall ['red', 'red'] {'color': 'red'} lan\n")
    assert Path.cwd() == shell.folder


@pytest.mark.contract("S-001", "S-014", "S-015")
def test_a_model_is_given_them_and_reads_what_they_return(shell: Shell) -> None:
    plugin(shell, "lamp", ("lamp_light", "return 'no bulb in ' + arguments['room'], False"))
    with ScriptedModel(Answer(calls=(Call("lamp_light", {"room": "hall"}),)), Answer(text="It has no bulb.")) as model:
        ran = shell("ask", "--text", "light in the hall", "--json", "--set", f"think.url={model.url}")
        sent = model.requests[1].body["input"]
    assert ran.json["did"] == ["lamp_light (failed)"]
    assert [item["output"] for item in sent if item["type"] == "function_call_output"] == ["no bulb in hall"]


def test_what_is_broken_is_told_below_the_list(shell: Shell) -> None:
    plugin(shell, "lamp", ("lamp_light", WHERE), ("roll_dice", "return 'mine', True"), ("box_time", "return 'x', True"))
    ran = shell("tool", "list")
    assert "lamp/plugin.json: it is not loaded: its tool box_time has the name of one of box" in ran.err
    assert "lamp_light" not in ran.out


def test_an_owners_plugin_takes_the_name_of_a_shipped_tool(shell: Shell) -> None:
    plugin(shell, "lucky", ("roll_dice", "return 'always six', True"))
    assert shell("tool", "run", "roll_dice").out == "always six\n"
    assert shell("tool", "run", "calculate", '{"expression": "1 + 1"}').code == 0


def test_a_tool_that_starts_programs_waits_for_the_owner_until_the_owner_judges_otherwise(shell: Shell) -> None:
    plugin(shell, "lamp", ("lamp_shell", "import subprocess\nreturn 'started', True"))
    assert shell("tool", "run", "lamp_shell").code == 3
    judged = shell("tool", "run", "lamp_shell", "--set", "tools.risks=lamp_shell=write")
    assert (judged.code, judged.out) == (0, "started\n")
    wrong = shell("tool", "run", "lamp_shell", "--set", "tools.risks=lamp_shell=harmless")
    assert wrong.code == 78
    assert "each entry is NAME=RISK, with one of read, write, exec, network" in wrong.err
