"""The one door to HTTP: ``ports_think.HttpDoor`` over httpx, which nothing else imports.

Each wait (connecting, the answer's head, each piece of its body) stands under a deadline of our own, because the
library's do not cover a proxy handshake. Nothing is taken from the environment, no redirect is followed, no cookie is
kept, and no URL gets into a log: it may carry a key.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from appliance.errors import LaneRefusedError, NetworkError, NetworkTimeoutError
from appliance.network.lines import LineSplitter
from appliance.ports import Json
from appliance.ports_think import HttpStream

if TYPE_CHECKING:
    import httpx

#: ``response.completed`` of the Responses API repeats the instructions and every tool in one line.
_LONGEST_LINE_BYTES = 2_000_000
#: Idle connections are kept this long, so that most turns need no new TLS handshake.
_KEEP_CONNECTION_SECONDS = 120.0
#: What may remain of a body when its reader has seen enough; read away, so that the connection can be used again.
_REST_BYTES = 65_536
_REST_SECONDS = 0.1


class Door:
    """Sends requests; one pool of connections. ``proxy_url`` (http, socks5, socks5h) takes all of them."""

    def __init__(self, *, proxy_url: str | None = None, longest_line_bytes: int = _LONGEST_LINE_BYTES) -> None:
        self._proxy_url = proxy_url
        self._longest_line_bytes = longest_line_bytes
        self._client: httpx.AsyncClient | None = None
        self._making = asyncio.Lock()

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
    ) -> AsyncIterator[HttpStream]:
        """Send and open the answer; see ``ports_think.HttpDoor.stream``."""
        host = _host(url)
        client = await self._ready()
        with _translated_request(host):
            request = client.build_request(method, url, headers=dict(headers or {}), json=json)
        response = await _send(client, request, host, connect_seconds, read_seconds)
        body = _Body(response, host, read_seconds, self._longest_line_bytes)
        try:
            body.check_encoding()
            yield body
            await body.read_away_rest()
        finally:
            await response.aclose()

    async def warm_up(self) -> None:
        """Load the HTTP library and the certificates now, not in the first request."""
        await self._ready()

    async def close(self) -> None:
        """Drop every connection."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _ready(self) -> httpx.AsyncClient:
        async with self._making:
            if self._client is None:
                # In a thread: importing httpx and reading the certificates takes longer than the loop may stand still.
                self._client = await asyncio.to_thread(_make_client, self._proxy_url)
            return self._client


class _Body:
    """``ports_think.HttpStream`` over an open httpx response."""

    def __init__(self, response: httpx.Response, host: str, read_seconds: float, longest_line_bytes: int) -> None:
        self._response = response
        self._host = host
        self._read_seconds = read_seconds
        self._longest_line_bytes = longest_line_bytes
        self._raw = response.aiter_raw()

    @property
    def status(self) -> int:
        """HTTP status."""
        return self._response.status_code

    @property
    def headers(self) -> Mapping[str, str]:
        """Header names in lower case."""
        return {name.lower(): value for name, value in self._response.headers.items()}

    async def lines(self) -> AsyncIterator[str]:
        """The body line by line; see ``ports_think.HttpStream``."""
        splitter = LineSplitter(self._longest_line_bytes)
        async for chunk in self._chunks():
            for line in splitter.feed(chunk):
                yield line
        rest = splitter.end()
        if rest:
            yield rest

    async def read(self, limit_bytes: int = 1_000_000) -> bytes:
        """The body, at most ``limit_bytes`` of it."""
        body = bytearray()
        async for chunk in self._chunks():
            body += chunk
            if len(body) >= limit_bytes:
                break
        return bytes(body[:limit_bytes])

    def check_encoding(self) -> None:
        """Refuse a packed body: we asked for none, and unpacking could grow without bound."""
        encoding = self.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("", "identity"):
            raise NetworkError(f"{self._host} packed its answer ({encoding[:20]}) although it was asked not to")

    async def read_away_rest(self) -> None:
        """Read what little remains; whatever goes wrong only costs the connection."""
        remaining = _REST_BYTES
        with contextlib.suppress(Exception):
            async with asyncio.timeout(_REST_SECONDS):
                async for chunk in self._raw:
                    remaining -= len(chunk)
                    if remaining < 0:
                        return

    async def _chunks(self) -> AsyncIterator[bytes]:
        while True:
            with _translated(self._host, lambda: f"{self._host} sent nothing for {self._read_seconds:g} s"):
                async with asyncio.timeout(self._read_seconds):
                    try:
                        chunk = await anext(self._raw)
                    except StopAsyncIteration:
                        return
            yield chunk


