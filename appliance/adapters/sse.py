"""Server-sent events: lines in, messages out."""

from __future__ import annotations

from collections.abc import AsyncIterator

from appliance.errors import BrainStreamError

#: One message holds at most one answer with everything that was asked; a server that never ends one is broken.
_LONGEST_MESSAGE_CHARACTERS = 4_000_000


class SseParser:
    """Collects the ``data`` of one message; event names are not needed, the data names its own type."""

    def __init__(self) -> None:
        self._data: list[str] = []
        self._characters = 0

    def feed(self, line: str) -> str | None:
        """The data of the message that this line ended, else None. Raises ``BrainStreamError`` when it is too long."""
        if not line:
            return self.end()
        name, _, value = line.removeprefix("\ufeff").partition(":")
        if name == "data":
            self._data.append(value.removeprefix(" "))
            self._characters += len(value)
            if self._characters > _LONGEST_MESSAGE_CHARACTERS:
                raise BrainStreamError("a message of the stream does not end")
        return None

    def end(self) -> str | None:
        """The data of a message whose blank line is missing, else None."""
        data = "\n".join(self._data)
        self._data.clear()
        self._characters = 0
        return data or None


class SseStream:
    """The messages of one stream, one at a time."""

    def __init__(self, lines: AsyncIterator[str]) -> None:
        self._lines = lines
        self._parser = SseParser()

    async def next_message(self) -> str | None:
        """The data of the next message; None at the end of the stream.

        Comments, event names, ids and retry hints are left out.
        """
        async for line in self._lines:
            data = self._parser.feed(line)
            if data is not None:
                return data
        return self._parser.end()
