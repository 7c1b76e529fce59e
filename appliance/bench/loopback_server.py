"""The server of ``bench.network``: a process of its own, so that it does not share the interpreter lock it measures.

``GET /N`` is answered with N bytes, on a connection that stays open. The port is its first line of output; it ends when
its standard input does.
"""

from __future__ import annotations

import asyncio
import sys


async def serve() -> None:
    """Answer until standard input ends."""
    server = await asyncio.start_server(_answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            request = await reader.readuntil(b"\r\n\r\n")
            size = int(request.split(b" ", 2)[1].strip(b"/"))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % size)
            writer.write(b"x" * size)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


if __name__ == "__main__":
    asyncio.run(serve())
