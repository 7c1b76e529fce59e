"""A tool that is slow and then fails, heard and seen in the real product."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.conftest import Speak, Understand
from tests.e2e.device import Device
from tests.e2e.test_first_light import NO_TONES, scripted_model
from tests.sound_server import SoundServer
from tests.understood import was_said

pytestmark = pytest.mark.sound

_FAILING_TOOL = """
import asyncio

from kotoba.core.loop import note_tool_failure

SCHEMA = {
    "type": "function",
    "name": "tide_table",
    "description": "High and low water for today.",
    "parameters": {"type": "object", "properties": {}, "required": []},
}
RISK = "network"
ANNOUNCE = "Let me look at the tide table."
HEARTBEAT = ["The harbour is still answering."]
COMPLETE = "Now I have all the numbers."
FAIL = "Sorry, that did not work."
EXPRESSIONS = {"focus": "determined", "fail": "confused"}


async def execute(args, ctx):
    await asyncio.sleep(12)
    note_tool_failure("the harbour closed its door")
    return "The harbour did not answer."
"""


@pytest.mark.contract("K-054", "K-056", "K-062", "K-073", "K-074", "K-077")
def test_a_slow_tool_that_fails_is_announced_kept_alive_and_told_as_failed_before_the_model_speaks(
    sound_server: SoundServer, speak: Speak, understand: Understand, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    (home / "plugins").mkdir(parents=True)
    (home / "plugins" / "tides.py").write_text(_FAILING_TOOL)
    answers = ({"calls": [{"name": "tide_table"}]}, {"text": "[sad] I could not find out about the water today."})
    with scripted_model(tmp_path, *answers) as model, Device(sound_server, home, {**NO_TONES, **model}) as device:
        start = len(device.facts)
        with sound_server.record() as recording:
            sound_server.play(speak("Okay Nabu. When is the tide high?"))
            end = device.wait_for("TurnEnded", behind=start)
            recording.wait_for_silence(lasting_seconds=0.5, within_seconds=10)
        facts = device.facts[start:]
        problems = device.command("plugin", "list", "--json").stdout
    assert end["reason"] == "answered"
    assert [fact["kind"] for fact in facts if fact["event"] == "Narrated"] == ["announce", "heartbeat", "fail"]
    reply = understand(recording.audio)
    phrases = ("look at the tide", "still answering", "did not work", "find out about the water")
    assert was_said(reply, *phrases), reply
    assert not was_said(reply, "all the numbers"), reply
    moods = [(fact["emotion"], fact["source"]) for fact in facts if fact["event"] == "EmotionChanged"]
    assert moods == [("determined", "focus"), ("confused", "fail"), ("sad", "reply")]
    assert "tide_table: its last call failed: the harbour closed its door" in problems
