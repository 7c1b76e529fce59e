"""Somebody speaks to the box while most of it is still loading."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.conftest import Speak
from tests.e2e.device import Device, wait_until
from tests.sound_server import SoundServer
from tests.understood import was_said

pytestmark = pytest.mark.sound

#: It keeps the box from being there for as long as a small board needs.
_SLOW_TO_LOAD = """
import time

time.sleep(4)
SCHEMA = {
    "type": "function",
    "name": "tide_table",
    "description": "High and low water for today.",
    "parameters": {"type": "object", "properties": {}, "required": []},
}
RISK = "read"


async def execute(args, ctx):
    return "High water at noon."
"""


@contextmanager
def somebody_who_speaks_at_once(server: SoundServer, trace: Path, wav: Path) -> Iterator[None]:
    """As soon as the ear is open, the file is played into it."""

    def speak() -> None:
        wait_until(lambda: trace.exists() and "EarOpened" in trace.read_text(), lambda: "the ear never opened")
        server.play(wav)

    person = threading.Thread(target=speak)
    person.start()
    yield
    person.join()


def test_a_question_that_comes_before_the_brain_is_answered(
    sound_server: SoundServer, tmp_path: Path, speak: Speak
) -> None:
    home = tmp_path / "home"
    (home / "plugins").mkdir(parents=True)
    (home / "plugins" / "tide_table.py").write_text(_SLOW_TO_LOAD)
    trace, wav = home / "trace.jsonl", speak("Okay Nabu. What time is it?")
    with somebody_who_speaks_at_once(sound_server, trace, wav), Device(sound_server, home) as device:
        opened = device.wait_for("EarOpened")
        heard = device.wait_for("Transcribed")
        ended = device.wait_for("TurnEnded")
        names = [json.loads(line)["event"] for line in trace.read_text().splitlines()]
    assert was_said(heard["text"], "what time is it")
    assert ended["reason"] == "answered"
    # The question was over before there was anybody to hear it.
    assert names.index("EarOpened") < names.index("WakeDetected")
    wake = next(fact for fact in device.facts if fact["event"] == "WakeDetected")
    assert wake["at_seconds"] - opened["at_seconds"] > 3.0
