"""What the page costs the box: processor time while it is open, and the time of a turn with and without it.

The browser is another process on another machine; here it is a client that reads every event and asks for ``status`` as
often as the page does. Turns are typed and answered by the box itself: nothing else that takes time is in them.
"""

from __future__ import annotations

import asyncio
import os
import random
import socket
import statistics
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from appliance.bench.intervals import Estimate, Values, estimate
from appliance.box import Box
from appliance.config import load
from appliance.control import Caller, Peer
from appliance.errors import PictureError
from appliance.home import Home
from appliance.panel.feed import Feed
from appliance.panel.server import Panel
from appliance.panel.sources import Sources, face_table
from appliance.wiring import Sound, credentials_of, open_box

GOAL_PERCENT = 2.0
_QUESTION = "what time is it"
#: Asks as often as the Health page does; no other page asks by itself.
_READER = """
import asyncio, sys, httpx
async def main():
    origin, token = sys.argv[1:3]
    headers = {"X-Panel-Token": token, "Origin": origin}
    async with httpx.AsyncClient(headers=headers, timeout=None, trust_env=False) as browser:
        async def ask():
            while True:
                await browser.post(origin + "/api/status", json={})
                await asyncio.sleep(5)
        asking = asyncio.create_task(ask())
        async with browser.stream("GET", origin + "/events") as events:
            print("open", flush=True)
            async for _ in events.aiter_lines():
                pass
asyncio.run(main())
"""


@dataclass(frozen=True)
class Result:
    """``share_percent`` of one core beyond what the box needs without a page; ``turn_ratio`` is open over closed."""

    share_percent: float
    turn_ratio: Estimate
    turn_milliseconds: float
    turns: int


def measure(idle_seconds: float, turns: int) -> Result:
    """A box of its own, without sound, in a folder that is gone afterwards."""
    return asyncio.run(_measure(idle_seconds, turns))


async def _measure(idle_seconds: float, turns: int) -> Result:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        config = load(home.config_file, {})
        async with open_box(home, config, credentials_of(home), Sound.NONE) as box:
            without = await _cpu_share(idle_seconds)
            async with _OpenPage(box) as page:
                share = await _cpu_share(idle_seconds) - without
                pairs = await _turn_pairs(box, page, turns)
    ratio = estimate(pairs, lambda rows: float(np.median(rows[:, 0]) / np.median(rows[:, 1])))
    return Result(100 * max(0.0, share), ratio, 1000 * statistics.median(pairs[:, 0]), turns)


async def _turn_pairs(box: Box, page: _OpenPage, turns: int) -> Values:
    """Seconds of a turn with the page open and closed, side by side, in an order that is no pattern."""
    await _turn(box)
    pairs = []
    order = random.Random(1)
    for _ in range(turns):
        seconds = {}
        for is_open in order.sample([True, False], 2):
            await page.set_open(is_open)
            seconds[is_open] = await _turn(box)
        pairs.append((seconds[True], seconds[False]))
    return np.array(pairs)


async def _turn(box: Box) -> float:
    began = time.perf_counter()
    await box.handlers["ask"]({"text": _QUESTION}, _ME)
    return time.perf_counter() - began


async def _cpu_share(seconds: float) -> float:
    began = time.process_time()
    await asyncio.sleep(seconds)
    return (time.process_time() - began) / seconds


_ME = Caller(Peer(os.geteuid(), os.getegid(), os.getpid()), emit=lambda _event: None)


async def _end(serving: asyncio.Task[None]) -> None:
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)


def _nothing(_url: str) -> tuple[str, bytes]:
    raise PictureError("a benchmark fetches nothing")


class _OpenPage:
    """A panel over the box, and somebody who looks at it."""

    def __init__(self, box: Box) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = int(probe.getsockname()[1])
        self._feed = Feed(box.bus.subscribe, box.clock, box.hides_words)
        self._panel = Panel(Sources(box.all_handlers, self._feed, face_table, _nothing), self._port)
        self._stack = AsyncExitStack()
        self._reader: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> _OpenPage:
        listener = self._stack.enter_context(self._panel.listening())
        serving = asyncio.create_task(self._panel.serve(listener))
        self._stack.push_async_callback(_end, serving)
        await self.set_open(True)
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.set_open(False)
        await self._stack.aclose()

    async def set_open(self, is_open: bool) -> None:
        """Open the page, or close it."""
        if is_open and self._reader is None:
            address, _, token = self._panel.address.partition("#")
            self._reader = await asyncio.create_subprocess_exec(
                sys.executable, "-c", _READER, address.rstrip("/"), token, stdout=asyncio.subprocess.PIPE
            )
            assert self._reader.stdout is not None
            await self._reader.stdout.readline()
        elif not is_open and self._reader is not None:
            self._reader.kill()
            await self._reader.wait()
            self._reader = None
