"""Requests for threads: an ``Exchange`` on the network's own loop, its answers taken piece by piece by a thread.

Each request is one task there, which sends it and moves the body into a small bounded box. A reader that is slow
makes the sender wait; one that goes away closes the connection.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import queue
from collections.abc import Callable
from dataclasses import dataclass

from appliance.errors import NetworkError
from appliance.network.exchange import Exchange, Outgoing
from appliance.network.lane import Lane
from appliance.network.loop_thread import LOOK_UP_SECONDS, LoopThread

#: What may lie unread in the box; a larger piece than this goes in whole.
_BOX_BYTES = 262_144
#: An answer that nobody reads on holds its connection no longer than this.
_LONGEST_UNREAD_SECONDS = 300.0


@dataclass(frozen=True)
class Head:
    """The beginning of an answer; see ``exchange.Incoming``."""

    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    lane: Lane


@dataclass(frozen=True)
class _End:
    error: BaseException | None = None


class BlockingExchange:
    """Sends requests for threads. ``make`` is called on the loop of ``thread``, late, and again after ``renew``."""

    def __init__(self, make: Callable[[], Exchange], thread: LoopThread | None = None) -> None:
        self._make = make
        self._thread = thread or LoopThread()
        #: Belongs to the loop, as all of it does.
        self._current: _Shared | None = None

    def send(self, outgoing: Outgoing) -> BlockingAnswer:
        """Send, and wait for the answer's head. Raises ``NetworkError`` and its kinds."""
        box = _Box(self._thread.is_alive)
        task = self._thread.start(lambda: self._fill(box, outgoing))
        try:
            return BlockingAnswer(box.take_head(), box, task)
        except BaseException:
            task.cancel()
            raise

    def renew(self) -> None:
        """Use new connections from now on; what is under way is finished on the old ones."""
        with contextlib.suppress(NetworkError):
            self._thread.submit(self._retire)

    def close(self) -> None:
        """Drop every connection and end the thread."""
        with contextlib.suppress(NetworkError):
            self._thread.submit(self._end)
        self._thread.close()

    async def _fill(self, box: _Box, outgoing: Outgoing) -> None:
        try:
            async with self._shared() as exchange, exchange.open(outgoing) as incoming:
                box.put_head(Head(incoming.status, incoming.reason, incoming.headers, incoming.lane))
                async for piece in incoming.pieces():
                    await box.put(piece)
        except asyncio.CancelledError:
            box.end(NetworkError("the answer was closed before its end"))
            raise
        except BaseException as error:
            # It belongs to the thread that waits, whatever it is.
            box.end(error)
        else:
            box.end(None)

    def _shared(self) -> _Shared:
        if self._current is None:
            self._current = _Shared(self._make())
        return self._current

    async def _retire(self) -> None:
        retired, self._current = self._current, None
        if retired is not None:
            await retired.retire()

    async def _end(self) -> None:
        current, self._current = self._current, None
        if current is not None:
            await current.exchange.close()


class BlockingAnswer:
    """An answer whose body is still coming; for one thread at a time."""

    def __init__(self, head: Head, box: _Box, task: concurrent.futures.Future[None]) -> None:
        self.head = head
        self._box = box
        self._task = task

    def take(self) -> bytes:
        """The next piece of the body, b"" after the last. Raises ``NetworkError`` and its kinds, again and again."""
        return self._box.take()

    def close(self) -> None:
        """Give the connection back; any thread, more than once."""
        self._task.cancel()
        self._box.end(NetworkError("the answer is closed"))


class _Shared:
    """An exchange that several requests use at once; closed when it is retired and the last one has ended."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self._users = 0
        self._is_retired = False

    async def __aenter__(self) -> Exchange:
        self._users += 1
        return self.exchange

    async def __aexit__(self, *_error: object) -> None:
        self._users -= 1
        await self._close_when_unused()

    async def retire(self) -> None:
        self._is_retired = True
        await self._close_when_unused()

    async def _close_when_unused(self) -> None:
        if self._is_retired and self._users == 0:
            await self.exchange.close()


class _Box:
    """Pieces of one body on their way from the loop to a thread.

    Two counters instead of one and a lock: each side writes only its own.
    """

    def __init__(self, is_filled: Callable[[], bool]) -> None:
        self._is_filled = is_filled
        self._items: queue.SimpleQueue[Head | bytes | _End] = queue.SimpleQueue()
        self._put_bytes = 0
        self._taken_bytes = 0
        self._room = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: _End | None = None

    def put_head(self, head: Head) -> None:
        self._items.put(head)

    async def put(self, piece: bytes) -> None:
        """Put a piece, and wait for room for the next one."""
        if not piece:
            return
        self._put_bytes += len(piece)
        self._items.put(piece)
        try:
            async with asyncio.timeout(_LONGEST_UNREAD_SECONDS):
                await self._wait_for_room()
        except TimeoutError:
            raise NetworkError(f"the answer lay unread for {_LONGEST_UNREAD_SECONDS:g} s and was closed") from None

    async def _wait_for_room(self) -> None:
        while self._put_bytes - self._taken_bytes > _BOX_BYTES:
            self._room.clear()
            self._loop = asyncio.get_running_loop()
            if self._put_bytes - self._taken_bytes > _BOX_BYTES:
                await self._room.wait()
        self._loop = None

    def end(self, error: BaseException | None) -> None:
        self._items.put(_End(error))

    def take_head(self) -> Head:
        item = self._next()
        if isinstance(item, Head):
            return item
        assert isinstance(item, _End) and item.error is not None, "an answer begins with its head"
        raise item.error

    def take(self) -> bytes:
        item = self._end or self._next()
        if isinstance(item, bytes):
            self._taken_bytes += len(item)
            loop = self._loop
            if loop is not None:
                with contextlib.suppress(RuntimeError):  # closed: the program is ending
                    loop.call_soon_threadsafe(self._room.set)
            return item
        assert isinstance(item, _End), "an answer has one head"
        self._end = item
        if item.error is not None:
            raise item.error
        return b""

    def _next(self) -> Head | bytes | _End:
        while True:
            try:
                return self._items.get(timeout=LOOK_UP_SECONDS)
            except queue.Empty:
                if not self._is_filled():
                    raise NetworkError("the network was closed in the middle of an answer") from None
