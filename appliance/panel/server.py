"""The server of the page: uvicorn on the loop that runs already, on a loopback socket of our own."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
from collections.abc import Iterator

import uvicorn

from appliance.errors import ConfigError
from appliance.panel.app import make_app, page_files
from appliance.panel.guard import Guard
from appliance.panel.sources import Sources

#: Browsers of one house; each holds a few connections.
_MOST_CONNECTIONS = 40
_GOODBYE_SECONDS = 1


class Panel:
    """Serves until it is cancelled. The token is new with every start."""

    def __init__(self, sources: Sources, port: int) -> None:
        self.token = secrets.token_urlsafe(24)
        self._port = port
        #: Stands in the addresses of frames; no plugin's page learns the token.
        frames = f"/frame/{secrets.token_urlsafe(24)}"
        files = page_files()
        self._app = Guard(
            make_app(sources, files, frames),
            token=self.token,
            hosts=(f"localhost:{port}", f"127.0.0.1:{port}"),
            open_paths=lambda path: path in files,
            frames=f"{frames}/",
        )

    @property
    def address(self) -> str:
        """Where the owner's browser finds it, at the near end of ``ssh -L``; what is behind ``#`` is sent nowhere."""
        return f"http://localhost:{self._port}/#{self.token}"

    @contextlib.contextmanager
    def listening(self) -> Iterator[socket.socket]:
        """The open socket. Raises ``ConfigError`` when the port is taken."""
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        with contextlib.closing(listener):
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(("127.0.0.1", self._port))
                listener.listen(_MOST_CONNECTIONS)
            except OSError as error:
                raise ConfigError(
                    f"the panel cannot have port {self._port} ({error.strerror}); choose another as panel.port"
                ) from error
            yield listener

    async def serve(self, listener: socket.socket) -> None:
        """Answer browsers until cancelled."""
        config = uvicorn.Config(
            self._app,
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=_GOODBYE_SECONDS,
        )
        server = _Server(config)
        serving = asyncio.ensure_future(server.serve(sockets=[listener]))
        try:
            await asyncio.shield(serving)
        finally:
            server.should_exit = True
            await asyncio.wait({serving}, timeout=2 * _GOODBYE_SECONDS)
            serving.cancel()


class _Server(uvicorn.Server):
    """Signals belong to the box."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
