"""A speaker that plays into a list, in step with the fake clock."""

from __future__ import annotations

import numpy as np

from appliance.audio import Samples
from appliance.clock import FakeClock
from appliance.ports import Render


class VirtualSpeaker:
    """Takes sound block by block, as a sound card does; each block also moves ``clock`` by its length."""

    def __init__(
        self, render: Render, clock: FakeClock, *, sample_rate_hz: int = 16_000, block_seconds: float = 0.02
    ) -> None:
        self._render = render
        self._clock = clock
        self._sample_rate_hz = sample_rate_hz
        self._block_seconds = block_seconds
        self._blocks: list[Samples] = []

    async def play(self, seconds: float) -> Samples:
        """Play for ``seconds``; what sounded in them."""
        blocks: list[Samples] = []
        for _ in range(round(seconds / self._block_seconds)):
            blocks.append(self._render(round(self._block_seconds * self._sample_rate_hz)).copy())
            await self._clock.advance(self._block_seconds)
        self._blocks += blocks
        return np.concatenate(blocks) if blocks else np.zeros(0, dtype=np.int16)

    @property
    def played(self) -> Samples:
        """All that sounded until now."""
        return np.concatenate(self._blocks) if self._blocks else np.zeros(0, dtype=np.int16)

    @property
    def played_seconds(self) -> float:
        """How long it has played."""
        return len(self.played) / self._sample_rate_hz
