"""A SOCKS5 server that counts, and that can fail in every way a proxy fails."""

from __future__ import annotations

import asyncio
import contextlib
import enum
import socket
from collections.abc import Mapping
from dataclasses import dataclass

from tests.network.counting_server import CountingServer


class Fault(enum.Enum):
    """What is wrong with the proxy."""

    NONE = "none"
    #: Accepts, and says nothing.
    SILENT_AT_ONCE = "silent at once"
    #: Answers the greeting, and then nothing.
    SILENT_AFTER_GREETING = "silent after the greeting"
    #: Takes the request, and never says how it went.
    SILENT_AFTER_REQUEST = "silent after the request"
    #: Accepts and hangs up.
    HANGS_UP = "hangs up"
    #: Connects nobody.
    REFUSES = "refuses"
    #: Is no SOCKS server.
    GARBAGE = "garbage"
    #: Says so when the request has come.
    GARBAGE_LATER = "garbage later"


@dataclass(frozen=True)
class Asked:
    """A destination as it came over the wire: a name stays a name."""

    host: str
    port: int


class SocksServer(CountingServer):
    """Listens on loopback inside ``async with``. ``names`` says where it really goes for which host."""

    def __init__(
        self,
        names: Mapping[str, tuple[str, int]] | None = None,
        *,
        fault: Fault = Fault.NONE,
        login: tuple[str, str] | None = None,
    ) -> None:
        super().__init__()
        self.names = dict(names or {})
        self.fault = fault
        self.login = login
        self.asked: list[Asked] = []
        self.logins: list[tuple[str, str]] = []

    @property
    def url(self) -> str:
        return f"socks5h://127.0.0.1:{self.port}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.fault is Fault.SILENT_AT_ONCE:
            await asyncio.Event().wait()
        if self.fault is Fault.HANGS_UP:
            return
        _, count = await reader.readexactly(2)
        methods = await reader.readexactly(count)
        if self.fault is Fault.GARBAGE:
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            return
        if not await self._log_in(reader, writer, methods):
            return
        if self.fault is Fault.SILENT_AFTER_GREETING:
            await asyncio.Event().wait()
        target = await self._read_target(reader)
        self.asked.append(target)
        if self.fault is Fault.SILENT_AFTER_REQUEST:
            await asyncio.Event().wait()
        if self.fault is Fault.GARBAGE_LATER:
            writer.write(b"\x05")
            await writer.drain()
            return
        await self._connect(target, reader, writer)

    async def _log_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, methods: bytes) -> bool:
        if self.login is None:
            writer.write(b"\x05\x00" if 0 in methods else b"\x05\xff")
            return 0 in methods
        if 2 not in methods:
            writer.write(b"\x05\xff")
            return False
        writer.write(b"\x05\x02")
        _, user_size = await reader.readexactly(2)
        user = (await reader.readexactly(user_size)).decode()
        (password_size,) = await reader.readexactly(1)
        password = (await reader.readexactly(password_size)).decode()
        self.logins.append((user, password))
        writer.write(b"\x01\x00" if (user, password) == self.login else b"\x01\x01")
        return (user, password) == self.login

    async def _read_target(self, reader: asyncio.StreamReader) -> Asked:
        _, _, _, kind = await reader.readexactly(4)
        if kind == 1:
            host = socket.inet_ntop(socket.AF_INET, await reader.readexactly(4))
        elif kind == 4:
            host = socket.inet_ntop(socket.AF_INET6, await reader.readexactly(16))
        else:
            (size,) = await reader.readexactly(1)
            host = (await reader.readexactly(size)).decode()
        return Asked(host, int.from_bytes(await reader.readexactly(2)))

    async def _connect(self, target: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        place = self.names.get(target.host)
        if place is None or self.fault is Fault.REFUSES:
            writer.write(b"\x05\x04\x00\x01" + bytes(6))
            await writer.drain()
            return
        far_reader, far_writer = await asyncio.open_connection(*place)
        writer.write(b"\x05\x00\x00\x01" + bytes(6))
        try:
            await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
        finally:
            far_writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
    with contextlib.suppress(OSError):
        writer.write_eof()
