"""A turn detector that judges as a test wants it to."""

from __future__ import annotations

import asyncio
from collections import deque

from appliance.audio import AudioChunk
from appliance.errors import HearingError


class FakeTurnDetector:
    """Gives the chances of its script in order, then ``usually`` for ever.

    Drive it with ``will_say``, ``fail``, ``block`` and ``release``; ask it with ``asked`` (the sound of each question),
    ``is_warm`` and ``is_closed``.
    """

    def __init__(self, *chances: float, usually: float = 1.0) -> None:
        self.usually = usually
        self.asked: list[AudioChunk] = []
        self.is_warm = False
        self.is_closed = False
        self._script: deque[float | Exception] = deque(chances)
        self._free = asyncio.Event()
        self._free.set()

    def will_say(self, *chances: float) -> None:
        """Add to the script."""
        self._script.extend(chances)

    def fail(self, error: Exception | None = None) -> None:
        """Fail on the next question that the script has no answer for."""
        self._script.append(error or HearingError("the turn detector failed"))

    def block(self) -> None:
        """Give no answer until ``release``."""
        self._free.clear()

    def release(self) -> None:
        """Go on."""
        self._free.set()

    async def warm_up(self) -> None:
        self.is_warm = True

    async def finished_probability(self, so_far: AudioChunk) -> float:
        self.asked.append(so_far)
        await self._free.wait()
        entry = self._script.popleft() if self._script else self.usually
        if isinstance(entry, Exception):
            raise entry
        return entry

    def close(self) -> None:
        self.is_closed = True
