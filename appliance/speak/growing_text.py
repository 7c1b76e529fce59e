"""A sentence that is still being written, while its first words are spoken already."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from appliance.clock import Clock, within


class GrowingText:
    """Meets ``ports_speaking.GrowingText``; on the loop. ``text`` is made of whole words, in their spoken form."""

    def __init__(self, text: str, clock: Clock) -> None:
        self._clock = clock
        self._text = text
        self._is_whole = False
        self._waiting = 0
        self._news = asyncio.Event()
        self._follower: GrowingText | None = None

    @property
    def text(self) -> str:
        """See ``ports_speaking.GrowingText``."""
        return self._text

    @property
    def is_whole(self) -> bool:
        """See ``ports_speaking.GrowingText``."""
        return self._is_whole

    @property
    def is_waited_for(self) -> bool:
        """Whether somebody can do nothing until more of it is written."""
        return self._waiting > 0

    def grow(self, text: str) -> None:
        """More of it is written; ``text`` is all of that. Shorter texts, and all after ``end``, say nothing new."""
        if not self._is_whole and len(text) > len(self._text):
            self._text = text
            self._news.set()
        if self._follower is not None:
            self._follower.grow(text)

    def end(self, sentence: str) -> str:
        """The sentence is whole; what it is, which begins with the words that may have been said already."""
        if not self._is_whole:
            self._text, self._is_whole = _behind(self._text, sentence), True
            self._news.set()
        if self._follower is not None:
            self._follower.end(sentence)
        return self._text

    def lead(self, follower: GrowingText) -> None:
        """``follower`` is the same sentence, and learns from now on what this one does."""
        self._follower = follower
        follower.grow(self._text)
        if self._is_whole:
            follower.end(self._text)

    async def more(self, known: str, longest_seconds: float) -> None:
        """See ``ports_speaking.GrowingText``."""
        self._waiting += 1
        try:
            await within(self._clock, longest_seconds, self._until(lambda: self._is_whole))
        except TimeoutError:
            await self._until(lambda: self._is_whole or len(self._text) > len(known))
        finally:
            self._waiting -= 1

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._news.clear()
            await self._news.wait()


def _behind(said: str, sentence: str) -> str:
    """``sentence``, beginning with what was ``said`` of it; a word that is written otherwise now was said as it was."""
    if sentence.startswith(said):
        return sentence
    return " ".join((said, *sentence.split()[len(said.split()) :]))
