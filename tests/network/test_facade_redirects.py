"""Redirects through the plugins' door: refused in the house, judged anew outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
import requests
from requests.auth import HTTPDigestAuth

from appliance.adapters.fakes.exchange import FakeExchange
from appliance.errors import LaneRefusedError, NetworkError
from appliance.network.exchange import Outgoing
from appliance.network.facade import Facade
from appliance.network.lane import Lane
from tests.network.facades import answer, exchange_of, facade_over, moved_to

DOORS: dict[str, Callable[[Facade, str], requests.Response]] = {
    "get": lambda facade, url: facade.get(url),
    "post": lambda facade, url: facade.post(url, data={"a": 1}),
    "put": lambda facade, url: facade.put(url, data=b"a"),
    "patch": lambda facade, url: facade.patch(url),
    "delete": lambda facade, url: facade.delete(url),
    "options": lambda facade, url: facade.options(url),
    "request": lambda facade, url: facade.request("GET", url),
    "session.get": lambda facade, url: facade.session_for(url).get(url),
    "session.options": lambda facade, url: facade.session_for(url).options(url),
    "session.post": lambda facade, url: facade.session_for(url).post(url),
    "session.request": lambda facade, url: facade.session_for(url).request("GET", url),
    "session.send": lambda facade, url: _send(facade, url),
    "stream": lambda facade, url: facade.get(url, stream=True),
}


def _send(facade: Facade, url: str) -> requests.Response:
    session = facade.session_for(url)
    return session.send(session.prepare_request(requests.Request("GET", url)))


@pytest.mark.contract("S-082", "S-084")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("door", DOORS)
def test_in_the_house_no_door_follows_a_redirect_by_itself(door: str, status: int) -> None:
    exchange = exchange_of(moved_to("http://printer.local/", status))
    with facade_over(exchange) as facade:
        response = DOORS[door](facade, "http://nas/x")
        assert (response.status_code, response.headers["Location"]) == (status, "http://printer.local/")
        assert response.is_redirect and response.history == [] and response.content == b"moved"
    assert len(exchange.sent) == 1


@pytest.mark.contract("S-083")
def test_in_the_house_a_redirect_is_followed_when_the_plugin_says_so() -> None:
    exchange = exchange_of(moved_to("http://printer.local/there"), answer(b"here"))
    with facade_over(exchange) as facade:
        response = facade.get("http://nas/x", allow_redirects=True)
    assert (response.text, response.url, len(response.history)) == ("here", "http://printer.local/there", 1)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    ("start", "location"),
    [
        *(("http://nas/x", url) for url in ("https://example.com/", "//example.com/x", "http://8.8.8.8/")),
        *(("https://example.com/x", url) for url in ("http://nas/", "https://192.168.1.1/", "//127.0.0.1/")),
    ],
)
def test_no_redirect_leads_into_the_other_lane(start: str, location: str, status: int) -> None:
    exchange = exchange_of(moved_to(location, status))
    with facade_over(exchange) as facade, pytest.raises(LaneRefusedError, match="sent us on") as caught:
        facade.get(start, allow_redirects=True)
    assert isinstance(caught.value, requests.exceptions.ConnectionError) and isinstance(caught.value, httpx.HTTPError)
    assert len(exchange.sent) == 1


@pytest.mark.parametrize(
    "location",
    [
        "http://2130706433/",
        "http://example.org\\@192.168.1.1/",
        "http://[::1",
        "file:///etc/passwd",
        "http://exa mple/",
    ],
)
def test_a_redirect_that_not_everyone_reads_alike_is_refused(location: str) -> None:
    exchange = exchange_of(moved_to(location))
    with facade_over(exchange) as facade, pytest.raises(LaneRefusedError):
        facade.get("https://example.com/x")
    assert len(exchange.sent) == 1


def test_outside_redirects_are_followed_with_the_new_url_as_it_is_requested() -> None:
    exchange = exchange_of(moved_to("/größe und mehr"), moved_to("https://bücher.example/"), answer(b"here"))
    with facade_over(exchange) as facade:
        response = facade.get("https://example.com/a/b")
    assert response.text == "here"
    assert [sent.url for sent in exchange.sent] == [
        "https://example.com/a/b",
        "https://example.com/gr%C3%B6%C3%9Fe%20und%20mehr",
        "https://xn--bcher-kva.example/",
    ]
    assert {sent.lane for sent in exchange.sent} == {Lane.WAN}


def test_outside_nothing_goes_from_https_to_http() -> None:
    exchange = exchange_of(moved_to("http://example.com/"))
    with facade_over(exchange) as facade, pytest.raises(LaneRefusedError, match="from https to http"):
        facade.get("https://example.com/")
    assert len(exchange.sent) == 1


def test_what_was_given_for_one_origin_is_not_told_to_another() -> None:
    exchange = exchange_of(
        moved_to("/near", set_cookie="mine=1"), moved_to("https://example.org/", set_cookie="mine=2"), answer()
    )
    headers = {"X-Api-Key": "k", "Authorization": "Bearer t", "X-Other": "o"}
    with facade_over(exchange) as facade:
        session = facade.wan_session()
        session.cookies.set("all", "1")
        session.get("https://example.com/", headers=headers, cookies={"given": "1"}, cert=None)
    first, near, far = (dict(sent.headers) for sent in exchange.sent)
    assert first["Authorization"] == near["Authorization"] == "Bearer t" and near["X-Api-Key"] == "k"
    assert sorted(near["Cookie"].split("; ")) == ["all=1", "given=1", "mine=1"]
    assert not {"Authorization", "X-Api-Key", "Cookie"} & set(far) and far["X-Other"] == "o"


def test_a_certificate_is_not_shown_to_another_origin(tmp_path: Any) -> None:
    file = tmp_path / "own.pem"
    file.write_text("", encoding="utf-8")
    exchange = exchange_of(moved_to("/near"), moved_to("https://example.org/"), answer())
    with facade_over(exchange) as facade:
        facade.get("https://example.com/", cert=str(file))
    assert [sent.client_certificate is not None for sent in exchange.sent] == [True, True, False]


def test_a_digest_password_does_not_answer_another_origin() -> None:
    asks = answer(b"who?", 401, www_authenticate='Digest realm="r", nonce="n", qop="auth"')
    exchange = exchange_of(moved_to("https://example.org/"), asks, answer())
    with facade_over(exchange) as facade:
        assert facade.get("https://example.com/", auth=HTTPDigestAuth("user", "pass")).status_code == 401
    assert len(exchange.sent) == 2


def test_a_way_without_end_is_given_up() -> None:
    exchange = FakeExchange(answer=lambda sent: moved_to(sent.url + "x"))
    with facade_over(exchange) as facade:
        session = facade.wan_session()
        for most in (session.max_redirects, 2):
            exchange.sent.clear()
            session.max_redirects = most
            with pytest.raises(requests.TooManyRedirects, match=f"more than {most} times") as caught:
                session.get("https://example.com/")
            assert len(exchange.sent) == most + 1
    assert isinstance(caught.value, httpx.TooManyRedirects) and isinstance(caught.value, NetworkError)


def test_a_file_is_sent_again_from_where_it_began(tmp_path: Any) -> None:
    bodies: list[bytes] = []

    def reply(sent: Outgoing) -> Any:
        assert sent.body is not None and not isinstance(sent.body, bytes)
        bodies.append(b"".join(sent.body))
        return answer() if len(bodies) == 2 else moved_to("/again", 307)

    file = tmp_path / "upload"
    file.write_bytes(b"skipped" + b"12345" * 50_000)
    with facade_over(FakeExchange(answer=reply)) as facade, file.open("rb") as opened:
        opened.seek(7)
        facade.put("https://example.com/", data=opened)
    assert bodies == [b"12345" * 50_000] * 2


def test_what_can_be_read_only_once_is_not_sent_again() -> None:
    exchange = exchange_of(moved_to("/again", 308))
    with facade_over(exchange) as facade, pytest.raises(NetworkError, match="only once"):
        facade.post("https://example.com/", data=iter([b"a"]))


def test_the_page_of_a_redirect_is_not_read_to_its_end() -> None:
    exchange = exchange_of(answer(b"x" * 10_000_000, 302, location="/there"), answer(b"here"))
    with facade_over(exchange) as facade:
        response = facade.get("https://example.com/", stream=True)
        assert response.content == b"here" and len(response.history[0].content) == 65_536
    assert exchange.open_answers == 0
