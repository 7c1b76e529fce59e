"""Being sent on: from each lane to each, with each status, over real servers and by itself."""

from __future__ import annotations

import itertools

import pytest

from appliance.errors import LaneRefusedError, NetworkError
from appliance.network.classifier import Classifier
from appliance.network.door import Door
from appliance.network.exchange import Outgoing
from appliance.network.lane import Lane
from appliance.network.lane_client import LaneClient
from appliance.network.proxy import parse_proxy
from appliance.network.redirects import MOST_HOPS, next_hop
from tests.network.client_rig import Told
from tests.network.http_server import HttpServer, answer, redirect
from tests.network.socks_server import SocksServer

FOLLOWED = (301, 302, 303, 307, 308)
SECRETS = (
    ("Authorization", "Bearer secret"),
    ("Cookie", "a=secret"),
    ("Proxy-Authorization", "Basic secret"),
    ("X-Api-Key", "secret"),
)


def hop(status: int = 302, location: str = "/next", **fields: object) -> Outgoing | None:
    sent = Outgoing(**{"method": "GET", "url": "https://a.example/one", "who": "test", **fields})  # type: ignore[arg-type]
    return next_hop(sent, status, (("location", location),), Classifier().classify)


@pytest.mark.parametrize("status", [300, *FOLLOWED, 304, 305])
@pytest.mark.parametrize(
    ("start", "goal"), [(*pair,) for pair in itertools.product(Lane, Lane)], ids=lambda lane: lane.value
)
async def test_a_redirect_stays_in_its_lane(status: int, start: Lane, goal: Lane) -> None:
    """The two servers stand on two loopback addresses; outside they have names that only the proxy knows."""
    async with HttpServer(answer(b"arrived"), host="127.0.0.2") as far:
        names = {"far.example": far.place}
        target = f"{far.url}/" if goal is Lane.LAN else "http://far.example/"
        async with HttpServer(redirect(status, target)) as near, SocksServer(names) as socks:
            socks.names["near.example"] = near.place
            first = f"{near.url}/" if start is Lane.LAN else "http://near.example/"
            way_out = parse_proxy(socks.url, "the test")
            door = Door(LaneClient(Told(), proxy=lambda: way_out))
            try:
                if status in FOLLOWED and start is not goal:
                    with pytest.raises(LaneRefusedError, match=f"{goal.value.upper()} lane"):
                        async with door.stream("GET", first, follow_redirects=True):
                            pass
                else:
                    async with door.stream("GET", first, follow_redirects=True) as stream:
                        assert stream.status == (200 if status in FOLLOWED else status)
            finally:
                await door.close()
            assert len(far.requests) == int(status in FOLLOWED and start is goal)
            assert socks.connections == (start is Lane.WAN) + (start is goal is Lane.WAN and status in FOLLOWED)


async def test_no_redirect_is_followed_unasked() -> None:
    async with HttpServer(redirect(302, "/next")) as near:
        door = Door(LaneClient(Classifier()))
        async with door.stream("GET", f"{near.url}/") as stream:
            assert stream.status == 302
        await door.close()
        assert len(near.requests) == 1


async def test_refresh_and_content_location_are_no_redirects() -> None:
    elsewhere = "http://127.0.0.3/"
    async with HttpServer(answer(Refresh=f"0; url={elsewhere}", Content_Location=elsewhere)) as near:
        door = Door(LaneClient(Classifier()))
        async with door.stream("GET", f"{near.url}/", follow_redirects=True) as stream:
            assert await stream.read() == b"hello"
        await door.close()


async def test_a_redirect_to_itself_ends() -> None:
    async with HttpServer(redirect(302, "/")) as near:
        door = Door(LaneClient(Classifier()))
        with pytest.raises(NetworkError, match="given up"):
            async with door.stream("GET", f"{near.url}/", follow_redirects=True):
                pass
        await door.close()
        assert len(near.requests) == MOST_HOPS + 1


@pytest.mark.parametrize(
    ("method", "status", "becomes"),
    [
        ("POST", 301, "GET"),
        ("POST", 302, "GET"),
        ("POST", 303, "GET"),
        ("POST", 307, "POST"),
        ("POST", 308, "POST"),
        ("PUT", 301, "PUT"),
        ("PUT", 303, "GET"),
        ("DELETE", 302, "GET"),
        ("HEAD", 303, "HEAD"),
        ("HEAD", 302, "HEAD"),
    ],
)
def test_the_method_changes_as_browsers_change_it(method: str, status: int, becomes: str) -> None:
    body = None if method == "HEAD" else b"body"
    sent = hop(status, method=method, body=body, headers=(("Content-Type", "text/plain"), ("X-Kept", "1")))
    assert sent is not None
    assert sent.method == becomes
    assert sent.body == (body if becomes == method else None)
    assert dict(sent.headers) == {"X-Kept": "1", **({"Content-Type": "text/plain"} if becomes == method else {})}


@pytest.mark.parametrize(
    "location", ["https://b.example/", "https://a.example:8443/", "//b.example/x", "https://user:word@b.example/"]
)
def test_secrets_do_not_go_to_another_origin(location: str) -> None:
    sent = hop(307, location, headers=(*SECRETS, ("Host", "a.example"), ("X-Kept", "1")), client_certificate=("c", "k"))
    assert sent is not None
    assert sent.headers == (("X-Kept", "1"),)
    assert sent.client_certificate is None
    assert "word" not in sent.url


def test_secrets_go_on_at_the_same_origin() -> None:
    sent = hop(307, "/two?x=1#part", url="https://user:word@a.example/one", headers=SECRETS)
    assert sent is not None
    assert sent.headers == SECRETS
    assert sent.url == "https://user:word@a.example/two?x=1"


@pytest.mark.parametrize(
    "location",
    [
        "http://a.example/",  # in the clear from now on
        "http://192.168.1.1/",
        "https://localhost/",
        "//printer.local/",
        "https://2130706433/",
        "https://[::1]/",
        "file:///etc/passwd",
        "ftp://a.example/",
        "https://b.example:99999/",
        "https://b.exa\tmple/",
        "https://[b.example/",
        "https://a.example\\@127.0.0.1/",
    ],
)
def test_what_a_stranger_wishes_is_not_always_done(location: str) -> None:
    with pytest.raises(LaneRefusedError):
        hop(302, location)


def test_a_location_in_utf8_is_read_as_such() -> None:
    sent = hop(302, "/größe".encode().decode("latin-1"))
    assert sent is not None and sent.url == "https://a.example/größe"


def test_a_body_that_is_gone_cannot_be_sent_on() -> None:
    with pytest.raises(NetworkError, match="only once"):
        hop(307, method="POST", body=iter([b"x"]))
