"""A door in plugin code: the test sees who came to it, and opens it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable


class Gate:
    """Blocks a thread until the test lets it go on."""

    def __init__(self) -> None:
        self._reached = threading.Semaphore(0)
        self._opened = threading.Event()

    def block(self) -> None:
        """For the plugin: stand here until the test opens."""
        self._reached.release()
        assert self._opened.wait(30)

    async def reached(self) -> None:
        """For the test: wait, on our loop, until somebody stands at the door."""
        assert await asyncio.to_thread(self._reached.acquire, True, 10)

    def open(self) -> None:
        """For the test: let everybody through, now and later."""
        self._opened.set()


#: The gate of the running test, for plugin files: ``from tests.contracts.gate import GATES; GATES[0].block()``.
GATES: list[Gate] = []


async def until(condition: Callable[[], bool]) -> None:
    """Let our loop run until something that real threads bring about has happened."""
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        await asyncio.sleep(0.005)
