"""Time as a port, so that no test ever sleeps.

Monotonic time measures (budgets, heartbeats, windows, timers); wall time is only for what people say
("seven o'clock") and may be wrong on a board without a battery clock until the network has set it.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol, TypeVar

T = TypeVar("T")


class Clock(Protocol):
    """What the core may know about time."""

    def monotonic_seconds(self) -> float:
        """Seconds since an arbitrary start; never jumps. Any thread."""
        ...

    def now(self) -> datetime:
        """Wall time, aware, in the house's time zone. Any thread."""
        ...

    def is_trusted(self) -> bool:
        """Whether wall time has been set since boot; false on a board before time sync."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after ``seconds`` of monotonic time."""
        ...


class SystemClock:
    """The real clock."""

    def monotonic_seconds(self) -> float:
        return time.monotonic()

    def now(self) -> datetime:
        return datetime.now().astimezone()

    def is_trusted(self) -> bool:
        # systemd-timesyncd and chrony's wrapper touch these once time is set; a year before this code was
        # written means that nothing has set it (boards without a battery start in the past).
        if datetime.now(UTC).year < 2025:
            return False
        if Path("/run/systemd/timesync/synchronized").exists():
            return True
        # No time-sync service to ask (desktop, container): believe the battery clock.
        return not Path("/run/systemd/timesync").exists()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))


class FakeClock:
    """A clock that stands still until a test moves it.

    ``await clock.advance(9.0)`` wakes sleepers in the order of their deadlines and lets the loop settle
    after each, so that what they start can sleep again inside the same advance.
    """

    def __init__(self, start: datetime | None = None, *, trusted: bool = True) -> None:
        self._seconds = 1000.0
        self._start = start or datetime(2026, 5, 4, 15, 7, tzinfo=UTC)
        self._trusted = trusted
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def monotonic_seconds(self) -> float:
        return self._seconds

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._seconds - 1000.0)

    def is_trusted(self) -> bool:
        return self._trusted

    def set_wall(self, moment: datetime, *, trusted: bool = True) -> None:
        """Set wall time without moving monotonic time, as time sync does."""
        self._start = moment - timedelta(seconds=self._seconds - 1000.0)
        self._trusted = trusted

    @property
    def sleeping(self) -> int:
        """How many tasks wait for this clock."""
        return sum(1 for _, _, future in self._sleepers if not future.done())

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._seconds + seconds, next(self._order), future))
        await future

    async def advance(self, seconds: float) -> None:
        """Move time on by ``seconds``, waking every sleeper on the way."""
        end = self._seconds + seconds
        await settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            due, _, future = heapq.heappop(self._sleepers)
            if future.done():
                continue
            self._seconds = max(self._seconds, due)
            future.set_result(None)
            await settle()
        self._seconds = end
        await settle()


async def settle(rounds: int = 50) -> None:
    """Let every task that is ready run until none is left (at most ``rounds`` passes of the loop)."""
    for _ in range(rounds):
        await asyncio.sleep(0)


async def within(clock: Clock, seconds: float, awaitable: Awaitable[T]) -> T:
    """The result of ``awaitable``, or ``TimeoutError`` after ``seconds`` of ``clock``; it is cancelled then."""
    work = asyncio.ensure_future(awaitable)
    alarm = asyncio.ensure_future(clock.sleep(seconds))
    try:
        await asyncio.wait({work, alarm}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return work.result()
        raise TimeoutError(f"took longer than {seconds:g} s")
    finally:
        alarm.cancel()
        if not work.done():
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
