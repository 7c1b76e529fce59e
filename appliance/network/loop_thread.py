"""The event loop on which plugins' requests run: in a thread of its own, never the box's loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from appliance.errors import NetworkError

T = TypeVar("T")

#: A thread that waits looks up this often, so that it can be broken into while it waits.
LOOK_UP_SECONDS = 0.2
_END_SECONDS = 2.0


class LoopThread:
    """One daemon thread with one event loop, started when first needed. Any thread may call it but its own."""

    def __init__(self, name: str = "network") -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def start(self, work: Callable[[], Coroutine[Any, Any, T]]) -> concurrent.futures.Future[T]:
        """Run ``work`` there, in a copy of the caller's context variables; cancelling the future cancels it.

        Raises ``NetworkError`` after the end.
        """
        with self._lock:
            loop = self._running()
            return asyncio.run_coroutine_threadsafe(work(), loop)

    def submit(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run ``work`` there and wait for its result; it is cancelled when the waiting thread is broken into."""
        if threading.current_thread() is self._thread:
            raise RuntimeError("the network's thread cannot wait for itself")
        future = self.start(work)
        try:
            while True:
                with contextlib.suppress(concurrent.futures.TimeoutError):
                    return future.result(LOOK_UP_SECONDS)
                if future.done():
                    return future.result()
        finally:
            future.cancel()

    def is_alive(self) -> bool:
        """Whether work that was started may still come to its end."""
        return self._thread is not None and self._thread.is_alive()

    def close(self) -> None:
        """Cancel what still runs, and end the thread."""
        with self._lock:
            self._is_closed = True
            loop, thread = self._loop, self._thread
        if loop is not None and thread is not None and thread.is_alive():
            loop.call_soon_threadsafe(loop.stop)
            if thread is not threading.current_thread():
                thread.join(_END_SECONDS)

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._is_closed:
            raise NetworkError("the network is closed: the program is ending")
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=_run, args=(self._loop,), name=self._name, daemon=True)
            self._thread.start()
        return self._loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
