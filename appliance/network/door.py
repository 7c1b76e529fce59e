"""The box's own door to HTTP: ``ports_think.HttpDoor`` over a ``LaneClient``, which keeps the lanes."""

from __future__ import annotations

import contextlib
import itertools
import json as json_format
from collections.abc import AsyncIterator, Mapping
from urllib.parse import urlsplit

from appliance.errors import LaneRefusedError, NetworkError
from appliance.network.exchange import Incoming, Outgoing
from appliance.network.lane import Lane
from appliance.network.lane_client import LaneClient
from appliance.network.lines import LineSplitter
from appliance.ports import Json
from appliance.ports_think import HttpStream

#: ``response.completed`` of the Responses API repeats the instructions and every tool in one line.
_LONGEST_LINE_BYTES = 2_000_000


class Door:
    """Sends requests of the box itself. ``who`` stands in the record of what left the house; ``lane`` is the only
    one this door opens, None for both.
    """

    def __init__(
        self,
        client: LaneClient,
        *,
        who: str = "device",
        lane: Lane | None = None,
        longest_line_bytes: int = _LONGEST_LINE_BYTES,
    ) -> None:
        self._client = client
        self._who = who
        self._lane = lane
        self._longest_line_bytes = longest_line_bytes

    @contextlib.asynccontextmanager
    async def stream(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: Json = None,
        connect_seconds: float = 10.0,
        read_seconds: float = 60.0,
        follow_redirects: bool = False,
    ) -> AsyncIterator[HttpStream]:
        """Send and open the answer; see ``ports_think.HttpDoor.stream``."""
        _check_no_user(url)
        sent = dict(headers or {})
        body = _as_json(json) if json is not None else None
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
        # Streams are read as they come, and a packed one comes when the packer likes.
        sent.setdefault("Accept-Encoding", "identity")
        outgoing: Outgoing | None = Outgoing(
            method,
            url,
            self._who,
            tuple(sent.items()),
            body,
            self._lane,
            connect_seconds=connect_seconds,
            read_seconds=read_seconds,
        )
        for hops in itertools.count():
            assert outgoing is not None
            async with self._client.open(outgoing) as answer:
                outgoing = self._client.next_hop(outgoing, answer, hops) if follow_redirects else None
                if outgoing is None:
                    yield _Stream(answer, self._longest_line_bytes)
                    return

    async def warm_up(self) -> None:
        """Load the HTTP library and the certificates now, not in the first request. Raises ``NetworkError``."""
        await self._client.warm_up()

    async def close(self) -> None:
        """Drop every connection."""
        await self._client.close()


class _Stream:
    """``ports_think.HttpStream`` over an open answer."""

    def __init__(self, answer: Incoming, longest_line_bytes: int) -> None:
        self._answer = answer
        self._longest_line_bytes = longest_line_bytes

    @property
    def status(self) -> int:
        """HTTP status."""
        return self._answer.status

    @property
    def headers(self) -> Mapping[str, str]:
        """Header names in lower case."""
        return {name.lower(): value for name, value in self._answer.headers}

    async def lines(self) -> AsyncIterator[str]:
        """The body line by line; see ``ports_think.HttpStream``."""
        splitter = LineSplitter(self._longest_line_bytes)
        async for piece in self._answer.pieces():
            for line in splitter.feed(piece):
                yield line
        rest = splitter.end()
        if rest:
            yield rest

    async def read(self, limit_bytes: int = 1_000_000) -> bytes:
        """The body, at most ``limit_bytes`` of it."""
        body = bytearray()
        async for piece in self._answer.pieces():
            body += piece
            if len(body) >= limit_bytes:
                break
        return bytes(body[:limit_bytes])


def _as_json(value: Json) -> bytes:
    try:
        return json_format.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except (ValueError, TypeError):
        raise NetworkError("what was to be sent is no JSON") from None


def _check_no_user(url: str) -> None:
    """The box keeps its secrets out of URLs; what cannot be read the classifier refuses in its own words."""
    with contextlib.suppress(ValueError):
        parts = urlsplit(url)
        if parts.username is not None:
            raise LaneRefusedError(f"the URL of {parts.hostname} holds a user name; that is not allowed")
