"""What the plugins' door costs: the same requests through it, through bare httpx and through bare requests.

All go to a server on loopback over connections that stay open, so what remains is the libraries' own work. The ways
take turns in each round; a ratio is the median over the rounds of one way's time divided by bare httpx's in the same
round, which a busy machine moves little.
"""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from appliance.clock import SystemClock
from appliance.network.config import NetworkConfig
from appliance.network.exchange import Outgoing
from appliance.network.facade import Facade
from appliance.network.house_network import HouseNetwork
from appliance.network.lane_client import LaneClient

BASE = "httpx"
#: Sends ``count`` requests for a URL, one after another.
Way = Callable[[str, int], None]


@dataclass(frozen=True)
class Row:
    """One way at one job. ``ratio`` is to bare httpx's; the time is of one request."""

    job: str
    way: str
    microseconds: float
    ratio: float


@dataclass(frozen=True)
class Job:
    """``count`` requests for a body of ``size_bytes``, shared by ``threads`` threads."""

    name: str
    size_bytes: int
    count: int
    threads: int = 1


JOBS = (
    Job("small answer", 200, 200),
    Job("1 MB answer", 1_000_000, 20),
    Job("small answer, 8 threads", 200, 400, threads=8),
)


def measure(rounds: int = 9) -> list[Row]:
    """Every way at every job; the first round only warms up."""
    with _server() as url, _ways() as ways:
        return [row for job in JOBS for row in _measure(job, url, ways, rounds)]


def _measure(job: Job, url: str, ways: dict[str, Way], rounds: int) -> list[Row]:
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, way in ways.items():
            taken = _time(job, way, f"{url}/{job.size_bytes}")
            if number > 0:
                seconds[name].append(taken)
    base = seconds[BASE]
    return [
        Row(
            job.name,
            name,
            1e6 * statistics.median(taken) / job.count,
            statistics.median(own / other for own, other in zip(taken, base, strict=True)),
        )
        for name, taken in seconds.items()
    ]


def _time(job: Job, way: Way, url: str) -> float:
    each = job.count // job.threads
    with ThreadPoolExecutor(job.threads) as pool:
        began = time.perf_counter()
        for ended in [pool.submit(way, url, each) for _ in range(job.threads)]:
            ended.result()
        return time.perf_counter() - began


@contextlib.contextmanager
def _ways() -> Iterator[dict[str, Way]]:
    import httpx
    import requests

    network = HouseNetwork(NetworkConfig(proxy="none"), SystemClock(), {})
    facade = Facade(network.client, network.classifier, network.direct_hosts)

    def with_requests(url: str, count: int) -> None:
        with requests.Session() as session:
            for _ in range(count):
                assert session.get(url).content

    def with_facade(url: str, count: int) -> None:
        for _ in range(count):
            assert facade.get(url).content

    with httpx.Client(trust_env=False) as client, contextlib.closing(facade):

        def with_httpx(url: str, count: int) -> None:
            for _ in range(count):
                assert client.get(url).content

        yield {
            BASE: with_httpx,
            "httpx, async": lambda url, count: asyncio.run(_with_async_httpx(url, count)),
            "requests": with_requests,
            "the box's own door": lambda url, count: asyncio.run(_with_client(network.client(), url, count)),
            "the plugins' door": with_facade,
        }


async def _with_async_httpx(url: str, count: int) -> None:
    import httpx

    async with httpx.AsyncClient(trust_env=False) as client:
        for _ in range(count):
            assert (await client.get(url)).content


async def _with_client(client: LaneClient, url: str, count: int) -> None:
    for _ in range(count):
        async with client.open(Outgoing("GET", url, "bench")) as incoming:
            assert b"".join([piece async for piece in incoming.pieces()])
    await client.close()


@contextlib.contextmanager
def _server() -> Iterator[str]:
    command = [sys.executable, "-m", "appliance.bench.loopback_server"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None, "both were asked for"
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        process.stdin.close()
