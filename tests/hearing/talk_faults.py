"""Sound devices that fail while somebody talks with the box: every turn ends, and the next question is answered."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from appliance import models
from appliance.adapters.piper import PiperSynthesizer
from appliance.adapters.wav_file import write_wav
from appliance.audio import AudioFormat, join, silence
from tests.e2e.device import Device
from tests.hearing.sound_faults import Fault
from tests.sound_server import SoundServer, SoundServerError

#: What the model says to everything: long enough that a fault falls into it.
ANSWER = {"text": "Once upon a time there was a box in a kitchen that told very long stories to whoever asked."}
TELL, ASK = "Okay Nabu. Tell me a story.", "Okay Nabu. What is the time of day?"
#: What a person waits for a sign of having been heard before asking again.
_ASK_AGAIN_SECONDS = 3.0
_MOST_TRIES = 8


@dataclass(frozen=True)
class Talk:
    """``ended`` is why the turn ended in which the fault fell, so long after the devices worked again.

    ``asked`` is how often the next question had to be asked until it was answered.
    """

    fault: str
    ended: str
    ended_seconds: float
    asked: int


def talk_through(
    server: SoundServer, device: Device, fault: Fault, tell: Path, ask: Path, mouth: str = "mouth"
) -> Talk:
    """Have a fault fall into an answer. Raises ``AssertionError`` when a turn never ends, or the box stays deaf."""
    start, _ = _say_until_heard(server, device, tell, mouth)
    device.wait_for("PlaybackStarted", behind=start, lane="speech")
    fault.begin(server)
    time.sleep(fault.seconds)
    fault.end(server)
    works_at = time.monotonic()
    end = device.wait_for("TurnEnded", behind=start)
    asked = _ask_until_answered(server, device, ask, fault.mouth)
    return Talk(fault.name, str(end["reason"]), max(0.0, end["at_seconds"] - works_at), asked)


def talk_alone(fault: Fault, folder: Path) -> Talk:
    """``talk_through`` with a sound server, a model and a box of its own; ``folder`` keeps the questions."""
    tell, ask = (_spoken(text, folder) for text in (TELL, ASK))
    home = folder / f"home {fault.name}"
    with SoundServer() as server, _model(folder) as model:
        # "The default is unloaded" needs one that others can take the place of.
        if fault.is_about_others:
            server.plug_in_one("mouth2")
            server.plug_in_one("speaker2")
            server.choose("mouth2", "speaker2")
        settings = {"APPLIANCE_LISTEN_EARCONS": "false", **model}
        with Device(server, home, settings, notes=folder) as device:
            mouth = "mouth2" if fault.is_about_others else "mouth"
            return talk_through(server, device, fault, tell, ask, mouth)


def _spoken(text: str, folder: Path) -> Path:
    file = folder / f"{len(text)}.wav"
    if not file.exists():
        voice = PiperSynthesizer(models.locate("en_US-joe-medium", folder))

        async def say() -> None:
            chunks = [chunk.audio async for chunk in voice.synthesize(text)]
            form = AudioFormat(voice.sample_rate_hz)
            write_wav(file, join([silence(0.5, form), *chunks], form))

        asyncio.run(say())
        voice.close()
    return file


@contextmanager
def _model(folder: Path) -> Iterator[dict[str, str]]:
    script = folder / "script.json"
    script.write_text(json.dumps([ANSWER]))
    command = [sys.executable, "-m", "tests.responses_server", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield {"APPLIANCE_THINK_URL": server.stdout.readline().strip(), "APPLIANCE_THINK_MODEL": "scripted"}
        finally:
            server.kill()


def _ask_until_answered(server: SoundServer, device: Device, ask: Path, mouth: str) -> int:
    asked, end = 0, ""
    while end != "answered":
        start, tries = _say_until_heard(server, device, ask, mouth)
        asked += tries
        end = device.wait_for("TurnEnded", behind=start)["reason"]
        assert asked < _MOST_TRIES, f"not answered: {device.facts[start:]}"
    return asked


def _say_until_heard(server: SoundServer, device: Device, said: Path, mouth: str) -> tuple[int, int]:
    """As people do. How many facts there were before, and how often it was said."""
    for tries in range(1, _MOST_TRIES):
        start = len(device.facts)
        with contextlib.suppress(SoundServerError):
            server.play(said, mouth)
        until = time.monotonic() + _ASK_AGAIN_SECONDS
        while time.monotonic() < until:
            if any(fact["event"] == "WakeDetected" for fact in device.facts[start:]):
                return start, tries
            time.sleep(0.05)
    raise AssertionError(f"never heard: {device.facts[-30:]}\n{device.complaints[-3000:]}")


def table(talks: list[Talk]) -> str:
    """For people."""
    lines = [f"{'fault while an answer sounds':45} {'turn':>9} {'ended':>8} {'next question':>14}"]
    for one in talks:
        asked = "answered" if one.asked == 1 else f"asked {one.asked} x"
        lines.append(f"{one.fault:45} {one.ended:>9} {one.ended_seconds:6.1f} s {asked:>14}")
    return "\n".join(lines)
