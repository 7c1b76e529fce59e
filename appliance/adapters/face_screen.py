"""The face on a screen of the board: drawn once (Pillow), written into the framebuffer."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from appliance.adapters.face_picture import draw_face
from appliance.adapters.framebuffer import Framebuffer, Geometry
from appliance.ports import ALL_FACE_PARTS, FacePart, FaceState

if TYPE_CHECKING:
    from PIL import Image

#: Drawn no larger than this and then enlarged: drawing costs time by its area.
_DRAWN_PIXELS = 240
#: How most screens have it, which Pillow packs faster than we do.
_USUAL = (32, (16, 8), (8, 8), (0, 8))


class ScreenFace:
    """``FaceBackend``: the face in the middle of the screen, black around it."""

    def __init__(self, open_screen: Callable[[], Framebuffer]) -> None:
        self._open_screen = open_screen
        self._screen: Framebuffer | None = None
        self._last: FaceState | None = None

    @property
    def name(self) -> str:
        return "screen"

    @property
    def parts(self) -> frozenset[FacePart]:
        return ALL_FACE_PARTS

    @property
    def poses_per_second(self) -> float:
        return 30.0  # More often than poses come, so that none waits: the mouth goes with the sound.

    def apply(self, state: FaceState) -> None:
        if state == self._last and self._screen is not None:
            return
        self._written(lambda screen: self._draw(screen, state))
        self._last = state

    def park(self) -> None:
        if self._screen is not None:
            self._written(_blank)

    def close(self) -> None:
        screen, self._screen, self._last = self._screen, None, None
        if screen is not None:
            with contextlib.suppress(OSError):
                screen.close()

    def _written(self, write: Callable[[Framebuffer], None]) -> None:
        try:
            if self._screen is None:
                self._screen = self._open_screen()
                _blank(self._screen)
            write(self._screen)
        except OSError as error:
            self.close()
            raise OSError(str(error.strerror or error)) from error

    def _draw(self, screen: Framebuffer, state: FaceState) -> None:
        where = screen.geometry
        side = min(where.width, where.height)
        rows = packed_pixels(enlarged(draw_face(state, min(side, _DRAWN_PIXELS), is_quick=True), side), where)
        start = where.first + (where.width - side) // 2 * where.bits_per_pixel // 8
        top = (where.height - side) // 2
        for number, row in enumerate(rows):
            screen.write(start + (top + number) * where.stride, row)


def enlarged(image: Image.Image, side: int) -> Image.Image:
    """The picture ``side`` pixels wide and high."""
    from PIL import Image

    return image if image.width == side else image.resize((side, side), Image.Resampling.BILINEAR)


def packed_pixels(image: Image.Image, where: Geometry) -> list[bytes]:
    """The rows of a picture as the screen holds its pixels."""
    if (where.bits_per_pixel, where.red, where.green, where.blue) == _USUAL:
        line, data = image.width * 4, image.tobytes("raw", "BGRX")
        return [data[at : at + line] for at in range(0, len(data), line)]
    colours = np.asarray(image.convert("RGB"), dtype=np.uint32)
    kind: type[np.uint16 | np.uint32] = np.uint16 if where.bits_per_pixel == 16 else np.uint32
    pixels: npt.NDArray[np.uint32] = np.zeros(colours.shape[:2], dtype=np.uint32)
    for part, (start, length) in enumerate((where.red, where.green, where.blue)):
        pixels |= (colours[:, :, part] >> (8 - length)) << start
    return [row.tobytes() for row in pixels.astype(kind)]


def _blank(screen: Framebuffer) -> None:
    where = screen.geometry
    row = bytes(where.width * where.bits_per_pixel // 8)
    for number in range(where.height):
        screen.write(where.first + number * where.stride, row)
