"""Whatever a URL looks like: it is refused, or it leads where it was said to lead."""

from __future__ import annotations

import contextlib
import json
import socket
import string
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any, NoReturn

import httpcore
import httpx
import pytest
import requests
import urllib3
from hypothesis import example, given, settings
from hypothesis import strategies as st
from requests.adapters import HTTPAdapter

from appliance.errors import LaneRefusedError
from appliance.network.classifier import Classifier

#: (scheme, host, port) of a connection that was wanted.
Wanted = tuple[str, str, int]


class HttpxListener:
    """A real httpx client that connects to nothing and tells where it would have."""

    def __init__(self) -> None:
        wanted: list[tuple[str, int]] = []

        class Nowhere(httpcore.NetworkBackend):
            def connect_tcp(self, host: str, port: int, *_more: Any, **_options: Any) -> NoReturn:
                wanted.append((host, port))
                raise httpcore.ConnectError("nowhere")

        transport = httpx.HTTPTransport()
        transport._pool = httpcore.ConnectionPool(network_backend=Nowhere())
        self._wanted = wanted
        self._client = httpx.Client(transport=transport, trust_env=False)

    def connection_for(self, url: str) -> Wanted | None:
        """Where a request would go, None when the client refuses it."""
        self._wanted.clear()
        try:
            request = self._client.build_request("GET", url)
            self._client.send(request)
        except (httpx.ConnectError, httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError):
            pass
        return (request.url.scheme, *self._wanted[0]) if self._wanted else None


class RequestsListener:
    """The same with requests, whose parser is another one."""

    def __init__(self) -> None:
        wanted: list[Wanted] = []

        def note(self: Any) -> NoReturn:
            scheme = "https" if isinstance(self, urllib3.connection.HTTPSConnection) else "http"
            wanted.append((scheme, self._dns_host, self.port))
            raise urllib3.exceptions.NewConnectionError(self, "nowhere")

        class Http(urllib3.HTTPConnectionPool):
            ConnectionCls = type("Http", (urllib3.connection.HTTPConnection,), {"_new_conn": note})

        class Https(urllib3.HTTPSConnectionPool):
            ConnectionCls = type("Https", (urllib3.connection.HTTPSConnection,), {"_new_conn": note})

        adapter = HTTPAdapter()
        adapter.poolmanager.pool_classes_by_scheme = {"http": Http, "https": Https}
        self._wanted = wanted
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.mount("http://", adapter)
        self._session.mount("https://", adapter)

    def connection_for(self, url: str) -> Wanted | None:
        """Where a request would go, None when requests refuses it."""
        self._wanted.clear()
        with contextlib.suppress(requests.RequestException, UnicodeError):
            self._session.get(url)
        return self._wanted[0] if self._wanted else None


HTTPX = HttpxListener()
REQUESTS = RequestsListener()


@pytest.fixture(autouse=True, scope="module")
def resolver() -> Iterator[None]:
    """A resolver that fails the test when it is asked."""

    def fail(*question: object, **_more: object) -> NoReturn:
        pytest.fail(f"the resolver was asked {question}")

    with pytest.MonkeyPatch.context() as patch:
        for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
            patch.setattr(socket, name, fail)
        yield


def reached(host: str) -> str | IPv4Address | IPv6Address:
    """What a connection to this text reaches: the address that the C library reads in it, else the name."""
    host = host.strip("[]").lower().removesuffix(".")
    try:
        return ip_address(host)
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(host))
    except (OSError, UnicodeError):
        return host


def check(url: str) -> bool:
    """Whether the URL was accepted; fails when it leads elsewhere than was said."""
    try:
        found = Classifier().classify(url)
    except LaneRefusedError:
        return False
    is_address = ":" in found.host or found.host.rpartition(".")[2].isdigit()
    said = (found.scheme, ip_address(found.host) if is_address else found.host, found.port)
    real = HTTPX.connection_for(url)
    assert real is not None, f"accepted, but httpx cannot send it: {url!r}"
    assert (real[0], reached(real[1]), real[2]) == said
    other = REQUESTS.connection_for(url)
    assert other is None or (other[0], reached(other[1]), other[2]) == said
    assert Classifier().classify_host(found.host) is found.lane
    return True


CORPUS = [
    json.loads(line.split("\t")[0])
    for line in (Path(__file__).parent / "urls.tsv").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]

