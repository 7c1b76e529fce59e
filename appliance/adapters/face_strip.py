"""A strip or ring of WS2812 lights on the data line of an SPI bus.

A light tells ones from zeros by how long the line is high; three bits of the bus at 2.4 MHz make one of the light:
110 for a one, 100 for a zero.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from appliance.adapters.face_colours import Linear, lamps
from appliance.adapters.spi_bus import SpiBus
from appliance.ports import FacePart, FaceState

STRIP_HERTZ = 2_400_000
#: A line that is low for 80 microseconds tells old lights to show what they got, for 280 newer ones; and some buses
#: leave it high between transfers.
_BEFORE, _AFTER = bytes(STRIP_HERTZ // 8 * 80 // 1_000_000), bytes(STRIP_HERTZ // 8 * 300 // 1_000_000)
#: Lights take green first.
_ORDER = (1, 0, 2)


class StripFace:
    """``FaceBackend`` of ``count`` lights; ``brightness_cap`` 0 to 1 is for the current that they may draw."""

    def __init__(self, open_bus: Callable[[], SpiBus], count: int, *, brightness_cap: float = 0.25) -> None:
        self._open_bus = open_bus
        self._count = count
        self._cap = brightness_cap
        self._bus: SpiBus | None = None

    @property
    def name(self) -> str:
        return "strip"

    @property
    def parts(self) -> frozenset[FacePart]:
        return frozenset({FacePart.LIGHT, FacePart.RING})

    @property
    def poses_per_second(self) -> float:
        return 50.0  # More often than poses come, so that none waits.

    def apply(self, state: FaceState) -> None:
        self._show(lamps(state, self._count, self._cap))

    def park(self) -> None:
        if self._bus is not None:
            self._show(np.zeros((self._count, 3)))

    def close(self) -> None:
        bus, self._bus = self._bus, None
        if bus is not None:
            with contextlib.suppress(OSError):
                bus.close()

    def _show(self, light: Linear) -> None:
        if self._bus is None:
            self._bus = self._open_bus()
        try:
            # Each time, changed or not: a light that misread a bit would keep it.
            self._bus.write(strip_bytes(np.rint(light * 255).astype(np.uint8)))
        except OSError as error:
            self.close()
            raise OSError(f"the lights cannot be written to ({error.strerror or error})") from error


def strip_bytes(colours: npt.NDArray[np.uint8]) -> bytes:
    """What goes over the bus for colours of shape (lights, 3): red, green, blue."""
    bits = np.unpackbits(colours[:, _ORDER])
    line = np.empty((len(bits), 3), dtype=np.uint8)
    line[:, 0], line[:, 1], line[:, 2] = 1, bits, 0
    return _BEFORE + np.packbits(line).tobytes() + _AFTER
