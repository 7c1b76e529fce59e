"""A transcriber that hears what a test wants it to hear."""

from __future__ import annotations

import asyncio
from collections import deque

from appliance.audio import AudioChunk
from appliance.errors import HearingError
from appliance.ports import Transcript


class FakeTranscriber:
    """Gives the texts of its script in order, then "" for ever.

    Drive it with ``will_hear``, ``fail``, ``block`` and ``release``; ask it with ``heard`` (the utterances, in the
    order they came), ``is_warm`` and ``is_closed``.
    """

    def __init__(self, *texts: str) -> None:
        self.heard: list[AudioChunk] = []
        self.is_warm = False
        self.is_closed = False
        self._script: deque[Transcript | Exception] = deque()
        self._free = asyncio.Event()
        self._free.set()
        self.will_hear(*texts)

    def will_hear(self, *texts: str | Transcript) -> None:
        """Add to the script."""
        self._script.extend(Transcript(text) if isinstance(text, str) else text for text in texts)

    def fail(self, error: Exception | None = None) -> None:
        """Fail on the next utterance that the script has nothing else for."""
        self._script.append(error or HearingError("the transcriber failed"))

    def block(self) -> None:
        """Give no answer until ``release``."""
        self._free.clear()

    def release(self) -> None:
        """Go on."""
        self._free.set()

    async def warm_up(self) -> None:
        self.is_warm = True

    async def transcribe(self, utterance: AudioChunk) -> Transcript:
        self.heard.append(utterance)
        await self._free.wait()
        entry = self._script.popleft() if self._script else Transcript("")
        if isinstance(entry, Exception):
            raise entry
        return entry

    def close(self) -> None:
        self.is_closed = True