LETTERS = string.ascii_letters + string.digits + "-_"
#: What parsers have stumbled over: ends of parts, escapes, stops and digits of other scripts, invisible letters.
ODD = st.sampled_from(
    [*"@:/\\?#[]%.;&=+!*'\"<>^`{|} \t\r\n\x00\x7f\x85\u00a0\u00ad\u200b\u200d\u2028\u202e\u3002\uff0e\uff61"]
) | st.sampled_from(
    [
        "%40",
        "%2f",
        "%5c",
        "%00",
        "%2e",
        "//",
        "\\\\",
        "@@",
        "::",
        "://",
        "0x7f",
        "0177",
        "１",
        "①",
        "١",
        "ß",
        "ⓛ",
        "K",
        "İ",
        "ſ",
        "xn--",
        "\ud800",
    ]
)
LABELS = st.text(LETTERS, min_size=1, max_size=12) | st.sampled_from(
    ["bücher", "中国", "نامه", "xn--bcher-kva", "local"]
)
NAMES = st.lists(LABELS, min_size=1, max_size=4).map(".".join)
ADDRESSES = st.ip_addresses().map(lambda each: f"[{each}]" if each.version == 6 else str(each))
LONG_IPV6 = st.ip_addresses(v=6).map(lambda each: f"[{each.exploded.upper()}]")
NUMBERS = st.lists(
    st.integers(0, 2**32).map(str) | st.integers(0, 255).map(hex) | st.integers(0, 255).map(lambda n: f"0{n:o}"),
    min_size=1,
    max_size=5,
).map(".".join)
HOST = st.one_of(NAMES, ADDRESSES, LONG_IPV6, NUMBERS)
USER_INFO = st.sampled_from(
    ["", "", "user@", "user:pass@", "a%40b:c%23d@", ":@", "@", "ü:é@", "10.0.0.1:80@", "example.com@"]
)
PORT = st.sampled_from(
    ["", "", ":", ":80", ":443", ":8123", ":65535", ":0", ":65536", ":080", ":-1", ":８０", ":+1", ":1_0"]
)
TAIL = st.sampled_from(
    ["", "/", "/x?y#z", "?q=@nas", "#@nas", "/@user@nas", "//nas/", "/..//\\@nas", "/a b", "\\@nas/"]
)
SCHEME = st.sampled_from(
    ["http://", "https://", "HTTP://", "hTTps://", "http:/", "http:", "//", "", "ftp://", "http:\\\\"]
)
URL = st.tuples(SCHEME, USER_INFO, HOST, st.sampled_from(["", "", ".", "。"]), PORT, TAIL).map("".join)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A URL in which a few places were changed."""
    url = draw(URL | st.sampled_from(CORPUS))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(url)))
        end = min(len(url), start + draw(st.integers(0, 2)))
        url = url[:start] + draw(ODD | st.characters()) + url[end:]
    return url


@settings(max_examples=1500, deadline=None)
@given(URL | mutated() | st.text(max_size=40).map("http://".__add__))
@example("http://evil.com\\@192.168.1.1/")
@example("http://127.0.0.1:80\\@example.com/")
@example("http://\u212aas/")
def test_a_url_is_refused_or_leads_where_it_was_said_to(url: str) -> None:
    check(url)


@pytest.mark.parametrize("url", CORPUS, ids=ascii)
def test_the_known_shapes_lead_where_they_were_said_to(url: str) -> None:
    check(url)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["http://", "https://"]),
    st.lists(st.from_regex(r"[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?", fullmatch=True), min_size=1, max_size=4).filter(
        lambda labels: labels[-1].isalpha() and not labels[0].startswith("xn--")
    ),
    st.integers(1, 65535),
)
def test_every_plain_url_is_accepted(scheme: str, labels: list[str], port: int) -> None:
    assert check(f"{scheme}{'.'.join(labels)}:{port}/x?y=z")


@settings(max_examples=300, deadline=None)
@given(st.ip_addresses(v=4))
def test_every_plain_address_is_accepted(address: IPv4Address) -> None:
    assert check(f"http://{address}/")


def test_the_listeners_hear_what_is_really_wanted() -> None:
    assert HTTPX.connection_for("https://user@Example.com/x") == ("https", "example.com", 443)
    assert REQUESTS.connection_for("https://user@Example.com/x") == ("https", "example.com", 443)
    assert REQUESTS.connection_for("http://evil.com\\@192.168.1.1/") == ("http", "evil.com", 80)
