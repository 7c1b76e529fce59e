"""A synthesis: the sound of one line while it is being made, kept so that it can be played from the start again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from appliance.ports import SynthesizedChunk
from appliance.speak.growing_text import GrowingText

#: Rough pace of speech, where the length of a line must be guessed before its sound exists.
CHARACTERS_PER_SECOND = 15.0


class Synthesis:
    """Pulls ``source`` in a task of its own; readers get each chunk as soon as it exists.

    ``growing`` is its text, where that is still being written.
    """

    def __init__(self, source: AsyncGenerator[SynthesizedChunk, None], growing: GrowingText | None = None) -> None:
        self.growing = growing
        self._chunks: list[SynthesizedChunk] = []
        self._error: Exception | None = None
        self._is_over = False
        self._news = asyncio.Event()
        self._task = asyncio.create_task(self._pull(source), name="synthesis")

    @property
    def is_over(self) -> bool:
        """Whether no more sound is being made."""
        return self._is_over

    @property
    def waits_for_text(self) -> bool:
        """Whether no voice is to blame for the missing sound: it has said all that is written."""
        return self.growing is not None and self.growing.is_waited_for

    @property
    def has_failed(self) -> bool:
        """Whether its source raised."""
        return self._error is not None

    def has(self, index: int) -> bool:
        """Whether ``chunk`` would not wait."""
        return index < len(self._chunks) or self._is_over

    async def chunk(self, index: int) -> SynthesizedChunk | None:
        """The chunk at ``index``, as soon as it exists; None behind the last one.

        Raises what the source raised, behind the chunks that it gave before.
        """
        while index >= len(self._chunks):
            if self._is_over:
                if self._error is not None:
                    raise self._error
                return None
            self._news.clear()
            await self._news.wait()
        return self._chunks[index]

    def cancel(self) -> None:
        """Stop making sound; readers come to its end."""
        self._task.cancel()
        self._is_over = True
        self._news.set()

    async def _pull(self, source: AsyncGenerator[SynthesizedChunk, None]) -> None:
        try:
            async for chunk in source:
                self._chunks.append(chunk)
                self._news.set()
        except Exception as error:
            # Kept for whoever reads: a voice that fails must not fail unseen in this task.
            self._error = error
        finally:
            self._is_over = True
            self._news.set()
            await source.aclose()
