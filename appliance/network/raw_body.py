"""What stands behind ``requests.Response.raw``: a file over an answer that is still coming.

It has what users of requests reach for (``read``, ``stream``, lines, ``headers``, ``closed``). Two differences from
urllib3's: the bytes are always unpacked, and dropping it unread gives the connection back.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from email.message import Message
from typing import Any

from urllib3 import HTTPHeaderDict

from appliance.network.blocking_exchange import BlockingAnswer
from appliance.network.facade_errors import translated

#: What ``stream`` hands out at a time when it is not told.
_PIECE_BYTES = 65_536


class RawBody(io.RawIOBase):
    """A readable file over a ``BlockingAnswer``; for one thread at a time. Raises the errors of ``facade_errors``."""

    def __init__(self, answer: BlockingAnswer, request: Any) -> None:
        super().__init__()
        self._answer = answer
        self._request = request
        self._rest = memoryview(b"")
        self._is_at_end = False
        head = answer.head
        self.status = head.status
        self.reason = head.reason
        self.version = 11
        self.headers = HTTPHeaderDict(head.headers)
        #: requests reads cookies from it.
        self._original_response = _HeadOnly(head.headers)

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill ``buffer`` with what is there, and wait only when nothing is; 0 at the end."""
        view = memoryview(buffer).cast("B")
        piece = self._some(len(view))
        view[: len(piece)] = piece
        return len(piece)

    def read(self, amt: int | None = -1, decode_content: bool | None = None) -> bytes:
        """``amt`` bytes, fewer only at the end; all of them for None or a negative number."""
        wanted = None if amt is None or amt < 0 else amt
        pieces: list[bytes] = []
        while wanted is None or wanted > 0:
            piece = self._some(wanted)
            if not piece:
                break
            pieces.append(piece)
            if wanted is not None:
                wanted -= len(piece)
        return b"".join(pieces)

    def readall(self) -> bytes:
        """All that remains."""
        return self.read()

    def stream(self, amt: int | None = _PIECE_BYTES, decode_content: bool | None = None) -> Iterator[bytes]:
        """The body in pieces of ``amt`` bytes; as they come when the server sends it in chunks, or for None."""
        as_it_comes = amt is None or "chunked" in self.headers.get("transfer-encoding", "").lower()
        while piece := self._some(amt) if as_it_comes else self.read(amt):
            yield piece

    @property
    def data(self) -> bytes:
        """All that remains."""
        return self.read()

    def isclosed(self) -> bool:
        """Whether it was closed or read to its end."""
        return self.closed or self._is_at_end

    def release_conn(self) -> None:
        """Give the connection back, unread or not."""
        self.close()

    def close(self) -> None:
        """Give the connection back; happens by itself when nobody holds the response any more."""
        if not self.closed:
            self._rest = memoryview(b"")
            self._answer.close()
        super().close()

    def _some(self, most_bytes: int | None) -> bytes:
        """What is there, ``most_bytes`` of it; b"" at the end."""
        if self.closed or self._is_at_end or most_bytes == 0:
            return b""
        if not self._rest:
            with translated(self._request, in_body=True):
                self._rest = memoryview(self._answer.take())
            self._is_at_end = not self._rest
        piece = bytes(self._rest[:most_bytes])
        self._rest = self._rest[len(piece) :]
        return piece


class _HeadOnly:
    """As much of ``http.client.HTTPResponse`` as requests' cookies look at."""

    def __init__(self, headers: tuple[tuple[str, str], ...]) -> None:
        self.msg = Message()
        for name, value in headers:
            if name.lower() in ("set-cookie", "set-cookie2"):
                self.msg.add_header(name, value)

    def isclosed(self) -> bool:
        return True

    def close(self) -> None:
        return
