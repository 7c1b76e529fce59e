"""Tries a lane with one request: does something answer there, and if not, what is in the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from appliance.errors import NetworkError, NetworkProxyError, NetworkTlsError
from appliance.network.exchange import Outgoing
from appliance.network.house_network import HouseNetwork
from appliance.network.lane import Lane
from appliance.network.route import system_error

_CONNECT_SECONDS = 5.0
_READ_SECONDS = 10.0
_KERNEL_ROUTES = Path("/proc/net/route")


@dataclass(frozen=True)
class Trial:
    """How one try went. A URL that was refused has no lane (None) and no host ("")."""

    lane: Lane | None
    host: str
    works: bool
    sentence: str


async def try_host(network: HouseNetwork, url: str) -> Trial:
    """Ask for the first page of the URL's host; whatever HTTP answers shows that the way is open.

    Nothing of the URL but scheme, host and port is sent.
    """
    try:
        destination = network.classifier.classify(url)
    except NetworkError as error:
        return Trial(None, "", False, str(error))
    client = network.client()
    try:
        page = Outgoing(
            "GET", _first_page(url), "net test", connect_seconds=_CONNECT_SECONDS, read_seconds=_READ_SECONDS
        )
        async with client.open(page) as answer:
            words = f"{destination.host} answers (status {answer.status})"
            return Trial(destination.lane, destination.host, True, f"{words}, {_way(network, destination.lane)}")
    except NetworkTlsError as error:
        return Trial(destination.lane, destination.host, False, f"{error}; the way there is open")
    except NetworkError as error:
        if isinstance(system_error(error), ConnectionRefusedError) and not isinstance(error, NetworkProxyError):
            words = f"{destination.host} is there, but nothing listens at port {destination.port}"
            return Trial(destination.lane, destination.host, True, f"{words}; the way is open")
        return Trial(destination.lane, destination.host, False, str(error))
    finally:
        await client.close()


def routers(routes: Path = _KERNEL_ROUTES) -> Iterator[str]:
    """IPv4 addresses of the house's routers, as the kernel has them."""
    try:
        lines = routes.read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return
    for line in lines:
        fields = line.split()
        if len(fields) > 2 and fields[1] == "00000000" and fields[2] != "00000000":
            yield ".".join(str(byte) for byte in reversed(bytes.fromhex(fields[2])))


def _first_page(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/"


def _way(network: HouseNetwork, lane: Lane) -> str:
    proxy = network.proxy() if lane is Lane.WAN else None
    return f"through the proxy {proxy.shown}" if proxy is not None else "directly"
