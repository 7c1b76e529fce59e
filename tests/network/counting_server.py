"""What the small servers of these tests are made of: a listener that counts who came, and ends with its block."""

from __future__ import annotations

import asyncio
import ssl
from typing import Self

from appliance.bench.connections import Connections


class CountingServer:
    """Listens inside ``async with``; ``port`` 0 takes a free one. Who makes one says in ``_serve`` what it answers."""

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        self.host = host
        self.port = port
        self.connections = 0
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._open = Connections(self._count_and_serve)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._open.accept, self.host, self.port, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_error: object) -> None:
        assert self._server is not None
        self._server.close()
        await self._open.close()

    async def _count_and_serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        await self._serve(reader, writer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, to its end."""
        raise NotImplementedError
