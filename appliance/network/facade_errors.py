"""Errors of the plugins' door: each can be caught as ours, as httpx's and as ``requests.exceptions``.

Plugins were written against one of the three. Their text is ours: it names the host and the lane, never the rest of
the URL. Imported late, because of its two libraries.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import httpx
import requests

from appliance.errors import (
    LaneRefusedError,
    NetworkConnectError,
    NetworkConnectTimeoutError,
    NetworkDecodingError,
    NetworkError,
    NetworkProxyError,
    NetworkTimeoutError,
    NetworkTlsError,
    NetworkTooLargeError,
)
from appliance.network.socks_probe import SocksCredentialsError, SocksCredentialsMissingError

# mypy sees attributes of the same name with different types in the three trees; `_AllThree` settles them.
# mypy: disable-error-code="misc"


class _AllThree(OSError):
    """What the three trees disagree about: how an error is made, and what ``request`` is when there is none."""

    def __init__(self, message: str = "", *, request: Any = None, response: Any = None) -> None:
        OSError.__init__(self, message)
        self._request = request
        self.response = response

    @property
    def request(self) -> Any:
        """The prepared request, None when none was made."""
        return self._request

    @request.setter
    def request(self, request: Any) -> None:
        self._request = request


class NoConnectionError(_AllThree, NetworkConnectError, httpx.ConnectError, requests.exceptions.ConnectionError):
    """Nobody there, or the name is unknown."""


class ConnectTimedOutError(
    _AllThree, NetworkConnectTimeoutError, httpx.ConnectTimeout, requests.exceptions.ConnectTimeout
):
    """No connection in time."""


class ProxyFailedError(_AllThree, NetworkProxyError, httpx.ProxyError, requests.exceptions.ProxyError):
    """The proxy gives no connection."""


class SocksRefusedError(_AllThree, SocksCredentialsError, httpx.ProxyError, requests.exceptions.ProxyError):
    """The SOCKS proxy does not take our credentials; ``core.socks_proxy`` calls it ``SocksAuthError``."""


class SocksUnknownUserError(_AllThree, SocksCredentialsMissingError, httpx.ProxyError, requests.exceptions.ProxyError):
    """The SOCKS proxy wants credentials and we have none; it is a ``ValueError`` too."""


class TlsFailedError(_AllThree, NetworkTlsError, httpx.ConnectError, requests.exceptions.SSLError):
    """The other side could not prove who it is."""


class AnswerTimedOutError(_AllThree, NetworkTimeoutError, httpx.ReadTimeout, requests.exceptions.ReadTimeout):
    """The answer did not begin in time."""


class BodyTimedOutError(AnswerTimedOutError, requests.exceptions.ConnectionError):
    """The answer fell silent in its middle; requests calls that a connection error."""


class BrokenError(_AllThree, NetworkError, httpx.RemoteProtocolError, requests.exceptions.ConnectionError):
    """The connection broke, or what came is not HTTP."""


class BodyBrokenError(BrokenError, requests.exceptions.ChunkedEncodingError):
    """The connection broke in the middle of the answer."""


class TooLargeError(_AllThree, NetworkTooLargeError, httpx.ReadError, requests.exceptions.ContentDecodingError):
    """The answer is larger than a plugin may take."""


class UndecodableError(_AllThree, NetworkDecodingError, httpx.DecodingError, requests.exceptions.ContentDecodingError):
    """The answer cannot be unpacked."""


class RefusedLaneError(_AllThree, LaneRefusedError, httpx.ConnectError, requests.exceptions.ConnectionError):
    """The request would leave or enter the house against the rules."""


class RefusedUrlError(_AllThree, LaneRefusedError, httpx.InvalidURL, requests.exceptions.InvalidURL):
    """The URL is not one, or not everyone reads it alike."""


class TooManyHopsError(_AllThree, NetworkError, httpx.TooManyRedirects, requests.exceptions.TooManyRedirects):
    """The redirects do not end."""


class BadStatusError(_AllThree, NetworkError, httpx.HTTPStatusError, requests.exceptions.HTTPError):
    """An answer with status 4xx or 5xx, when the plugin asks for an error instead."""


#: Our kinds -> what a plugin gets before the head of the answer, most specific first.
_BEFORE_THE_HEAD: tuple[tuple[type[NetworkError], type[_AllThree]], ...] = (
    (LaneRefusedError, RefusedLaneError),
    (NetworkConnectTimeoutError, ConnectTimedOutError),
    (SocksCredentialsError, SocksRefusedError),
    (SocksCredentialsMissingError, SocksUnknownUserError),
    (NetworkProxyError, ProxyFailedError),
    (NetworkTlsError, TlsFailedError),
    (NetworkConnectError, NoConnectionError),
    (NetworkTooLargeError, TooLargeError),
    (NetworkDecodingError, UndecodableError),
    (NetworkTimeoutError, AnswerTimedOutError),
    (NetworkError, BrokenError),
)
#: What is different in the body.
_IN_THE_BODY: dict[type[_AllThree], type[_AllThree]] = {
    AnswerTimedOutError: BodyTimedOutError,
    BrokenError: BodyBrokenError,
}


@contextlib.contextmanager
def translated(request: Any = None, *, response: Any = None, in_body: bool = False) -> Iterator[None]:
    """Our errors as the plugin's; those that are already pass."""
    try:
        yield
    except NetworkError as error:
        if isinstance(error, _AllThree):
            raise
        kind = next(theirs for ours, theirs in _BEFORE_THE_HEAD if isinstance(error, ours))
        if in_body:
            kind = _IN_THE_BODY.get(kind, kind)
        raise kind(str(error), request=request, response=response) from error


@contextlib.contextmanager
def translated_url() -> Iterator[None]:
    """A URL that the classifier does not take, as ``RefusedUrlError``."""
    try:
        yield
    except LaneRefusedError as error:
        raise RefusedUrlError(str(error)) from error
