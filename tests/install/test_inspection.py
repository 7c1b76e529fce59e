"""What an owner is told of a plugin before the yes, without any of its code having run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from appliance.contracts.inspection import PluginInspector
from appliance.contracts.kotoba import own_packages
from appliance.install import packages
from appliance.tools.inspection import Contract, Inspection, Inspector, ToolFacts

TOOLS = 'TOOLS = [{{"type": "function", "function": {{"name": "{name}"}}{flags}}}]\n\ndef execute(n, a, c):\n    pass\n'
DETONATOR = "import pathlib\n\npathlib.Path(__file__).with_name('ran').touch()\nraise SystemExit(3)\n"


def test_nothing_of_a_plugin_runs(tmp_path: Path) -> None:
    looked = _module(tmp_path, {"boom.py": DETONATOR + 'SCHEMA = {"name": "boom"}\n', "conftest.py": DETONATOR})
    assert [tool.name for tool in looked.tools] == ["boom"]
    assert not list(tmp_path.rglob("ran"))
    assert not list(tmp_path.rglob("__pycache__"))


def test_a_tool_module_is_read(tmp_path: Path) -> None:
    looked = _module(tmp_path, {"roll.py": 'RISK = "write"\nSCHEMA = {"name": "roll_dice"}\n', "_helper.py": ""})
    assert (looked.name, looked.contract) == ("dice", Contract.MODULE)
    assert looked.tools == (ToolFacts("roll_dice", "write", "its author says so"),)
    assert (looked.refusals, looked.warnings) == ((), ())


def test_a_lone_file_is_named_after_itself(tmp_path: Path) -> None:
    (tmp_path / "roll.py").write_text("SCHEMA: dict = make()\n")
    looked = PluginInspector().inspect(tmp_path / "roll.py", {})
    assert (looked.name, looked.tools[0].name, looked.refusals) == ("roll", "roll", ())


def test_a_module_that_plays_down_its_risk_is_told(tmp_path: Path) -> None:
    looked = _module(tmp_path, {"shell.py": 'import subprocess\nSCHEMA = {"name": "sh"}\n'})
    assert looked.tools[0].risk == "read"
    (warning,) = looked.warnings
    assert warning == (
        "sh says that it only reads, but its code looks like exec: it imports subprocess (shell.py, line 1)"
    )
    assert "shell.py line 1: it imports subprocess" in looked.will_be_able_to[0]
    assert looked.will_be_able_to[0].startswith("It runs programs on this box")


def test_a_plugin_of_the_second_contract_is_read(tmp_path: Path) -> None:
    looked = _plugin(
        tmp_path,
        {
            "capabilities": {
                "tools": ["tools/now.py"],
                "hooks": {"pre_chat": "hooks.py", "pre_tts": "hooks.py"},
                "voice_commands": [{"triggers": ["good night"], "handler": "night.py"}],
                "schedule": [{"name": "morning", "cron": "0 7 * * *", "handler": "morning.py"}],
                "daemon": {"entry": "daemon.py"},
            },
            "pip_dependencies": ["tinyhtml"],
        },
        **{
            "tools/now.py": "from core.net import get\nimport os\nK = os.environ['WEATHER_KEY']\n"
            + TOOLS.format(name="weather_now", flags=""),
            "daemon.py": "import socket\n",
        },
    )
    assert looked.tools == (ToolFacts("weather_now", "network", "it imports core.net.get (tools/now.py, line 1)"),)
    assert looked.keys == {"WEATHER_KEY": True}
    assert looked.requirements == ("tinyhtml",)
    assert looked.background == (
        "it is told of what happens, and may change it (pre_chat)",
        "it listens for words of its own (good night)",
        "it runs by itself at set times (morning, 0 7 * * *)",
        "it has a part that runs all the time (daemon.py)",
    )
    assert [sentence.split("(")[0].strip() for sentence in looked.will_be_able_to[:2]] == [
        "It talks to other machines: in the house directly, outside it by the way that you set.",
        "It opens connections that no proxy and no record of yours sees",
    ]
    assert "It asks for these keys: WEATHER_KEY, and does nothing useful without WEATHER_KEY." in looked.will_be_able_to
    assert looked.refusals == ()


def test_flags_of_the_author_make_it_graver_only(tmp_path: Path) -> None:
    source = TOOLS.format(name="a", flags=', "network": True')
    looked = _plugin(tmp_path, {"capabilities": {"tools": ["a.py"]}}, **{"a.py": source})
    assert looked.tools[0].risk == "network"


def test_only_available_functions_count(tmp_path: Path) -> None:
    source = TOOLS.format(name="a", flags="") + 'AVAILABLE_FUNCTIONS = ["b"]\n'
    looked = _plugin(tmp_path, {"capabilities": {"tools": ["a.py"]}}, **{"a.py": source})
    assert looked.tools == ()


def test_tools_that_are_made_while_it_runs_are_told(tmp_path: Path) -> None:
    source = 'TOOLS = [make(n) for n in "ab"]\nAVAILABLE_FUNCTIONS = ["a", "b"]\n\ndef execute(n, a, c):\n    pass\n'
    looked = _plugin(tmp_path, {"capabilities": {"tools": ["a.py"]}}, **{"a.py": source})
    assert [tool.name for tool in looked.tools] == ["a", "b"]
    assert looked.warnings == ("a.py makes its tools while it runs, so not all of their names are known before",)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"roll.py": "def x(:\n"}, "it cannot be read by this Python: roll.py, line 1: "),
        ({"roll.py": 'SCHEMA = {"name": "x"}\nreturn 1\n'}, "roll.py, line 2: 'return' outside function"),
        ({"roll.py": "SCHEMA = {}\nx = '\0'\n"}, "it cannot be read by this Python: roll.py"),
        ({"roll.py": "x = " + "(" * 5_000 + ")" * 5_000}, "it cannot be read by this Python: roll.py"),
        ({"roll.py": "# x\n" * 200_000}, "roll.py: it is larger than 500 kB"),
        ({f"h{n}.py": "# x\n" * 120_000 for n in range(5)}, "it has more than 2000 kB of Python to look through"),
        ({"roll.py": "TOOLS = []\n"}, "it has TOOLS and no plugin.json"),
        ({"README.md": "hello"}, "there is no tool in it"),
        ({"sub/roll.py": 'SCHEMA = {"name": "x"}\n'}, "there is no tool in it"),
        ({"a.py": 'SCHEMA = {"name": "x"}\n', "b.py": 'SCHEMA = {"name": "x"}\n'}, "two of its tools are named x"),
        ({"a.py": 'SCHEMA = {"name": "box_time"}\n'}, "its tool box_time has the name of a tool of the box"),
        ({"a.py": 'SCHEMA = {"name": "look"}\n'}, "its tool look has the name of a tool of the plugin eyes"),
    ],
)
def test_what_cannot_work_is_refused(tmp_path: Path, files: Mapping[str, str], words: str) -> None:
    looked = _module(tmp_path, files, {"box_time": "the box", "look": "the plugin eyes"})
    assert any(words in refusal for refusal in looked.refusals), looked.refusals
    assert all(refusal.isprintable() for refusal in looked.refusals)


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ("{", "is not JSON"),
        ('{"name": "a b"}', "must be letters"),
        ('{"name": "x", "min_app_version": "9.1"}', "it needs version 9.1 of this program"),
        ('{"name": "x", "capabilities": {"tools": ["../../up.py"]}}', "../../up.py, which is outside its folder"),
        ('{"name": "x", "capabilities": {"tools": ["bad.py"]}}', "bad.py, line 1"),
    ],
)
def test_a_manifest_that_cannot_work_is_refused(tmp_path: Path, manifest: str, words: str) -> None:
    (tmp_path / "plugin.json").write_text(manifest)
    (tmp_path / "bad.py").write_text("def (\n")
    looked = PluginInspector("0.10").inspect(tmp_path, {})
    assert any(words in refusal for refusal in looked.refusals), looked.refusals


@pytest.mark.parametrize("needed", ["", "0.9", "0.10", "0.10.0rc1"])
def test_an_older_need_is_met(tmp_path: Path, needed: str) -> None:
    looked = _plugin(tmp_path, {"min_app_version": needed}, version="0.10.0")
    assert looked.needs_app_version == needed
    assert looked.refusals == ()


def test_a_broken_file_that_is_no_tool_is_only_told(tmp_path: Path) -> None:
    files = {"a.py": TOOLS.format(name="a", flags=""), "old/two.py": "print 1\n", "tests/three.py": "print 1\n"}
    looked = _plugin(tmp_path, {"capabilities": {"tools": ["a.py"]}}, **files)
    assert looked.refusals == ()
    assert len(looked.warnings) == 1
    assert looked.warnings[0].startswith("a file of it cannot be read by this Python: old/two.py, line 1")


def test_what_is_needed_is_read_from_every_place(tmp_path: Path) -> None:
    files = {
        "roll.py": 'SCHEMA = {"name": "roll"}\n',
        "requirements.txt": "# all\ntinyhtml==1.0 \\\n  --hash=sha256:00\n-r more.txt\nother>=2  # why\n\n",
        "pyproject.toml": "[project]\ndependencies = [\"third ; python_version > '3'\"]\n",
    }
    looked = _module(tmp_path, files)
    assert looked.requirements == ("tinyhtml==1.0", "other>=2", "third ; python_version > '3'")
    assert looked.warnings == ("its requirements.txt has an option, '-r more.txt', which is left out",)


def test_a_tool_in_a_package_of_its_own_is_found_and_what_it_needs(tmp_path: Path) -> None:
    records = "site-packages/dice_tools-1.2.dist-info"
    files = {
        "site-packages/dice_tools/__init__.py": "",
        "site-packages/dice_tools/roll.py": 'import socket\nSCHEMA = {"description": "x"}\n',
        "site-packages/needed/__init__.py": "import subprocess\nprint 1\n",
        f"{records}/METADATA": "Metadata-Version: 2.1\nName: dice-tools\nVersion: 1.2\n"
        "Requires-Dist: tinyhtml>=1\nRequires-Dist: pytest ; extra == 'test'\n",
        f"{records}/entry_points.txt": "[kotoba.tools]\nroll = dice_tools.roll\n",
    }
    looked = _module(tmp_path, files)
    assert [tool.name for tool in looked.tools] == ["roll"]
    assert looked.requirements == ("tinyhtml>=1",)
    assert looked.refusals == ()
    assert any("raw sockets" in sentence for sentence in looked.will_be_able_to)
    assert not any("subprocess" in sentence for sentence in looked.will_be_able_to)


def test_what_an_author_writes_cannot_play_with_the_terminal(tmp_path: Path) -> None:
    looked = _plugin(tmp_path, {"description": "a\x1b[2Jb" + "x" * 9_000, "display_name": "n\u202eame"})
    assert looked.title == "n ame"
    assert looked.description.startswith("a [2Jb")
    assert len(looked.description) <= 501


def test_the_last_sentence_is_honest(tmp_path: Path) -> None:
    assert "if its author means ill" in _module(tmp_path, {"a.py": 'SCHEMA = {"name": "a"}\n'}).will_be_able_to[-1]


def test_both_sides_mean_the_same_folder_for_packages() -> None:
    assert packages.FOLDER == own_packages.FOLDER


def _module(tmp_path: Path, files: Mapping[str, str], taken: Mapping[str, str] | None = None) -> Inspection:
    inspector: Inspector = PluginInspector()
    return inspector.inspect(_written(tmp_path / "dice", files), taken or {})


def _plugin(tmp_path: Path, manifest: Mapping[str, Any], version: str = "1.0", **files: str) -> Inspection:
    whole = {"plugin.json": json.dumps({"name": "weather", **manifest}), **files}
    return PluginInspector(version).inspect(_written(tmp_path / "weather", whole), {})


def _written(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder
