"""The rules of ``redirects`` for requests' own requests and answers. Imported late, because of the library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from http.cookiejar import CookieJar
from typing import Any

import requests
from requests.auth import AuthBase
from requests.cookies import RequestsCookieJar, extract_cookies_to_jar
from requests.structures import CaseInsensitiveDict
from requests.utils import rewind_body

from appliance.errors import LaneRefusedError
from appliance.network.exchange import Outgoing
from appliance.network.lane import Destination
from appliance.network.redirects import next_hop

#: As much of a redirect's own page as is kept; the rest costs the connection.
_PAGE_BYTES = 65_536


@dataclass(frozen=True)
class Hop:
    """The request that an answer asks for."""

    request: requests.PreparedRequest
    is_new_origin: bool


def hop_after(
    response: requests.Response,
    classify: Callable[[str], Destination],
    cookies: CookieJar,
    *,
    hops: int = 0,
) -> Hop | None:
    """What ``response`` asks for next, None when it is no redirect. ``cookies`` are the session's.

    Raises ``NetworkError`` and ``LaneRefusedError`` as ``next_hop`` does.
    """
    sent = response.request
    asked = next_hop(_outgoing(sent), response.status_code, response.headers.items(), classify, hops=hops)
    if asked is None:
        return None
    following = sent.copy()
    following.method = asked.method
    following.headers = CaseInsensitiveDict(asked.headers)
    _set_url(following, asked.url, classify)
    is_new_origin = _origin(classify(sent.url or "")) != _origin(classify(following.url or ""))
    if asked.body is None:
        following.body = None
    elif isinstance(getattr(following, "_body_position", None), int):
        rewind_body(following)
    _set_cookies(following, response, cookies, is_new_origin)
    if is_new_origin:
        _drop_auth_hooks(following)
    return Hop(following, is_new_origin)


def keep_page(response: requests.Response) -> None:
    """Read the short page that comes with a redirect and give its connection back."""
    untyped: Any = response
    if not untyped._content_consumed:
        untyped._content = response.raw.read(_PAGE_BYTES)
        untyped._content_consumed = True
    response.close()
    response.raw.close()


def _outgoing(sent: requests.PreparedRequest) -> Outgoing:
    body: Any = sent.body
    if body is not None and (isinstance(body, str | bytes) or isinstance(getattr(sent, "_body_position", None), int)):
        body = b""  # It can be sent again; what it is does not matter to the rules.
    headers = tuple((str(name), str(value)) for name, value in sent.headers.items())
    return Outgoing(sent.method or "GET", sent.url or "", "", headers=headers, body=body)


def _set_url(following: requests.PreparedRequest, url: str, classify: Callable[[str], Destination]) -> None:
    """Write the URL as requests does; it must still lead to where it was judged to lead."""
    judged = classify(url)
    try:
        following.prepare_url(url, None)
    except requests.exceptions.RequestException:
        raise LaneRefusedError(f"the way to {judged.host} cannot be requested") from None
    if _origin(classify(following.url or "")) != _origin(judged):
        raise LaneRefusedError(f"{judged.host} would be requested as another host")


def _set_cookies(
    following: requests.PreparedRequest, response: requests.Response, cookies: CookieJar, is_new_origin: bool
) -> None:
    """The cookies that belong to the new address; those that a plugin gave without a host stay at the old one."""
    own: Any = following
    jar = RequestsCookieJar()
    for cookie in [*(own._cookies or ()), *cookies]:
        if cookie.domain or not is_new_origin:
            jar.set_cookie(cookie)
    extract_cookies_to_jar(jar, response.request, response.raw)  # type: ignore[no-untyped-call]
    own._cookies = jar
    following.headers.pop("Cookie", None)
    following.prepare_cookies(jar)


def _drop_auth_hooks(following: requests.PreparedRequest) -> None:
    """A digest password answers to one origin only."""
    following.hooks = {
        event: [hook for hook in hooks if not isinstance(getattr(hook, "__self__", None), AuthBase)]
        for event, hooks in following.hooks.items()
    }


def _origin(destination: Destination) -> tuple[str, str, int]:
    return destination.scheme, destination.host, destination.port
