"""From settings to the things that show the face: what is wired, and what is told when it cannot be."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from appliance.adapters.face_serial import SerialFace
from appliance.adapters.fakes.face_buses import FakePulseFiles
from appliance.clock import FakeClock
from appliance.config import load
from appliance.errors import ConfigError
from appliance.events import Emotion
from appliance.face.animator import still
from appliance.face.config import FaceConfig
from appliance.home import Home
from appliance.ports_face import BoardSettings, JointSettings
from appliance.wiring_faces import Faces, board_settings, configured_faces, device_faces, recorded_buses

EVERY_DEVICE = ("serial", "led", "strip", "servo", "pca9685", "matrix", "oled", "screen")
DEVICES = FaceConfig(backends=EVERY_DEVICE, matrix_device="/dev/spidev1.0")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def made(home: Home, face: FaceConfig) -> Faces:
    return device_faces(face, home, FakeClock(), recorded_buses(home.folder))


def names(faces: Faces) -> list[str]:
    return [backend.name for backend in faces.backends]


def test_every_device_at_once_shows_the_face_parks_and_lets_go(home: Home) -> None:
    faces = made(home, DEVICES)
    assert names(faces) == list(EVERY_DEVICE)
    assert faces.problems == ()
    for backend in faces.backends:
        for emotion in Emotion:
            backend.apply(still(emotion))
        backend.park()
        backend.close()
        backend.close()


def test_one_that_is_named_twice_is_made_once(home: Home) -> None:
    assert names(made(home, FaceConfig(backends=("led", "led")))) == ["led"]


@pytest.mark.parametrize(
    ("face", "sentence"),
    [
        (FaceConfig(backends=("leds",)), "face.backends: 'leds' is none; there are: terminal, picture, serial, led,"),
        (FaceConfig(backends=("led",), led_pins=("GPIO1",)), "face.led_pins needs three pins"),
        (FaceConfig(backends=("led",), led_pins=("GPIO1",) * 3), "face.led_pins needs three pins"),
        (FaceConfig(backends=("servo",), servo_joints=("lip=0",)), "'lip=0' is no joint with a place of its own"),
        (FaceConfig(backends=("servo",), servo_joints=("lid",)), "'lid' is no joint with a place of its own"),
        (FaceConfig(backends=("servo",), servo_joints=("lid=0", "lid=1")), "'lid=1' is no joint"),
        (FaceConfig(backends=("servo",), servo_joints=("lid=0", "mouth=0")), "'mouth=0' is no joint"),
        (FaceConfig(backends=("servo",), servo_joints=()), "face.servo_joints names no joint"),
        (FaceConfig(backends=("servo",), servo_joints=("lid=GPIO5",)), "a pin needs face.servo_software"),
        (FaceConfig(backends=("pca9685",), pca9685_joints=("lid=16",)), "lid=16 needs a number from 0 to 15"),
        (FaceConfig(backends=("oled",), oled_height=48), "face.oled_height must be 32 or 64, not 48"),
        (FaceConfig(backends=("matrix",), matrix_turned_degrees=45), "must be 0, 90, 180 or 270, not 45"),
        (FaceConfig(backends=("strip", "matrix")), "the strip takes what is meant for the matrix"),
    ],
)
def test_a_setting_that_makes_no_sense_is_told_and_takes_only_its_own_face_away(
    home: Home, face: FaceConfig, sentence: str
) -> None:
    faces = made(home, replace(face, backends=(*face.backends, "screen")))
    assert len(faces.problems) == 1
    assert sentence in faces.problems[0]
    assert "screen" in names(faces)


def test_settings_from_the_command_line_reach_the_devices(home: Home) -> None:
    config = load(None, {}, {"face.backends": "servo", "face.servo_joints": "neck=3"})
    files = FakePulseFiles(home.folder / "sys")
    buses = replace(recorded_buses(home.folder), pulse_files=files, pulse_folder=files.chip.parent)
    faces = device_faces(config.of(FaceConfig), home, FakeClock(), buses)
    faces.backends[0].apply(still(Emotion.NEUTRAL))
    assert files.of(3)["duty_cycle"] == "1500000"


def test_the_shape_of_the_head_comes_from_its_file(home: Home) -> None:
    assert board_settings(home) is None
    (home.folder / "face.json").write_text(json.dumps({"lid": {"neutral_us": 1400, "us_per_degree": 5}}))
    assert board_settings(home) == BoardSettings(lid=JointSettings(neutral_us=1400, us_per_degree=5))
    files = FakePulseFiles(home.folder / "sys")
    buses = replace(recorded_buses(home.folder), pulse_files=files, pulse_folder=files.chip.parent)
    faces = device_faces(FaceConfig(backends=("servo",)), home, FakeClock(), buses)
    faces.backends[0].apply(still(Emotion.NEUTRAL))
    assert files.of(0)["duty_cycle"] == "1600000", "1400 and 40 times 5"


@pytest.mark.parametrize("text", ["{", "[]", '{"lip": {}}', '{"lid": {"neutral_us": 9}}', '{"lid": 3}'])
def test_a_wrong_file_of_the_head_is_told_once_for_all_that_need_it(home: Home, text: str) -> None:
    (home.folder / "face.json").write_text(text)
    with pytest.raises(ConfigError, match=r"face\.json: "):
        board_settings(home)
    faces = made(home, DEVICES)
    assert names(faces) == ["led", "strip", "matrix", "oled", "screen"]
    assert len(faces.problems) == 1


def test_a_button_on_the_board_reaches_whoever_wants_to_know(home: Home) -> None:
    faces = made(home, DEVICES)
    pressed: list[str] = []
    faces.connect_buttons(pressed.append)
    (serial,) = (backend for backend in faces.backends if isinstance(backend, SerialFace))
    serial.on_button("talk")
    assert pressed == ["talk"]


def test_a_machine_without_any_of_the_devices_has_the_faces_all_the_same(home: Home) -> None:
    config = load(None, {}, {"face.backends": ",".join(EVERY_DEVICE), "face.matrix_device": "/dev/spidev1.0"})
    faces = configured_faces(config, home, FakeClock(), shows_terminal=False)
    assert names(faces) == list(EVERY_DEVICE)
    for backend in faces.backends:
        if backend.name != "serial":  # It might find an adapter that is somebody else's.
            with pytest.raises(OSError, match=r"not there|not installed|cannot be opened|no pulse generator"):
                backend.apply(still(Emotion.HAPPY))
        backend.park()
        backend.close()


def test_a_picture_that_was_asked_for_is_the_only_face(home: Home, tmp_path: Path) -> None:
    config = load(None, {}, {"face.backends": "led,picture"})
    faces = configured_faces(config, home, FakeClock(), tmp_path / "one.png", shows_terminal=False)
    assert names(faces) == ["picture one.png"]
