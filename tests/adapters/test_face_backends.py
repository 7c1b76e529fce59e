"""The pictures of the face: what a person can tell apart by looking."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from appliance.adapters.face_picture import PictureFace, draw_face, draw_sheet
from appliance.adapters.face_terminal import TerminalFace, face_line
from appliance.events import Activity, Emotion
from appliance.face.animator import still
from appliance.ports import FaceState
from tests.pictures import GREEN, is_like, opened, picture


def test_the_fourteen_pictures_differ_in_shape_not_only_in_colour() -> None:
    outlines = {}
    for emotion in Emotion:
        grey = np.asarray(draw_face(still(emotion)).convert("L"), dtype=np.int32)
        outlines[emotion] = grey > 60
    names = list(Emotion)
    for index, one in enumerate(names):
        for other in names[index + 1 :]:
            differing = np.mean(outlines[one] != outlines[other])
            assert differing > 0.004, f"{one} and {other} look the same"


def test_the_lamp_tells_listening_from_muted() -> None:
    listening = np.asarray(draw_face(still(Emotion.NEUTRAL, Activity.LISTENING)))
    muted = np.asarray(draw_face(still(Emotion.NEUTRAL, Activity.MUTED)))
    assert (listening != muted).any()


def test_the_sheet_shows_all_moods_with_their_names() -> None:
    sheet = draw_sheet([(emotion.value, still(emotion)) for emotion in Emotion], columns=7, side_pixels=100)
    assert sheet.size == (700, 244)


def test_the_picture_file_is_always_whole_and_written_only_on_change(tmp_path: Path) -> None:
    file = tmp_path / "face.png"
    face = PictureFace(file)
    face.apply(still(Emotion.HAPPY))
    first = file.stat().st_mtime_ns
    face.apply(still(Emotion.HAPPY))
    assert file.stat().st_mtime_ns == first
    with Image.open(file) as picture:
        assert picture.size == (240, 240)
    assert [entry.name for entry in tmp_path.iterdir()] == ["face.png"]


@pytest.mark.parametrize("emotion", list(Emotion))
def test_a_terminal_shows_the_mood_in_words_too(emotion: Emotion) -> None:
    assert emotion.value in face_line(still(emotion))


def test_the_terminal_face_stays_on_its_line_and_leaves_it_clean() -> None:
    stream = io.StringIO()
    face = TerminalFace(stream)
    face.apply(still(Emotion.HAPPY))
    face.apply(still(Emotion.HAPPY))
    face.park()
    assert "\n" not in stream.getvalue()
    assert stream.getvalue().count("happy") == 1
    assert stream.getvalue().endswith("\r\x1b[K")


@pytest.mark.contract("S-027")
def test_the_picture_face_shows_a_picture_whole_and_then_the_face_again(tmp_path: Path) -> None:
    file = tmp_path / "face.png"
    face = PictureFace(file)
    face.apply(FaceState())
    before = file.read_bytes()
    face.show_picture(picture(GREEN, (300, 100)))
    with opened(file.read_bytes()) as shown:
        assert shown.format == "PNG" and shown.width == shown.height
        middle, edge = shown.getpixel((shown.width // 2, shown.height // 2)), shown.getpixel((5, 5))
        assert is_like(middle, GREEN) and not is_like(edge, GREEN)
    face.apply(FaceState())
    assert file.read_bytes() == before
