"""Where the commands that look at a board with a face, adjust it, flash it or park faces get their adapters from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from appliance.clock import SystemClock
from appliance.events import Emotion
from appliance.home import Home, shipped
from appliance.ports import FaceBackend, FaceState
from appliance.ports_face import FaceBoard

#: Eyes half closed, head a little down, no light: where a backend parks.
_AT_REST = FaceState(emotion=Emotion.SLEEPY, lid_degrees=20.0, mouth_degrees=0.0, neck_degrees=-8.0, brightness=0.0)


def board_port(name: str) -> str:
    """The port of that name; "" is the only one there is. Raises ``OSError`` that says what to do."""
    from appliance.adapters.serial_port import find_port

    return name or find_port()


def open_board(port: str, on_frame: Callable[[str], None] = lambda _words: None) -> FaceBoard:
    """The board on that port, greeted; ``on_frame`` gets every frame in words. Raises ``OSError``."""
    from appliance.adapters.face_workbench import SerialFaceBoard
    from appliance.adapters.serial_port import serial_port

    return SerialFaceBoard(port, serial_port(port), SystemClock().monotonic_seconds, on_frame)


def check_port(port: str) -> None:
    """Find out whether the port is there, and ours. Raises ``OSError``."""
    from appliance.adapters.serial_port import serial_port

    serial_port(port).close()


def build_firmware(home: Home, *, anew: bool = False) -> Path:
    """The image for the board, built here. Raises ``OSError`` that says what to do."""
    from appliance.adapters.avrdude import build_firmware as build

    return build(shipped("firmware"), home.cache_folder / "firmware", anew=anew)


def write_firmware(image: Path, port: str, programmer: str, baud: int | None) -> None:
    """Put the image on the board; takes half a minute. Raises ``OSError`` that says what to do."""
    from appliance.adapters.avrdude import LOADER_BAUD
    from appliance.adapters.avrdude import write_firmware as write

    write(image, port, programmer, baud or LOADER_BAUD)


def park_face(face: FaceBackend) -> None:
    """Open a face that nobody drives, put it to rest and leave it. Raises ``OSError``."""
    from appliance.adapters.face_serial import SerialFace

    try:
        if isinstance(face, SerialFace):
            face.greet()  # It knows where its joints are; showing it something first would move them for nothing.
        else:
            face.apply(_AT_REST)
        face.park()
    finally:
        face.close()
