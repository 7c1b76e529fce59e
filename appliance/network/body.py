"""A request's body, piece by piece."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable

#: Small enough that a slow line moves one well within a deadline.
PIECE_BYTES = 65_536


async def in_pieces(body: bytes | Iterable[bytes], sent: Callable[[int], None]) -> AsyncIterator[bytes]:
    """The body; ``sent`` is told each piece's size as it goes. An iterable is asked in a thread: it may wait."""
    if isinstance(body, bytes):
        for start in range(0, len(body), PIECE_BYTES):
            piece = body[start : start + PIECE_BYTES]
            sent(len(piece))
            yield piece
        return
    pieces = iter(body)
    while piece := await asyncio.to_thread(next, pieces, b""):
        sent(len(piece))
        yield piece
