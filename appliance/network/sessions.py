"""requests' sessions that stay in their lane. Imported late, because of the library.

``trust_env`` is off for good: no proxy, no password file and no authorities are taken from the environment here.
"""

from __future__ import annotations

import contextlib
import enum
import logging
from collections.abc import Iterator
from http.cookiejar import Cookie, DefaultCookiePolicy
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import BaseAdapter
from requests.cookies import RequestsCookieJar

from appliance.errors import NetworkError
from appliance.network.facade_errors import RefusedUrlError, TooManyHopsError, translated
from appliance.network.lane import Destination, Lane
from appliance.network.redirects import MOST_HOPS
from appliance.network.requests_adapter import LaneAdapter
from appliance.network.requests_redirects import Hop, hop_after, keep_page

_LOG = logging.getLogger(__name__)

MOST_COOKIES = 400
#: Where ``allow_redirects`` stands among the arguments of ``requests.Session.request`` behind the URL.
_ALLOW_REDIRECTS_AT = 7


class Profile(enum.Enum):
    """What a session looks like from outside."""

    #: A program: says what it is, keeps no cookie.
    PLAIN = "plain"
    #: A browser, for pages that answer nobody else: its headers, and cookies.
    BROWSER = "browser"


_BROWSER_HEADERS = {
    "User-Agent": (
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
    ),
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
    "Accept-Language": "en-US,en;q=0.9",
    "Upgrade-Insecure-Requests": "1",
}


class LaneSession(requests.Session):
    """A ``requests.Session`` for one lane of one plugin. A URL of the other lane, or one to which a redirect leads, is
    refused with ``RefusedLaneError``.

    In the house redirects are followed only with ``allow_redirects=True``; outside they are by default, never from
    https to http, and what a plugin gave for one origin is not told to another.
    """

    def __init__(self, adapter: LaneAdapter, profile: Profile = Profile.PLAIN) -> None:
        self._adapter = adapter
        self._is_made = False
        super().__init__()
        self._is_made = True
        self.max_redirects = MOST_HOPS
        if profile is Profile.BROWSER:
            self.headers.update(_BROWSER_HEADERS)
            self.cookies = _CappedJar()
        else:
            self.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))

    @property
    def lane(self) -> Lane:
        """The lane that all its requests take."""
        return self._adapter.lane

    @property
    def trust_env(self) -> bool:
        """No; setting it changes nothing."""
        return False

    @trust_env.setter
    def trust_env(self, _wanted: bool) -> None:
        return

    def mount(self, prefix: str | bytes, adapter: BaseAdapter) -> None:
        """Nothing: another adapter would be a door beside ours."""
        if self._is_made:
            _LOG.warning("%s mounts its own HTTP adapter; core.net does without it", self._adapter.gate.who)

    def get_adapter(self, url: str | bytes) -> BaseAdapter:
        """Ours, whatever the URL."""
        return self._adapter

    def request(self, method: str, url: str, *args: Any, **kwargs: Any) -> requests.Response:  # type: ignore[override]
        """As in requests, but for who follows redirects. Raises the errors of ``facade_errors``."""
        if not isinstance(url, str):
            raise RefusedUrlError(f"a URL must be text, not {type(url).__name__}")
        if len(args) <= _ALLOW_REDIRECTS_AT:
            kwargs.setdefault("allow_redirects", self._follows_by_itself)
        return super().request(method, url, *args, **kwargs)

    def get(self, url: str, params: Any = None, **kwargs: Any) -> requests.Response:  # type: ignore[override]
        """GET."""
        return self.request("GET", url, params=params, **kwargs)

    def options(self, url: str, **kwargs: Any) -> requests.Response:  # type: ignore[override]
        """OPTIONS."""
        return self.request("OPTIONS", url, **kwargs)

    def send(self, request: requests.PreparedRequest, **kwargs: Any) -> requests.Response:
        """As in requests, but for who follows redirects."""
        kwargs.setdefault("allow_redirects", self._follows_by_itself)
        return super().send(request, **kwargs)

    def prepare_request(self, request: requests.Request) -> requests.PreparedRequest:
        """As in requests; the URL is judged as the plugin wrote it and as it will be sent, which must be the same."""
        written = self._adapter.gate.destination(request.url, self.lane)
        try:
            prepared = super().prepare_request(request)
        except (requests.exceptions.InvalidURL, requests.exceptions.InvalidSchema) as error:
            raise RefusedUrlError(f"the URL of {written.host} cannot be requested") from error
        sent = self._adapter.gate.destination(prepared.url or "", self.lane)
        if _origin(sent) != _origin(written):
            raise RefusedUrlError(f"{written.host!a} would be requested as {sent.host!a}; write that")
        return prepared

    def resolve_redirects(  # type: ignore[override]
        self, resp: requests.Response, req: requests.PreparedRequest, **kwargs: Any
    ) -> Iterator[Any]:
        """Follow redirects one by one; with ``yield_requests`` only tell the next request, when there may be one."""
        if kwargs.pop("yield_requests", False):
            with contextlib.suppress(NetworkError):
                if hop := self._hop_after(resp, 0):
                    yield hop.request
            return
        history: list[requests.Response] = []
        most = min(self.max_redirects, MOST_HOPS)
        while True:
            if resp.is_redirect and len(history) >= most:
                text = f"{urlsplit(resp.url).hostname} sent us on, and that more than {most} times; given up"
                raise TooManyHopsError(text, request=req, response=resp)
            with translated(req, response=resp):
                hop = self._hop_after(resp, len(history))
            if hop is None:
                return
            keep_page(resp)
            resp.history = history[:]
            history.append(resp)
            if hop.is_new_origin:
                kwargs["cert"] = None
            resp, req = self.send(hop.request, allow_redirects=False, **kwargs), hop.request
            yield resp

    @property
    def _follows_by_itself(self) -> bool:
        return self.lane is Lane.WAN

    def _hop_after(self, response: requests.Response, hops: int) -> Hop | None:
        return hop_after(response, self._adapter.gate.classify, self.cookies, hops=hops)


class _CappedJar(RequestsCookieJar):
    """Cookies of a browser session, which lives as long as the plugin."""

    def set_cookie(self, cookie: Cookie, *args: Any, **kwargs: Any) -> None:
        with self._cookies_lock:  # type: ignore[attr-defined]
            if len(self) >= MOST_COOKIES:
                oldest = next(iter(self))
                self.clear(oldest.domain, oldest.path, oldest.name)
            super().set_cookie(cookie, *args, **kwargs)


def _origin(destination: Destination) -> tuple[str, str, int]:
    return destination.scheme, destination.host, destination.port
