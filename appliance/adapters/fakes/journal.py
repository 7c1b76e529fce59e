"""A journal with the lines that a test puts into it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime

from appliance.errors import JournalError
from appliance.ports_logs import LogLine


class FakeJournal:
    """A ``Journal``; ``fails`` makes reading raise. ``asked`` is what it was asked for."""

    def __init__(self, *lines: LogLine) -> None:
        self.kept = list(lines)
        self.fails = ""
        self.asked: list[tuple[int, datetime | None, bool]] = []
        self._news = asyncio.Event()

    def log(self, line: LogLine) -> None:
        """One more line, also for whoever follows."""
        self.kept.append(line)
        self._news.set()

    async def lines(self, *, count: int, since: datetime | None, follow: bool) -> AsyncIterator[LogLine]:
        self.asked.append((count, since, follow))
        if self.fails:
            raise JournalError(self.fails)
        sent = len(self.kept)
        for line in self.kept[-count:]:
            yield line
        while follow:
            await self._news.wait()
            self._news.clear()
            for line in self.kept[sent:]:
                yield line
            sent = len(self.kept)
