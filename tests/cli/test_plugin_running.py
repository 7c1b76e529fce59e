"""Plugins of a running device: what the owner changes beside it takes effect at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.test_plugin import LAMP, TIDES
from tests.cli.test_plugin_author import Session
from tests.cli.test_run import Running

MANIFEST = """{"name": "lamps", "default_enabled": true, "capabilities": {"tools": ["tools/lamp.py"],
 "settings": [{"key": "color", "default": "red"}, {"key": "seconds", "type": "number", "default": 5}]}}"""


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One device for all."""
    made = Running(tmp_path_factory.mktemp("device"))
    for place, text in {
        "tides/tides.py": TIDES,
        "lamps/plugin.json": MANIFEST,
        "lamps/tools/lamp.py": LAMP,
    }.items():
        path = made.home / "plugins" / place
        path.parent.mkdir(parents=True)
        path.write_text(text)
    made.start("--verbose")
    made.wait_until_listening()
    yield made
    assert made.end().code == 0


def test_a_key_makes_its_tool_available_at_once(device: Running) -> None:
    assert "is not offered" in device("tool", "why", "tides").out
    kept = device("credential", "set", "tides", "TIDE_KEY", stdin="sesame-open\n")
    assert kept.out == "TIDE_KEY of tides is kept. The running device has loaded tides anew.\n"
    assert "is offered" in device("tool", "why", "tides").out
    assert device("tool", "run", "tides").out == "asked with a key of 11\n"
    assert "is removed" in device("credential", "remove", "tides", "TIDE_KEY").out
    assert "is not offered" in device("tool", "why", "tides").out


def test_a_plugin_goes_off_and_on(device: Running) -> None:
    assert device("plugin", "off", "dice").out.splitlines()[0] == "dice is off"
    assert device("tool", "run", "roll_dice").code == 2
    assert device("plugin", "on", "dice").out == "dice is on: roll_dice\n"
    assert device("tool", "run", "roll_dice").code == 0


def test_a_setting_is_in_force_for_the_next_call(device: Running) -> None:
    assert device("tool", "run", "lamp").out == "red for 5 s\n"
    assert device("plugin", "set", "lamps", "color=blue").out == "color = 'blue'\n"
    assert device("tool", "run", "lamp").out == "blue for 5 s\n"


def test_work_on_a_plugin_is_loaded_by_the_device_and_leaves_it_again(device: Running, tmp_path: Path) -> None:
    device("plugin", "new", "greeter", "--folder", tmp_path)
    session = Session(device, tmp_path / "greeter")
    session.reads("greeter is on: greeter")
    assert device("tool", "run", "greeter", '{"who": "Ada"}').out == "Hello, Ada!\n"
    assert session.ends() == 0
    assert device("tool", "run", "greeter").code == 2


def test_the_device_shows_the_steps_that_tools_take(device: Running) -> None:
    device("tool", "run", "roll_dice")
    device("tool", "run", "lamp")
    lines = device.complaints.splitlines()
    assert "look   roll_dice" in lines
    assert [line for line in lines if line.startswith("step   lamp")][-2:] == [
        "step   lamp (write) begins",
        "step   lamp green",
    ]
