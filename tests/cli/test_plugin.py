"""``plugin list``, ``info``, ``on``, ``off``, ``set``, and keys for one plugin: what an owner sees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.shell import Shell

TIDES = """
import os
SCHEMA = {"type": "function", "name": "tides", "description": "Tides.", "parameters": {"type": "object"}}
FAIL = "No tides."
def check():
    return bool(os.getenv("TIDE_KEY"))
async def execute(args, ctx):
    return f"asked with a key of {len(os.environ['TIDE_KEY'])}"
"""
LAMP = """
ENABLED = True
TOOLS = [{"type": "function", "is_local": True, "function": {"name": "lamp", "description": "Lamp.",
          "parameters": {"type": "object", "properties": {}, "required": []}}}]
def execute(function_name, arguments, config, plugin_settings):
    return f"{plugin_settings['color']} for {plugin_settings['seconds']!r} s", True
"""


@pytest.fixture
def home(shell: Shell) -> Shell:
    """A home with a plugin of each contract."""
    shell.write("plugins/tides/tides.py", TIDES)
    settings = [
        {"key": "color", "type": "string", "default": "red"},
        {"key": "seconds", "type": "number", "default": 5, "help": "How long it is on."},
        {"key": "token", "type": "password"},
    ]
    manifest = {
        "name": "lamps",
        "version": "1.2",
        "short_display_name": "House Lamps",
        "default_enabled": True,
        "capabilities": {"tools": ["tools/lamp.py"], "settings": settings, "widgets": [{"id": "x"}]},
    }
    shell.write("plugins/lamps/plugin.json", json.dumps(manifest))
    shell.write("plugins/lamps/tools/lamp.py", LAMP)
    return shell


def test_the_list_shows_both_contracts_what_is_missing_and_what_to_do(home: Shell) -> None:
    home.write("plugins/torn/torn.py", "SCHEMA = {\n")
    ran = home("plugin", "list")
    assert (ran.code, ran.err) == (0, "")
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["lamps", "1.2", "tool", "owner", "unpinned", "on", "lamp"] in lines
    assert ["tides", "-", "module", "owner", "unpinned", "on", "tides"] in lines
    assert ["dice", "-", "module", "shipped", "-", "on", "roll_dice"] in lines
    assert "! there is no TIDE_KEY, which its code asks for: appliance credential set tides TIDE_KEY" in ran.out
    assert "! not used on this box: widgets" in ran.out
    assert "! torn.py: it is not loaded: line 1 is not Python" in ran.out


def test_the_list_in_json_holds_the_same(home: Shell) -> None:
    rows = {row["name"]: row for row in home("plugin", "list", "--json").json}
    assert rows["tides"]["missing_keys"] == ["TIDE_KEY"]
    assert (rows["lamps"]["title"], rows["lamps"]["not_used"]) == ("House Lamps", ["widgets"])


def test_a_key_for_one_plugin_is_typed_in_kept_for_the_owner_only_and_found_by_it_alone(home: Shell) -> None:
    home.write("plugins/spy/spy.py", TIDES.replace("tides", "spy").replace("return bool", "return not bool"))
    kept = home("credential", "set", "tides", "TIDE_KEY", stdin="sesame-open\n")
    assert (kept.code, kept.err) == (0, "")
    assert kept.out.startswith("TIDE_KEY of tides is kept.") and "sesame" not in kept.out
    assert (home.home / "credentials.json").stat().st_mode & 0o077 == 0
    assert home("credential", "list").out == "tides:TIDE_KEY  file\n"

    assert home("tool", "run", "tides").out == "asked with a key of 11\n"
    assert "TIDE_KEY" not in home("plugin", "list").out
    spied = home("tool", "run", "spy")
    assert spied.code == 1 and "KeyError" in spied.err

    gone = home("credential", "remove", "tides", "TIDE_KEY")
    assert gone.code == 0 and gone.out.startswith("TIDE_KEY of tides is removed.")
    again = home("credential", "remove", "tides", "TIDE_KEY")
    assert again.code == 1 and "the home holds no TIDE_KEY of tides" in again.err


def test_a_secret_for_all_is_not_put_into_anybodys_environment(home: Shell) -> None:
    home("credential", "set", "TIDE_KEY", stdin="sesame-open\n")
    assert "not offered" in home("tool", "why", "tides").out


def test_why_says_what_is_missing_and_how_to_give_it(home: Shell) -> None:
    ran = home("tool", "why", "tides")
    assert ran.out.splitlines()[:3] == [
        "tides (read, from plugin:tides) is not offered: it says that it is not available now",
        "  its check() says that it cannot work now",
        "  there is no TIDE_KEY, which its code asks for; appliance credential set tides TIDE_KEY keeps one",
    ]


def test_off_and_on_last_and_say_what_is_offered(home: Shell) -> None:
    off = home("plugin", "off", "lamps")
    assert (off.code, off.out.splitlines()[0]) == (0, "lamps is off")
    assert "! switched off; appliance plugin on lamps switches it on" in off.out
    assert home("tool", "run", "lamp").code == 2
    why = home("tool", "why", "lamp")
    assert why.code == 2 and "appliance plugin on lamps switches it on" in why.err
    on = home("plugin", "on", "lamps")
    assert (on.code, on.out.splitlines()[0]) == (0, "lamps is on: lamp")
    assert home("tool", "run", "lamp").code == 0


def test_on_for_one_that_cannot_be_loaded_fails_and_says_why(home: Shell) -> None:
    home.write("plugins/torn/torn.py", "SCHEMA = {\n")
    ran = home("plugin", "on", "torn")
    assert ran.code == 1
    assert ran.out.startswith("torn is quarantined\n  ! torn.py: it is not loaded: line 1 is not Python")


def test_a_plugin_that_is_not_there_is_told_with_those_that_are(home: Shell) -> None:
    for words in (("off", "lamp"), ("info", "lamp"), ("set", "lamp", "a=b")):
        ran = home("plugin", *words)
        assert ran.code == 2 and "there is no plugin 'lamp'; there are: calculator, dice" in ran.err


def test_settings_are_typed_by_the_manifest(home: Shell) -> None:
    ran = home("plugin", "set", "lamps", "seconds=9", "color=deep blue")
    assert (ran.code, ran.out) == (0, "color = 'deep blue'\nseconds = 9\n")
    assert home("tool", "run", "lamp").out == "deep blue for 9 s\n"
    wrong = home("plugin", "set", "lamps", "seconds=soon")
    assert wrong.code == 2 and "seconds is a number, not 'soon'" in wrong.err
    free = home("plugin", "set", "lamps", "extra=1")
    assert free.out == "extra is kept, although lamps does not declare it\n"


def test_a_secret_setting_is_asked_for_hidden_and_never_shown(home: Shell) -> None:
    shown = home("plugin", "set", "lamps", "token=sesame-open")
    assert shown.code == 2 and "leave out the value" in shown.err and "sesame" not in shown.err
    kept = home("plugin", "set", "lamps", "token", stdin="sesame-open\n")
    assert (kept.code, kept.out) == (0, "token = 'set'\n")
    file = home.home / "user" / "webui" / "plugins" / "lamps.json"
    assert json.loads(file.read_text())["token"] == "sesame-open"
    assert "sesame" not in home("plugin", "info", "lamps").out + home("plugin", "info", "lamps", "--json").out


def test_a_tool_module_has_no_settings_but_keys(home: Shell) -> None:
    ran = home("plugin", "set", "tides", "a=b")
    assert ran.code == 2 and "appliance credential set tides NAME" in ran.err


def test_info_tells_risk_and_why_ways_out_settings_lines_and_digest(home: Shell) -> None:
    home.write("plugins/lamps/tools/lamp.py", "import subprocess\n" + LAMP)
    out = home("plugin", "info", "lamps").out
    assert out.startswith("lamps  1.2  House Lamps\ncontract  tool, from owner, on\n")
    assert "tool      lamp (exec: it imports subprocess (tools/lamp.py, line 1))" in out
    assert "ways out  none: its code names no way to another machine" in out
    assert "setting   seconds (number) = 5  How long it is on." in out
    assert "setting   token (password) = 'not set'" in out
    assert "House Lamps" in out.partition("announce:")[2]
    assert len(out.rpartition("digest    ")[2].strip()) == 64


def test_info_of_a_module_tells_its_keys(home: Shell) -> None:
    out = home("plugin", "info", "tides").out
    assert "key       TIDE_KEY: missing" in out
    assert "tool      tides (read: its author says nothing, which means that it only reads)" in out


def test_the_steps_of_a_turn_are_shown_afterwards(home: Shell, tmp_path: Path) -> None:
    home("ask", "--text", "what time is it")
    (turn,) = home("turns", "--json").json
    shown = home("turns", "show", turn["turn_id"]).out
    assert shown.splitlines()[-1].split()[-2:] == ["box_time", "read"]
    (step,) = home("turns", "show", turn["turn_id"], "--json").json["steps"]
    assert (step["tool"], step["kind"], step["mark"]) == ("box_time", "read", "")
