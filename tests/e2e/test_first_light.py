"""A person speaks to the real product over a real sound server, and hears it answer."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Speak, Understand
from tests.e2e.device import Device
from tests.sound_server import SoundServer
from tests.understood import was_said

pytestmark = pytest.mark.sound

#: Without tones, so that what is recorded are words only.
NO_TONES = {"APPLIANCE_LISTEN_EARCONS": "false"}

_SLOW_TOOL = """
import asyncio

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
FAIL = "The harbour did not answer."


async def execute(args, ctx):
    await asyncio.sleep(12)
    return "High water at noon."
"""


@contextmanager
def scripted_model(folder: Path, *answers: dict[str, Any]) -> Iterator[dict[str, str]]:
    """A model that answers as told; gives the settings with which the box uses it."""
    script = folder / "script.json"
    script.write_text(json.dumps(answers))
    command = [sys.executable, "-m", "tests.responses_server", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            # It answers in the order of its script, so it is asked nothing that may be thrown away.
            yield {
                "APPLIANCE_THINK_URL": server.stdout.readline().strip(),
                "APPLIANCE_THINK_MODEL": "scripted",
                "APPLIANCE_THINK_SPECULATE": "false",
                "APPLIANCE_THINK_WARM_PREFIX": "off",
            }
        finally:
            server.kill()


def test_on_its_very_first_start_it_says_who_it_is_and_what_to_try(
    sound_server: SoundServer, understand: Understand, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with sound_server.record() as recording, Device(sound_server, home, NO_TONES, is_first_start=True) as device:
        device.wait_for("PlaybackFinished", heard_text="Or ask me what I can do.")
        recording.wait_for_silence(lasting_seconds=0.3, within_seconds=5)
        device.command("say", "Ready.")
        facts = device.facts
    with Device(sound_server, home, NO_TONES) as device:
        again = device.introduction
    said = understand(recording.audio)
    assert was_said(said, "to talk to me say ok", "set a timer for one minute"), said
    assert "wake word   okay nabu" in device.introduction
    # Its own voice saying the wake word did not wake it.
    assert not [fact for fact in facts if fact["event"] == "TurnStarted"]
    assert "Try:" not in again


def test_a_question_behind_the_wake_word_is_answered_without_any_model(
    sound_server: SoundServer, speak: Speak, understand: Understand, tmp_path: Path
) -> None:
    with Device(sound_server, tmp_path / "home", NO_TONES) as device, sound_server.record() as recording:
        start = len(device.facts)
        sound_server.play(speak("Okay Nabu. What time is it?"))
        end = device.wait_for("TurnEnded", behind=start)
        recording.wait_for_silence(lasting_seconds=0.5, within_seconds=10)
        heard = device.wait_for("Transcribed", behind=start)["text"]
    assert end["reason"] == "answered"
    assert was_said(heard, "what time is it")
    answer = understand(recording.audio)
    assert was_said(answer, "it is"), answer


def test_a_slow_tool_is_announced_kept_alive_completed_and_answered_in_this_order(
    sound_server: SoundServer, speak: Speak, understand: Understand, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    (home / "plugins").mkdir(parents=True)
    (home / "plugins" / "tides.py").write_text(_SLOW_TOOL)
    answers = ({"calls": [{"name": "tide_table"}]}, {"text": "[happily] The water is high at noon today."})
    with scripted_model(tmp_path, *answers) as model, Device(sound_server, home, {**NO_TONES, **model}) as device:
        start = len(device.facts)
        with sound_server.record() as recording:
            sound_server.play(speak("Okay Nabu. When is the tide high?"))
            end = device.wait_for("TurnEnded", behind=start)
            recording.wait_for_silence(lasting_seconds=0.5, within_seconds=10)
        facts = device.facts[start:]
        audit = device.command("audit", "--json")
    assert end["reason"] == "answered"
    assert [fact["kind"] for fact in facts if fact["event"] == "Narrated"] == ["announce", "heartbeat", "complete"]
    answer = understand(recording.audio)
    assert was_said(answer, "look at the tide", "still answering", "all the numbers", "at noon"), answer
    moods = [(fact["emotion"], fact["source"]) for fact in facts if fact["event"] == "EmotionChanged"]
    assert moods == [("thinking", "focus"), ("happy", "reply")]
    assert [line["entry"]["kind"] for line in json.loads(audit.stdout)] == ["intent", "result"]


def test_stop_in_the_middle_of_a_reply_is_silence_at_once(
    sound_server: SoundServer, speak: Speak, tmp_path: Path
) -> None:
    story = "Once upon a time there was a box in a kitchen that told very long stories to whoever asked. " * 4
    with (
        scripted_model(tmp_path, {"text": story}) as model,
        Device(sound_server, tmp_path / "home", {**NO_TONES, **model}) as device,
    ):
        start = len(device.facts)
        with sound_server.record() as recording:
            sound_server.play(speak("Okay Nabu. Tell me a story."))
            device.wait_for("ReplySentenceSpoken", behind=start)
            sound_server.play(speak("Okay Nabu. Stop."))
            woken = device.wait_for("TurnEnded", behind=start, reason="barged_in")
            device.wait_for("TurnEnded", behind=start, reason="answered")
            recording.wait_for_silence(lasting_seconds=0.5, within_seconds=10)
        transcripts = [fact["text"] for fact in device.facts[start:] if fact["event"] == "Transcribed"]
        chat = device.command("chat", "show")
    last = recording.last_sound_at_seconds
    assert last is not None
    print("silent after", last - woken["at_seconds"])
    assert recording.between(woken["at_seconds"] + 0.1, woken["at_seconds"] + 0.6).level_dbfs < -60
    assert was_said(transcripts[-1], "stop")
    # What was not heard is not remembered.
    assert "Once upon a time" in chat.stdout and chat.stdout.count("Once upon a time") < 4


def test_a_question_back_needs_no_wake_word_to_be_answered(
    sound_server: SoundServer, speak: Speak, understand: Understand, tmp_path: Path
) -> None:
    with Device(sound_server, tmp_path / "home", NO_TONES) as device:
        start = len(device.facts)
        sound_server.play(speak("Okay Nabu. Set a timer."))
        first = device.wait_for("TurnEnded", behind=start)
        middle = len(device.facts)
        device.wait_for("WakeDetected", behind=start, word="follow-up")
        sound_server.play(speak("Ten minutes."))
        second = device.wait_for("TurnEnded", behind=middle)
        timers = device.call("status")["timers"]
    assert (first["reason"], second["reason"], timers) == ("answered", "answered", 1)


def test_a_timer_rings_until_somebody_says_stop(
    sound_server: SoundServer, speak: Speak, understand: Understand, tmp_path: Path
) -> None:
    with Device(sound_server, tmp_path / "home", NO_TONES) as device:
        start = len(device.facts)
        sound_server.play(speak("Okay Nabu. Set a timer for three seconds."))
        device.wait_for("TurnEnded", behind=start, reason="answered")
        with sound_server.record() as recording:
            recording.wait_for_sound(within_seconds=20)
            # In the gap between two rings the ear is open without a wake word.
            device.wait_for("TurnStarted", behind=start, origin="alert")
            sound_server.play(speak("Stop."))
            stopped = device.wait_for("TurnEnded", behind=start, reason="answered", turn_id=_alert_turn(device, start))
            recording.wait_for_silence(lasting_seconds=4.0, within_seconds=20)
        timers = device.call("status")["timers"]
    assert timers == 0
    last = recording.last_sound_at_seconds
    assert last is not None and last < stopped["at_seconds"] + 3.0


def _alert_turn(device: Device, start: int) -> str:
    """The turn between two rings in which something was understood."""
    return str(device.wait_for("ToolFinished", behind=start, tool="box_stop")["turn_id"])
