"""Really outside, as far as loopback goes: through a SOCKS proxy, and never past it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
import requests

from appliance.clock import FakeClock
from appliance.network.config import NetworkConfig
from appliance.network.facade import Facade
from appliance.network.house_network import HouseNetwork
from appliance.network.limits import Limits
from tests.network.facades import WebServer
from tests.network.socks_server import Asked, Fault, SocksServer


@pytest.fixture(scope="module")
def web() -> Iterator[WebServer]:
    with WebServer() as server:
        yield server


def facade_by(socks: SocksServer, seconds: float = 10.0) -> Facade:
    network = HouseNetwork(NetworkConfig(proxy=f"socks5h://127.0.0.1:{socks.port}"), FakeClock(), {})
    limits = Limits(connect_seconds=seconds, read_seconds=seconds)
    return Facade(network.client, network.classifier, network.direct_hosts, proxy=network.proxy, limits=limits)


@pytest.mark.contract("S-080", "S-085")
async def test_a_request_outside_rides_the_proxy_and_one_to_the_house_does_not(web: WebServer) -> None:
    port = int(web.url.rpartition(":")[2])
    async with SocksServer({"example.com": ("127.0.0.1", port)}) as socks:
        facade = facade_by(socks)
        outside = await asyncio.to_thread(facade.post, f"http://example.com:{port}/echo", json={"a": 1})
        inside = await asyncio.to_thread(facade.get, f"{web.url}/echo")
        stream = await asyncio.to_thread(facade.get, f"http://example.com:{port}/big", stream=True)
        content = await asyncio.to_thread(lambda: stream.content)
        await asyncio.to_thread(facade.close)
    assert outside.json()["body"] == '{"a": 1}' and inside.ok and len(content) == 5_000_000
    assert set(socks.asked) == {Asked("example.com", port)}


@pytest.mark.contract("S-087")
@pytest.mark.parametrize("fault", [fault for fault in Fault if fault is not Fault.NONE])
async def test_a_proxy_that_fails_is_an_error_that_names_it_and_nothing_goes_past_it(
    fault: Fault, web: WebServer
) -> None:
    port = int(web.url.rpartition(":")[2])
    before = web.connections
    async with SocksServer({"example.com": ("127.0.0.1", port)}, fault=fault) as socks:
        facade = facade_by(socks, seconds=0.3)
        with pytest.raises(requests.exceptions.ConnectionError, match=f"127.0.0.1:{socks.port}"):
            await asyncio.to_thread(facade.get, f"http://example.com:{port}/echo")
        await asyncio.to_thread(facade.close)
    assert web.connections == before
