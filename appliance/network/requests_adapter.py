"""Puts requests' own front on our transport: a prepared request in, a ``requests.Response`` out.

Everything that a plugin knows of requests is requests itself; only the last step, the connection, is ours: lanes,
proxy, peer check, deadlines, bounds (``Exchange``). Imported late, because of the library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import requests
from requests.adapters import BaseAdapter
from requests.cookies import extract_cookies_to_jar
from requests.structures import CaseInsensitiveDict
from requests.utils import get_encoding_from_headers

from appliance.network.blocking_exchange import BlockingExchange
from appliance.network.exchange import Outgoing
from appliance.network.facade_errors import (
    BadStatusError,
    ProxyFailedError,
    RefusedLaneError,
    TlsFailedError,
    translated,
    translated_url,
)
from appliance.network.lane import Destination, Lane
from appliance.network.limits import Limits
from appliance.network.raw_body import RawBody

_UPLOAD_BYTES = 65_536
#: What the transport unpacks.
_ENCODINGS = "gzip, deflate"


@dataclass(frozen=True)
class Gate:
    """Who may go where. ``who`` is whose sessions these are.

    ``is_private`` is asked in the thread of each request, and for each hop of it: whether it belongs to a private
    chat, of which nothing leaves the house.
    """

    classify: Callable[[str], Destination]
    who: str
    is_private: Callable[[], bool]

    def destination(self, url: str, lane: Lane | None = None) -> Destination:
        """Where ``url`` leads. Raises ``RefusedUrlError``, or ``RefusedLaneError`` when that is not allowed."""
        with translated_url():
            found = self.classify(url)
        if lane is not None and found.lane is not lane:
            raise RefusedLaneError(
                f"{found.host} is {_PLACES[found.lane]} ({found.reason}), and this request may only go "
                f"to what is {_PLACES[lane]}"
            )
        if found.lane is Lane.WAN and self.is_private():
            raise RefusedLaneError(f"this chat is private: nothing goes out of the house, so not to {found.host}")
        return found


_PLACES = {Lane.LAN: "in the house", Lane.WAN: "outside the house"}


class FacadeResponse(requests.Response):
    """A ``requests.Response`` whose error for a bad status keeps the secrets of its URL."""

    def raise_for_status(self) -> None:
        """Raise ``BadStatusError``, which is a ``requests.HTTPError``, for status 400 to 599."""
        if 400 <= self.status_code < 600:
            side = "Client" if self.status_code < 500 else "Server"
            text = f"{self.status_code} {side} Error: {self.reason} for url: {_without_secrets(self.url)}"
            raise BadStatusError(text, request=self.request, response=self)


class LaneAdapter(BaseAdapter):
    """One lane of one plugin; sessions send through it. Any thread."""

    def __init__(self, lane: Lane, exchange: BlockingExchange, gate: Gate, limits: Limits) -> None:
        super().__init__()
        self.lane = lane
        self.gate = gate
        self._exchange = exchange
        self._limits = limits

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: Any = None,
        verify: bool | str = True,
        cert: Any = None,
        proxies: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """Send one hop. Raises the errors of ``facade_errors``."""
        url = request.url or ""
        self.gate.destination(url, self.lane)
        if any((proxies or {}).values()):
            raise ProxyFailedError(
                "core.net takes the proxy of the box; leave out proxies=, or set network.proxy", request=request
            )
        connect_seconds, read_seconds = seconds_of(timeout, self._limits)
        outgoing = Outgoing(
            method=request.method or "GET",
            url=_without_user(url),
            who=self.gate.who,
            headers=tuple(_headers(request.headers)),
            body=_body(request.body),
            lane=self.lane,
            connect_seconds=connect_seconds,
            read_seconds=read_seconds,
            most_body_bytes=self._limits.most_streamed_bytes if stream else self._limits.most_whole_bytes,
            verify=verify is not False,
            ca_file=self._authorities(verify),
            client_certificate=_certificate(cert),
        )
        with translated(request):
            answer = self._exchange.send(outgoing)
        return self._response(request, RawBody(answer, request))

    def close(self) -> None:
        """Nothing: the connections are shared by all sessions."""

    def _authorities(self, verify: bool | str | None) -> str:
        if isinstance(verify, str):
            return _file(verify, "authorities (verify=)")
        return self._limits.outside_ca_file if self.lane is Lane.WAN else ""

    def _response(self, request: requests.PreparedRequest, raw: RawBody) -> requests.Response:
        response = FacadeResponse()
        response.status_code = raw.status
        response.reason = raw.reason
        response.headers = CaseInsensitiveDict(raw.headers)
        response.encoding = get_encoding_from_headers(response.headers)
        response.raw = raw
        response.url = request.url or ""
        response.request = request
        untyped: Any = response
        untyped.connection = self  # Where requests' auth helpers look for it.
        extract_cookies_to_jar(response.cookies, request, raw)  # type: ignore[no-untyped-call]
        return response


def seconds_of(timeout: Any, limits: Limits) -> tuple[float, float]:
    """Seconds for connecting and for each silence, from whatever requests takes; None is the default, never endless.

    Raises ``ValueError``, as requests does.
    """
    if isinstance(timeout, tuple):
        if len(timeout) != 2:
            raise ValueError(f"Invalid timeout {timeout}: it is a number of seconds, or a pair (connect, read)")
        connect, read = timeout
    elif hasattr(timeout, "connect_timeout"):  # urllib3's
        connect, read = timeout.connect_timeout, timeout.read_timeout
    else:
        connect = read = timeout
    return _seconds(connect, limits.connect_seconds), _seconds(read, limits.read_seconds)


def _seconds(value: Any, default: float) -> float:
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise ValueError(f"Invalid timeout {value!r}: it is a number of seconds above 0")
    return float(value)


def _headers(headers: Mapping[Any, Any]) -> Iterator[tuple[str, str]]:
    encoding = _ENCODINGS
    for name, value in headers.items():
        if _text(name).lower() != "accept-encoding":
            yield _text(name), _text(value)
        elif _text(value).strip() == "identity":
            encoding = "identity"
    yield "Accept-Encoding", encoding


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _body(body: Any) -> bytes | Iterable[bytes] | None:
    if body is None or isinstance(body, bytes):
        return body
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, bytearray | memoryview):
        return bytes(body)
    return _pieces(body.read) if hasattr(body, "read") else (_as_bytes(piece) for piece in body)


def _pieces(read: Callable[[int], Any]) -> Iterator[bytes]:
    while piece := read(_UPLOAD_BYTES):
        yield _as_bytes(piece)


def _as_bytes(piece: Any) -> bytes:
    return piece.encode() if isinstance(piece, str) else bytes(piece)


def _file(path: str, what: str) -> str:
    if not Path(path).exists():
        raise TlsFailedError(f"the file of the {what} does not exist: {path}")
    return path


def _certificate(cert: Any) -> tuple[str, str] | None:
    if not cert:
        return None
    certificate, key = cert if isinstance(cert, tuple) else (cert, cert)
    return _file(str(certificate), "certificate (cert=)"), _file(str(key), "key (cert=)")


def _without_user(url: str) -> str:
    """The URL without user and password: requests has put them into a header."""
    parts = urlsplit(url)
    _, at, host = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=host)) if at else url


def _without_secrets(url: str) -> str:
    """Scheme, host and port: a path may hold a secret too."""
    parts = urlsplit(url)
    rest = "/…" if parts.path.strip("/") or parts.query else "/"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{rest}"
