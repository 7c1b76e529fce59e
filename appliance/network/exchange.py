"""One request and its answer, as both doors send them: the box's own (``door``) and the plugins' (``facade``).

This is the seam between what a request means (requests-shaped or ours) and how it travels (``lane_client``: lanes,
proxy, peer check, deadlines, bounds).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

from appliance.network.lane import Lane


@dataclass(frozen=True)
class Outgoing:
    """A request. Redirects are the sender's business: one ``Outgoing`` is one hop.

    ``lane`` fixes the lane: a URL of the other one is refused. ``who`` is whose traffic it is ("plugin:weather",
    "device"). ``connect_seconds`` covers lookup, proxy and TLS together, ``read_seconds`` each wait for more of the
    answer. ``most_body_bytes`` bounds the decoded body. ``ca_file`` "" is the usual set of authorities; ``verify``
    False asks no authority at all.
    """

    method: str
    url: str
    who: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | Iterable[bytes] | None = None
    lane: Lane | None = None
    connect_seconds: float = 10.0
    read_seconds: float = 60.0
    most_body_bytes: int = 100_000_000
    verify: bool = True
    ca_file: str = ""
    client_certificate: tuple[str, str] | None = field(default=None, repr=False)


class Incoming(Protocol):
    """An answer whose body is still coming. Its methods raise ``NetworkError`` and its kinds."""

    @property
    def status(self) -> int:
        """HTTP status."""
        ...

    @property
    def reason(self) -> str:
        """The words behind the status, "" when there are none."""
        ...

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """Names and values in the order sent, repeated ones repeated."""
        ...

    @property
    def lane(self) -> Lane:
        """The lane it came by."""
        ...

    def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes: unpacked (gzip, deflate), never more than ``most_body_bytes`` in all."""
        ...


class Exchange(Protocol):
    """Sends requests. One event loop owns it."""

    def open(self, outgoing: Outgoing) -> AbstractAsyncContextManager[Incoming]:
        """Send and open the answer, which is given back at the end of the block.

        Raises ``LaneRefusedError`` before anything is sent, ``NetworkTimeoutError``, ``NetworkError``; each names the
        host and the lane, and the proxy when one was used.
        """
        ...

    async def close(self) -> None:
        """Drop every connection."""
        ...
