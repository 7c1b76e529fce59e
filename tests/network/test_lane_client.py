"""The two lanes over real servers on loopback: nothing takes the other way, and nobody holds us up."""

from __future__ import annotations

import asyncio
import contextlib
import resource
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest

from appliance.errors import (
    ConfigError,
    LaneRefusedError,
    NetworkConnectError,
    NetworkConnectTimeoutError,
    NetworkDecodingError,
    NetworkError,
    NetworkProxyError,
    NetworkTimeoutError,
    NetworkTooLargeError,
)
from appliance.network.exchange import Outgoing
from appliance.network.lane import Lane
from appliance.network.lane_client import LaneClient
from appliance.network.peer import PeerRule
from appliance.network.proxy import Proxy, parse_proxy
from tests.network.client_rig import Told, client_rig
from tests.network.http_server import (
    HttpServer,
    answer,
    bomb,
    dribbling,
    endless,
    head,
    large_head,
    longer_than_said,
    packed,
    truncated,
)
from tests.network.socks_server import Fault, SocksServer

OUTSIDE = "outside.example"
#: A direct listener that a wrong turn would reach: its address is "outside", so no rule but the proxy keeps us off it.
LOOPBACK_OUTSIDE = {"127.0.0.1": Lane.WAN}


@contextlib.asynccontextmanager
async def server(page: object = None, host: str = "127.0.0.1") -> AsyncIterator[HttpServer]:
    async with HttpServer(page or answer(), host=host) as made:  # type: ignore[arg-type]
        yield made


# ------------------------------------------------------------------------------------------- the two lanes


async def test_what_is_outside_goes_through_the_proxy_and_its_name_is_looked_up_there() -> None:
    async with server() as web, SocksServer({OUTSIDE: web.place}) as socks, client_rig(proxy=socks.url) as rig:
        got = await rig.get(f"http://{OUTSIDE}/")
        assert (got.status, got.body, got.lane) == (200, b"hello", Lane.WAN)
        assert [(asked.host, asked.port) for asked in socks.asked] == [(OUTSIDE, 80)]


async def test_what_is_in_the_house_never_goes_through_the_proxy() -> None:
    async with server() as web, SocksServer({"localhost": web.place}) as socks, client_rig(proxy=socks.url) as rig:
        for host in ("127.0.0.1", "localhost"):
            assert (await rig.get(f"http://{host}:{web.port}/")).lane is Lane.LAN
        assert socks.connections == 0
        assert web.connections == 2


@pytest.mark.parametrize("fault", [fault for fault in Fault if fault is not Fault.NONE])
async def test_a_broken_proxy_is_an_error_that_names_it_and_never_a_direct_try(fault: Fault) -> None:
    async with (
        server() as direct,
        SocksServer({"127.0.0.1": direct.place}, fault=fault) as socks,
        client_rig(LOOPBACK_OUTSIDE, proxy=socks.url) as rig,
    ):
        is_silent = fault.name.startswith("SILENT")
        with pytest.raises(NetworkConnectError) as caught:
            await rig.get(f"{direct.url}/secret-path", connect_seconds=0.1 if is_silent else 5.0)
        assert isinstance(caught.value, NetworkConnectTimeoutError if is_silent else NetworkProxyError)
        assert socks.url in str(caught.value) and "WAN" in str(caught.value) and "127.0.0.1" in str(caught.value)
        assert "secret-path" not in str(caught.value)
        assert (socks.connections, direct.connections) == (1, 0)
        assert rig.passages == []


async def test_a_proxy_that_is_not_there_is_an_error_and_never_a_direct_try() -> None:
    async with server() as direct, SocksServer() as gone:
        pass
    async with server() as direct, client_rig(LOOPBACK_OUTSIDE, proxy=gone.url) as rig:
        with pytest.raises(NetworkProxyError, match="the proxy cannot be reached"):
            await rig.get(direct.url)
        assert direct.connections == 0


async def test_a_proxy_that_cannot_be_understood_is_an_error_and_never_a_direct_try() -> None:
    def wrong() -> Proxy | None:
        raise ConfigError("network.proxy is no proxy")

    async with server() as direct:
        client = LaneClient(Told(LOOPBACK_OUTSIDE), proxy=wrong)
        with pytest.raises(LaneRefusedError, match=r"network\.proxy is no proxy"):
            async with client.open(Outgoing("GET", direct.url, "test")):
                pass
        await client.close()
        assert direct.connections == 0


