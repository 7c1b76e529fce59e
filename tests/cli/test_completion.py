"""The Tab key: real bash with the script that ``appliance completion bash`` prints."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appliance.cli.completion_script import scripts
from appliance.cli.completion_tree import plain, tree_of
from appliance.cli.main import COMMANDS, whole_parser
from appliance.name_lists import read_names, write_names
from tests.cli.shell import Shell
from tests.cli.test_run import Running

#: Types a line, presses Tab, and prints what bash would offer.
_TAB = """
source "$1"
COMP_LINE=$2 COMP_POINT=${#2}
compopt() { :; }
_appliance
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The script of bash."""
    file = tmp_path_factory.mktemp("completion") / "appliance"
    file.write_text(scripts(tree_of(whole_parser()))["bash"])
    yield file


@pytest.fixture
def tab(script: Path, tmp_path: Path) -> Callable[[str], list[str]]:
    """Tab behind a line, in a home; ``appliance`` itself cannot be started."""

    def press(line: str) -> list[str]:
        ran = subprocess.run(
            ["bash", "--norc", "-c", _TAB, "bash", str(script), line],
            env={"PATH": os.defpath, "HOME": str(tmp_path), "APPLIANCE_HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert ran.stderr == ""
        return ran.stdout.split("\n")[:-1] if ran.stdout.strip() else []

    return press


def test_every_command_is_there(tab: Callable[[str], list[str]]) -> None:
    assert tab("appliance ") == [*COMMANDS]
    assert tab("appliance se") == [name for name in COMMANDS if name.startswith("se")]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("appliance model ", ["show", "set", "off"]),
        ("appliance --json model s", ["show", "set"]),
        ("appliance --set speak.speed=1 model o", ["off"]),
        ("appliance face show happ", ["happy"]),
        ("appliance config se", ["set"]),
        ("appliance config set speak.volume", ["speak.volume_percent"]),
        ("appliance setup microphone w", ["wake"]),
        ("appliance models fetch en_GB", ["en_GB-alba-medium"]),
        ("appliance logs --f", ["--follow"]),
        ("appliance model show --js", ["--json"]),
        ("appliance completion f", ["fish"]),
        ("appliance ask --out ", []),
        ("appliance nonsense x", []),
    ],
)
def test_what_may_stand_there_is_offered(tab: Callable[[str], list[str]], line: str, offered: list[str]) -> None:
    assert tab(line) == offered


def test_behind_an_equal_sign_or_a_colon_only_the_rest_is_put_in(
    tab: Callable[[str], list[str]], tmp_path: Path
) -> None:
    write_names(tmp_path / "run", {"toolset": ["plugin:dice", "all"]})
    assert tab("appliance toolset use plugin:d") == ["dice"]
    assert "speak.speed=" in tab("appliance --set speak.sp")


def test_names_come_from_lists_that_a_shell_can_read(tab: Callable[[str], list[str]], tmp_path: Path) -> None:
    assert tab("appliance plugin info ") == []
    write_names(tmp_path / "run", {"plugin": ["tides", "dice"], "tool": ["roll_dice"]})
    assert tab("appliance plugin info ") == ["dice", "tides"]
    assert tab("appliance logs --plugin t") == ["tides"]
    assert tab("appliance tool run ") == ["roll_dice"]
    assert tab("appliance tool run roll_dice ") == []


def test_a_name_is_never_run(tab: Callable[[str], list[str]], tmp_path: Path) -> None:
    write_names(tmp_path / "run", {"plugin": ["$(touch hacked)", "`touch hacked`", "two words", "line\nbreak"]})
    assert tab("appliance plugin info t") == ["two\\ words"]
    assert len(tab("appliance plugin info ")) == 3
    assert not (tmp_path / "hacked").exists()


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(shell: Shell, name: str, tmp_path: Path) -> None:
    ran = shell("completion", name)
    assert (ran.code, ran.err) == (0, "")
    (tmp_path / "script").write_text(ran.out)
    program = shutil.which(name)
    if program is not None:
        subprocess.run([program, "-n", str(tmp_path / "script")], check=True)
    # The core is plain sh in each of them.
    core = scripts(tree_of(whole_parser()))["zsh"].partition("\n_appliance_as_sh()")[0]
    subprocess.run(["sh", "-n"], input=core, text=True, check=True)


def test_a_shell_that_there_is_not_is_a_usage_error(shell: Shell) -> None:
    assert shell("completion", "tcsh").code == 2
    assert shell("completion", "bash", "zsh").code == 2


def test_only_words_that_need_no_quotes_are_in_a_script() -> None:
    assert plain(["plugin:dice", "@plugin", "it's", "two words", "$x", "--yes"]) == ("plugin:dice", "@plugin", "--yes")


def test_a_disk_that_takes_nothing_costs_only_the_names(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file")
    write_names(tmp_path / "run", {"plugin": ["dice"]})
    assert read_names(tmp_path / "run", "plugin") == []


def test_the_lists_follow_what_the_box_has(shell: Shell) -> None:
    shell("tool", "list")
    assert "dice" in shell("completion", "names", "plugin").out.splitlines()
    assert "roll_dice" in shell("completion", "names", "tool").out.splitlines()
    shell("plugin", "off", "dice")
    assert "roll_dice" not in shell("completion", "names", "tool").out.splitlines()
    assert "dice" in shell("completion", "names", "plugin").out.splitlines(), "it can be switched on again"
    shell("toolset", "new", "games", "note_add")
    assert "games" in shell("completion", "names", "toolset").out.splitlines()


def test_chats_are_asked_for_and_stand_in_no_file(tmp_path: Path) -> None:
    device = Running(tmp_path)
    device.start()
    device.wait_until_listening()
    try:
        device("chat", "new", "Birthday party")
        assert "Birthday party" in device("completion", "names", "chat").out.splitlines()
        lists = "".join(file.read_text() for file in (device.home / "run" / "names").iterdir())
        assert "Birthday" not in lists
    finally:
        device.end()
    assert device("completion", "names", "chat").out.strip() == ""
