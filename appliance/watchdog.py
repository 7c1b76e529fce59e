"""Tells the service manager that we live, from the event loop itself: a ping that a hung loop could still send is none.

It is withheld, and the manager starts us anew, when the loop turns too late, or when a microphone that is open gives
no sound. One that is lost and waited for is no hang: nothing would come of starting anew until somebody plugs it in.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from appliance.clock import Clock
from appliance.ports_service import ServiceManager

_LOG = logging.getLogger(__name__)

#: How often it looks; small beside what it judges.
_LOOK_SECONDS = 1.0
#: A loop that wakes us this much too late serves nobody.
_LATE_SECONDS = 10.0
#: Even a silent room has blocks of sound.
_SILENT_SECONDS = 5.0
#: A sound system that does not answer for so long will not do so by itself.
_HANGING_SECONDS = 60.0
#: While starting, more time is asked for this often, and for so long.
_EXTEND_EVERY_SECONDS, _EXTEND_SECONDS = 10.0, 30.0


class Watchdog:
    """``arrived`` counts the microphone's blocks, ``can_hear`` says whether any should come; ``words`` what we do.

    ``hanging_seconds`` is for how long the sound system has not answered.
    """

    def __init__(
        self,
        manager: ServiceManager,
        clock: Clock,
        *,
        arrived: Callable[[], int],
        can_hear: Callable[[], bool],
        words: Callable[[], str],
        hanging_seconds: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._manager = manager
        self._clock = clock
        self._arrived = arrived
        self._can_hear = can_hear
        self._words = words
        self._hanging_seconds = hanging_seconds
        self._told = ""
        self._count = -1
        self._sound_at = clock.monotonic_seconds()

    async def run(self) -> None:
        """Until cancelled; ends at once where nobody wants to be told."""
        if not self._manager.is_there:
            return
        every_seconds = self._manager.ping_seconds
        pause_seconds = min(_LOOK_SECONDS, every_seconds or _LOOK_SECONDS)
        next_at = self._clock.monotonic_seconds()
        self._tell(self._words())
        while True:
            slept_at = self._clock.monotonic_seconds()
            await self._clock.sleep(pause_seconds)
            now = self._clock.monotonic_seconds()
            why = self._why_not(now, late_seconds=now - slept_at - pause_seconds)
            self._tell(why or self._words())
            # One that is due is not lost: it goes out with the first look that finds nothing wrong.
            if every_seconds and not why and now >= next_at:
                next_at = now + every_seconds
                self._manager.ping()

    def _why_not(self, now: float, late_seconds: float) -> str:
        """Why there is no ping; "" when there is one."""
        count = self._arrived()
        if count != self._count or not self._can_hear():
            self._count, self._sound_at = count, now
        if late_seconds > _LATE_SECONDS:
            # What came meanwhile has not been counted yet.
            self._sound_at = now
            return f"hanging: the event loop was {late_seconds:.0f} s late"
        silent_seconds = now - self._sound_at
        if silent_seconds >= _SILENT_SECONDS:
            return "hanging: the microphone is open and gives no sound"
        # A thread that never comes back from the sound system can only be left behind with the whole program; but
        # where it never answered since we started, starting anew again helps nobody.
        if count > 0 and self._hanging_seconds() >= _HANGING_SECONDS:
            return "hanging: the sound system does not answer"
        return ""

    def _tell(self, words: str) -> None:
        if words == self._told:
            return
        self._told = words
        self._manager.status(words)
        if words.startswith("hanging"):
            _LOG.error("no sign of life for the service manager; %s", words)


@asynccontextmanager
async def starting(manager: ServiceManager, clock: Clock) -> AsyncIterator[None]:
    """Inside the block, more time to start is asked for, for as long as the loop turns."""

    async def ask() -> None:
        while True:
            manager.extend(_EXTEND_SECONDS)
            await clock.sleep(_EXTEND_EVERY_SECONDS)

    if not manager.is_there:
        yield
        return
    manager.status("starting")
    task = asyncio.create_task(ask(), name="ask for time to start")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