async def test_silent_proxies_in_a_row_do_not_use_up_the_connections() -> None:
    async with server() as web, SocksServer({OUTSIDE: web.place}, fault=Fault.SILENT_AT_ONCE) as socks:
        way_out = parse_proxy(socks.url, "the test")
        client = LaneClient(Told(), proxy=lambda: way_out, most_connections=2)
        for _ in range(5):
            with pytest.raises(NetworkConnectTimeoutError):
                async with client.open(Outgoing("GET", f"http://{OUTSIDE}/", "test", connect_seconds=0.02)):
                    pass
        socks.fault = Fault.NONE
        async with client.open(Outgoing("GET", f"http://{OUTSIDE}/", "test")) as got:
            assert got.status == 200
        await client.close()


async def test_the_user_and_the_password_reach_the_proxy_as_they_are() -> None:
    login = ("häus@home", "p:/#%ss wörd")
    async with server() as web, SocksServer({OUTSIDE: web.place}, login=login) as socks:
        proxy = replace(parse_proxy(socks.url, "the test"), user=login[0], password=login[1])
        async with client_rig(proxy=proxy) as rig:
            assert (await rig.get(f"http://{OUTSIDE}/")).status == 200
        assert socks.logins == [login]


@pytest.mark.parametrize("login", [("user", "wrong-password"), ("", "")])
async def test_a_wrong_password_for_the_proxy_is_told_without_it(login: tuple[str, str]) -> None:
    async with server() as direct, SocksServer(login=("user", "right")) as socks:
        proxy = replace(parse_proxy(socks.url, "the test"), user=login[0], password=login[1])
        async with client_rig(LOOPBACK_OUTSIDE, proxy=proxy) as rig:
            with pytest.raises(NetworkProxyError, match="does not take the user and password") as caught:
                await rig.get(direct.url)
            assert "wrong-password" not in f"{caught.value!r} {caught.value.__cause__!r}"
        assert direct.connections == 0


@pytest.mark.parametrize("status", [407, 502])
async def test_an_http_proxy_that_gives_no_tunnel_is_an_error_and_never_a_direct_try(status: int) -> None:
    async with server() as direct, server(answer(status=status)) as proxy:
        async with client_rig(LOOPBACK_OUTSIDE, proxy=f"http://user:word@127.0.0.1:{proxy.port}") as rig:
            with pytest.raises(NetworkProxyError) as caught:
                await rig.get(f"https://127.0.0.1:{direct.port}/path")
        assert "user" not in str(caught.value).replace("the user and password", "") and "word@" not in str(caught.value)
        assert proxy.requests[0].method == "CONNECT"
        assert proxy.requests[0].headers["proxy-authorization"].startswith("Basic ")
        assert direct.connections == 0


async def test_an_http_proxy_that_does_not_know_us_is_an_error_in_the_clear_too() -> None:
    async with server(answer(status=407)) as proxy, client_rig(proxy=f"http://127.0.0.1:{proxy.port}") as rig:
        with pytest.raises(NetworkProxyError, match="does not take the user"):
            await rig.get(f"http://{OUTSIDE}/")
        assert proxy.requests[0].target == f"http://{OUTSIDE}/"


async def test_a_407_of_the_server_itself_is_an_answer() -> None:
    async with (
        server(answer(status=407)) as web,
        SocksServer({OUTSIDE: web.place}) as socks,
        client_rig(proxy=socks.url) as rig,
    ):
        assert (await rig.get(f"http://{OUTSIDE}/")).status == 407


async def test_what_goes_wrong_in_the_askers_body_is_the_askers() -> None:
    def body() -> Iterator[bytes]:
        yield b"x"
        raise KeyError("the asker's")

    async with server() as web, SocksServer({OUTSIDE: web.place}) as socks, client_rig(proxy=socks.url) as rig:
        with pytest.raises(KeyError):
            await rig.get(f"http://{OUTSIDE}/", method="POST", body=body())


async def test_a_silent_http_proxy_is_given_up() -> None:
    async def silent(_request: object, _writer: object) -> None:
        await asyncio.Event().wait()

    async with server(silent) as proxy, client_rig(proxy=f"http://127.0.0.1:{proxy.port}") as rig:
        with pytest.raises(NetworkConnectTimeoutError):
            await rig.get(f"https://{OUTSIDE}/", connect_seconds=0.1)
        with pytest.raises(NetworkTimeoutError):
            await rig.get(f"http://{OUTSIDE}/", read_seconds=0.1)


async def test_a_proxy_that_changes_leaves_no_connection_of_the_old_one() -> None:
    async with server() as web, SocksServer({OUTSIDE: web.place}) as old, SocksServer({OUTSIDE: web.place}) as new:
        way_out = [parse_proxy(old.url, "the test")]
        client = LaneClient(Told(), proxy=lambda: way_out[0])
        for _ in range(2):
            async with client.open(Outgoing("GET", f"http://{OUTSIDE}/", "test")) as got:
                assert got.status == 200
        way_out[0] = parse_proxy(new.url, "the test")
        async with client.open(Outgoing("GET", f"http://{OUTSIDE}/", "test")) as got:
            assert got.status == 200
        await client.close()
        assert (old.connections, new.connections) == (1, 1)


