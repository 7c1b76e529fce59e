"""The picture on a screen of the board, as the kernel's framebuffer ``/dev/fb0`` holds it."""

from __future__ import annotations

import fcntl
import os
import struct
from dataclasses import dataclass

_GET_VARIABLE, _GET_FIXED = 0x4600, 0x4602
_VARIABLE_BYTES, _FIXED = 160, struct.Struct("@16sLIIIIHHHI")


@dataclass(frozen=True)
class Geometry:
    """How pixels lie in a framebuffer: ``stride`` bytes from a row to the next, ``first`` byte of the first one.

    ``red``, ``green`` and ``blue`` are (lowest bit, number of bits).
    """

    width: int
    height: int
    bits_per_pixel: int
    stride: int
    first: int
    red: tuple[int, int]
    green: tuple[int, int]
    blue: tuple[int, int]


class Framebuffer:
    """An open framebuffer. Every method raises ``OSError``."""

    def __init__(self, device: str, geometry: Geometry | None = None) -> None:
        """``geometry`` None asks the kernel. Raises ``OSError`` that says what to do."""
        try:
            self._file = os.open(device, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise OSError(f"{device} is not there; is a screen connected? face.screen_device names it") from error
        except PermissionError as error:
            raise OSError(f"{device} may not be opened; add the user to the group video") from error
        try:
            self.geometry = geometry or self._asked()
        except OSError as error:
            os.close(self._file)
            raise OSError(f"{device} is no screen ({error.strerror or error}); face.screen_device names it") from error

    def write(self, at: int, data: bytes) -> None:
        """Write from byte ``at`` on."""
        os.pwrite(self._file, data, at)

    def close(self) -> None:
        """Give the screen back."""
        os.close(self._file)

    def _asked(self) -> Geometry:
        variable, fixed = bytearray(_VARIABLE_BYTES), bytearray(128)
        fcntl.ioctl(self._file, _GET_VARIABLE, variable)
        fcntl.ioctl(self._file, _GET_FIXED, fixed)
        return read_geometry(bytes(variable), bytes(fixed))


def read_geometry(variable: bytes, fixed: bytes) -> Geometry:
    """From the kernel's ``fb_var_screeninfo`` and ``fb_fix_screeninfo``. Raises ``OSError`` for one we cannot draw."""
    width, height, _, _, left, top, bits = struct.unpack_from("=7I", variable)
    red, green, blue = ((start, length) for start, length, _ in struct.iter_unpack("=3I", variable[32:68]))
    if bits not in (16, 32):
        raise OSError(f"it has {bits} bits for a pixel; only 16 and 32 can be drawn")
    stride = _FIXED.unpack_from(fixed)[9]
    return Geometry(width, height, bits, stride, top * stride + left * bits // 8, red, green, blue)