async def _send(
    client: httpx.AsyncClient, request: httpx.Request, host: str, connect_seconds: float, read_seconds: float
) -> httpx.Response:
    """The answer's head. Connecting (lookup, proxy, TLS included) and waiting for the head have a deadline each."""
    too_late = f"no connection to {host} within {connect_seconds:g} s"
    socket: Any = None

    async def follow(step: str, details: Mapping[str, Any]) -> None:
        nonlocal too_late, socket
        if step.endswith("connect_tcp.complete"):
            socket = details["return_value"]
        elif step.endswith("send_request_headers.started"):
            too_late = f"{host} did not answer within {read_seconds:g} s"
            deadline.reschedule(asyncio.get_running_loop().time() + read_seconds)

    request.extensions["trace"] = follow
    try:
        with _translated(host, lambda: too_late):
            async with asyncio.timeout(connect_seconds) as deadline:
                return await client.send(request, stream=True)
    except BaseException:
        if socket is not None:
            # The library forgets it when a handshake fails or is cancelled.
            with contextlib.suppress(Exception):
                await socket.aclose()
        raise


def _host(url: str) -> str:
    """The host of a URL that we may open, for messages: the whole URL may hold a secret."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise LaneRefusedError("a URL cannot be read") from None
    if parts.scheme not in ("http", "https") or not host:
        raise LaneRefusedError("a URL must start with http:// or https:// and name a host")
    if parts.username is not None:
        raise LaneRefusedError(f"the URL of {host} holds a user name; that is not allowed")
    return host if port is None else f"{host}:{port}"


def _make_client(proxy_url: str | None) -> httpx.AsyncClient:
    import httpx

    # Their INFO line holds whole URLs.
    for library in ("httpx", "httpcore"):
        logging.getLogger(library).setLevel(logging.WARNING)
    try:
        return httpx.AsyncClient(
            trust_env=False,
            proxy=proxy_url,
            follow_redirects=False,
            http2=False,
            timeout=None,  # ours wrap every wait
            limits=httpx.Limits(keepalive_expiry=_KEEP_CONNECTION_SECONDS),
            headers={"User-Agent": "appliance", "Accept-Encoding": "identity"},
            cookies=CookieJar(policy=DefaultCookiePolicy(allowed_domains=[])),
        )
    except (ImportError, ValueError, httpx.InvalidURL):
        # Never a direct try instead of a proxy; and the proxy's URL may hold a password.
        raise NetworkError("the HTTP client cannot be made; is the proxy's URL right?") from None


@contextlib.contextmanager
def _translated(host: str, too_late: Callable[[], str]) -> Iterator[None]:
    """The library's errors as ours. Only connection errors keep their text: others may quote what we sent."""
    import httpx

    try:
        yield
    except (TimeoutError, httpx.TimeoutException) as error:
        raise NetworkTimeoutError(too_late()) from error
    except httpx.ConnectError as error:
        raise NetworkError(f"no connection to {host}: {error}") from error
    except httpx.ProxyError as error:
        raise NetworkError(f"the proxy gives no connection to {host}") from error
    except (httpx.LocalProtocolError, httpx.InvalidURL):
        raise NetworkError(f"the request to {host} is not valid HTTP") from None
    except (httpx.HTTPError, OSError) as error:
        raise NetworkError(f"the connection to {host} broke ({type(error).__name__})") from error


@contextlib.contextmanager
def _translated_request(host: str) -> Iterator[None]:
    """Errors of building a request; no cause is kept, for it may quote a header or the body."""
    import httpx

    try:
        yield
    except (httpx.InvalidURL, ValueError, TypeError) as error:
        raise NetworkError(f"the request to {host} cannot be written ({type(error).__name__})") from None