async def test_a_request_for_one_lane_is_refused_on_the_other() -> None:
    async with server() as web, SocksServer() as socks, client_rig(proxy=socks.url) as rig:
        with pytest.raises(LaneRefusedError, match="LAN lane"):
            await rig.get(web.url, lane=Lane.WAN)
        with pytest.raises(LaneRefusedError, match="WAN lane"):
            await rig.get(f"http://{OUTSIDE}/", lane=Lane.LAN)
        assert (web.connections, socks.connections) == (0, 0)


async def test_the_lanes_share_no_cookie_and_no_connection() -> None:
    page = answer(Set_Cookie="a=b; Path=/")
    async with server(page) as web, SocksServer({OUTSIDE: web.place}) as socks, client_rig(proxy=socks.url) as rig:
        for _ in range(2):
            await rig.get(web.url)
            await rig.get(f"http://{OUTSIDE}/")
        assert web.connections == 2
        assert [request.headers.get("cookie") for request in web.requests] == [None] * 4


# --------------------------------------------------------------------------------------- where a name leads


async def test_a_name_outside_that_leads_into_the_house_gets_no_byte() -> None:
    async with server() as web, client_rig({"localhost": Lane.WAN}) as rig:
        with pytest.raises(LaneRefusedError, match=r"leads into it.*direct_hosts.*rebinding_allowed"):
            await rig.get(f"http://localhost:{web.port}/")
        assert web.requests == []


async def test_a_name_in_the_house_that_leads_outside_gets_no_byte() -> None:
    async with server() as web, client_rig(peers=PeerRule(is_inside=lambda _address: False)) as rig:
        with pytest.raises(LaneRefusedError, match=r"leads outside.*rebinding_allowed"):
            await rig.get(f"http://localhost:{web.port}/")
        assert web.requests == []


@pytest.mark.parametrize(
    "peers",
    [
        PeerRule(allowed=["localhost"]),
        PeerRule(lambda: ["localhost"]),
        PeerRule(lambda: ["127.0.0.0/8"], is_inside=lambda _address: False),
    ],
    ids=["allowed", "a direct host", "a direct range"],
)
async def test_what_the_owner_allows_may_lead_elsewhere(peers: PeerRule) -> None:
    lane = Lane.LAN if "127.0.0.0/8" in peers._direct_hosts() else Lane.WAN
    async with server() as web, client_rig({"localhost": lane}, peers=peers) as rig:
        assert (await rig.get(f"http://localhost:{web.port}/")).status == 200


async def test_an_address_outside_that_is_a_way_into_the_house_gets_no_byte() -> None:
    """As NAT64 addresses are, 64:ff9b::c0a8:101 for example."""
    async with server() as web, client_rig({"127.0.0.1": Lane.WAN}) as rig:
        with pytest.raises(LaneRefusedError, match="leads into it"):
            await rig.get(f"http://127.0.0.1:{web.port}/")
        assert web.requests == []


@pytest.mark.parametrize("spelling", ["[::1]", "[0:0:0:0:0:0:0:1]", "[::0:1]"])
async def test_an_address_may_be_spelled_in_any_right_way(spelling: str) -> None:
    async with server(host="::1") as web, client_rig() as rig:
        assert (await rig.get(f"http://{spelling}:{web.port}/")).status == 200


async def test_a_refused_connection_is_not_used_later() -> None:
    async with server() as web, client_rig({"localhost": Lane.WAN}) as rig:
        for _ in range(3):
            with pytest.raises(LaneRefusedError):
                await rig.get(f"http://localhost:{web.port}/")
        assert web.connections == 3
        assert web.requests == []


# ------------------------------------------------------------------------------------------------- bounds


@pytest.mark.parametrize("kind", ["gzip", "deflate", "raw"])
async def test_a_packed_body_is_unpacked(kind: str) -> None:
    body = b"".join(b"%d, " % number for number in range(100_000))
    page = answer(packed(body, kind), Content_Encoding="deflate" if kind == "raw" else kind)
    async with server(page) as web, client_rig() as rig:
        assert (await rig.get(web.url)).body == body
        assert web.requests[0].headers["accept-encoding"] == "gzip, deflate"


