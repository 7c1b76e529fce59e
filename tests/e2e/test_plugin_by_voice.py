"""A third party's plugin, put into its folder, asked by voice on a real sound server: its words and pictures arrive."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.contracts.third_party_world import install
from tests.e2e.conftest import Speak, Understand
from tests.e2e.device import Device
from tests.e2e.test_first_light import NO_TONES, scripted_model
from tests.pictures import GREEN, RED, is_like, opened, picture
from tests.sound_server import SoundServer
from tests.understood import was_said

pytestmark = pytest.mark.sound


def put_album(home: Path, photos: Path) -> None:
    """What the owner did: the plugin's folder, its setting, and two photos."""
    install("album", home / "plugins")
    photos.mkdir()
    (photos / "beach.jpg").write_bytes(picture(RED, (400, 300)))
    (photos / "forest.jpg").write_bytes(picture(GREEN, (400, 300)))
    settings = home / "user" / "webui" / "plugins" / "album.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"folder": str(photos)}))


@pytest.mark.contract("S-001", "S-023", "S-027", "S-053", "S-054")
def test_its_pictures_are_told_aloud_and_lie_in_the_chat(
    sound_server: SoundServer, speak: Speak, understand: Understand, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    put_album(home, tmp_path / "photos")
    answers = ({"calls": [{"name": "album_browse"}]}, {"text": "You were at the sea and in the woods."})
    with scripted_model(tmp_path, *answers) as model, Device(sound_server, home, {**NO_TONES, **model}) as device:
        start = len(device.facts)
        with sound_server.record() as recording:
            sound_server.play(speak("Okay Nabu. Where was I on my trip?"))
            end = device.wait_for("TurnEnded", behind=start)
            recording.wait_for_silence(lasting_seconds=0.5, within_seconds=15)
        shown = device.command("chat", "show").stdout.splitlines()
        row = shown.index("row: album (from album_browse)")
        beach, forest = (line.split(" - ")[1] for line in shown[row + 1 : row + 3])
        written = device.command("chat", "image", forest, "--out", str(tmp_path / "seen.jpg"))
    assert end["reason"] == "answered"
    said = understand(recording.audio)
    assert was_said(said, "at the sea and in the woods", "two pictures for you"), said
    assert shown[row + 1 : row + 3] == [f"  1. beach - {beach}", f"  2. forest - {forest}"]
    assert written.returncode == 0, written.stderr
    with opened((tmp_path / "seen.jpg").read_bytes()) as image:
        assert is_like(image.getpixel((9, 9)), GREEN)
