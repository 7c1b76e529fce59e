"""Where an answer sends us on to, and what may go along: a redirect is a stranger's wish, so each is judged anew.

Only ``Location`` counts, and only with the statuses that say "ask there"; ``Refresh`` and ``Content-Location`` mean
nothing to a program.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from urllib.parse import urldefrag, urljoin, urlsplit, urlunsplit

from appliance.errors import LaneRefusedError, NetworkError
from appliance.network.exchange import Outgoing
from appliance.network.lane import Destination, Lane

#: More hops than this lead nowhere.
MOST_HOPS = 5

_STATUSES = frozenset({301, 302, 303, 307, 308})
#: Header names that hold a secret: they were meant for one origin. ``Host`` names one too.
_FOR_ONE_ORIGIN = re.compile(r"auth|cookie|token|secret|password|api-?key|^host$", re.IGNORECASE)
_OF_THE_BODY = frozenset({"content-length", "content-type", "content-encoding", "transfer-encoding"})


def next_hop(
    sent: Outgoing,
    status: int,
    headers: Iterable[tuple[str, str]],
    classify: Callable[[str], Destination],
    *,
    hops: int = 0,
) -> Outgoing | None:
    """What to send next; None when the answer is no redirect. Whether to follow redirects at all the caller knows.

    ``hops`` is how many were followed already. Each hop stays in the lane of the first. Raises ``LaneRefusedError``
    for one that would not, or that would go on in the clear; ``NetworkError`` when there are too many, and when the
    body cannot be sent again.
    """
    location = next((value for name, value in headers if name.lower() == "location"), "")
    if status not in _STATUSES or not location:
        return None
    here = classify(sent.url)
    if hops >= MOST_HOPS:
        raise NetworkError(f"{here.host} sent us on for the {MOST_HOPS + 1}th time; given up")
    url = _absolute(sent.url, location, here)
    there = classify(url)
    _check_way(here, there)
    is_new_origin = (here.scheme, here.host, here.port) != (there.scheme, there.host, there.port)
    return _sent_on(sent, status, _without_user(url) if is_new_origin else url, there, is_new_origin)


def _absolute(base: str, location: str, here: Destination) -> str:
    with contextlib.suppress(UnicodeError):  # servers write UTF-8 where HTTP means Latin-1
        location = location.encode("latin-1").decode("utf-8")
    try:
        if location.isprintable():  # line ends and tabs would be dropped without a word
            return urldefrag(urljoin(base, location)).url
    except ValueError:
        pass
    raise LaneRefusedError(f"{here.host} sent us on to an address that cannot be read")


def _check_way(here: Destination, there: Destination) -> None:
    if there.lane is not here.lane:
        raise LaneRefusedError(
            f"{here.host} ({here.lane.value.upper()} lane) sent us on to {there.host}, which is on the "
            f"{there.lane.value.upper()} lane ({there.reason}); not followed"
        )
    if here.lane is Lane.WAN and here.scheme == "https" and there.scheme == "http":
        raise LaneRefusedError(f"{here.host} sent us on from https to http at {there.host}; not followed")


def _sent_on(sent: Outgoing, status: int, url: str, there: Destination, is_new_origin: bool) -> Outgoing:
    method, headers, body = sent.method, sent.headers, sent.body
    if _becomes_get(method.upper(), status):
        method, body = "GET", None
        headers = tuple((name, value) for name, value in headers if name.lower() not in _OF_THE_BODY)
    if not isinstance(body, bytes | None):
        raise NetworkError(f"{there.host} wants the body once more, and it can be read only once")
    if is_new_origin:
        headers = tuple((name, value) for name, value in headers if not _FOR_ONE_ORIGIN.search(name))
    return replace(
        sent,
        method=method,
        url=url,
        headers=headers,
        body=body,
        lane=there.lane,
        client_certificate=None if is_new_origin else sent.client_certificate,
    )


def _becomes_get(method: str, status: int) -> bool:
    """RFC 9110 15.4, and what browsers and ``requests`` make of it."""
    if method == "HEAD":
        return False
    return status in (302, 303) or (status == 301 and method == "POST")


def _without_user(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
