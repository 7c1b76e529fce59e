"""systemd as whoever runs us: one datagram for each thing that it is told."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import MutableMapping

_LOG = logging.getLogger(__name__)

_PINGS_IN_ITS_PATIENCE = 3


class SystemdManager:
    """A ``ServiceManager``: the one that ``environment`` names, if any.

    Its variables are taken out: what we start, and plugins, must not speak in our name.
    """

    def __init__(self, environment: MutableMapping[str, str] | None = None) -> None:
        environment = os.environ if environment is None else environment
        # A leading @ stands for the zero byte of a name that is not in the file system.
        self._address = environment.pop("NOTIFY_SOCKET", "").replace("@", "\0", 1)
        if not self._address.startswith(("/", "\0")):
            self._address = ""
        self._patience_seconds = _patience_seconds(environment)
        self._is_stopping = False

    @property
    def is_there(self) -> bool:
        return bool(self._address)

    @property
    def ping_seconds(self) -> float:
        return self._patience_seconds / _PINGS_IN_ITS_PATIENCE if self._address else 0.0

    def ready(self) -> None:
        self._tell("READY=1")

    def status(self, text: str) -> None:
        self._tell(f"STATUS={' '.join(text.split())}")

    def extend(self, seconds: float) -> None:
        self._tell(f"EXTEND_TIMEOUT_USEC={round(seconds * 1e6)}")

    def ping(self) -> None:
        self._tell("WATCHDOG=1")

    def stopping(self) -> None:
        if not self._is_stopping:
            self._is_stopping = True
            self._tell("STOPPING=1")

    def _tell(self, line: str) -> None:
        if not self._address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line_out:
                line_out.setblocking(False)  # A manager that does not read must not hold us up.
                line_out.sendto(line.encode(), self._address)
        except OSError as error:
            _LOG.warning("the service manager cannot be told %s: %s", line, error)


def _patience_seconds(environment: MutableMapping[str, str]) -> float:
    """How long it waits for a ping of this process; 0 when it does not."""
    microseconds, process = environment.pop("WATCHDOG_USEC", ""), environment.pop("WATCHDOG_PID", "")
    is_ours = not process or process == str(os.getpid())
    return int(microseconds) / 1e6 if is_ours and microseconds.isdecimal() else 0.0
