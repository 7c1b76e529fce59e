"""A model that writes word by word is asked ahead, and answers while it still writes; what is heard is whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.conftest import Speak, Understand
from tests.e2e.device import Device
from tests.e2e.test_first_light import NO_TONES, scripted_model
from tests.sound_server import SoundServer
from tests.understood import was_said

pytestmark = pytest.mark.sound

_ANSWER = "The museum on the corner opens at ten in the morning on most days. It is closed on Mondays."
#: As in the product; the script has one answer, which is given to whoever asks.
_ASKED_AHEAD = {"APPLIANCE_THINK_SPECULATE": "true", "APPLIANCE_THINK_WARM_PREFIX": "auto"}


def test_an_answer_that_is_still_written_is_heard_whole(
    sound_server: SoundServer, speak: Speak, understand: Understand, tmp_path: Path
) -> None:
    answer = {"text": _ANSWER, "pause_seconds": 0.05}
    with (
        scripted_model(tmp_path, answer) as model,
        Device(sound_server, tmp_path / "home", {**NO_TONES, **model, **_ASKED_AHEAD}) as device,
    ):
        start = len(device.facts)
        with sound_server.record() as recording:
            sound_server.play(speak("Okay Nabu. When does the museum open?"))
            end = device.wait_for("TurnEnded", behind=start, reason="answered")
            recording.wait_for_silence(lasting_seconds=0.5, within_seconds=10)
        facts = device.facts[start:]
    assert end["reason"] == "answered"
    said = [fact["text"] for fact in facts if fact["event"] == "ReplySentenceSpoken"]
    assert " ".join(said) == _ANSWER
    heard = understand(recording.audio)
    assert was_said(heard, "the museum on the corner opens at ten in the morning on most days", "closed on mondays")


def test_a_sentence_whose_end_is_never_written_is_said_as_far_as_it_goes_and_then_what_is_wrong(
    sound_server: SoundServer, speak: Speak, understand: Understand, tmp_path: Path
) -> None:
    answer = {"text": _ANSWER, "pause_seconds": 0.05, "fault": "stall", "fault_after": 13}
    with (
        scripted_model(tmp_path, answer) as model,
        Device(sound_server, tmp_path / "home", {**NO_TONES, **model, **_ASKED_AHEAD}) as device,
    ):
        start = len(device.facts)
        with sound_server.record() as recording:
            sound_server.play(speak("Okay Nabu. When does the museum open?"))
            device.wait_for("PlaybackStarted", behind=start)
            is_known = [fact for fact in device.facts[start:] if fact["event"] == "ReplySentenceSpoken"]
            device.wait_for("TurnEnded", behind=start, reason="failed")
            recording.wait_for_silence(lasting_seconds=0.5, within_seconds=10)
        facts = device.facts[start:]
    assert is_known == [], "it began to sound before anybody knew how the sentence ends"
    begun, problem = [fact["text"] for fact in facts if fact["event"] == "ReplySentenceSpoken"]
    assert _ANSWER.startswith(begun.removesuffix("."))
    heard = understand(recording.audio)
    assert was_said(heard, "the museum on the corner") and was_said(heard, problem), heard
