"""The box with every kind of face at once, on buses that only remember.

``python -m tests.e2e.every_face`` measures a minute of answers on a real sound server,
first with every face and then with the one on the terminal: gaps in the sound, and seconds of processor.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from appliance import wiring_faces
from appliance.cli.main import main as appliance

FACES = ("picture", "led", "strip", "pca9685", "servo", "matrix", "oled", "screen", "serial")
SETTINGS = {"APPLIANCE_FACE_BACKENDS": ",".join(FACES), "APPLIANCE_FACE_MATRIX_DEVICE": "/dev/spidev1.0"}

_SENTENCE = "Once upon a time there was a box in a kitchen that told very long stories to whoever asked for one. "
#: What is said of a longer reply; two such turns last a minute.
_SENTENCES, _TURNS = 12, 2


def main() -> int:
    """Be the device when called as one, else measure."""
    if "run" not in sys.argv[1:2]:
        return measure()
    wiring_faces._real_buses = lambda home: wiring_faces.recorded_buses(home.folder)
    return appliance()


def measure() -> int:
    """Print both turns."""
    from tests.sound_server import SoundServer

    for settings in (SETTINGS, {"APPLIANCE_FACE_BACKENDS": "terminal"}):
        with SoundServer() as server, tempfile.TemporaryDirectory() as folder:
            print(_told_story(server, Path(folder) / "home", settings), flush=True)
    return 0


def _told_story(server: Any, home: Path, settings: dict[str, str]) -> str:
    import time

    from tests.cli.scripted_model import ScriptedModel
    from tests.e2e.device import Device
    from tests.responses_server import Answer

    story = _SENTENCE * _SENTENCES
    with ScriptedModel(Answer(text=story)) as model:
        address = {"APPLIANCE_THINK_URL": model.url}
        with Device(server, home, {**settings, **address}, program="tests.e2e.every_face") as box:
            box.command("say", "Ready.")
            began, used = time.monotonic(), box.processor_seconds
            for _ in range(_TURNS):
                box.call("ask", text="Tell me a story.", voice=True)
            seconds, used = time.monotonic() - began, box.processor_seconds - used
            status = box.call("status")
    backends = len(settings["APPLIANCE_FACE_BACKENDS"].split(","))
    return f"{backends} faces: {seconds:.0f} s, {used:.1f} s of processor, {status['sound']}, {status['face']}"


if __name__ == "__main__":
    sys.exit(main())
