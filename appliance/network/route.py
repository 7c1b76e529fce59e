"""One request's way, and what its failures are called: every message names the host, the lane and the proxy."""

from __future__ import annotations

import contextlib
import os
import re
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from appliance.errors import (
    NetworkConnectError,
    NetworkConnectTimeoutError,
    NetworkError,
    NetworkProxyError,
    NetworkTimeoutError,
    NetworkTlsError,
)
from appliance.network.lane import Destination
from appliance.network.proxy import Proxy

_USUAL_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Route:
    """Where to, and by which proxy (None: direct)."""

    destination: Destination
    proxy: Proxy | None = None

    @property
    def host(self) -> str:
        """The host for people, with its port where that is not the usual one."""
        destination = self.destination
        host = f"[{destination.host}]" if ":" in destination.host else destination.host
        is_usual = destination.port == _USUAL_PORTS.get(destination.scheme)
        return host if is_usual else f"{host}:{destination.port}"

    @property
    def name(self) -> str:
        """The host with the way there, for messages: ``example.com (WAN lane, proxy socks5h://127.0.0.1:1080)``."""
        way = f"proxy {self.proxy.shown}" if self.proxy is not None else "direct"
        return f"{self.host} ({self.destination.lane.value.upper()} lane, {way})"

    def no_connection_within(self, seconds: float) -> NetworkConnectTimeoutError:
        """Lookup, proxy, TLS: one of them took too long."""
        return NetworkConnectTimeoutError(f"no connection to {self.name} within {seconds:g} s")

    def no_answer_within(self, seconds: float) -> NetworkTimeoutError:
        """Connected, and then nothing."""
        return NetworkTimeoutError(f"{self.name} did not answer within {seconds:g} s")

    def silent_for(self, seconds: float) -> NetworkTimeoutError:
        """Nothing in the middle of the body."""
        return NetworkTimeoutError(f"{self.name} sent nothing for {seconds:g} s")

    def wants_other_login(self) -> NetworkProxyError:
        """The proxy knows us not."""
        return NetworkProxyError(
            f"the proxy does not take the user and password it was given; no connection to {self.name}. "
            "appliance credential set PROXY_PASSWORD corrects it"
        )


@contextlib.contextmanager
def connecting(route: Route, too_late: Callable[[], NetworkError], has_sent: Callable[[], bool]) -> Iterator[None]:
    """The library's errors up to the answer's head as ours; ``has_sent`` is whether the connection was there by then.

    Only connection errors keep their text: others may quote what we sent.
    """
    import httpx

    try:
        yield
    except NetworkError:
        raise
    except (TimeoutError, httpx.TimeoutException) as error:
        raise too_late() from error
    except httpx.ProxyError as error:
        raise _proxy_error(route, str(error)) from error
    except httpx.ConnectError as error:
        raise _connect_error(route, error) from error
    except (httpx.LocalProtocolError, httpx.InvalidURL, httpx.UnsupportedProtocol):
        raise NetworkError(f"the request to {route.name} is not valid HTTP") from None
    except (httpx.HTTPError, OSError) as error:
        if route.proxy is not None and not has_sent():
            raise NetworkProxyError(f"the proxy broke off; no connection to {route.name}") from error
        raise _broken(route, error) from error
    except Exception as error:
        # The SOCKS library answers garbage with assertions and errors of its own.
        if has_sent() or route.proxy is None or not route.proxy.scheme.startswith("socks"):
            raise  # what came of the asker's body is the asker's
        raise NetworkProxyError(f"what listens there does not speak SOCKS5; no connection to {route.name}") from error


@contextlib.contextmanager
def receiving(route: Route, too_late: Callable[[], NetworkError]) -> Iterator[None]:
    """The same for the body."""
    import httpx

    try:
        yield
    except (TimeoutError, httpx.TimeoutException) as error:
        raise too_late() from error
    except (httpx.HTTPError, httpx.StreamError, OSError) as error:
        raise _broken(route, error) from error


@contextlib.contextmanager
def writing(route: Route) -> Iterator[None]:
    """Errors of building a request; no cause is kept, for it may quote a header or the body."""
    import httpx

    try:
        yield
    except (httpx.InvalidURL, ValueError, TypeError) as error:
        raise NetworkError(f"the request to {route.name} cannot be written ({type(error).__name__})") from None


def _proxy_error(route: Route, words: str) -> NetworkProxyError:
    """``words`` are the library's; a status of the proxy stands in front, followed by what it chose to say."""
    status = re.match(r"\d{3}\b", words)
    if (status is not None and status[0] == "407") or words.startswith(("Invalid username", "Requested ")):
        return route.wants_other_login()
    if status is not None:
        words = f"it answered {status[0]}"
    return NetworkProxyError(f"the proxy gives no connection to {route.name}: {words[:100]}")


def _connect_error(route: Route, error: BaseException) -> NetworkConnectError:
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__cause__ or cause.__context__
    if isinstance(cause, ssl.SSLError):
        return NetworkTlsError(f"no safe connection to {route.name}: {cause.reason or 'TLS failed'}{_verdict(cause)}")
    if route.proxy is not None:
        return NetworkProxyError(f"the proxy cannot be reached ({_why(error)}); no connection to {route.name}")
    return NetworkConnectError(f"no connection to {route.name}: {_why(error)}")


def _why(error: BaseException) -> str:
    """The system's own words, which lie at the bottom; those above only say that nothing worked."""
    cause = system_error(error)
    if cause is None:
        return str(error) or type(error).__name__
    # Name lookups have numbers of their own, below zero.
    number = cause.errno or 0
    return os.strerror(number) if number > 0 else str(cause.strerror)


def system_error(error: BaseException) -> OSError | None:
    """The error of the operating system that another one came of; the first of several tries."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        if isinstance(cause, OSError) and cause.errno is not None:
            return cause
        cause = cause.__cause__ or cause.__context__
    return None


def _verdict(error: ssl.SSLError) -> str:
    return f" ({error.verify_message})" if isinstance(error, ssl.SSLCertVerificationError) else ""


def _broken(route: Route, error: BaseException) -> NetworkError:
    return NetworkError(f"the connection to {route.name} broke ({type(error).__name__})")
