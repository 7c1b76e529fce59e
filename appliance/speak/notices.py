"""Notices: short news about the box itself, said once each, when nobody is disturbed by them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from appliance.clock import Clock
from appliance.ports import Playback

#: How often a waiting notice looks whether its moment has come.
_LOOK_SECONDS = 2.0
#: A notice of which nothing was heard, because a turn came between, is tried this often in all.
_TRIES = 3


class Notices:
    """Keeps notices until ``may_speak``, then says them one by one."""

    def __init__(self, say: Callable[[str], Playback], may_speak: Callable[[], bool], clock: Clock) -> None:
        self._say = say
        self._may_speak = may_speak
        self._clock = clock
        self._known: set[str] = set()
        self._waiting: deque[tuple[str, int]] = deque()
        self._work: asyncio.Task[None] | None = None

    def add(self, key: str, text: str) -> None:
        """Say ``text``, unless there was a notice with this ``key`` before."""
        if key in self._known:
            return
        self._known.add(key)
        self._waiting.append((text, _TRIES))
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._say_all(), name="notices")

    async def close(self) -> None:
        """Forget what waits."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    async def _say_all(self) -> None:
        while self._waiting:
            if not self._may_speak():
                await self._clock.sleep(_LOOK_SECONDS)
                continue
            text, tries = self._waiting.popleft()
            if not await self._say(text).finished() and tries > 1:
                self._waiting.appendleft((text, tries - 1))
                await self._clock.sleep(_LOOK_SECONDS)
