"""What happens in the box, for every open page: the events of the bus as server-sent events.

A page that cannot keep up misses events and is told so; it never holds up the box. No event waits for a page.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping

from appliance.clock import Clock, within
from appliance.events import Event
from appliance.trace import traced

#: Events kept for a page that is late; a turn with tools has some dozens.
_MOST_WAITING = 500
#: A line without meaning this often shows both ends that the other is there.
_ALIVE_SECONDS = 15.0
#: Told in place of events that were dropped.
_MISSED = {"event": "Missed"}

#: Has a function called with every event; what it gives back ends that.
Subscribe = Callable[[Callable[[Event], None]], Callable[[], None]]


class Feed:
    """The events as bytes for one page after another. Everything on the loop."""

    def __init__(self, subscribe: Subscribe, clock: Clock, hides_words: Callable[[], bool]) -> None:
        self._subscribe = subscribe
        self._clock = clock
        self._hides_words = hides_words
        self._pages = 0

    @property
    def pages(self) -> int:
        """How many are open."""
        return self._pages

    async def lines(self) -> AsyncIterator[bytes]:
        """One server-sent event for each event from now on, until the page goes away."""
        waiting: asyncio.Queue[dict[str, object]] = asyncio.Queue(_MOST_WAITING)
        is_missed = False

        def take(event: Event) -> None:
            nonlocal is_missed
            try:
                waiting.put_nowait(traced(event, is_private=self._hides_words()))
            except asyncio.QueueFull:
                is_missed = True

        leave = self._subscribe(take)
        self._pages += 1
        try:
            yield b": open\n\n"
            while True:
                if is_missed and waiting.empty():
                    is_missed = False
                    yield _as_sent(_MISSED)
                try:
                    yield _as_sent(await within(self._clock, _ALIVE_SECONDS, waiting.get()))
                except TimeoutError:
                    yield b": alive\n\n"
        finally:
            self._pages -= 1
            leave()


def _as_sent(told: Mapping[str, object]) -> bytes:
    return f"data: {json.dumps(told, ensure_ascii=False)}\n\n".encode()
