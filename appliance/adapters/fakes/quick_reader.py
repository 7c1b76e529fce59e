"""A quick reader that reads what a test wants it to read."""

from __future__ import annotations

import asyncio

from appliance.audio import AudioChunk
from appliance.errors import HearingError
from appliance.ports import Transcript


class FakeQuickReader:
    """Meets ``QuickReader``: reads ``text`` in everything, as surely as ``log_probability`` says.

    With ``is_broken`` it fails; ``block`` and ``release`` make it slow. ``seen`` is what it was given.
    """

    def __init__(self, text: str = "", log_probability: float = -0.7) -> None:
        self.text = text
        self.log_probability = log_probability
        self.is_broken = False
        self.seen: list[AudioChunk] = []
        self._free = asyncio.Event()
        self._free.set()

    def block(self) -> None:
        """Give no answer until ``release``."""
        self._free.clear()

    def release(self) -> None:
        """Go on."""
        self._free.set()

    async def glance(self, sound: AudioChunk) -> Transcript:
        self.seen.append(sound)
        await self._free.wait()
        if self.is_broken:
            raise HearingError("nothing is loaded yet")
        return Transcript(self.text, average_log_probability=self.log_probability)
