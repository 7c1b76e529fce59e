"""An echo canceller that takes out what a test lets it take out."""

from __future__ import annotations

import numpy as np

from appliance.audio import Samples


class FakeEchoCanceller:
    """Meets ``EchoCanceller``: ``echo_gain`` times what was played ``delay_samples`` ago is taken out.

    Drive it with ``echo_gain`` and ``delay_samples``, as the test's room has them; ask it with ``steps`` and
    ``is_warm``.
    """

    def __init__(self, *, echo_gain: float = 0.0, delay_samples: int = 0) -> None:
        self.echo_gain = echo_gain
        self.delay_samples = delay_samples
        #: How many steps of 10 ms were heard.
        self.steps = 0
        self.is_warm = False
        self._played = np.zeros(0, dtype=np.int16)
        self._heard = 0

    async def warm_up(self) -> None:
        self.is_warm = True

    def play(self, far: Samples) -> None:
        """Keep it."""
        self._played = np.concatenate([self._played, far])[-self.delay_samples - len(far) :]

    def hear(self, near: Samples, delay_seconds: float) -> Samples:
        """Without the echo."""
        self.steps += 1
        start = len(self._played) - self.delay_samples - len(near)
        if start < 0:
            return near
        echo = self._played[start : start + len(near)] * self.echo_gain
        return np.clip(near - np.round(echo), -32768, 32767).astype(np.int16)