async def test_a_bomb_costs_no_memory() -> None:
    async with server(bomb(200)) as web, client_rig() as rig:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        outgoing = Outgoing("GET", web.url, "test", most_body_bytes=50_000_000)
        largest = total = 0
        async with rig.client.open(outgoing) as got:
            with pytest.raises(NetworkTooLargeError, match="larger than 50,000,000 bytes"):
                async for piece in got.pieces():
                    largest, total = max(largest, len(piece)), total + len(piece)
        assert largest <= 65_536
        assert 49_000_000 < total <= 50_000_000
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8_000  # KiB


async def test_a_body_without_end_ends_at_the_limit() -> None:
    async with server(endless) as web, client_rig() as rig:
        with pytest.raises(NetworkTooLargeError):
            await rig.get(web.url, most_body_bytes=1_000_000)


async def test_a_megabyte_of_headers_is_refused() -> None:
    async with server(large_head) as web, client_rig() as rig:
        with pytest.raises(NetworkError, match="broke"):
            await rig.get(web.url)


async def test_a_byte_now_and_a_byte_then_is_given_up() -> None:
    """Each byte comes in time; it is the pace that is wrong."""
    async with server(dribbling) as web, client_rig(slowest_bytes_per_second=100_000.0) as rig:
        with pytest.raises(NetworkTimeoutError, match="too slowly"):
            await rig.get(web.url, read_seconds=0.1)


async def test_a_stream_of_events_may_be_slow() -> None:
    async def events(_request: object, writer: asyncio.StreamWriter) -> None:
        writer.write(head(200, Content_Type="text/event-stream"))
        for _ in range(100):
            writer.write(b"data: 1\n\n")
            await writer.drain()
            await asyncio.sleep(0.005)
        writer.close()

    async with server(events) as web, client_rig(slowest_bytes_per_second=100_000.0) as rig:
        assert (await rig.get(web.url, read_seconds=0.3)).body == b"data: 1\n\n" * 100


async def test_a_body_that_ends_too_early_is_an_error() -> None:
    async with server(truncated) as web, client_rig() as rig:
        with pytest.raises(NetworkError, match="broke"):
            await rig.get(web.url)


async def test_a_body_that_goes_on_behind_its_end_ends_there() -> None:
    async with server(longer_than_said) as web, client_rig() as rig:
        assert (await rig.get(web.url)).body == b"hello"


@pytest.mark.parametrize("body", [b"\x1f\x8bgarbage", packed(b"x" * 1000, "gzip")[:-6]])
async def test_a_damaged_body_is_an_error(body: bytes) -> None:
    async with server(answer(body, Content_Encoding="gzip")) as web, client_rig() as rig:
        with pytest.raises(NetworkDecodingError, match=r"127\.0\.0\.1"):
            await rig.get(web.url)


async def test_a_packing_nobody_asked_for_is_an_error() -> None:
    async with server(answer(b"?", Content_Encoding="br")) as web, client_rig() as rig:
        with pytest.raises(NetworkDecodingError, match="br"):
            await rig.get(web.url, headers=(("Accept-Encoding", "gzip, br"),))
        assert web.requests[0].headers["accept-encoding"] == "gzip, deflate"


# ---------------------------------------------------------------------------------------------- requests


async def test_a_large_body_arrives_whole() -> None:
    body = bytes(range(256)) * 2000
    async with server() as web, client_rig() as rig:
        await rig.get(web.url, method="POST", body=body)
        await rig.get(web.url, method="POST", body=[body[:100_000], body[100_000:]])
        assert [request.body for request in web.requests] == [body, body]
        assert web.requests[0].headers["content-length"] == str(len(body))
        assert web.requests[1].headers["transfer-encoding"] == "chunked"


async def test_repeated_headers_stay_repeated() -> None:
    async def page(_request: object, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 204 \r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\n\r\n")

    async with server(page) as web, client_rig() as rig:
        got = await rig.get(web.url)
        assert got.headers == (("Set-Cookie", "a=1"), ("set-cookie", "b=2"))


async def test_a_user_and_a_password_in_the_url_are_sent_as_basic_authorization() -> None:
    async with server() as web, client_rig() as rig:
        await rig.get(f"http://us%40er:word@127.0.0.1:{web.port}/")
        assert web.requests[0].headers["authorization"] == "Basic dXNAZXI6d29yZA=="


async def test_what_passed_is_counted_with_host_and_bytes_and_no_path() -> None:
    async with server(answer(b"x" * 10_000)) as web, client_rig() as rig:
        await rig.get(f"{web.url}/secret?key=1", method="POST", body=b"y" * 5_000)
        (passage,) = rig.passages
        assert (passage.who, passage.lane, passage.host) == ("test", Lane.LAN, "127.0.0.1")
        assert 5_000 < passage.bytes_out < 5_500
        assert 10_000 < passage.bytes_in < 10_500
        assert "secret" not in repr(passage)
