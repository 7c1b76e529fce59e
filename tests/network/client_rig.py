"""A client whose idea of the house a test decides, and short ways to use it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

from appliance.network.classifier import Classifier
from appliance.network.exchange import Outgoing
from appliance.network.lane import Destination, Lane
from appliance.network.lane_client import LaneClient
from appliance.network.passage import Passage
from appliance.network.peer import PeerRule
from appliance.network.proxy import Proxy, parse_proxy


class Told:
    """A classifier that is told which hosts are on which lane; others as they really are."""

    def __init__(self, lanes: Mapping[str, Lane] | None = None) -> None:
        self._lanes = lanes or {}
        self._real = Classifier()

    def classify(self, url: str) -> Destination:
        found = self._real.classify(url)
        lane = self._lanes.get(found.host, found.lane)
        return Destination(lane, found.scheme, found.host, found.port, found.reason)


class Got:
    """An answer, read whole."""

    def __init__(self, status: int, headers: tuple[tuple[str, str], ...], body: bytes, lane: Lane) -> None:
        self.status, self.headers, self.body, self.lane = status, headers, body, lane


class ClientRig:
    """A client and what it reported."""

    def __init__(self, client: LaneClient, passages: list[Passage]) -> None:
        self.client = client
        self.passages = passages

    async def get(self, url: str, **more: Any) -> Got:
        """One request, its body read."""
        fields: dict[str, Any] = {"method": "GET", "who": "test", "connect_seconds": 5.0, "read_seconds": 5.0, **more}
        async with self.client.open(Outgoing(url=url, **fields)) as answer:
            body = b"".join([piece async for piece in answer.pieces()])
            return Got(answer.status, answer.headers, body, answer.lane)


@contextlib.asynccontextmanager
async def client_rig(
    lanes: Mapping[str, Lane] | None = None,
    *,
    proxy: str | Proxy | None = None,
    peers: PeerRule | None = None,
    slowest_bytes_per_second: float = 10.0,
) -> AsyncIterator[ClientRig]:
    """A client inside ``async with``."""
    way_out = parse_proxy(proxy, "the test") if isinstance(proxy, str) else proxy
    passages: list[Passage] = []
    client = LaneClient(
        Told(lanes),
        peers=peers,
        proxy=lambda: way_out,
        seen=passages.append,
        slowest_bytes_per_second=slowest_bytes_per_second,
    )
    try:
        yield ClientRig(client, passages)
    finally:
        await client.close()
