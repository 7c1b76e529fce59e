"""``exchange.Exchange`` over httpx: two lanes that share nothing and never stand in for each other.

Each wait (connecting, the answer's head, each piece of its body) stands under a deadline of our own, because the
library's do not cover a proxy's handshake. Nothing is taken from the environment, no redirect is followed, no cookie is
kept, and no URL gets into a log: it may carry a key.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from appliance.errors import ConfigError, LaneRefusedError, NetworkError
from appliance.network.answer import Answer
from appliance.network.body import PIECE_BYTES, in_pieces
from appliance.network.exchange import Incoming, Outgoing
from appliance.network.host_list import normal_entry
from appliance.network.lane import Destination, Lane
from appliance.network.passage import Meter, Passage
from appliance.network.peer import PeerRule
from appliance.network.pools import Pool, PoolKey, Pools, TlsKey
from appliance.network.proxy import Proxy
from appliance.network.redirects import next_hop
from appliance.network.route import Route, connecting, writing

if TYPE_CHECKING:
    import httpx

#: A server that sends less than this in the long run is holding on to us; a stream of events may.
_SLOWEST_BYTES_PER_SECOND = 10.0


class Classifies(Protocol):
    """``classifier.Classifier``."""

    def classify(self, url: str) -> Destination:
        """Where a URL leads. Raises ``LaneRefusedError``."""
        ...


class LaneClient:
    """Sends requests, each in its lane; see ``exchange.Exchange``. One event loop owns it.

    ``proxy`` is asked for each request outside; when it answers something else than before, the connections of before
    are dropped. It may raise ``ConfigError``: nothing goes out then. ``seen`` hears of every request that was sent.
    """

    def __init__(
        self,
        classifier: Classifies,
        *,
        peers: PeerRule | None = None,
        proxy: Callable[[], Proxy | None] = lambda: None,
        seen: Callable[[Passage], None] = lambda _passage: None,
        most_connections: int = 100,
        slowest_bytes_per_second: float = _SLOWEST_BYTES_PER_SECOND,
    ) -> None:
        self._classifier = classifier
        self._peers = peers or PeerRule()
        self._proxy = proxy
        self._seen = seen
        self._slowest_bytes_per_second = slowest_bytes_per_second
        self._pools = Pools(most_connections)

    @contextlib.asynccontextmanager
    async def open(self, outgoing: Outgoing) -> AsyncIterator[Incoming]:
        """Send and open the answer; see ``exchange.Exchange.open``."""
        route = self._route(outgoing)
        meter = Meter(outgoing.who, route)
        key = PoolKey(
            route.destination.lane,
            route.proxy,
            TlsKey(outgoing.verify, outgoing.ca_file, outgoing.client_certificate),
        )
        try:
            async with self._pools.borrow(key) as pool:
                response = await self._send(pool, outgoing, route, meter)
                try:
                    answer = Answer(response, route, outgoing, meter, self._slowest_bytes_per_second)
                    yield answer
                    await answer.read_away_rest()
                finally:
                    await response.aclose()
        finally:
            if meter.has_sent:
                self._seen(meter.passage)

    def next_hop(self, sent: Outgoing, answer: Incoming, hops: int) -> Outgoing | None:
        """What a redirect asks for; see ``redirects.next_hop``."""
        return next_hop(sent, answer.status, answer.headers, self._classifier.classify, hops=hops)

    async def warm_up(self) -> None:
        """Load the HTTP library and the certificates now, not in the first request."""
        for lane, proxy in ((Lane.LAN, None), (Lane.WAN, self._way_out())):
            async with self._pools.borrow(PoolKey(lane, proxy)):
                pass

    async def close(self) -> None:
        """Drop every connection."""
        await self._pools.close()

    def _route(self, outgoing: Outgoing) -> Route:
        destination, wanted = self._classifier.classify(outgoing.url), outgoing.lane
        if wanted is not None and wanted is not destination.lane:
            raise LaneRefusedError(
                f"{destination.host} is on the {destination.lane.value.upper()} lane ({destination.reason}), and this "
                f"request may take the {wanted.value.upper()} lane only"
            )
        return Route(destination, self._way_out() if destination.lane is Lane.WAN else None)

    def _way_out(self) -> Proxy | None:
        try:
            return self._proxy()
        except ConfigError as error:
            raise LaneRefusedError(f"nothing goes outside, because the proxy is not right: {error}") from error

    async def _send(self, pool: Pool, outgoing: Outgoing, route: Route, meter: Meter) -> httpx.Response:
        sending = _Sending(self._peers, outgoing, route, meter)
        with writing(route):
            request = sending.build(pool.client)
        try:
            return await sending.send(pool.client, request)
        except BaseException:
            if route.proxy is not None and not meter.has_sent:
                # A handshake that broke off leaves a place in the library's pool taken for ever.
                pool.retire()
            raise


class _Sending:
    """One request on its way, up to the answer's head."""

    def __init__(self, peers: PeerRule, outgoing: Outgoing, route: Route, meter: Meter) -> None:
        self._peers = peers
        self._outgoing = outgoing
        self._route = route
        self._meter = meter
        self._deadline = asyncio.timeout(outgoing.connect_seconds)
        self._socket: Any = None

    def build(self, client: httpx.AsyncClient) -> httpx.Request:
        """The request as the library wants it. Raises ``LaneRefusedError`` and the library's own errors."""
        outgoing, body = self._outgoing, self._outgoing.body
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in _headers(outgoing)]
        content: bytes | AsyncIterator[bytes] | None
        if body is None or (isinstance(body, bytes) and len(body) <= PIECE_BYTES):
            content = body
            self._meter.bytes_out += len(body or b"")
        else:
            content = in_pieces(body, self._sent_piece)
            if isinstance(body, bytes) and not any(name.lower() == b"content-length" for name, _ in headers):
                headers.append((b"Content-Length", str(len(body)).encode()))
        request = client.build_request(outgoing.method, self._url(), headers=headers, content=content)
        request.extensions["trace"] = self._follow
        self._meter.bytes_out += len(request.url.raw_path) + sum(len(k) + len(v) for k, v in request.headers.raw)
        return request

    async def send(self, client: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
        """The answer's head. Connecting (lookup, proxy, TLS included) and waiting for the head have a deadline each."""
        try:
            with connecting(self._route, self._too_late, has_sent=lambda: self._meter.has_sent):
                async with self._deadline:
                    response = await client.send(request, stream=True)
                if response.status_code == 407 and self._is_readable_to_proxy():
                    await response.aclose()
                    raise self._route.wants_other_login()
                return response
        except BaseException:
            if self._socket is not None:
                # The library forgets it when a handshake fails or is cancelled.
                with contextlib.suppress(Exception):
                    await self._socket.aclose()
            raise

    def _url(self) -> httpx.URL:
        """The URL with the host exactly as it was judged; a library that reads another one gets nothing to send."""
        import httpx

        try:
            url = httpx.URL(self._outgoing.url)
        except (httpx.InvalidURL, ValueError, TypeError):
            raise LaneRefusedError("a URL cannot be read") from None
        judged = self._route.destination
        port = url.port or {"http": 80, "https": 443}.get(url.scheme)
        # Addresses have several spellings: an entry of a host list has one.
        read = normal_entry(url.raw_host.decode("ascii").rstrip("."))
        if (url.scheme, read, port) != (judged.scheme, normal_entry(judged.host), judged.port):
            raise LaneRefusedError(f"the URL of {judged.host} can be read in two ways")
        return url.copy_with(host=judged.host)

    async def _follow(self, step: str, details: Mapping[str, Any]) -> None:
        """The library tells what it does; see httpcore's "trace" extension."""
        if step.endswith("connect_tcp.complete"):
            self._socket = details["return_value"]
            if self._route.proxy is None:
                self._peers.check(self._route.destination, _peer(self._socket))
        elif step.endswith("send_request_headers.started"):
            if details["request"].method != b"CONNECT":  # that one is for the proxy
                self._meter.has_sent = True
                self._wait_anew()
        elif step.endswith("send_request_body.complete"):
            self._wait_anew()

    def _wait_anew(self) -> None:
        if self._meter.has_sent:
            self._deadline.reschedule(asyncio.get_running_loop().time() + self._outgoing.read_seconds)

    def _sent_piece(self, size: int) -> None:
        self._meter.bytes_out += size
        self._wait_anew()

    def _too_late(self) -> NetworkError:
        if self._meter.has_sent:
            return self._route.no_answer_within(self._outgoing.read_seconds)
        return self._route.no_connection_within(self._outgoing.connect_seconds)

    def _is_readable_to_proxy(self) -> bool:
        """Plain HTTP goes through an HTTP proxy as it is, and only there an answer may be the proxy's own."""
        proxy = self._route.proxy
        return proxy is not None and proxy.scheme.startswith("http") and self._route.destination.scheme == "http"


def _headers(outgoing: Outgoing) -> list[tuple[str, str]]:
    """As given, but for packings that we could not unpack within bounds: those are not offered."""
    return [
        (name, value)
        for name, value in outgoing.headers
        if name.lower() != "accept-encoding" or value.strip().lower() == "identity"
    ]


def _peer(socket: Any) -> str:
    address = socket.get_extra_info("server_addr")
    return str(address[0]) if isinstance(address, tuple) and address else ""
