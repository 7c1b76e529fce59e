"""Workers that the service manager starts, one for each connection to a socket of its own (``worker.socket``)."""

from __future__ import annotations

import asyncio
import functools
import logging
import socket
from contextlib import suppress
from pathlib import Path

from appliance.adapters.worker_link import StreamLink, framed, start_message, unframed
from appliance.errors import SandboxError
from appliance.ports_sandbox import Shelter

_LOG = logging.getLogger(__name__)

_EXAMINE_SECONDS = 15.0
_END_SECONDS = 5.0


class SocketWorkers:
    """A ``WorkerLauncher``. ``path`` is the socket; ``forbidden`` a file of the box that no program may read."""

    def __init__(self, path: Path, forbidden: Path) -> None:
        self._path = path
        self._forbidden = forbidden

    @functools.cached_property
    def _shelter(self) -> Shelter | None:
        if not self._path.is_socket():
            return None
        try:
            answer = self._look()
        except (OSError, ValueError) as error:
            _LOG.warning("the worker behind %s does not answer: %s", self._path, error)
            return None
        if "error" in answer:
            _LOG.warning("the worker behind %s cannot work: %s", self._path, answer.get("sentence"))
            return None
        reaches, has_network = bool(answer.get("reaches", True)), bool(answer.get("has_network", True))
        gaps = ["a fault in the kernel would let programs out"]
        gaps += ["they can read the files of the box"] if reaches else []
        gaps += ["they reach the network"] if has_network else []
        return Shelter("systemd", is_contained=not reaches, has_network=has_network, gaps="; ".join(gaps))

    def examine(self) -> Shelter | None:
        """Ask one worker what it can reach. Blocks, for a thread; the first answer stands."""
        return self._shelter

    async def launch(self, folder: Path) -> StreamLink:
        """A worker in ``folder``. Raises ``SandboxError``."""
        try:
            reader, writer = await asyncio.open_unix_connection(str(self._path))
        except OSError as error:
            raise SandboxError(f"no worker answers on {self._path}: {error.strerror}") from error

        def hurt() -> None:
            with suppress(OSError):
                writer.write_eof()

        async def bury() -> None:
            # It hangs up when all that it has started has ended; the manager makes sure.
            with suppress(TimeoutError, OSError):
                async with asyncio.timeout(_END_SECONDS):
                    await _hung_up(reader)

        link = StreamLink(reader, writer, hurt=hurt, bury=bury)
        await link.start(folder, forbidden=str(self._forbidden))
        return link

    def _look(self) -> dict[str, object]:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(_EXAMINE_SECONDS)
            line.connect(str(self._path))
            line.sendall(framed(start_message(Path("/"), forbidden=str(self._forbidden))))
            line.shutdown(socket.SHUT_WR)
            data = b""
            while piece := line.recv(65536):
                data += piece
        return unframed(data)


async def _hung_up(reader: asyncio.StreamReader) -> None:
    while not reader.at_eof():
        try:
            await reader.read(65536)
        except RuntimeError:  # Whoever has asked is waiting there too, and hears of the end first.
            await asyncio.sleep(0.02)
