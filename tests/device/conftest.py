"""Tasks that live as long as a test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest

from appliance.clock import settle
from tests.device.house import House


@pytest.fixture
async def spawn() -> AsyncIterator[Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]]:
    """Run something beside the test; it is cancelled at its end, and its failure fails the test."""
    tasks: list[asyncio.Task[None]] = []

    def start(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        tasks.append(task)
        return task

    yield start
    for task in tasks:
        task.cancel()
    for ended in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(ended, Exception):
            raise ended


@pytest.fixture
async def live(spawn: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]) -> Callable[[House], Any]:
    """``await live(house)``: its schedule and ringer run."""

    async def start(house: House) -> None:
        spawn(house.schedule.run(house.ringer.add))
        spawn(house.ringer.run())
        await settle()

    return start
