"""A fast serial bus of the board, for chips and lights on ``/dev/spidevB.C``.

Written with the standard library alone: the library spidev comes as source that has to be compiled, and all that is
needed of it is three ioctls.
"""

from __future__ import annotations

import fcntl
import os
import struct
from typing import Protocol

#: From linux/spi/spidev.h: clock and phase mode, bits in a word, clock in hertz.
_WRITE_MODE, _WRITE_BITS, _WRITE_HERTZ = 0x40016B01, 0x40016B03, 0x40046B04
_ENABLE = "switch SPI on (on a Raspberry Pi: raspi-config), or correct the setting"


class SpiBus(Protocol):
    """What the lights of a face need of their bus. Every method raises ``OSError``."""

    def write(self, data: bytes) -> None:
        """One transfer, with the chip selected from its beginning to its end."""
        ...

    def close(self) -> None:
        """Give the bus back."""
        ...


class DeviceSpiBus:
    """The device file, in mode 0 with 8 bits in a word. Raises ``OSError`` that says what to do."""

    def __init__(self, device: str, hertz: int) -> None:
        self._device = device
        try:
            self._file = os.open(device, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise OSError(f"{device} is not there; {_ENABLE}") from error
        except PermissionError as error:
            raise OSError(f"{device} may not be opened; add the user to the group spi") from error
        try:
            fcntl.ioctl(self._file, _WRITE_MODE, struct.pack("=B", 0))
            fcntl.ioctl(self._file, _WRITE_BITS, struct.pack("=B", 8))
            fcntl.ioctl(self._file, _WRITE_HERTZ, struct.pack("=I", hertz))
        except OSError as error:
            os.close(self._file)
            raise OSError(f"{device} is no SPI device ({error.strerror}); {_ENABLE}") from error

    def write(self, data: bytes) -> None:
        # The kernel takes up to spidev.bufsiz (4096 bytes) at once, and refuses more.
        os.write(self._file, data)

    def close(self) -> None:
        os.close(self._file)
