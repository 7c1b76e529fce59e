"""Matrices of 8 x 8 lights with a MAX7219 each, one to four in a chain on an SPI bus."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence

from appliance.adapters.face_glyphs import Glyph, module_glyphs
from appliance.adapters.spi_bus import SpiBus
from appliance.ports import FacePart, FaceState

MATRIX_HERTZ = 1_000_000
_ROW_1, _DECODE, _INTENSITY, _SCAN_LIMIT, _ON, _TEST = 0x01, 0x09, 0x0A, 0x0B, 0x0C, 0x0F
#: Chips come up with random lights and miss resets, so everything is told again and again.
_REFRESH_SECONDS = 3.0
_BRIGHTEST = 15
_DARK: Glyph = (0,) * 8


class MatrixFace:
    """``FaceBackend``. ``quarter_turns`` is how far the modules are turned to the right, in quarters."""

    def __init__(
        self,
        open_bus: Callable[[], SpiBus],
        modules: int = 1,
        *,
        brightness_cap: float = 0.25,
        quarter_turns: int = 0,
        now_seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open_bus = open_bus
        self._modules = modules
        self._cap = brightness_cap
        self._quarter_turns = quarter_turns
        self._now_seconds = now_seconds
        self._bus: SpiBus | None = None
        #: What the chips hold, by register; missing is unknown.
        self._held: dict[int, bytes] = {}
        self._refreshed_at = 0.0

    @property
    def name(self) -> str:
        return "matrix"

    @property
    def parts(self) -> frozenset[FacePart]:
        return frozenset({FacePart.LIDS, FacePart.BROWS, FacePart.MOUTH})

    @property
    def poses_per_second(self) -> float:
        return 50.0  # More often than poses come, so that none waits.

    def apply(self, state: FaceState) -> None:
        self._show(module_glyphs(state, self._modules), round(_BRIGHTEST * self._cap * state.brightness))

    def park(self) -> None:
        if self._bus is not None:
            self._show([_DARK] * self._modules, 0)
            self._tell_all(self._bus, _ON, 0)

    def close(self) -> None:
        bus, self._bus = self._bus, None
        if bus is not None:
            with contextlib.suppress(OSError):
                bus.close()

    def _show(self, glyphs: Sequence[Glyph], intensity: int) -> None:
        if self._bus is None:
            self._bus, self._refreshed_at = self._open_bus(), float("-inf")
        try:
            if self._now_seconds() - self._refreshed_at >= _REFRESH_SECONDS:
                self._refresh(self._bus)
            turned = [self._turned(glyph) for glyph in glyphs]
            for row in range(8):
                self._tell(self._bus, _ROW_1 + row, [glyph[row] for glyph in turned])
            self._tell_all(self._bus, _INTENSITY, intensity)
            self._tell_all(self._bus, _ON, 1)  # Last, when first shown: what was in the chips is nobody's face.
        except OSError as error:
            self.close()
            raise OSError(f"the matrix cannot be written to ({error.strerror or error})") from error

    def _refresh(self, bus: SpiBus) -> None:
        self._held.clear()
        for register, value in ((_TEST, 0), (_DECODE, 0), (_SCAN_LIMIT, 7)):
            self._tell_all(bus, register, value)
        self._refreshed_at = self._now_seconds()

    def _tell_all(self, bus: SpiBus, register: int, value: int) -> None:
        self._tell(bus, register, [value] * self._modules)

    def _tell(self, bus: SpiBus, register: int, values: Sequence[int]) -> None:
        """One register of every module; the first that is sent is pushed through to the last module."""
        data = b"".join(bytes((register, value)) for value in reversed(values))
        if self._held.get(register) != data:
            bus.write(data)
            self._held[register] = data

    def _turned(self, glyph: Glyph) -> Glyph:
        """Turned to the left, which a module that is turned to the right makes good."""
        for _ in range(self._quarter_turns):
            glyph = tuple(sum((glyph[column] >> row & 1) << (7 - column) for column in range(8)) for row in range(8))
        return glyph
