"""The connections of a small server, each served by a task, of which nothing is left when the server ends."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Connections:
    """What ``asyncio.start_server`` is given; on its loop. ``serve`` talks with one client to the end.

    A client that hangs up ends its connection, and nothing else.
    """

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._open: dict[asyncio.StreamWriter, asyncio.Task[None]] = {}
        self._is_closed = False

    def __len__(self) -> int:
        """How many are open."""
        return len(self._open)

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve this one."""
        if self._is_closed:
            # It was there before the server ended, and only the loop is late to tell.
            writer.transport.abort()
            return
        self._open[writer] = task = asyncio.ensure_future(self._talk(reader, writer))
        task.add_done_callback(lambda _task: self._open.pop(writer))

    async def close(self) -> None:
        """Cut all connections. A client that no longer reads would hold up one that is closed and not cut."""
        self._is_closed = True
        while self._open:
            for writer, task in self._open.items():
                writer.transport.abort()
                task.cancel()
            await asyncio.wait(self._open.values())
            await asyncio.sleep(0)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                await self._serve(reader, writer)
        finally:
            writer.close()
