"""What a running device has logged lately, kept in memory: the journal of a board is gone after a restart anyway.

Each line knows its turn and its plugin. It holds no secret, and of a private chat no word.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import traceback
from collections import deque
from collections.abc import AsyncIterator, Callable
from datetime import datetime

from appliance.ports_logs import LogLine
from appliance.tools.current_chat import is_private_call
from appliance.turn import current_turn_id

LINES_KEPT = 2000
#: What one record may take of the memory.
_LONGEST_TEXT = 8000
#: Ours; a library that tells what it does tells with which words, and its URLs.
_OURS = ("appliance", "plugin")
_PLUGIN = "plugin."


class LineMaker:
    """Makes a line of a record, on the thread that logged it.

    ``redact`` masks secrets, ``hides_words`` tells whether what is said now may be private, ``plugin`` whose code
    runs; each may be set when it is known.
    """

    def __init__(self) -> None:
        self.redact: Callable[[str], str] = lambda text: text
        self.hides_words: Callable[[], bool] = lambda: False
        self.plugin: Callable[[], str] = lambda: ""

    def make(self, record: logging.LogRecord) -> LogLine:
        """The line, without a secret."""
        at = datetime.fromtimestamp(record.created).astimezone().isoformat(timespec="milliseconds")
        error = record.exc_info[1] if record.exc_info else None
        where = "" if error is None or self.hides_words() else "".join(traceback.format_exception(error)).rstrip()
        text = self.redact(f"{self.message(record)}\n{where}" if where else self.sentence(record))[:_LONGEST_TEXT]
        return LogLine(at, record.levelname, record.name, text, current_turn_id(), self._plugin_of(record))

    def message(self, record: logging.LogRecord) -> str:
        """What was logged, secrets and all, but no word that a plugin was told in a private chat."""
        is_strange = self._plugin_of(record) and not record.name.startswith("appliance.")
        return "(said in a private chat)" if is_strange and is_private_call() else record.getMessage()

    def sentence(self, record: logging.LogRecord) -> str:
        """The same with the exception that it was logged with; by its kind only, where its words may be private."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            return self.message(record)
        kind = type(error).__name__
        return f"{self.message(record)} ({kind if self.hides_words() else f'{kind}: {error}'})"

    def is_kept(self, record: logging.LogRecord) -> bool:
        """Whether it is worth keeping: warnings of everybody, and what we and plugins tell."""
        if record.levelno >= logging.WARNING:
            return True
        return record.levelno >= logging.INFO and (record.name.partition(".")[0] in _OURS or bool(self.plugin()))

    def _plugin_of(self, record: logging.LogRecord) -> str:
        return self.plugin() or (record.name.removeprefix(_PLUGIN) if record.name.startswith(_PLUGIN) else "")


class LogRing(logging.Handler):
    """Keeps the last lines. Takes records on any thread; ``lines`` and ``follow`` belong to the loop."""

    def __init__(self, maker: LineMaker) -> None:
        super().__init__(logging.INFO)
        self._maker = maker
        self._kept: deque[tuple[int, LogLine]] = deque(maxlen=LINES_KEPT)
        self._count = 0
        self._guard = threading.Lock()
        self._followers: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it, if it is worth it."""
        try:
            if not self._maker.is_kept(record):
                return
            line = self._maker.make(record)
        except Exception:
            self.handleError(record)
            return
        with self._guard:
            self._count += 1
            self._kept.append((self._count, line))
            followers = list(self._followers.items())
        for event, loop in followers:
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)

    @property
    def lines(self) -> list[LogLine]:
        """Every line that is kept, oldest first."""
        with self._guard:
            return [line for _, line in self._kept]

    async def follow(self) -> AsyncIterator[list[LogLine]]:
        """What is kept, and then what comes, in lots; for ever. Who is too slow misses what is no longer kept."""
        news, seen = asyncio.Event(), 0
        with self._guard:
            self._followers[news] = asyncio.get_running_loop()
        try:
            while True:
                with self._guard:
                    fresh, seen = [line for number, line in self._kept if number > seen], self._count
                yield fresh
                await news.wait()
                news.clear()
        finally:
            with self._guard:
                del self._followers[news]
