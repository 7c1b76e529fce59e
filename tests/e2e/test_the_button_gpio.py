"""The whole product with its button on the pins of a board: question, hand, lamp and sound together."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.board import Board
from tests.e2e.conftest import Speak, Understand
from tests.e2e.device import Device
from tests.e2e.test_first_light import NO_TONES, scripted_model
from tests.e2e.test_the_button import BACKUP, LAST_WORDS
from tests.recording import Recording
from tests.sound_server import SoundServer
from tests.understood import was_said

pytestmark = pytest.mark.sound

#: The lamp is looked after 50 times a second by a program that has other things to do as well.
_TOLERANCE_SECONDS = 0.12


@contextmanager
def asked_to_back_up(
    server: SoundServer, speak: Speak, folder: Path
) -> Iterator[tuple[Device, Board, Recording, Path]]:
    """A box on a board that was asked to run the backup, at the moment at which its question has been heard."""
    home, ran = folder / "home", folder / "ran"
    (home / "plugins").mkdir(parents=True)
    (home / "plugins" / "backup.py").write_text(BACKUP.replace('"RAN"', repr(str(ran))))
    answers = ({"calls": [{"name": "run_backup"}]}, {"text": "That is all for today."})
    with (
        Board() as board,
        scripted_model(folder, *answers) as model,
        Device(server, home, {**NO_TONES, **model}, board=board) as device,
    ):
        assert "the button on GPIO17" in device.introduction
        start = len(device.facts)
        with server.record() as recording:
            server.play(speak("Okay Nabu. Run the backup script."))
            device.wait_for("PlaybackFinished", behind=start, heard_text=LAST_WORDS)
            assert not ran.exists()
            yield device, board, recording, ran


def test_a_press_on_the_pin_runs_it(
    sound_server: SoundServer, speak: Speak, understand: Understand, tmp_path: Path
) -> None:
    with asked_to_back_up(sound_server, speak, tmp_path) as (device, board, recording, ran):
        asked_at = device.wait_for("ApprovalRequested")["at_seconds"]
        pressed_at = board.press(0.2)
        device.wait_for("TurnEnded", reason="answered")
        recording.wait_for_silence(lasting_seconds=0.5, within_seconds=10)
        audit = json.loads(device.command("audit", "--json").stdout)
        lights = board.lights()
    assert ran.exists()
    said = understand(recording.audio)
    assert was_said(said, "run backup", "the backup is finished", "all for today"), said
    assert [line["entry"]["approver"] for line in audit if line["entry"]["kind"] == "decision"] == ["button"]

    assert [light for light in lights if light[0] < asked_at] == [], "dark while nothing is asked"
    before = [seconds for on, seconds in lights if on + seconds < pressed_at]
    assert before[0] == pytest.approx(1.0, abs=_TOLERANCE_SECONDS), "a slow pulse while the question is said"
    assert before[-2:] == pytest.approx([0.25, 0.25], abs=_TOLERANCE_SECONDS), "blinking once a press approves"
    on, seconds = lights[-1]
    assert seconds >= 0.7 + 0.4 - _TOLERANCE_SECONDS, "steady from the finger to the accepted yes"
    assert on + seconds == pytest.approx(pressed_at + 0.2 + 0.7 + 0.4, abs=3 * _TOLERANCE_SECONDS), "and then dark"


def test_a_hold_on_the_pin_refuses_it(
    sound_server: SoundServer, speak: Speak, understand: Understand, tmp_path: Path
) -> None:
    with asked_to_back_up(sound_server, speak, tmp_path) as (device, board, recording, ran):
        pressed_at = board.press(1.3)
        device.wait_for("ApprovalDecided", decision="declined")
        device.wait_for("TurnEnded")
        recording.wait_for_silence(lasting_seconds=2.0, within_seconds=20)
        verdicts = [line["entry"]["verdict"] for line in json.loads(device.command("audit", "--json").stdout)]
        lights = board.lights()
    assert not ran.exists()
    assert verdicts == ["declined"]
    said = understand(recording.audio)
    assert was_said(said, "i did not do it") or was_said(said, "okay i left it"), said
    assert not was_said(said, "finished"), said
    denied = [seconds for on, seconds in lights if on > pressed_at + 1.2]
    assert denied == pytest.approx([0.15, 0.15], abs=_TOLERANCE_SECONDS), "two short lights, and then dark"
