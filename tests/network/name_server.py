"""A name server that answers A queries as a test wants, and counts them."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Mapping, Sequence
from typing import Any


class NameServer(asyncio.DatagramProtocol):
    """``names`` gives each name's addresses, one for each time it is asked, the last one for ever after; no TTL."""

    def __init__(self, names: Mapping[str, Sequence[str]]) -> None:
        self.queries: list[str] = []
        self._names = {name: list(addresses) for name, addresses in names.items()}
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        assert self._transport is not None
        name, question = _question(data)
        is_ipv4 = question[-4:-2] == b"\x00\x01"
        if is_ipv4:
            self.queries.append(name)
        addresses = self._names.get(name, [])
        answer = b""
        if addresses and is_ipv4:
            address = addresses.pop(0) if len(addresses) > 1 else addresses[0]
            answer = b"\xc0\x0c\x00\x01\x00\x01" + bytes(4) + b"\x00\x04" + ipaddress.IPv4Address(address).packed
        flags = b"\x81\x80" if addresses else b"\x81\x83"
        counts = b"\x00\x01" + (b"\x00\x01" if answer else b"\x00\x00") + bytes(4)
        self._transport.sendto(data[:2] + flags + counts + question + answer, addr)


def _question(data: bytes) -> tuple[str, bytes]:
    labels, place = [], 12
    while size := data[place]:
        labels.append(data[place + 1 : place + 1 + size].decode())
        place += 1 + size
    return ".".join(labels).lower(), data[12 : place + 5]
