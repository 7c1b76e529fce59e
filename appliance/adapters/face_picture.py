"""The face as a picture (Pillow): one PNG that follows the face, a still of a mood, or the sheet of all 14."""

from __future__ import annotations

import colorsys
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.events import Activity
from appliance.ports import ALL_FACE_PARTS, FacePart, FaceState

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

    Draw = ImageDraw.ImageDraw

#: Drawn this many times larger and scaled down: Pillow's own shapes have no smooth edges.
_OVERSAMPLING = 3
_SIDE_PIXELS = 240
_BACKGROUND = (16, 18, 24)
_SHELL = (30, 33, 43)

#: A small lamp in the corner tells what the box is doing, never by colour alone: each has its own mark.
_LAMPS: dict[Activity, tuple[tuple[int, int, int], str]] = {
    Activity.LISTENING: (((90, 220, 255)), "ring"),
    Activity.WORKING: ((255, 200, 80), "dots"),
    Activity.SPEAKING: ((120, 255, 140), "waves"),
    Activity.MUTED: ((255, 60, 60), "bar"),
    Activity.ASKING: ((255, 160, 0), "mark"),
    Activity.ERROR: ((255, 60, 60), "cross"),
    Activity.OFFLINE: ((140, 140, 150), "dot"),
}


class PictureFace:
    """A FaceBackend and a PictureScreen: keeps one PNG file up to date, written only when it changed visibly."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._last: FaceState | None = None

    @property
    def name(self) -> str:
        return f"picture {self._file.name}"

    @property
    def parts(self) -> frozenset[FacePart]:
        return ALL_FACE_PARTS

    @property
    def poses_per_second(self) -> float:
        return 5.0

    def apply(self, state: FaceState) -> None:
        if state == self._last:
            return
        write_picture(draw_face(state), self._file)
        self._last = state

    def show_picture(self, data: bytes) -> None:
        write_picture(fit_picture(data, _SIDE_PIXELS), self._file)
        self._last = None

    def park(self) -> None:
        self._last = None

    def close(self) -> None:
        """Nothing is held."""


def draw_face(state: FaceState, side_pixels: int = _SIDE_PIXELS, *, is_quick: bool = False) -> Image.Image:
    """The pose as an RGB picture, ``side_pixels`` square; ``is_quick`` for moving ones, in a third of the time."""
    from PIL import Image, ImageDraw

    side = side_pixels * _OVERSAMPLING
    image = Image.new("RGB", (side, side), _BACKGROUND)
    pen = ImageDraw.Draw(image)
    unit = side / 100.0
    pen.rounded_rectangle((4 * unit, 8 * unit, 96 * unit, 92 * unit), radius=18 * unit, fill=_SHELL)
    colour = _lit(state)
    drop = -state.neck_degrees * 0.35
    for is_left in (True, False):
        _draw_eye(pen, state, unit, colour, drop, is_left=is_left)
        _draw_brow(pen, state, unit, colour, drop, is_left=is_left)
    _draw_mouth(pen, state, unit, colour, drop)
    _draw_lamp(pen, state.activity, unit)
    if is_quick:
        return image.reduce(_OVERSAMPLING)
    return image.resize((side_pixels, side_pixels), Image.Resampling.LANCZOS)


def fit_picture(data: bytes, side_pixels: int) -> Image.Image:
    """A JPEG of ours, whole, on a square of that size."""
    from PIL import Image

    square = Image.new("RGB", (side_pixels, side_pixels), _BACKGROUND)
    with Image.open(io.BytesIO(data), formats=["JPEG"]) as picture:
        picture.thumbnail((side_pixels, side_pixels))
        square.paste(picture, ((side_pixels - picture.width) // 2, (side_pixels - picture.height) // 2))
    return square


def draw_sheet(faces: Sequence[tuple[str, FaceState]], columns: int = 7, side_pixels: int = 150) -> Image.Image:
    """Named faces side by side on one picture."""
    from PIL import Image, ImageDraw, ImageFont

    label_pixels = 22
    rows = math.ceil(len(faces) / columns)
    sheet = Image.new("RGB", (columns * side_pixels, rows * (side_pixels + label_pixels)), _BACKGROUND)
    pen = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(size=14)
    for index, (label, state) in enumerate(faces):
        left, top = (index % columns) * side_pixels, (index // columns) * (side_pixels + label_pixels)
        sheet.paste(draw_face(state, side_pixels), (left, top))
        pen.text((left + side_pixels / 2, top + side_pixels + 8), label, fill=(220, 225, 235), font=font, anchor="mm")
    return sheet


def write_picture(image: Image.Image, file: Path) -> None:
    """Write a PNG so that a reader sees the old or the new one, never half."""
    packed = io.BytesIO()
    image.save(packed, format="PNG")
    file.parent.mkdir(parents=True, exist_ok=True)
    half = file.with_name(f".{file.name}.new")
    try:
        half.write_bytes(packed.getvalue())
        half.replace(file)
    finally:
        half.unlink(missing_ok=True)


def _lit(state: FaceState) -> tuple[int, int, int]:
    """The mood's colour at its brightness, never so dark that the shape is lost."""
    red, green, blue = (part / 255 for part in state.rgb)
    hue, saturation, _ = colorsys.rgb_to_hsv(red, green, blue)
    value = 0.55 + 0.45 * max(0.0, min(1.0, state.brightness))
    lit = colorsys.hsv_to_rgb(hue, saturation * 0.85, value)
    return (round(lit[0] * 255), round(lit[1] * 255), round(lit[2] * 255))


