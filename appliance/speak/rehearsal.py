"""The rehearsal: fixed lines are spoken into the line cache while the voice has nothing better to do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from appliance.clock import Clock
from appliance.speak.line_cache import LineCache

#: How often it looks whether the voice is free.
_LOOK_SECONDS = 1.0


class Rehearsal:
    """Keeps a list of fixed texts and works it off, one at a time, so that a real line never waits long.

    ``lines_of`` gives the lines in which a text is said, ``speed`` the pace of now.
    """

    def __init__(
        self,
        cache: LineCache,
        clock: Clock,
        *,
        lines_of: Callable[[str], list[str]],
        speed: Callable[[], float],
        is_idle: Callable[[], bool],
        is_voice_free: Callable[[], bool],
    ) -> None:
        self._cache = cache
        self._clock = clock
        self._lines_of = lines_of
        self._speed = speed
        self._is_idle = is_idle
        self._is_voice_free = is_voice_free
        self._known: dict[str, None] = {}
        self._soon: dict[str, None] = {}
        self._later: dict[str, None] = {}
        self._work: asyncio.Task[None] | None = None

    def add(self, texts: Iterable[str], *, soon: bool) -> None:
        """Have ``texts`` ready: ``soon`` as soon as the voice is free, else when the box is idle."""
        new = dict.fromkeys(texts)
        self._known.update(new)
        (self._soon if soon else self._later).update(new)
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._rehearse(), name="rehearsal")

    def start_over(self) -> None:
        """The pace changed: every text is needed anew."""
        self.add(tuple(self._known), soon=False)

    async def close(self) -> None:
        """Stop."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    async def _rehearse(self) -> None:
        while texts := self._soon or self._later:
            if not (self._is_voice_free() and (texts is self._soon or self._is_idle())):
                await self._clock.sleep(_LOOK_SECONDS)
                continue
            text = next(iter(texts))
            del texts[text]
            if not await self._cache.prepare(self._lines_of(text), self._speed()):
                self._soon.clear()
                self._later.clear()
