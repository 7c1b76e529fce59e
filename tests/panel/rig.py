"""A page over a box that is only a table of methods, served for real on loopback."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from appliance.bus import Bus
from appliance.clock import SystemClock
from appliance.control import Caller, Handler
from appliance.errors import PictureError
from appliance.panel.feed import Feed
from appliance.panel.server import Panel
from appliance.panel.sources import Sources, face_table


@dataclass
class Page:
    """A served panel and a browser without a head."""

    panel: Panel
    bus: Bus
    feed: Feed
    browser: httpx.AsyncClient
    port: int

    @property
    def origin(self) -> str:
        """What a page of ours calls itself."""
        return f"http://localhost:{self.port}"

    @property
    def mine(self) -> dict[str, str]:
        """What our own page sends with everything."""
        return {"X-Panel-Token": self.panel.token, "Origin": self.origin, "Sec-Fetch-Site": "same-origin"}

    async def ask(self, method: str, params: Any = None, **headers: str) -> httpx.Response:
        """As our own page asks for a method; ``headers`` with "" are left out."""
        sent = {**self.mine, **{name.replace("_", "-"): value for name, value in headers.items()}}
        sent = {name: value for name, value in sent.items() if value}
        return await self.browser.post(f"{self.origin}/api/{method}", json=params or {}, headers=sent)


def free_port() -> int:
    """A port that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def told(*answers: Any) -> Handler:
    """A method that answers this, one after another."""
    left = list(answers)

    async def answer(_params: Mapping[str, Any], _caller: Caller) -> Any:
        found = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(found, Exception):
            raise found
        return found

    return answer


def no_picture(_url: str) -> tuple[str, bytes]:
    """Nothing outside."""
    raise PictureError("there is none")


@asynccontextmanager
async def page_over(
    handlers: Mapping[str, Handler],
    *,
    hides_words: Callable[[], bool] = lambda: False,
    outside: Callable[[str], tuple[str, bytes]] = no_picture,
) -> AsyncIterator[Page]:
    """A page over these methods."""
    bus, port = Bus(), free_port()
    feed = Feed(bus.subscribe, SystemClock(), hides_words)
    panel = Panel(Sources(handlers, feed, face_table, outside), port)
    with panel.listening() as listener:
        serving = asyncio.create_task(panel.serve(listener))
        transport = httpx.AsyncHTTPTransport(retries=0)
        async with httpx.AsyncClient(transport=transport, trust_env=False, timeout=10) as browser:
            yield Page(panel, bus, feed, browser, port)
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
