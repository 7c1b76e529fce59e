"""``net test``: what works, and what is in the way."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path

from appliance.clock import FakeClock
from appliance.network.config import NetworkConfig
from appliance.network.house_network import HouseNetwork
from appliance.network.lane import Lane
from appliance.network.trial import routers, try_host
from tests.network.http_server import HttpServer, answer
from tests.network.socks_server import Fault, SocksServer


def network(environment: Mapping[str, str] | None = None, proxy: str = "environment") -> HouseNetwork:
    return HouseNetwork(NetworkConfig(proxy=proxy), FakeClock(), environment or {})


async def test_whatever_answers_shows_that_the_way_is_open() -> None:
    async with HttpServer(answer(status=404)) as web:
        trial = await try_host(network(), f"http://user:word@127.0.0.1:{web.port}/secret?key=1")
        assert (trial.lane, trial.host, trial.works) == (Lane.LAN, "127.0.0.1", True)
        assert "status 404" in trial.sentence and "directly" in trial.sentence
        assert web.requests[0].target == "/"
        assert "authorization" not in web.requests[0].headers


async def test_the_way_outside_names_its_proxy() -> None:
    async with HttpServer(answer()) as web, SocksServer({"a.example": web.place}) as socks:
        trial = await try_host(network({"ALL_PROXY": socks.url}), "http://a.example/")
        assert (trial.lane, trial.works) == (Lane.WAN, True)
        assert f"through the proxy {socks.url}" in trial.sentence


async def test_a_proxy_that_refuses_is_told() -> None:
    async with SocksServer(fault=Fault.REFUSES) as socks:
        trial = await try_host(network(proxy=socks.url), "http://a.example/")
        assert (trial.lane, trial.works) == (Lane.WAN, False)
        assert "Host unreachable" in trial.sentence


async def test_a_machine_where_nothing_listens_is_there_all_the_same() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        trial = await try_host(network(), f"http://127.0.0.1:{taken.getsockname()[1]}/")
    assert trial.works and "nothing listens at port" in trial.sentence


async def test_a_url_that_is_refused_says_why() -> None:
    trial = await try_host(network(), "http://127.1/")
    assert (trial.lane, trial.works) == (None, False)


def test_the_routers_are_those_of_the_kernel(tmp_path: Path) -> None:
    routes = tmp_path / "route"
    routes.write_text(
        "Iface\tDestination\tGateway \tFlags\neth0\t00000000\t0100A8C0\t0003\neth0\t0000A8C0\t00000000\t0001\n"
    )
    assert list(routers(routes)) == ["192.168.0.1"]
    assert list(routers(tmp_path / "none")) == []
