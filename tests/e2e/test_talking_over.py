"""An open loudspeaker beside the microphone, on a real sound server: the box hears people over its own voice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.conftest import Speak
from tests.e2e.device import Device, wait_until
from tests.e2e.test_first_light import NO_TONES, scripted_model
from tests.sound_server import SoundServer

pytestmark = pytest.mark.sound

_STORY = (
    "Once upon a time there was a box in a kitchen that told very long stories to whoever asked. "
    "It knew the names of all the ships in the harbour, and what each of them had in its hold. "
    "It also knew a way to the moon, but nobody had ever asked for that. "
)


def test_it_never_interrupts_itself_and_finds_out_that_it_may_be_talked_over(
    sound_server: SoundServer, speak: Speak, tmp_path: Path
) -> None:
    with (
        scripted_model(tmp_path, {"text": _STORY}, {"text": _STORY * 2}) as model,
        Device(sound_server, tmp_path / "home", {**NO_TONES, **model}) as device,
        sound_server.echo(late_seconds=0.1),
    ):
        start = len(device.facts)
        sound_server.play(speak("Okay Nabu. Tell me a story."))
        first = device.wait_for("TurnEnded", behind=start)
        middle = len(device.facts)
        sound_server.play(speak("Okay Nabu. Tell me a story."))
        device.wait_for("PlaybackStarted", behind=middle)
        # A busy machine loses sound now and then, and then the box first has to find its echo again.
        wait_until(lambda: _mode_in_which_one_may_talk(device), lambda: device.call("status")["talking over it"])
        told = [fact["text"] for fact in device.facts[start:] if fact["event"] == "Transcribed"]
    assert first["reason"] == "answered", f"nothing interrupted the first story, least of all itself: {told}"


def _mode_in_which_one_may_talk(device: Device) -> str:
    mode = str(device.call("status")["talking over it"])
    return "" if mode.startswith("half") else mode
