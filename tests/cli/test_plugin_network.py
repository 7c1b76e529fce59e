"""Where the requests of a plugin's tools really go, in a whole box with a real proxy and a real server beside it."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.cli.shell import Ran, Shell
from tests.contracts.sapphire_rig import tool_entry
from tests.network.facades import WebServer
from tests.network.socks_server import Asked, SocksServer

#: One file in the shape of a plugin that uses the facade, and of one that does not.
REACH = """import requests
from core import net


def execute(function_name, arguments, config):
    get = {"reach": net.get, "reach_home": net.get, "reach_plainly": requests.get}[function_name]
    response = get(arguments["url"], timeout=5)
    return f"{response.status_code} {response.json()['path']}", True
"""
TOOLS = (
    ("reach", "'is_local': 'endpoint', 'network': True,"),
    ("reach_home", "'is_local': True, 'network': False,"),
    ("reach_plainly", ""),
)
#: A port of this machine at which nobody listens.
NOBODY = "127.0.0.1:9"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the machine of the test has set for itself."""
    for name in ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture(scope="module")
def web() -> Iterator[WebServer]:
    with WebServer() as server:
        yield server


@pytest.fixture
def socks(web: WebServer) -> Iterator[SocksServer]:
    """A proxy for which example.com is our server."""
    with running(SocksServer({"example.com": ("127.0.0.1", port_of(web))})) as server:
        yield server


@pytest.fixture
def reach(shell: Shell) -> Shell:
    """The shell of a box with the plugin."""
    entries = ", ".join(tool_entry(name, '{"url": {"type": "string"}}', flags) for name, flags in TOOLS)
    manifest = {"name": "reach", "default_enabled": True, "capabilities": {"tools": ["tools/reach.py"]}}
    shell.write("plugins/reach/plugin.json", json.dumps(manifest))
    shell.write("plugins/reach/tools/reach.py", f"{REACH}\n\nTOOLS = [{entries}]\n")
    return shell


@contextmanager
def running(server: SocksServer) -> Iterator[SocksServer]:
    """The proxy, on a loop and in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(10)
        yield server
        asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result(10)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def port_of(web: WebServer) -> int:
    return int(web.url.rpartition(":")[2])


def call(shell: Shell, tool: str, url: str, proxy: str = "none") -> Ran:
    """The owner runs a tool."""
    return shell("tool", "run", tool, json.dumps({"url": url}), "--set", f"network.proxy={proxy}")


@pytest.mark.contract("S-021", "S-085", "S-094", "S-095", "S-163")
@pytest.mark.parametrize("tool", [name for name, _ in TOOLS])
def test_what_goes_outside_rides_the_proxy_whatever_the_flags_say_and_whoever_asks(
    tool: str, reach: Shell, web: WebServer, socks: SocksServer
) -> None:
    ran = call(reach, tool, f"http://example.com:{port_of(web)}/out", socks.url)
    assert (ran.code, ran.out) == (0, "200 /out\n")
    assert socks.asked == [Asked("example.com", port_of(web))]


@pytest.mark.contract("S-080", "S-094")
@pytest.mark.parametrize("tool", [name for name, _ in TOOLS])
def test_what_stays_in_the_house_goes_direct_beside_a_proxy(
    tool: str, reach: Shell, web: WebServer, socks: SocksServer
) -> None:
    ran = call(reach, tool, f"{web.url}/home", socks.url)
    assert (ran.code, ran.out) == (0, "200 /home\n")
    assert socks.connections == 0


@pytest.mark.contract("S-081")
def test_a_proxy_in_the_environment_is_nothing_to_the_house(reach: Shell, web: WebServer) -> None:
    for name in ("ALL_PROXY", "HTTP_PROXY"):
        reach.set_variable(name, f"socks5h://{NOBODY}")
    assert call(reach, "reach", f"{web.url}/home", "environment").out == "200 /home\n"
    assert call(reach, "reach", "http://example.com/", "environment").code == 1


@pytest.mark.contract("S-088")
def test_what_fails_in_the_house_is_not_tried_over_the_proxy(reach: Shell, socks: SocksServer) -> None:
    ran = call(reach, "reach", f"http://{NOBODY}/", socks.url)
    assert ran.code == 1 and "LAN lane, direct" in ran.err
    assert socks.connections == 0


@pytest.mark.contract("S-087")
@pytest.mark.parametrize("tool", [name for name, _ in TOOLS])
def test_nothing_goes_past_a_dead_proxy(tool: str, reach: Shell, web: WebServer) -> None:
    before = web.connections
    ran = call(reach, tool, f"http://example.com:{port_of(web)}/out", f"socks5h://{NOBODY}")
    assert ran.code == 1
    assert web.connections == before


def test_the_belt_is_off_again_when_the_box_is(reach: Shell, web: WebServer, socks: SocksServer) -> None:
    before = dict(os.environ)
    assert call(reach, "reach_plainly", f"{web.url}/home", socks.url).code == 0
    assert dict(os.environ) == before
