"""The manager's side of the line: a datagram socket that keeps what it is told."""

from __future__ import annotations

import socket
from pathlib import Path

PATIENCE_SECONDS = 60.0


class NotifySocket:
    """Bound to ``address``; a leading @ is a name outside the file system. Close it at the end."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.told: list[str] = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(address.replace("@", "\0", 1))
        self._socket.settimeout(PATIENCE_SECONDS)

    def next(self) -> str:
        """The next message; waits for it."""
        self.told.append(self._socket.recv(4096).decode())
        return self.told[-1]

    def wait_for(self, message: str) -> None:
        """Read until this one comes."""
        while self.next() != message:
            pass

    def rest(self) -> list[str]:
        """All messages, with those that wait already."""
        self._socket.setblocking(False)
        try:
            while True:
                self.next()
        except BlockingIOError:
            return self.told

    def close(self) -> None:
        """Give the address back."""
        self._socket.close()
        if not self.address.startswith("@"):
            Path(self.address).unlink()
