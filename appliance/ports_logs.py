"""What was logged, line by line, and the need for a place that keeps it: the system's journal."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

#: A line as it stands in the journal: level, source, tags, text.
_WRITTEN = re.compile(
    r"(?P<level>[A-Z]+) (?P<source>[\w.-]+)(?: \[(?P<turn_id>turn-\w+)\])?(?: \[plugin:(?P<plugin>[^\]]+)\])?: "
    r"(?P<text>.*)",
    re.DOTALL,
)


@dataclass(frozen=True)
class LogLine:
    """One record: ISO wall time, level by its name, which module, and for which turn and plugin ("" for none)."""

    at: str
    level: str
    source: str
    text: str
    turn_id: str = ""
    plugin: str = ""

    @property
    def written(self) -> str:
        """As text, with its tags; ``parse`` reads it."""
        turn = f" [{self.turn_id}]" if self.turn_id else ""
        plugin = f" [plugin:{self.plugin}]" if self.plugin else ""
        return f"{self.level} {self.source}{turn}{plugin}: {self.text}"

    @classmethod
    def parse(cls, at: str, text: str, level: str = "INFO") -> LogLine:
        """The line that was written so; what somebody else wrote is all text, of ``level``."""
        found = _WRITTEN.fullmatch(text)
        if found is None:
            return cls(at, level, "", text)
        return cls(at, **{name: value or "" for name, value in found.groupdict().items()})

    def is_wanted(self, turn_id: str, plugin: str) -> bool:
        """Whether it belongs to that turn and that plugin; "" is any."""
        return (not turn_id or self.turn_id == turn_id) and (not plugin or self.plugin == plugin)


class Journal(Protocol):
    """Keeps what the service logged."""

    def lines(self, *, count: int, since: datetime | None, follow: bool) -> AsyncIterator[LogLine]:
        """The last ``count`` lines (since a moment), oldest first; with ``follow`` also what comes, for ever.

        Raises ``JournalError`` when it cannot be read.
        """
        ...
