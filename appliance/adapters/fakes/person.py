"""A person who hears everything at once and answers what a test tells them to."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from appliance.ports import Answer, Priority


class FakePlayback:
    """Something said; ends when a test says ``finish``, or sets ``named_so_far`` on its way there."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.named_so_far = ""
        self.is_withdrawn = False
        self._over = asyncio.Event()

    def finish(self, heard_text: str | None = None) -> None:
        """It is over; all of it was heard, or ``heard_text``."""
        self.named_so_far = self.text if heard_text is None else heard_text
        self._over.set()

    def withdraw(self) -> None:
        """Say no further sentence."""
        self.is_withdrawn = True

    async def finished(self) -> str:
        await self._over.wait()
        return self.named_so_far


class FakePerson:
    """A ``Person``: ``answers`` are given one per question, then nobody answers.

    What is said counts as heard at once, unless ``hears_at_once`` is false: then a test ends each of
    ``playbacks``. Ask it with ``said``, ``asked`` and ``notices``.
    """

    def __init__(self, answers: Iterable[Answer] = (), *, hears_at_once: bool = True) -> None:
        self.said: list[tuple[str, Priority]] = []
        self.asked: list[tuple[str, float]] = []
        self.notices: dict[str, str] = {}
        self.playbacks: list[FakePlayback] = []
        self.hears_at_once = hears_at_once
        self._answers = list(answers)

    def say(self, text: str, priority: Priority = Priority.REPLY) -> FakePlayback:
        self.said.append((text, priority))
        playback = FakePlayback(text)
        self.playbacks.append(playback)
        if self.hears_at_once:
            playback.finish()
        return playback

    async def ask(self, question: str, seconds: float) -> Answer:
        self.asked.append((question, seconds))
        return self._answers.pop(0) if self._answers else Answer("", "unanswered")

    def notice(self, key: str, text: str) -> None:
        self.notices.setdefault(key, text)