def _draw_eye(
    pen: Draw, state: FaceState, unit: float, colour: tuple[int, int, int], drop: float, *, is_left: bool
) -> None:
    centre_x = (30 if is_left else 70) + state.gaze_x * 3
    centre_y = 46 + drop - state.gaze_y * 3
    half_width = 10.0
    half_height = max(0.9, state.lid_degrees / 60.0 * 15.0)
    box = [centre_x - half_width, centre_y - half_height, centre_x + half_width, centre_y + half_height]
    radius = min(half_width, half_height) * 0.9
    pen.rounded_rectangle([edge * unit for edge in box], radius=radius * unit, fill=colour)
    if half_height > 4:
        pupil = min(4.2, half_height * 0.6)
        x, y = centre_x + state.gaze_x * 4, centre_y - state.gaze_y * min(4.0, half_height - pupil)
        pen.ellipse([(x - pupil) * unit, (y - pupil) * unit, (x + pupil) * unit, (y + pupil) * unit], fill=_SHELL)


def _draw_brow(
    pen: Draw, state: FaceState, unit: float, colour: tuple[int, int, int], drop: float, *, is_left: bool
) -> None:
    degrees = state.brow_left_degrees if is_left else state.brow_right_degrees
    centre_x, centre_y = (30 if is_left else 70), 25 + drop - abs(degrees) * 0.08
    # Positive degrees raise the inner end: the right end of the left brow, the left end of the right one.
    lean = math.tan(math.radians(degrees * 1.4)) * 11 * (1 if is_left else -1)
    ends = [(centre_x - 11) * unit, (centre_y + lean) * unit, (centre_x + 11) * unit, (centre_y - lean) * unit]
    width = 3.4 * unit
    pen.line(ends, fill=colour, width=round(width))
    for x, y in ((ends[0], ends[1]), (ends[2], ends[3])):
        pen.ellipse([x - width / 2, y - width / 2, x + width / 2, y + width / 2], fill=colour)


def _draw_mouth(pen: Draw, state: FaceState, unit: float, colour: tuple[int, int, int], drop: float) -> None:
    # A mouth that opens without a smile gets round.
    half_width = 16.0 * (1 - 0.5 * state.mouth_open * (state.mouth_degrees < 5))
    centre_x, centre_y = 50.0, 74 + drop
    bend = state.mouth_degrees / 20.0 * 9.0
    steps = [index / 24 * 2 - 1 for index in range(25)]
    upper = [(centre_x + x * half_width, centre_y + bend * (0.5 - x * x)) for x in steps]
    width = 3.4
    if state.mouth_open > 0.05:
        gap = state.mouth_open * 14
        lower = [(x, y + gap * (1 - ((x - centre_x) / half_width) ** 2)) for x, y in reversed(upper)]
        pen.polygon([(x * unit, y * unit) for x, y in upper + lower], fill=colour)
    pen.line([(x * unit, y * unit) for x, y in upper], fill=colour, width=round(width * unit), joint="curve")
    for x, y in (upper[0], upper[-1]):
        pen.ellipse(
            [(x - width / 2) * unit, (y - width / 2) * unit, (x + width / 2) * unit, (y + width / 2) * unit],
            fill=colour,
        )


def _draw_lamp(pen: Draw, activity: Activity, unit: float) -> None:
    if activity not in _LAMPS:
        return
    colour, mark = _LAMPS[activity]
    x, y, size = 86 * unit, 17 * unit, 4 * unit
    width = round(1.2 * unit)
    match mark:
        case "ring":
            pen.ellipse([x - size, y - size, x + size, y + size], outline=colour, width=width)
        case "dots":
            for shift in (-3.2, 0, 3.2):
                centre = x + shift * unit
                pen.ellipse([centre - unit, y - unit, centre + unit, y + unit], fill=colour)
        case "waves":
            for shift, height in ((-3.2, 2), (0, 4), (3.2, 2)):
                pen.line(
                    [x + shift * unit, y - height * unit, x + shift * unit, y + height * unit], fill=colour, width=width
                )
        case "bar":
            pen.line([x - size, y, x + size, y], fill=colour, width=round(2.4 * unit))
        case "mark":
            pen.line([x, y - size, x, y + unit], fill=colour, width=round(1.8 * unit))
            pen.ellipse([x - unit, y + 2.4 * unit, x + unit, y + 4.4 * unit], fill=colour)
        case "cross":
            pen.line([x - size, y - size, x + size, y + size], fill=colour, width=width)
            pen.line([x - size, y + size, x + size, y - size], fill=colour, width=width)
        case _:
            pen.ellipse([x - unit, y - unit, x + unit, y + unit], fill=colour)
