"""``core.net`` and ``core.socks_proxy`` as a plugin imports them."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
import requests

from appliance.adapters.fakes.exchange import FakeExchange
from appliance.contracts.plugin_call import current_plugin
from appliance.contracts.sapphire.core_net import offered
from appliance.contracts.sapphire.imports import PluginImports
from appliance.errors import NetworkError
from appliance.network.proxy import Proxy
from tests.contracts.sapphire_rig import SapphireRig, tool_file
from tests.network.facades import answer, facade_over
from tests.network.socks_server import Fault, SocksServer

MADE = FakeExchange(answer=lambda _outgoing: answer(b"hello"))


class Box:
    """A process in which plugins can import ``core``."""

    def __init__(self) -> None:
        self.proxy: Proxy | None = None


@pytest.fixture
def box(monkeypatch: pytest.MonkeyPatch) -> Iterator[Box]:
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    made = Box()
    with facade_over(MADE, proxy=lambda: made.proxy) as facade:
        PluginImports(offered(facade), ModuleType("config"), ()).install()
        yield made
    for name in [name for name in sys.modules if name.partition(".")[0] == "core"]:
        del sys.modules[name]


def imported(name: str) -> Any:
    return importlib.import_module(name)


def test_core_net_has_the_names_of_the_page(box: Box) -> None:
    from core.net import (  # type: ignore[import-not-found]
        classify,
        delete,
        direct_hosts,
        get,
        local_ip,
        post,
        put,
        register_direct_hosts,
        request,
        session_for,
        unregister_direct_hosts,
        wan_session,
    )

    verbs = (get, post, put, delete, request, session_for, wan_session, classify, local_ip, direct_hosts)
    assert all(map(callable, (*verbs, register_direct_hosts, unregister_direct_hosts)))


@pytest.mark.contract("S-068", "S-071", "S-089")
def test_a_tool_file_uses_it_as_the_page_says(box: Box) -> None:
    scope: dict[str, Any] = {}
    exec(
        "from core import net\n"
        "r = net.get('http://nas/', timeout=10)\n"
        "s = net.session_for('http://nas/')\n"
        "w = net.wan_session()\n"
        "from core.socks_proxy import register_direct_hosts\n"
        "register_direct_hosts(lambda: ['ha.my-house.example.net'], owner='my-plugin')\n"
        "lane = net.classify('ha.my-house.example.net')\n",
        scope,
    )
    assert isinstance(scope["r"], requests.Response) and scope["r"].json is not None and scope["r"].text == "hello"
    assert isinstance(scope["s"], requests.Session) and scope["w"].get("https://example.com/").ok
    assert scope["lane"] == "lan"


@pytest.mark.parametrize(
    ("host", "lane"),
    [
        ("localhost", "lan"),
        ("192.168.1.1", "lan"),
        ("nas", "lan"),
        ("example.com", "wan"),
        (b"nas", "wan"),
        ("", "wan"),
    ],
)
def test_it_classifies_hosts(host: object, lane: str, box: Box) -> None:
    assert imported("core.net").classify(host) == lane


def test_an_older_plugin_gets_a_browser_session(box: Box) -> None:
    session = imported("core.socks_proxy").get_session()
    assert session.get("https://example.com/").text == "hello"
    assert "Chrome" in dict(MADE.sent[-1].headers)["User-Agent"]


async def test_it_knocks_at_the_proxy_once_until_everything_begins_anew(box: Box) -> None:
    socks = imported("core.socks_proxy")
    async with SocksServer(login=("me", "right")) as server:
        box.proxy = Proxy("socks5h", "127.0.0.1", server.port, "me", "right")
        for _ in range(3):
            await asyncio.to_thread(socks.get_session)
        assert (server.connections, server.logins, server.asked) == (1, [("me", "right")], [])
        await asyncio.to_thread(socks.clear_session_cache)
        await asyncio.to_thread(socks.get_session)
        assert server.connections == 2


async def test_a_wrong_password_is_a_socks_auth_error_and_not_tried_again(box: Box) -> None:
    socks = imported("core.socks_proxy")
    async with SocksServer(login=("me", "right")) as server:
        box.proxy = Proxy("socks5", "127.0.0.1", server.port, "me", "wrong")
        for kind in (socks.SocksAuthError, requests.exceptions.ProxyError, httpx.ProxyError, NetworkError):
            with pytest.raises(kind) as caught:
                await asyncio.to_thread(socks.get_session)
            assert "wrong" not in str(caught.value) and "127.0.0.1" in str(caught.value)
        assert server.connections == 1


async def test_a_proxy_that_wants_a_password_we_do_not_have_is_a_value_error(box: Box) -> None:
    async with SocksServer(login=("me", "right")) as server:
        box.proxy = Proxy("socks5h", "127.0.0.1", server.port)
        with pytest.raises(ValueError, match="credential set PROXY_USER"):
            await asyncio.to_thread(imported("core.socks_proxy").get_session)


@pytest.mark.parametrize("fault", [Fault.HANGS_UP, Fault.GARBAGE])
async def test_a_proxy_that_is_none_is_a_proxy_error(fault: Fault, box: Box) -> None:
    socks = imported("core.socks_proxy")
    async with SocksServer(fault=fault) as server:
        box.proxy = Proxy("socks5h", "127.0.0.1", server.port)
        with pytest.raises(requests.exceptions.ProxyError) as caught:
            await asyncio.to_thread(socks.get_session)
        assert not isinstance(caught.value, socks.SocksAuthError)


async def test_nobody_at_the_proxy_is_a_proxy_error_too(box: Box) -> None:
    box.proxy = Proxy("socks5h", "127.0.0.1", 9)
    with pytest.raises(requests.exceptions.ProxyError, match=r"socks5h://127\.0\.0\.1:9"):
        await asyncio.to_thread(imported("core.socks_proxy").get_session)


def test_a_name_that_is_not_offered_is_an_attribute_error(box: Box) -> None:
    with pytest.raises(AttributeError, match="nothing_like_it"):
        imported("core.socks_proxy").nothing_like_it  # noqa: B018


@pytest.mark.contract("S-078", "S-089", "S-091", "S-092", "S-093")
async def test_the_hosts_that_plugins_name_are_in_the_house_as_long_as_the_plugins_are_loaded(tmp_path: Path) -> None:
    def naming(host: str, owner: str) -> str:
        top = f"from core.socks_proxy import register_direct_hosts\nregister_direct_hosts(lambda: [{host!r}], {owner})"
        again = f"{top.splitlines()[1].replace(host, 'new.' + host)}\nreturn 'ok', True"
        return tool_file(host.partition(".")[0], again, top)

    with facade_over(MADE, who=lambda: f"plugin:{current_plugin()}") as facade:
        box = SapphireRig(tmp_path, network=offered(facade), forget=lambda plugin: facade.forget(f"plugin:{plugin}"))
        box.plugin("lamps", {"tools/a.py": naming("lamp.my-house.example.net", "owner='not-its-name'")})
        box.plugin("gates", {"tools/b.py": naming("gate.my-house.example.net", "owner='gates'")})
        await box.load()
        assert box.sentences == []
        lanes = [facade.classify(f"{name}.my-house.example.net") for name in ("lamp", "gate", "other")]
        assert lanes == ["lan", "lan", "wan"]

        assert (await box.call("lamp")).text == "ok"
        lanes = [facade.classify(f"{name}.my-house.example.net") for name in ("lamp", "new.lamp", "gate")]
        assert lanes == ["wan", "lan", "lan"], "registering again has replaced, for this owner only"

        box.switch(disabled=("lamps",))
        await box.load()
        lanes = [facade.classify(f"{name}.my-house.example.net") for name in ("lamp", "new.lamp", "gate")]
        assert lanes == ["wan", "wan", "lan"]
        await box.close()
