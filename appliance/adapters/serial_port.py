"""A serial port, opened with pyserial: by device name or by one of its URLs, for one program alone."""

from __future__ import annotations

import errno
import termios
from pathlib import Path
from typing import Any

from appliance.adapters.face_link import Port

BAUD = 57_600
#: Longest wait in one read; short, so that a pose is never late by much.
_READ_SECONDS = 0.02
_WRITE_SECONDS = 1.0


def serial_port(name: str, baud: int = BAUD) -> Port:
    """A port by device name or pyserial URL, for us alone. Raises ``OSError`` that says what to do."""
    import serial

    try:
        port: Any = serial.serial_for_url(name, do_not_open=True)
        port.baudrate, port.timeout, port.write_timeout = baud, _READ_SECONDS, _WRITE_SECONDS
        # The board may restart when the port is opened; holding RTS low keeps adapters from holding it in reset.
        port.rts = False
        if not _is_url(name):
            port.exclusive = True
        port.open()
    except (OSError, ValueError, termios.error) as error:  # termios: gone while it was opened
        raise OSError(_why_not(name, error)) from error
    opened: Port = port
    return opened


def find_port() -> str:
    """The name of the only serial adapter, one that stays the same when it is plugged in elsewhere.

    Raises ``OSError`` when there is none, or more than one.
    """
    for folder in ("/dev/serial/by-id", "/dev/serial/by-path"):
        found = sorted(str(file) for file in Path(folder).glob("*"))
        if len(found) == 1:
            return found[0]
        if found:
            raise OSError(f"there are several serial ports; set face.serial_port to one of: {', '.join(found)}")
    raise OSError("no serial port was found; plug the face in, or set face.serial_port")


def _is_url(name: str) -> bool:
    return "://" in name


def _why_not(name: str, error: Exception) -> str:
    text = str(error)
    if "exclusively lock" in text:
        return f"{name} is in use by another program"
    if isinstance(error, OSError) and error.errno == errno.EACCES:
        return f"{name} may not be opened; add the user to the group dialout"
    if not _is_url(name) and not Path(name).exists():
        return f"{name} is not there"
    return f"{name} cannot be opened ({text})"
