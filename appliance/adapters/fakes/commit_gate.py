"""A turn of which a test decides whether it was meant."""

from __future__ import annotations

import asyncio

from appliance.errors import TurnDroppedError


class FakeCommitGate:
    """A ``CommitGate``; ``is_committed`` at once when a test is not about waiting."""

    def __init__(self, *, is_committed: bool = False) -> None:
        self.is_dropped = False
        self._is_decided = asyncio.Event()
        if is_committed:
            self.commit()

    def commit(self) -> None:
        """It was meant."""
        self._is_decided.set()

    def drop(self) -> None:
        """It was thrown away."""
        self.is_dropped = True
        self._is_decided.set()

    async def committed(self) -> None:
        await self._is_decided.wait()
        if self.is_dropped:
            raise TurnDroppedError("dropped by the test")
