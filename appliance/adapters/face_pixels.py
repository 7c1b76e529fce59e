"""The face for small screens of one colour, drawn for their few pixels instead of shrunk to them (Pillow).

Made for 128x64 and 64x32; other sizes are drawn in the same proportions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from appliance.events import Activity
from appliance.ports import FaceState

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

    Draw = ImageDraw.ImageDraw

#: All lengths below are for a screen of this size.
_WIDTH, _HEIGHT = 64.0, 32.0
_EYE_X, _EYE_Y, _EYE_HALF_WIDTH, _TALLEST_EYE = 15.0, 14.5, 5.5, 7.0
_BROW_Y, _BROW_HALF_WIDTH = 4.0, 7.0
_MOUTH_Y, _MOUTH_HALF_WIDTH = 26.0, 9.0


def draw_pixels(state: FaceState, width_pixels: int = 64, height_pixels: int = 32) -> Image.Image:
    """The pose as a picture of mode "1": lit pixels are True."""
    from PIL import Image, ImageDraw

    image = Image.new("1", (width_pixels, height_pixels))
    canvas = _Canvas(ImageDraw.Draw(image), min(width_pixels / _WIDTH, height_pixels / _HEIGHT), width_pixels / 2)
    drop = -state.neck_degrees * 0.12
    for side in (-1, 1):
        _eye(canvas, state, side, drop)
        _brow(canvas, state.brow_left_degrees if side < 0 else state.brow_right_degrees, side, drop)
    _mouth(canvas, state, drop)
    _mark(canvas, state.activity)
    return image


class _Canvas:
    """Draws in units of the small screen; x is from the middle."""

    def __init__(self, pen: Draw, scale: float, middle: float) -> None:
        self._pen, self._scale, self._middle = pen, scale, middle

    def line(self, points: list[tuple[float, float]], width: float) -> None:
        self._pen.line([self._at(*point) for point in points], fill=1, width=max(1, round(width * self._scale)))

    def shape(self, points: list[tuple[float, float]], *, is_lit: bool = True) -> None:
        self._pen.polygon([self._at(*point) for point in points], fill=int(is_lit))

    def box(self, x: float, y: float, half_width: float, half_height: float, *, is_lit: bool = True) -> None:
        left, top = self._at(x - half_width, y - half_height)
        right, bottom = self._at(x + half_width, y + half_height)
        radius = min(right - left, bottom - top) * 0.42
        self._pen.rounded_rectangle((left, top, right, max(top + 1, bottom)), radius=radius, fill=int(is_lit))

    def _at(self, x: float, y: float) -> tuple[float, float]:
        return self._middle + x * self._scale, y * self._scale


def _eye(canvas: _Canvas, state: FaceState, side: int, drop: float) -> None:
    x, y = side * _EYE_X + state.gaze_x * 2.0, _EYE_Y + drop - state.gaze_y * 1.5
    half_height = max(0.5, state.lid_degrees / 60.0 * _TALLEST_EYE)
    canvas.box(x, y, _EYE_HALF_WIDTH, half_height)
    if half_height > 2.5:
        pupil = min(2.2, half_height * 0.5)
        canvas.box(x + state.gaze_x * 2.5, y - state.gaze_y * (half_height - pupil) * 0.7, pupil, pupil, is_lit=False)


def _brow(canvas: _Canvas, degrees: float, side: int, drop: float) -> None:
    lean = math.tan(math.radians(degrees * 1.5)) * _BROW_HALF_WIDTH
    y = _BROW_Y + drop * 0.5
    inner, outer = side * (_EYE_X - _BROW_HALF_WIDTH), side * (_EYE_X + _BROW_HALF_WIDTH)
    upper, lower = y - lean / 2, y + lean / 2
    # Thin lines come out one pixel thick where they lean and two where they do not; a shape does not.
    canvas.shape([(inner, upper), (outer, lower), (outer, lower + 1.5), (inner, upper + 1.5)])


def _mouth(canvas: _Canvas, state: FaceState, drop: float) -> None:
    bend = state.mouth_degrees / 20.0 * 5.5
    y = min(_MOUTH_Y + drop * 0.5, _HEIGHT - 4.5)
    # A mouth that opens without a smile gets round.
    half_width = _MOUTH_HALF_WIDTH * (1 - 0.5 * state.mouth_open * (state.mouth_degrees < 5))
    steps = [step / 12 * 2 - 1 for step in range(13)]
    upper = [(along * half_width, y + bend * (0.5 - along * along)) for along in steps]
    if state.mouth_open > 0.05:
        gap = state.mouth_open * 7
        lower = [(x, edge + gap * (1 - (x / half_width) ** 2)) for x, edge in reversed(upper)]
        canvas.shape(upper + lower)
    canvas.line(upper, 2.0)


def _mark(canvas: _Canvas, activity: Activity) -> None:
    """What the box is doing, at the right edge: each has a shape of its own."""
    x = 29.0
    match activity:
        case Activity.LISTENING:
            canvas.line([(x - 1, 10), (x + 2, 14), (x - 1, 18)], 1.0)
        case Activity.WORKING:
            for y in (10, 14, 18):
                canvas.box(x, y, 0.7, 0.7)
        case Activity.SPEAKING:
            for shift, half in ((-2, 2), (0, 4), (2, 2)):
                canvas.line([(x + shift, 14 - half), (x + shift, 14 + half)], 1.0)
        case Activity.MUTED:
            canvas.line([(x - 3, 10), (x + 2, 18)], 2.0)
        case Activity.ASKING:
            canvas.line([(x, 8), (x, 15)], 2.0)
            canvas.box(x, 19, 0.8, 0.8)
        case Activity.ERROR:
            canvas.line([(x - 2, 11), (x + 2, 17)], 1.0)
            canvas.line([(x - 2, 17), (x + 2, 11)], 1.0)
        case Activity.OFFLINE:
            canvas.box(x, 14, 0.8, 0.8)
