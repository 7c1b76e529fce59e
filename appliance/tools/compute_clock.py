"""The clock of one call's budget: it stands still while the call waits for a person."""

from __future__ import annotations

import asyncio
from datetime import datetime

from appliance.clock import Clock


class ComputeClock:
    """Counts the compute time of a call. A person who takes two minutes to answer costs the tool nothing."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waits = 0
        self._waiting_since = 0.0
        self._waited_seconds = 0.0
        self._is_running = asyncio.Event()
        self._is_running.set()

    def wait_for_person(self, is_waiting: bool) -> None:
        """The call is blocked on a human, or no longer; several waits may overlap."""
        if is_waiting:
            if self._waits == 0:
                self._waiting_since = self._clock.monotonic_seconds()
                self._is_running.clear()
            self._waits += 1
        elif self._waits > 0:
            self._waits -= 1
            if self._waits == 0:
                self._waited_seconds += self._clock.monotonic_seconds() - self._waiting_since
                self._is_running.set()

    def monotonic_seconds(self) -> float:
        """Seconds without the waits."""
        now = self._waiting_since if self._waits else self._clock.monotonic_seconds()
        return now - self._waited_seconds

    def now(self) -> datetime:
        """Wall time, waits included."""
        return self._clock.now()

    def is_trusted(self) -> bool:
        """Whether wall time has been set."""
        return self._clock.is_trusted()

    async def sleep(self, seconds: float) -> None:
        """Return after ``seconds`` in which nobody was waited for."""
        end = self.monotonic_seconds() + seconds
        while (left := end - self.monotonic_seconds()) > 0 or not self._is_running.is_set():
            await self._is_running.wait()
            await self._clock.sleep(left)
