"""A small SSD1306 screen of one colour on the two-wire bus."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import numpy as np

from appliance.adapters.face_pixels import draw_pixels
from appliance.adapters.i2c_bus import I2cBus, write_surely
from appliance.ports import ALL_FACE_PARTS, FacePart, FaceState

WIDTH = 128
#: Before the bytes of a transfer: these are commands, these are pixels.
_COMMANDS, _PIXELS = 0x00, 0x40
_OFF, _ON, _CONTRAST = 0xAE, 0xAF, 0x81
#: Told all over again so often: a screen whose power failed for a moment does not say so.
_REFRESH_SECONDS = 10.0


class OledFace:
    """``FaceBackend`` of 128 pixels by ``height`` (32 or 64); only what changed is written, in pages of 8 rows."""

    def __init__(
        self,
        open_bus: Callable[[], I2cBus],
        height: int = 64,
        address: int = 0x3C,
        *,
        now_seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open_bus = open_bus
        self._height = height
        self._address = address
        self._now_seconds = now_seconds
        self._bus: I2cBus | None = None
        self._pages: list[bytes] = []
        self._contrast = -1
        self._refreshed_at = 0.0

    @property
    def name(self) -> str:
        return "oled"

    @property
    def parts(self) -> frozenset[FacePart]:
        return ALL_FACE_PARTS

    @property
    def poses_per_second(self) -> float:
        # A whole picture takes the bus 25 to 100 ms.
        return 15.0

    def apply(self, state: FaceState) -> None:
        pages = pixel_pages(state, self._height)
        if self._bus is None:
            self._bus, self._refreshed_at = self._open_bus(), float("-inf")
        try:
            self._show(self._bus, pages, state.dimming)
        except OSError:
            self.close()
            raise

    def park(self) -> None:
        if self._bus is not None:
            self._command(self._bus, _OFF)

    def close(self) -> None:
        bus, self._bus = self._bus, None
        if bus is not None:
            with contextlib.suppress(OSError):
                bus.close()

    def _show(self, bus: I2cBus, pages: list[bytes], dimming: float) -> None:
        is_fresh = self._now_seconds() - self._refreshed_at >= _REFRESH_SECONDS
        if is_fresh:
            self._command(bus, *_setup(self._height))
            self._pages, self._contrast = [], -1
        for number, page in enumerate(pages):
            if not self._pages or page != self._pages[number]:
                self._command(bus, 0x21, 0, WIDTH - 1, 0x22, number, number)
                write_surely(bus, self._address, bytes((_PIXELS,)) + page)
        self._pages = pages
        contrast = round((0xCF if self._height == 64 else 0x8F) * dimming)
        if contrast != self._contrast:
            self._command(bus, _CONTRAST, contrast)
            self._contrast = contrast
        if is_fresh:
            # Only now: its memory comes up with snow in it.
            self._command(bus, _ON)
            self._refreshed_at = self._now_seconds()

    def _command(self, bus: I2cBus, *commands: int) -> None:
        write_surely(bus, self._address, bytes((_COMMANDS, *commands)))


def pixel_pages(state: FaceState, height: int) -> list[bytes]:
    """The pose as the screen holds it: pages of 8 rows, a byte for each column, the lowest bit on top."""
    pixels = np.asarray(draw_pixels(state, WIDTH, height), dtype=np.uint8)
    packed = np.packbits(pixels.reshape(height // 8, 8, WIDTH), axis=1, bitorder="little")
    return [page.tobytes() for page in packed[:, 0]]


def _setup(height: int) -> tuple[int, ...]:
    """Everything but the switch: the usual set-up of the maker's data sheet, for a screen fed with 3.3 V."""
    wiring = 0x12 if height == 64 else 0x02
    return (
        *(0xD5, 0x80),  # clock
        *(0xA8, height - 1),  # rows
        *(0xD3, 0x00, 0x40),  # no offset
        *(0x8D, 0x14),  # own supply for the pixels
        *(0x20, 0x00),  # columns count up by themselves
        *(0xA1, 0xC8),  # upright
        *(0xDA, wiring),
        *(0xD9, 0xF1, 0xDB, 0x40),  # charging of the pixels
        *(0xA4, 0xA6),  # show the memory, lit is lit
    )
