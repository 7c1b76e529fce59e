"""All kinds of face at once, on buses that only remember, while the box answers aloud."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.device import Device, wait_until
from tests.e2e.every_face import FACES, SETTINGS
from tests.sound_server import SoundServer


def test_every_kind_of_face_lives_through_a_spoken_turn(sound_server: SoundServer, tmp_path: Path) -> None:
    with Device(sound_server, tmp_path / "home", SETTINGS, program="tests.e2e.every_face") as box:
        report = box.call("ask", text="What time is it?", voice=True)
        assert report["reason"] == "answered"
        faces = wait_until(lambda: box.call("status")["face"], lambda: box.complaints)
        assert len(faces) == len(FACES)
        assert set(faces.values()) == {"ok"}
