"""An answer whose body is still coming, bounded in every direction: silence, dribble, size."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from appliance.errors import NetworkDecodingError, NetworkTimeoutError, NetworkTooLargeError
from appliance.network.exchange import Outgoing
from appliance.network.inflate import Inflater
from appliance.network.lane import Lane
from appliance.network.passage import Meter
from appliance.network.route import Route, receiving

if TYPE_CHECKING:
    import httpx

#: What may remain of a body when its reader has seen enough; read away, so that the connection can be used again.
_REST_BYTES = 65_536
_REST_SECONDS = 0.1


class Answer:
    """``exchange.Incoming`` over an open httpx response.

    Making one raises ``NetworkDecodingError`` for a packing that nobody asked for.
    """

    def __init__(
        self, response: httpx.Response, route: Route, outgoing: Outgoing, meter: Meter, slowest_bytes_per_second: float
    ) -> None:
        self._response = response
        self._route = route
        self._outgoing = outgoing
        self._meter = meter
        # A stream of events is slow by its nature.
        is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        self._slowest_bytes_per_second = 0.0 if is_stream else slowest_bytes_per_second
        self._raw = response.aiter_raw()
        try:
            self._inflater = Inflater(response.headers.get("content-encoding", ""))
        except NetworkDecodingError as error:
            raise self._undecodable(error) from error
        self._waited_seconds = 0.0
        self._received_bytes = 0
        self._unpacked_bytes = 0
        meter.bytes_in += sum(len(name) + len(value) for name, value in response.headers.raw)

    @property
    def status(self) -> int:
        return self._response.status_code

    @property
    def reason(self) -> str:
        return self._response.reason_phrase

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in self._response.headers.raw)

    @property
    def lane(self) -> Lane:
        return self._route.destination.lane

    async def pieces(self) -> AsyncIterator[bytes]:
        """See ``exchange.Incoming``; called again it goes on where it stopped."""
        async for packed in self._packed_pieces():
            try:
                for piece in self._inflater.feed(packed):
                    self._unpacked_bytes += len(piece)
                    if self._unpacked_bytes > self._outgoing.most_body_bytes:
                        raise self._too_large()
                    yield piece
                    if len(piece) > len(packed):
                        await asyncio.sleep(0)  # a little that grows large shall not hold the loop
            except NetworkDecodingError as error:
                raise self._undecodable(error) from error
        try:
            self._inflater.end()
        except NetworkDecodingError as error:
            raise self._undecodable(error) from error

    async def read_away_rest(self) -> None:
        """Read what little remains; whatever goes wrong only costs the connection."""
        remaining = _REST_BYTES
        with contextlib.suppress(Exception):
            async with asyncio.timeout(_REST_SECONDS):
                async for packed in self._raw:
                    self._meter.bytes_in += len(packed)
                    remaining -= len(packed)
                    if remaining < 0:
                        return

    async def _packed_pieces(self) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            with receiving(self._route, lambda: self._route.silent_for(self._outgoing.read_seconds)):
                async with asyncio.timeout(self._outgoing.read_seconds):
                    try:
                        packed = await anext(self._raw)
                    except StopAsyncIteration:
                        return
            self._waited_seconds += loop.time() - began
            self._received_bytes += len(packed)
            self._meter.bytes_in += len(packed)
            self._check_pace()
            yield packed

    def _check_pace(self) -> None:
        """A byte before each deadline could go on for ever: in the long run there has to come more than that."""
        if self._slowest_bytes_per_second:
            patience_seconds = self._outgoing.read_seconds + self._received_bytes / self._slowest_bytes_per_second
            if self._waited_seconds > patience_seconds:
                raise NetworkTimeoutError(
                    f"{self._route.name} sends too slowly: {self._received_bytes} bytes in {self._waited_seconds:.0f} s"
                )

    def _too_large(self) -> NetworkTooLargeError:
        most = f"{self._outgoing.most_body_bytes:,} bytes"
        return NetworkTooLargeError(f"the answer of {self._route.name} is larger than {most}")

    def _undecodable(self, error: NetworkDecodingError) -> NetworkDecodingError:
        return NetworkDecodingError(f"the answer of {self._route.name} is {error}")
