"""The same calls through the plugins' door and through requests show the same."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests
from requests.auth import HTTPDigestAuth

from appliance.network.facade import Facade
from tests.network.facades import WebServer, real_facade


@pytest.fixture(scope="module")
def server() -> Iterator[WebServer]:
    with WebServer() as started:
        yield started


@pytest.fixture(scope="module")
def facade() -> Iterator[Facade]:
    with real_facade() as made:
        yield made


#: What may differ: how the body was cut, and what each library says about itself.
_OWN = ("Accept-Encoding", "Connection", "Content-Type")
Call = Callable[[Any, str], requests.Response]

CALLS: dict[str, Call] = {
    "get": lambda net, url: net.get(f"{url}/echo/path"),
    "query in the url": lambda net, url: net.get(f"{url}/echo?q=größe und mehr&x=%20#part"),
    "params": lambda net, url: net.get(f"{url}/echo?a=1", params={"b": ["2", "3"], "c": None, "d": "ä ö"}),
    "form": lambda net, url: net.post(f"{url}/echo", data={"a": "1", "b": ["2", "ü"]}),
    "text body": lambda net, url: net.post(f"{url}/echo", data="plain"),
    "bytes body": lambda net, url: net.put(f"{url}/echo", data=b"\x00\xff"),
    "large body": lambda net, url: net.put(f"{url}/echo", data=b"0123456789" * 30_000),
    "json": lambda net, url: net.post(f"{url}/echo", json={"a": ["ü", None, 1.5]}),
    "file": lambda net, url: net.post(f"{url}/echo", data=io.BytesIO(b"line\n" * 50_000)),
    "generator": lambda net, url: net.post(f"{url}/echo", data=iter([b"one", b"two"])),
    "basic auth": lambda net, url: net.get(f"{url}/echo", auth=("user", "pass:word")),
    "auth in the url": lambda net, url: net.get(f"{url}/echo".replace("//", "//us%20er:p%40ss@")),
    "digest auth": lambda net, url: net.get(f"{url}/digest", auth=HTTPDigestAuth("user", "pass")),
    "cookies sent": lambda net, url: net.get(f"{url}/echo", cookies={"a": "1"}),
    "cookies received": lambda net, url: net.get(f"{url}/cookies"),
    "headers": lambda net, url: net.get(f"{url}/echo", headers={"X-One": "1", "X-Bytes": b"\xfc", "User-Agent": "own"}),
    "repeated headers": lambda net, url: net.get(f"{url}/repeated"),
    "patch": lambda net, url: net.patch(f"{url}/echo", json={}),
    "delete": lambda net, url: net.delete(f"{url}/echo"),
    "head": lambda net, url: net.head(f"{url}/echo"),
    "head of a redirect": lambda net, url: net.head(f"{url}/redirect/302"),
    "options": lambda net, url: net.options(f"{url}/echo"),
    "request": lambda net, url: net.request("get", f"{url}/echo"),
    "text": lambda net, url: net.get(f"{url}/text"),
    "gzip": lambda net, url: net.get(f"{url}/gzip"),
    "not found": lambda net, url: net.get(f"{url}/status/404"),
    "no content": lambda net, url: net.get(f"{url}/status/204"),
    "timeouts": lambda net, url: net.get(f"{url}/echo", timeout=(3.05, 27)),
    "chunked": lambda net, url: net.get(f"{url}/chunked"),
    "empty post": lambda net, url: net.post(f"{url}/echo"),
}


@pytest.mark.contract("S-069")
@pytest.mark.parametrize("name", CALLS)
def test_a_call_shows_what_it_shows_in_requests(name: str, facade: Facade, server: WebServer) -> None:
    ours, theirs = CALLS[name](facade, server.url), CALLS[name](requests, server.url)
    assert isinstance(ours, requests.Response)
    assert seen(ours) == seen(theirs)


#: Without PUT at 301: requests keeps the method and drops its body there; browsers and we keep both.
REDIRECTS = [
    (method, status)
    for method in ("GET", "POST", "PUT", "HEAD")
    for status in (301, 302, 303, 307, 308)
    if (method, status) != ("PUT", 301)
]


@pytest.mark.parametrize(("method", "status"), REDIRECTS)
def test_a_redirect_that_is_asked_for_is_followed_as_in_requests(
    method: str, status: int, facade: Facade, server: WebServer
) -> None:
    url = f"{server.url}/redirect/{status}"
    body = {"data": {"a": "1"}} if method in ("POST", "PUT") else {}
    ours = facade.request(method, url, allow_redirects=True, cookies={"own": "1"}, **body)
    theirs = requests.request(method, url, allow_redirects=True, cookies={"own": "1"}, **body)  # type: ignore[arg-type]
    assert seen(ours) == seen(theirs)
    assert [seen(hop) for hop in ours.history] == [seen(hop) for hop in theirs.history]


#: Not the large body byte by byte: five million of them show nothing new.
CUTS = [
    (path, size)
    for path in ("big", "chunked", "gzip", "text")
    for size in (1, 7, 512, 10_000_000, None)
    if (path, size) != ("big", 1)
]


@pytest.mark.parametrize(("path", "chunk_size"), CUTS)
def test_a_stream_is_cut_as_in_requests(path: str, chunk_size: int | None, facade: Facade, server: WebServer) -> None:
    pieces = []
    for net in (facade, requests):
        with net.get(f"{server.url}/{path}", stream=True) as response:  # type: ignore[attr-defined]
            pieces.append(list(response.iter_content(chunk_size)))
    ours, theirs = pieces
    assert b"".join(ours) == b"".join(theirs)
    if chunk_size is not None and path != "gzip":  # theirs cuts by what was packed
        assert ours == theirs


@pytest.mark.parametrize("path", ["chunked", "text"])
def test_lines_come_as_in_requests(path: str, facade: Facade, server: WebServer) -> None:
    def lines(net: Any, **options: Any) -> list[str | bytes]:
        return list(net.get(f"{server.url}/{path}", stream=True).iter_lines(**options))

    for options in ({}, {"chunk_size": 1}, {"decode_unicode": True}, {"delimiter": b"\n"}):
        assert lines(facade, **options) == lines(requests, **options)


def test_the_raw_file_reads_as_in_requests(facade: Facade, server: WebServer) -> None:
    def read(net: Any) -> list[object]:
        raw = net.get(f"{server.url}/text", stream=True).raw
        return [raw.status, raw.reason, raw.headers["Content-Type"], raw.read(3), raw.readline(), list(raw)]

    assert read(facade) == read(requests)


def test_a_session_shows_what_it_shows_in_requests(facade: Facade, server: WebServer) -> None:
    def use(session: requests.Session) -> list[object]:
        session.headers["X-Token"] = "t"
        session.params = {"always": "1"}
        session.auth = ("u", "p")
        session.cookies.set("given", "1")
        with session:
            return [seen(session.get(f"{server.url}/echo", params={"q": "2"})), seen(session.get(f"{server.url}/echo"))]

    assert use(facade.session_for(server.url)) == use(requests.Session())


def test_a_browser_session_keeps_cookies_as_requests_does(facade: Facade, server: WebServer) -> None:
    def use(session: requests.Session) -> list[object]:
        session.get(f"{server.url}/cookies")
        return [session.cookies.get_dict(), session.get(f"{server.url}/echo").json()["headers"].get("Cookie")]

    assert use(facade.session_for(server.url, "browser")) == use(requests.Session())


def test_a_plain_session_keeps_no_cookie(facade: Facade, server: WebServer) -> None:
    session = facade.session_for(server.url)
    assert session.get(f"{server.url}/cookies").cookies.get_dict() == {"a": "1", "b": "2"}
    assert "a" not in session.cookies
    assert "a=1" not in session.get(f"{server.url}/echo").json()["headers"].get("Cookie", "")


def test_response_hooks_are_called(facade: Facade, server: WebServer) -> None:
    heard: list[int] = []
    facade.get(server.url, hooks={"response": lambda response, *_, **__: heard.append(response.status_code)})
    assert heard == [200]


def test_nobody_there_is_a_connection_error(facade: Facade) -> None:
    for net in (facade, requests):
        with pytest.raises(requests.exceptions.ConnectionError):
            net.get("http://127.0.0.1:9/")  # type: ignore[attr-defined]


def test_a_body_that_breaks_off_is_an_error_in_both(facade: Facade, server: WebServer) -> None:
    for net in (facade, requests):
        with pytest.raises(requests.exceptions.ChunkedEncodingError):
            net.get(f"{server.url}/cut")  # type: ignore[attr-defined]


def seen(response: requests.Response) -> dict[str, object]:
    """What a plugin sees of a response."""
    told = response.headers.get("Content-Type") == "application/json" and response.content
    return {
        "status": (response.status_code, response.reason, response.ok, response.is_redirect),
        "url": response.url,
        "headers": {name: value for name, value in response.headers.items() if name != "Date"},
        "encoding": (response.encoding, response.apparent_encoding),
        "body": without_own(response.json()) if told else response.content,
        "cookies": response.cookies.get_dict(),
        "hops": len(response.history),
        "takes time": response.elapsed.total_seconds() > 0,
        "next": response.next.url if response.next is not None else None,
    }


def without_own(echo: dict[str, Any]) -> dict[str, Any]:
    own = (*_OWN, "User-Agent")
    return {**echo, "headers": {name.title(): value for name, value in echo["headers"].items() if name not in own}}
