"""``plugin new``, ``check``, ``test`` and ``dev``: from nothing to a tool that works, in a shell."""

from __future__ import annotations

import importlib.util
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import Process, Shell


@pytest.mark.parametrize("contract", ["module", "tool"])
def test_a_new_plugin_passes_its_check_and_its_tests_and_works(process: Process, contract: str) -> None:
    made = process("plugin", "new", "hall-lamp", "--contract", contract)
    assert made.code == 0 and "appliance plugin check hall-lamp" in made.out
    checked = process("plugin", "check", "hall-lamp")
    assert (checked.code, checked.err) == (0, "")
    first, second, *schema = checked.out.splitlines()
    assert first == f"hall-lamp ({'tool module' if contract == 'module' else 'plugin tool'}) is good"
    assert second.startswith("offers hall_lamp (") and second.endswith("a model sees:")
    assert '    "name": "hall_lamp",' in schema
    tested = process("plugin", "test", "hall-lamp")
    assert tested.code == 0 and "3 passed" in tested.out
    assert process("tool", "run", "hall_lamp", '{"who": "Ada"}').out == "Hello, Ada!\n"


def test_a_new_plugin_may_lie_elsewhere_and_overwrites_nothing(shell: Shell) -> None:
    made = shell("plugin", "new", "lamp", "--folder", "mine", "--json")
    assert made.json == [str(shell.folder / "mine" / "lamp" / name) for name in ("lamp.py", "tests/test_lamp.py")]
    again = shell("plugin", "new", "lamp", "--folder", "mine")
    assert again.code == 2 and "exists already" in again.err
    wrong = shell("plugin", "new", "My Lamp")
    assert wrong.code == 2 and "cannot be the name of a plugin" in wrong.err


def test_check_says_what_is_wrong_and_ends_with_1(shell: Shell) -> None:
    shell("plugin", "new", "lamp", "--folder", "mine")
    file = shell.folder / "mine" / "lamp" / "lamp.py"
    file.write_text(file.read_text().replace("async def", "def").replace('RISK = "read"', 'RISK = "high"'))
    ran = shell("plugin", "check", "mine/lamp")
    assert ran.code == 1
    faults = [line for line in ran.out.splitlines() if line.startswith("wrong  lamp.py: ")]
    assert len(faults) == 2
    assert "lamp (tool module) is not good yet" in ran.out
    report = shell("plugin", "check", "mine/lamp", "--json")
    assert (report.code, report.json["is_good"], report.json["contract"]) == (1, False, "module")


def test_the_shipped_plugins_pass_their_check(shell: Shell) -> None:
    for name in ("calculator", "dice", "kitchen", "lan_gear", "files", "notes", "shell"):
        ran = shell("plugin", "check", name)
        assert ran.code == 0, ran.out


def test_check_of_nothing_says_where_to_look(shell: Shell) -> None:
    ran = shell("plugin", "check", "nobody")
    assert ran.code == 2 and "appliance plugin list" in ran.err


def test_tests_that_fail_fail_the_command(process: Process) -> None:
    process("plugin", "new", "lamp")
    file = process.home / "plugins" / "lamp" / "tests" / "test_lamp.py"
    file.write_text(file.read_text().replace('"Hello, Ada!"', '"Good day, Ada!"'))
    ran = process("plugin", "test", "lamp")
    assert ran.code == 1 and "2 failed" in ran.out


def test_a_plugin_without_tests_is_told_where_they_go(process: Process) -> None:
    process("plugin", "new", "lamp")
    (process.home / "plugins" / "lamp" / "tests" / "test_lamp.py").unlink()
    ran = process("plugin", "test", "lamp")
    assert ran.code == 1 and "has no tests: put them into" in ran.err


def test_without_pytest_it_says_what_to_install(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell("plugin", "new", "lamp")
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "pytest" else found(name, *rest)
    )
    ran = shell("plugin", "test", "lamp")
    assert ran.code == 1 and "-m pip install pytest" in ran.err


# ------------------------------------------------------------------------------------------------------- dev


class Session:
    """A person who works on a plugin: types, saves, reads."""

    def __init__(self, process: Process, *words: Any) -> None:
        self._child = subprocess.Popen(
            process.command("plugin", "dev", *words),
            env=process.environment,
            cwd=process.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        #: A session that hangs ends, and its test fails for want of a line.
        self._alarm = threading.Timer(60, self._child.kill)
        self._alarm.start()

    def types(self, line: str) -> None:
        assert self._child.stdin is not None
        self._child.stdin.write(f"{line}\n")
        self._child.stdin.flush()

    def reads(self, wanted: str) -> str:
        """Lines up to the one that has ``wanted`` in it."""
        assert self._child.stdout is not None
        lines = ""
        for line in self._child.stdout:
            lines += line
            if wanted in line:
                return lines
        raise AssertionError(f"no {wanted!r} came, but:\n{lines}")

    def ends(self) -> int:
        """Ctrl-D; the exit code."""
        self._child.communicate()
        self._alarm.cancel()
        return self._child.returncode


@pytest.fixture
def lamp(process: Process) -> Iterator[Path]:
    """A plugin somewhere else than in the home."""
    process("plugin", "new", "lamp", "--folder", process.folder / "mine", "--contract", "tool")
    yield process.folder / "mine" / "lamp"


def test_dev_loads_the_plugin_anew_with_every_save_and_tells_what_is_broken(process: Process, lamp: Path) -> None:
    tool, manifest = lamp / "tools" / "lamp.py", lamp / "plugin.json"
    manifest.write_text(manifest.read_text().replace('"default_enabled": true', '"default_enabled": false'))
    good = tool.read_text()
    session = Session(process, lamp)
    session.reads("lamp is on: lamp")
    session.reads("every save loads the plugin anew")
    link = process.home / "plugins" / "lamp"
    assert link.is_symlink()

    session.types('run lamp {"who": "Ada"}')
    session.reads("ok: Hello, Ada!")
    tool.write_text(good.replace("{greeting}, {who}!", "{greeting}, dear {who}!"))
    session.reads("lamp is on: lamp")
    session.types('run lamp {"who": "Ada"}')
    session.reads("ok: Hello, dear Ada!")
    tool.write_text(good.replace("def execute(", "def execute(("))
    session.reads("tools/lamp.py: it is not loaded: line")
    session.types("run lamp")
    session.reads("there is no tool 'lamp'")
    tool.write_text(good)
    session.reads("lamp is on: lamp")
    session.types("why lamp")
    session.reads("it is offered")
    session.types("ask what time is it")
    session.reads("did    box_time (ok)")
    session.types("dance")
    session.reads("ask TEXT")

    assert session.ends() == 0
    assert not link.exists() and not link.is_symlink()
    assert process("plugin", "list").out.find("lamp ") == -1


def test_dev_does_not_hide_a_plugin_of_that_name_that_is_there(process: Process, lamp: Path) -> None:
    process("plugin", "new", "lamp")
    ran = process("plugin", "dev", lamp)
    assert ran.code == 2 and "is there already; move it away" in ran.err
    assert (process.home / "plugins" / "lamp" / "lamp.py").exists()
