"""A small HTTP server on loopback that counts connections, keeps requests, and misbehaves on demand."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from tests.network.counting_server import CountingServer


@dataclass(frozen=True)
class Request:
    """A request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes = field(repr=False)


Page = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]


class HttpServer(CountingServer):
    """Serves ``page`` inside ``async with``. HTTP/1.1, connections stay open."""

    def __init__(
        self, page: Page, *, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
    ) -> None:
        super().__init__(host=host, port=port, tls=tls)
        self.page = page
        self.requests: list[Request] = []

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://{self.host}:{self.port}"

    @property
    def place(self) -> tuple[str, int]:
        return self.host, self.port

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            request = await _read(reader)
            self.requests.append(request)
            await self.page(request, writer)
            await writer.drain()


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    body = b""
    if headers.get("transfer-encoding") == "chunked":
        while size := int(await reader.readline(), 16):
            body += await reader.readexactly(size)
            await reader.readexactly(2)
        await reader.readline()
    else:
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(method, target, headers, body)


def answer(body: bytes = b"hello", *, status: int = 200, **headers: str) -> Page:
    """An ordinary answer; ``_`` in a header's name stands for ``-``."""

    async def page(_request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(head(status, **{"Content-Length": str(len(body)), **headers}) + body)

    return page


def redirect(status: int, location: str) -> Page:
    """Send the asker elsewhere; the paths that are no "/" answer like others."""

    async def page(request: Request, writer: asyncio.StreamWriter) -> None:
        if request.target == "/":
            writer.write(head(status, Location=location, Content_Length="5") + b"moved")
        else:
            writer.write(head(200, Content_Length="7") + b"arrived")

    return page


async def endless(_request: Request, writer: asyncio.StreamWriter) -> None:
    """A body without end."""
    writer.write(head(200))
    while True:
        writer.write(b"x" * 65_536)
        await writer.drain()


async def dribbling(_request: Request, writer: asyncio.StreamWriter) -> None:
    """A byte now and a byte then, for ever."""
    writer.write(head(200))
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.005)


async def large_head(_request: Request, writer: asyncio.StreamWriter) -> None:
    """One megabyte of headers."""
    writer.write(b"HTTP/1.1 200 OK\r\n")
    for number in range(1000):
        writer.write(b"X-%d: " % number + b"x" * 1000 + b"\r\n")
        await writer.drain()
    writer.write(b"Content-Length: 0\r\n\r\n")


async def truncated(_request: Request, writer: asyncio.StreamWriter) -> None:
    """Ends before it is as long as it said."""
    writer.write(head(200, Content_Length="1000") + b"x" * 500)
    await writer.drain()
    writer.close()


async def longer_than_said(_request: Request, writer: asyncio.StreamWriter) -> None:
    """Goes on behind its end, with what looks like the next answer."""
    writer.write(head(200, Content_Length="5") + b"hello" + head(200, Content_Length="5") + b"WRONG")


def bomb(megabytes: int, encoding: str = "gzip") -> Page:
    """A small body that unpacks to many megabytes of nothing."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS if encoding == "gzip" else zlib.MAX_WBITS)
    packed = b"".join(packer.compress(bytes(1_000_000)) for _ in range(megabytes)) + packer.flush()
    return answer(packed, Content_Encoding=encoding)


def packed(body: bytes, encoding: str) -> bytes:
    """A body as servers pack it; ``raw`` is deflate without its header."""
    if encoding == "gzip":
        return gzip.compress(body)
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS if encoding == "raw" else zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


def head(status: int, **headers: str) -> bytes:
    """An answer's head; the header names with ``_`` for ``-``."""
    lines = [f"HTTP/1.1 {status} Status", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
