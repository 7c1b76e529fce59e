"""What is risky waits for a hand, by voice on a real sound server; here the hand is on the Enter key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.conftest import Speak, Understand
from tests.e2e.device import Device
from tests.e2e.test_first_light import NO_TONES, scripted_model
from tests.recording import Recording
from tests.sound_server import SoundServer

pytestmark = pytest.mark.sound

_BACKUP = """
from pathlib import Path

SCHEMA = {
    "type": "function",
    "name": "run_backup",
    "description": "Run the backup script.",
    "parameters": {"type": "object", "properties": {}, "required": []},
}
RISK = "exec"
COMPLETE = "The backup is finished."


async def execute(args, ctx):
    Path("RAN").write_text("yes")
    return "Backed up."
"""


@contextmanager
def asked_to_back_up(server: SoundServer, speak: Speak, folder: Path) -> Iterator[tuple[Device, Recording, Path]]:
    """A box that was asked to run the backup, at the moment at which its question has been heard."""
    home, ran = folder / "home", folder / "ran"
    (home / "plugins").mkdir(parents=True)
    (home / "plugins" / "backup.py").write_text(_BACKUP.replace('"RAN"', repr(str(ran))))
    answers = ({"calls": [{"name": "run_backup"}]}, {"text": "That is all for today."})
    with (
        scripted_model(folder, *answers) as model,
        Device(server, home, {**NO_TONES, **model}, has_keyboard=True) as device,
    ):
        start = len(device.facts)
        with server.record() as recording:
            server.play(speak("Okay Nabu. Run the backup script."))
            device.wait_for("PlaybackFinished", behind=start, heard_text="Hold it for no.")
            assert not ran.exists()
            yield device, recording, ran


def test_a_press_after_the_question_runs_it(
    sound_server: SoundServer, speak: Speak, understand: Understand, tmp_path: Path
) -> None:
    with asked_to_back_up(sound_server, speak, tmp_path) as (device, recording, ran):
        device.type_line()
        device.wait_for("TurnEnded", reason="answered")
        recording.wait_for_silence(lasting_seconds=0.5, within_seconds=10)
        audit = json.loads(device.command("audit", "--json").stdout)
    assert ran.exists()
    said = understand(recording.audio)
    assert "backup" in said and said.find("backup is finished") < said.find("all for today"), said
    assert [line["entry"]["approver"] for line in audit if line["entry"]["kind"] == "decision"] == ["button"]


def test_a_no_runs_nothing_and_is_said(
    sound_server: SoundServer, speak: Speak, understand: Understand, tmp_path: Path
) -> None:
    with asked_to_back_up(sound_server, speak, tmp_path) as (device, recording, ran):
        device.type_line("no")
        device.wait_for("ApprovalDecided", decision="declined")
        recording.wait_for_silence(lasting_seconds=1.0, within_seconds=20)
        device.wait_for("TurnEnded")
        verdicts = [line["entry"]["verdict"] for line in json.loads(device.command("audit", "--json").stdout)]
    assert not ran.exists()
    assert verdicts == ["declined"]
    assert "finished" not in understand(recording.audio)
