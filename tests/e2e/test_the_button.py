"""What is risky waits for a hand, by voice on a real sound server; here the hand is on the Enter key."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.e2e.conftest import Speak, Understand
from tests.e2e.device import Device
from tests.e2e.test_first_light import NO_TONES, scripted_model
from tests.recording import Recording
from tests.sound_server import SoundServer
from tests.understood import was_said

pytestmark = pytest.mark.sound

#: The end of the question; from here on the ear is open for a no.
LAST_WORDS = "For no, hold it, or just say so."
#: Time for the question, a yes, and what the box says to that; then it has to expire.
SHORT_WINDOW = {"APPLIANCE_APPROVAL_VOICE_WINDOW_SECONDS": "20"}

BACKUP = """
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
def asked_to_back_up(
    server: SoundServer,
    speak: Speak,
    folder: Path,
    settings: Mapping[str, str] | None = None,
    *,
    room: AbstractContextManager[None] | None = None,
) -> Iterator[tuple[Device, Recording, Path]]:
    """A box that was asked to run the backup, at the moment at which its question has been heard in that room."""
    home, ran = folder / "home", folder / "ran"
    (home / "plugins").mkdir(parents=True)
    (home / "plugins" / "backup.py").write_text(BACKUP.replace('"RAN"', repr(str(ran))))
    answers = ({"calls": [{"name": "run_backup"}]}, {"text": "That is all for today."})
    with (
        scripted_model(folder, *answers) as model,
        Device(server, home, {**NO_TONES, **model, **(settings or {})}, has_keyboard=True) as device,
    ):
        start = len(device.facts)
        with server.record() as recording, ExitStack() as stack:
            server.play(speak("Okay Nabu. Run the backup script."))
            if room is not None:
                stack.enter_context(room)
            device.wait_for("PlaybackFinished", behind=start, heard_text=LAST_WORDS)
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
    assert was_said(said, "run backup", "the backup is finished", "all for today"), said
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
    assert not was_said(understand(recording.audio), "finished")


def test_a_spoken_no_is_a_no_in_a_room_that_gives_the_question_back(
    sound_server: SoundServer, speak: Speak, understand: Understand, tmp_path: Path
) -> None:
    room = sound_server.echo(late_seconds=0.2)
    with asked_to_back_up(sound_server, speak, tmp_path, room=room) as (device, recording, ran):
        # The echo of the question, with a no in it, has ended in silence: it was no answer.
        recording.wait_for_silence(lasting_seconds=2.0, within_seconds=10)
        asked, state = recording.last_sound_at_seconds, device.call("status")["state"]
        sound_server.play(speak("No."))
        device.wait_for("ApprovalDecided", decision="declined")
        device.wait_for("TurnEnded", reason="answered")
        recording.wait_for_silence(lasting_seconds=1.0, within_seconds=20)
        (decision,) = [line["entry"] for line in json.loads(device.command("audit", "--json").stdout)]
        heard = [fact["text"] for fact in device.facts if fact["event"] == "Transcribed"]
    assert not ran.exists()
    assert state == "asking"
    assert (decision["verdict"], decision["approver"]) == ("declined", "voice")
    assert len(heard) == 2 and was_said(heard[1], "no"), heard
    assert asked is not None
    said = understand(recording.between(asked, asked + 60.0))
    assert was_said(said, "i did not do it") or was_said(said, "i left it"), said
    assert was_said(said, "all for today"), said


def test_a_spoken_yes_runs_nothing_and_silence_is_told_as_that(
    sound_server: SoundServer, speak: Speak, understand: Understand, tmp_path: Path
) -> None:
    with asked_to_back_up(sound_server, speak, tmp_path, SHORT_WINDOW) as (device, recording, ran):
        asked = recording.last_sound_at_seconds
        sound_server.play(speak("Yes, do it."))
        device.wait_for("PlaybackFinished", heard_text="I need the button for that.")
        assert not [fact for fact in device.facts if fact["event"] == "ApprovalDecided"]
        decided = device.wait_for("ApprovalDecided")
        end = device.wait_for("TurnEnded", reason="answered")
        recording.wait_for_silence(lasting_seconds=1.0, within_seconds=20)
        begun = device.wait_for("ApprovalRequested")["at_seconds"]
        story = device.command("turns", "show", end["turn_id"], "--model").stdout
        (decision,) = [line["entry"] for line in json.loads(device.command("audit", "--json").stdout)]
    assert not ran.exists()
    assert decided["decision"] == "unanswered"
    assert decided["at_seconds"] - begun >= 20.0, "the window has really passed"
    assert (decision["verdict"], decision["approver"]) == ("unanswered", "default")
    assert asked is not None
    said = understand(recording.between(asked + 0.3, asked + 60.0))
    assert was_said(said, "i need the button for that", "the button", "i did not do it", "all for today"), said
    # Neither the person nor the model is told that anybody said no.
    assert not was_said(said, "all right") and not was_said(said, "i left it"), said
    assert "timed out on screen: nobody answered, which is not a no" in story
    assert "said NO" not in story
