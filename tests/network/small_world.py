"""A world of one machine: an inside, an outside and a name server, in namespaces of its own (``python -m``).

Prints one JSON object: what each request got, and what the servers saw.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from appliance.errors import NetworkError
from appliance.network.classifier import Classifier
from appliance.network.exchange import Outgoing
from appliance.network.lane_client import LaneClient
from appliance.network.peer import PeerRule
from appliance.network.proxy import parse_proxy
from tests.network.http_server import HttpServer, answer
from tests.network.name_server import NameServer
from tests.network.socks_server import SocksServer

INSIDE, OUTSIDE = "192.168.77.7", "8.8.8.8"
NAMES = {
    "public.example": [OUTSIDE],
    "nas.lan": [INSIDE],
    # As 192.168.77.7.nip.io does.
    "192.168.77.7.example": [INSIDE],
    # Innocent when it is first asked for.
    "rebinding.example": [OUTSIDE, INSIDE],
    "stray.lan": [OUTSIDE],
}


def build() -> None:
    """Addresses, and a resolver that asks nobody but our name server."""
    for words in ("link set lo up", f"addr add {INSIDE}/32 dev lo", f"addr add {OUTSIDE}/32 dev lo"):
        subprocess.run(["ip", *words.split()], check=True)
    folder = Path(tempfile.mkdtemp())
    subprocess.run(["mount", "-t", "tmpfs", "none", folder], check=True)
    files = {
        "resolv.conf": "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
        "nsswitch.conf": "hosts: files dns\n",
        "hosts": "127.0.0.1 localhost\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
        subprocess.run(["mount", "--bind", folder / name, Path("/etc") / name], check=True)


class World:
    """The servers, and one way to ask."""

    def __init__(self, inside: HttpServer, outside: HttpServer, names: NameServer) -> None:
        self._inside, self._outside, self._names = inside, outside, names

    async def ask(self, client: LaneClient, *hosts: str) -> dict[str, Any]:
        """Ask each host in turn; what came, and what the servers saw of it."""
        before = len(self._inside.requests), len(self._outside.requests)
        connections = self._inside.connections + self._outside.connections
        self._names.queries.clear()
        got = [await self._one(client, host) for host in hosts]
        await client.close()
        return {
            "got": got,
            "inside": len(self._inside.requests) - before[0],
            "outside": len(self._outside.requests) - before[1],
            "connections": self._inside.connections + self._outside.connections - connections,
            "lookups": self._names.queries[:],
        }

    async def _one(self, client: LaneClient, host: str) -> str:
        outgoing = Outgoing("GET", f"http://{host}:{self._inside.port}/", "test")
        try:
            async with client.open(outgoing) as got:
                # The server wants a new connection, so that the name is looked up again.
                return b"".join([piece async for piece in got.pieces()]).decode()
        except NetworkError as error:
            return f"{type(error).__name__}: {error}"


async def live() -> dict[str, Any]:
    """Every story."""
    loop = asyncio.get_running_loop()
    names = NameServer(NAMES)
    transport, _ = await loop.create_datagram_endpoint(lambda: names, local_addr=("127.0.0.1", 53))
    pages = (answer(b"inside", Connection="close"), answer(b"outside", Connection="close"))
    stories: dict[str, Any] = {}
    async with (
        HttpServer(pages[0], host=INSIDE) as inside,
        HttpServer(pages[1], host=OUTSIDE, port=inside.port) as outside,
        SocksServer({"public.example": outside.place, "rebinding.example": outside.place}) as socks,
    ):
        world = World(inside, outside, names)
        way_out = parse_proxy(socks.url, "the test")
        direct = PeerRule(lambda: ["stray.lan"])
        allowed = PeerRule(allowed=["*.example"])
        plain = Classifier()
        stories["plain"] = await world.ask(LaneClient(plain), "public.example", "nas.lan")
        stories["nip"] = await world.ask(LaneClient(plain), "192.168.77.7.example")
        stories["stray"] = await world.ask(LaneClient(plain), "stray.lan")
        stories["direct"] = await world.ask(LaneClient(plain, peers=direct), "stray.lan")
        stories["allowed"] = await world.ask(LaneClient(plain, peers=allowed), "192.168.77.7.example")
        stories["rebinding"] = await world.ask(LaneClient(plain), "rebinding.example", "rebinding.example")
        proxied = LaneClient(plain, proxy=lambda: way_out)
        stories["proxied"] = await world.ask(proxied, "public.example", "rebinding.example", "unknown.example")
        stories["proxied_at_home"] = await world.ask(LaneClient(plain, proxy=lambda: way_out), "nas.lan")
        stories["socks"] = [asked.host for asked in socks.asked]
    transport.close()
    return stories


if __name__ == "__main__":
    build()
    print(json.dumps(asyncio.run(live())))
