"""A two-wire bus of the board (smbus2), for chips on ``/dev/i2c-N``."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from smbus2 import SMBus

#: A transfer that fails is tried again: one disturbed now and then is usual on long wires.
_TRIES = 3

T = TypeVar("T")


class I2cBus(Protocol):
    """What the chips of a face need of their bus. Every method raises ``OSError``."""

    def write(self, address: int, data: bytes) -> None:
        """One transfer to the chip."""
        ...

    def read(self, address: int, register: int) -> int:
        """The byte in a register of the chip."""
        ...

    def close(self) -> None:
        """Give the bus back."""
        ...


class DeviceI2cBus:
    """Bus ``number`` of this machine."""

    def __init__(self, number: int) -> None:
        self._bus = _open(number)

    def write(self, address: int, data: bytes) -> None:
        from smbus2 import i2c_msg

        self._bus.i2c_rdwr(i2c_msg.write(address, data))

    def read(self, address: int, register: int) -> int:
        return int(self._bus.read_byte_data(address, register))

    def close(self) -> None:
        self._bus.close()


def write_surely(bus: I2cBus, address: int, data: bytes) -> None:
    """Write what may be written twice. Raises ``OSError`` that names the chip when it does not answer."""
    _surely(address, lambda: bus.write(address, data))


def read_surely(bus: I2cBus, address: int, register: int) -> int:
    """Read. Raises ``OSError`` that names the chip when it does not answer."""
    return _surely(address, lambda: bus.read(address, register))


def _surely(address: int, transfer: Callable[[], T]) -> T:
    for _ in range(_TRIES - 1):
        with contextlib.suppress(OSError):
            return transfer()
    try:
        return transfer()
    except OSError as error:
        raise OSError(
            f"no chip answers at address 0x{address:02x} ({error.strerror or error}); check its wires and power"
        ) from error


def _open(number: int) -> SMBus:
    try:
        from smbus2 import SMBus
    except ImportError as error:
        raise OSError("the library smbus2 is not installed; ./run installs it") from error
    file = Path(f"/dev/i2c-{number}")
    try:
        return SMBus(number)
    except FileNotFoundError as error:
        raise OSError(
            f"{file} is not there; switch I2C on (on a Raspberry Pi: raspi-config), or set face.i2c_bus"
        ) from error
    except PermissionError as error:
        raise OSError(f"{file} may not be opened; add the user to the group i2c") from error
