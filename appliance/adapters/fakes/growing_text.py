"""A sentence that is written while a voice speaks it, as a test wants it."""

from __future__ import annotations

from collections.abc import Sequence


class FakeGrowingText:
    """``texts`` are how far it is written, one after the other; the last one is the sentence.

    Each next one is there as soon as the voice waits for it. Ask it with ``waits``: what was known at each wait, and
    for how many seconds nothing more was wanted but the end.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.text = texts[0]
        self.waits: list[tuple[str, float]] = []
        self._left = [*texts[1:]]

    @property
    def is_whole(self) -> bool:
        return not self._left

    async def more(self, known: str, longest_seconds: float) -> None:
        self.waits.append((known, longest_seconds))
        self.text = self._left.pop(0)
