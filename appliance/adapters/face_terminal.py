"""The face on one line of a terminal, drawn with plain characters so that every SSH client shows it."""

from __future__ import annotations

from typing import TextIO

from appliance.events import Activity
from appliance.ports import ALL_FACE_PARTS, FacePart, FaceState

_ACTIVITY_WORDS: dict[Activity, str] = {Activity.IDLE: "", Activity.WORKING: "working"}


class TerminalFace:
    """A FaceBackend that rewrites one line."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._last = ""

    @property
    def name(self) -> str:
        return "terminal"

    @property
    def parts(self) -> frozenset[FacePart]:
        return ALL_FACE_PARTS

    @property
    def poses_per_second(self) -> float:
        return 10.0

    def apply(self, state: FaceState) -> None:
        line = face_line(state)
        if line != self._last:
            # \r and "erase to the end of the line": the face moves in place.
            self._stream.write(f"\r\x1b[K{line}")
            self._stream.flush()
            self._last = line

    def park(self) -> None:
        if self._last:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._last = ""

    def close(self) -> None:
        """Nothing is held."""


def face_line(state: FaceState) -> str:
    """The pose in one line, for example ``( o‿o )  happy · speaking``."""
    red, green, blue = state.rgb
    eyes = _eye(state)
    face = f"{_brow(state.brow_left_degrees, is_left=True)}{eyes}{_mouth(state)}{eyes}"
    face += _brow(state.brow_right_degrees, is_left=False)
    doing = _ACTIVITY_WORDS.get(state.activity, state.activity.value)
    words = " · ".join(part for part in (state.emotion.value, doing) if part)
    return f"\x1b[38;2;{red};{green};{blue}m({face})\x1b[0m  {words}"


def _eye(state: FaceState) -> str:
    if state.lid_degrees < 8:
        return "-"
    if state.lid_degrees < 24:
        return "u"
    return "O" if state.lid_degrees > 50 else "o"


def _brow(degrees: float, *, is_left: bool) -> str:
    if abs(degrees) < 5:
        return " "
    return "/" if (degrees > 0) is is_left else "\\"


def _mouth(state: FaceState) -> str:
    if state.mouth_open > 0.25:
        return "O"
    if state.mouth_degrees > 5:
        return "‿"
    return "︵" if state.mouth_degrees < -5 else "_"
