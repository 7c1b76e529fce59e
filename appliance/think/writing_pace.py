"""How fast a model writes, measured where its answers come in."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass

from appliance.clock import Clock
from appliance.ports_think import ModelEndpoint, ModelEvent, ModelRequest, TextDelta

#: English is spoken at two and a half to three words a second; a sentence that is begun before it is written must
#: never have to wait for its next word, also when the model falters.
_FAST_WORDS_PER_SECOND = 7.0
#: Fewer tell nothing of a pace.
_TELLING_WORDS = 3


@dataclass
class _Answer:
    began_at: float = 0.0
    last_at: float = 0.0
    words: int = 0

    def note(self, text: str, now: float) -> None:
        """This came now."""
        if self.words == 0:
            self.began_at = now
        self.last_at = now
        # Pieces are tokens, of which a word may have several; each word begins with a space, or ends with one.
        self.words += max(len(text.split(" ")) - 1, self.words == 0)

    @property
    def words_per_second(self) -> float | None:
        """None while too little is written to tell."""
        if self.words < _TELLING_WORDS:
            return None
        seconds = self.last_at - self.began_at
        return (self.words - 1) / seconds if seconds > 0.0 else math.inf


class WritingPace:
    """A ``ModelEndpoint`` in front of another one, which looks at the clock as its answers pass; on the loop."""

    def __init__(self, endpoint: ModelEndpoint, clock: Clock) -> None:
        self._endpoint = endpoint
        self._clock = clock
        self._answer = _Answer()
        self._before: float | None = None

    @property
    def name(self) -> str:
        """See ``ModelEndpoint``."""
        return self._endpoint.name

    @property
    def is_reasoning(self) -> bool:
        """See ``ModelEndpoint``."""
        return self._endpoint.is_reasoning

    @property
    def is_fast(self) -> bool:
        """Whether it writes so much faster than anybody speaks that a sentence may be begun before it is written.

        The answer that comes now must tell so, and the one before it must not have told otherwise.
        """
        pace = self._answer.words_per_second
        return pace is not None and min(pace, self._before or pace) >= _FAST_WORDS_PER_SECOND

    async def respond(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """See ``ModelEndpoint``."""
        self._before = self._answer.words_per_second or self._before
        answer = self._answer = _Answer()
        events = self._endpoint.respond(request)
        try:
            async for event in events:
                if isinstance(event, TextDelta):
                    answer.note(event.text, self._clock.monotonic_seconds())
                yield event
        finally:
            # The port asks for an iterator only, which need not have ``aclose``.
            if isinstance(events, AsyncGenerator):
                await events.aclose()

    async def warm_up(self, request: ModelRequest | None) -> None:
        """See ``ModelEndpoint``."""
        await self._endpoint.warm_up(request)
