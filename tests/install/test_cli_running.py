"""Installing while the device runs: its tool is there at once, and a version that does not load is put back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.shell import Shell
from tests.cli.test_run import Running
from tests.install.rig import TIDES, tides


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One device for all."""
    made = Running(tmp_path_factory.mktemp("device"))
    made.start()
    made.wait_until_listening()
    yield made
    assert made.end().code == 0


@pytest.fixture
def device(running: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """A shell beside the device, in its home."""
    return Shell(running.folder, monkeypatch, capsys)


def test_the_tool_of_an_installed_plugin_is_there_at_once_and_gone_after_its_removal(
    device: Shell, tmp_path: Path
) -> None:
    ran = device("plugin", "install", tides(tmp_path, "one"), "--yes", "--enable")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "tides is installed and loaded: tides")
    assert device("tool", "run", "tides").out == "one\n"

    updated = device("plugin", "install", tides(tmp_path, "two"), "--yes")
    assert updated.code == 0 and device("tool", "run", "tides").out == "two\n"
    assert device("plugin", "rollback", "tides").code == 0
    assert device("tool", "run", "tides").out == "one\n"

    assert device("plugin", "remove", "tides", "--yes").code == 0
    assert device("tool", "run", "tides").code == 2
    assert device("plugin", "remove", "tides", "--purge", "--yes").code == 0


def test_without_enable_it_stays_off_in_the_running_device(device: Shell, tmp_path: Path) -> None:
    ran = device("plugin", "install", tides(tmp_path, "one"), "--yes", "--json").json
    assert ran["live"] == "off"
    assert device("tool", "run", "tides").code == 2
    assert device("plugin", "on", "tides").code == 0
    assert device("tool", "run", "tides").out == "one\n"
    device("plugin", "remove", "tides", "--purge", "--yes")


def test_a_new_version_that_does_not_load_is_put_back_and_not_brought_again(device: Shell, tmp_path: Path) -> None:
    source = tides(tmp_path, "one")
    device("plugin", "install", source, "--yes", "--enable")
    (source / "tides.py").write_text("import no_such_module_anywhere\n" + TIDES.format(says="broken"))
    ran = device("plugin", "update", "tides", "--yes")
    assert ran.code == 1
    last = ran.out.splitlines()[-1]
    assert last.startswith("the update did not work, so tides is back: tides.py: it is not loaded")
    assert "no_such_module_anywhere" in last
    assert device("tool", "run", "tides").out == "one\n"
    assert device("plugin", "verify", "tides").code == 0
    assert "was rolled back" in device("plugin", "update", "tides", "--yes").out
    device("plugin", "remove", "tides", "--purge", "--yes")


def test_a_first_version_that_does_not_load_leaves_nothing_behind(device: Shell, tmp_path: Path) -> None:
    place = tides(tmp_path, "one", **{"tides.py": "raise RuntimeError('no')\n" + TIDES.format(says="one")})
    ran = device("plugin", "install", place, "--yes", "--enable")
    assert ran.code == 1 and "the install did not work, so tides is not installed" in ran.out
    assert list((device.home / "plugins").iterdir()) == []
    assert "tides" not in device("plugin", "list").out


def test_in_safe_mode_a_plugin_is_installed_and_waits(device: Shell, tmp_path: Path) -> None:
    device("plugin", "safe-mode", "on")
    ran = device("plugin", "install", tides(tmp_path, "one"), "--yes", "--enable")
    assert ran.code == 0 and "it is loaded when safe mode ends" in ran.out
    device("plugin", "safe-mode", "off")
    assert device("tool", "run", "tides").out == "one\n"
    device("plugin", "remove", "tides", "--purge", "--yes")


def test_what_a_purged_plugin_had_stored_does_not_come_back_with_it(device: Shell, tmp_path: Path) -> None:
    place = tmp_path / "counter"
    (place / "tools").mkdir(parents=True)
    (place / "plugin.json").write_text(
        '{"name": "counter", "version": "1", "default_enabled": true, "capabilities": {"tools": ["tools/c.py"]}}'
    )
    (place / "tools" / "c.py").write_text(COUNTER)
    for _ in range(2):
        device("plugin", "install", place, "--yes", "--enable")
        assert device("tool", "run", "count").out == "1\n"
        assert device("tool", "run", "count").out == "2\n"
        assert device("plugin", "remove", "counter", "--purge", "--yes").code == 0


COUNTER = """
from core.plugin_loader import plugin_loader
ENABLED = True
TOOLS = [{"type": "function", "function": {"name": "count", "description": "Count.",
          "parameters": {"type": "object", "properties": {}, "required": []}}}]
def execute(function_name, arguments, config):
    state = plugin_loader.get_plugin_state("counter")
    state.save("count", state.get("count", 0) + 1)
    return str(state.get("count")), True
"""
