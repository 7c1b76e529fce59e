"""The needs of speaking beyond those in ``ports.py``; what is said there holds here too."""

from __future__ import annotations

from typing import Protocol


class GrowingText(Protocol):
    """A sentence that is still being written; what there is of it stays as it is."""

    @property
    def text(self) -> str:
        """Its whole words until now, or all of it."""
        ...

    @property
    def is_whole(self) -> bool:
        """Whether nothing more will come."""
        ...

    async def more(self, known: str, longest_seconds: float) -> None:
        """Wait until it is whole; longer than ``longest_seconds`` only while it is no longer than ``known``."""
        ...
