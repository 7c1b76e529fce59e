from __future__ import annotations

import asyncio
import contextlib
import gzip
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from appliance.errors import LaneRefusedError, NetworkError, NetworkTimeoutError
from appliance.network.classifier import Classifier
from appliance.network.door import Door
from appliance.network.lane import Lane
from appliance.network.lane_client import LaneClient
from appliance.network.lines import LineSplitter
from tests.network.http_server import HttpServer, redirect
from tests.responses_server import Answer, ResponsesServer

SECRET = "sk-very-secret-key"
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextlib.asynccontextmanager
async def listening(handler: Handler) -> AsyncIterator[int]:
    """A bare TCP server; its port."""
    handlers: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await handler(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handlers.add(asyncio.ensure_future(serve(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in handlers:
            task.cancel()
        await asyncio.gather(*handlers, return_exceptions=True)


def answering(raw: bytes) -> Handler:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(raw)
        await writer.drain()

    return handler


async def silent(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def assert_works(door: Door) -> None:
    async with (
        ResponsesServer([Answer(text="Hello.")]) as server,
        door.stream("POST", f"{server.url}/v1/responses", json={}) as stream,
    ):
        assert stream.status == 200


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    made = Door(LaneClient(Classifier()))
    yield made
    await made.close()


async def test_a_request_and_its_answer_pass_through(door: Door) -> None:
    async with ResponsesServer([Answer(text="Hello.")]) as server:
        request = door.stream("POST", f"{server.url}/v1/responses", headers={"X-Two": "2"}, json={"input": "größer"})
        async with request as stream:
            assert stream.status == 200
            assert stream.headers["content-type"].startswith("text/event-stream")
            lines = [line async for line in stream.lines()]
    assert lines[0] == "event: response.created" and "response.completed" in "\n".join(lines)
    received = server.requests[0]
    assert received.body == {"input": "größer"}
    assert received.headers["x-two"] == "2"
    assert received.headers["accept-encoding"] == "identity"


async def test_the_connection_is_used_again_although_nobody_read_to_the_end(door: Door) -> None:
    async with ResponsesServer([Answer(text="Hello.")]) as server:
        for _ in range(3):
            async with door.stream("POST", f"{server.url}/v1/responses", json={}) as stream:
                async for line in stream.lines():
                    if "response.completed" in line:
                        break
    assert server.connections == 1


async def test_nobody_there_is_an_error_that_names_the_host(door: Door) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        port = taken.getsockname()[1]
        with pytest.raises(NetworkError, match=f"no connection to 127.0.0.1:{port}"):
            async with door.stream("GET", f"http://127.0.0.1:{port}/{SECRET}"):
                pass


async def test_a_name_that_does_not_exist_is_an_error(door: Door) -> None:
    with pytest.raises(NetworkError, match=r"no connection to nobody\.invalid"):
        async with door.stream("GET", "http://nobody.invalid/"):
            pass


async def test_a_server_that_accepts_and_says_nothing_is_given_up(door: Door) -> None:
    async with listening(silent) as port:
        with pytest.raises(NetworkTimeoutError, match="did not answer within"):
            async with door.stream("GET", f"http://127.0.0.1:{port}/", read_seconds=0.05):
                pass


async def test_a_stream_that_falls_silent_is_given_up(door: Door) -> None:
    async with ResponsesServer([Answer(text="Hello.", fault="stall", fault_after=2)]) as server:
        with pytest.raises(NetworkTimeoutError, match="sent nothing for"):
            async with door.stream("POST", f"{server.url}/v1/responses", json={}, read_seconds=0.05) as stream:
                async for _ in stream.lines():
                    pass


async def test_a_stream_that_is_cut_is_an_error(door: Door) -> None:
    async with ResponsesServer([Answer(text="Hello.", fault="cut")]) as server:
        with pytest.raises(NetworkError, match="broke"):
            async with door.stream("POST", f"{server.url}/v1/responses", json={}) as stream:
                async for _ in stream.lines():
                    pass


async def test_a_line_without_end_is_not_collected_for_ever() -> None:
    door = Door(LaneClient(Classifier()), longest_line_bytes=1000)
    async with listening(answering(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 5000)) as port:
        with pytest.raises(NetworkError, match="longer than 1,000 bytes"):
            async with door.stream("GET", f"http://127.0.0.1:{port}/") as stream:
                async for _ in stream.lines():
                    pass
    await door.close()


async def test_reading_a_body_stops_at_its_limit(door: Door) -> None:
    body = answering(b"HTTP/1.1 500 Bad\r\nContent-Length: 900000\r\n\r\n" + b"y" * 900000)
    async with listening(body) as port, door.stream("GET", f"http://127.0.0.1:{port}/") as stream:
        assert await stream.read(2000) == b"y" * 2000


async def test_a_packed_answer_that_nobody_asked_for_is_read_all_the_same(door: Door) -> None:
    packed = gzip.compress(b"one\ntwo\n")
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    async with listening(answering(head + packed)) as port, door.stream("GET", f"http://127.0.0.1:{port}/") as stream:
        assert [line async for line in stream.lines()] == ["one", "two"]


async def test_redirects_are_not_followed_and_cookies_not_kept(door: Door) -> None:
    answers = [
        Answer(status=302, headers={"Location": "http://127.0.0.1:1/elsewhere", "Set-Cookie": "a=b; Path=/"}),
        Answer(text="Hello."),
    ]
    async with ResponsesServer(answers) as server:
        async with door.stream("POST", f"{server.url}/v1/responses", json={}) as stream:
            assert stream.status == 302
        async with door.stream("POST", f"{server.url}/v1/responses", json={}) as stream:
            assert stream.status == 200
    assert "cookie" not in server.requests[1].headers


async def test_proxies_of_the_environment_are_not_used(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    await assert_works(door)


@pytest.mark.parametrize(
    "url", ["ftp://example.com/", "example.com", "http://", "http://user:word@example.com/", "http://[::1", "file:///x"]
)
async def test_urls_that_are_not_plain_http_are_refused(door: Door, url: str) -> None:
    with pytest.raises(LaneRefusedError):
        async with door.stream("GET", url):
            pass


async def test_no_secret_is_in_an_error_or_a_log(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    errors: list[BaseException] = []
    async with listening(answering(b"this is not HTTP\r\n\r\n")) as port:
        url = f"http://127.0.0.1:{port}/path?key={SECRET}"
        for headers, body in [
            ({}, None),
            ({"Authorization": f"Bearer {SECRET}\n"}, None),
            ({"Authorization": f"Bearer {SECRET}…"}, None),
            ({}, {SECRET}),  # a set is no JSON
        ]:
            with pytest.raises(NetworkError) as caught:
                async with door.stream("GET", url, headers=headers, json=body):
                    pass
            errors.append(caught.value)
    async with (
        ResponsesServer([Answer(text="Hello.")]) as server,
        door.stream("POST", f"{server.url}/v1/responses?key={SECRET}", json={}),
    ):
        pass
    while errors:
        error = errors.pop()
        assert SECRET not in f"{error} {error!r}"
        errors += [] if error.__cause__ is None else [error.__cause__]
    assert SECRET not in caplog.text


async def test_a_cancelled_request_gives_its_connection_back(door: Door) -> None:
    async with listening(silent) as port:

        async def ask() -> None:
            async with door.stream("GET", f"http://127.0.0.1:{port}/"):
                pass

        for _ in range(150):  # more than the pool holds
            asking = asyncio.create_task(ask())
            await asyncio.sleep(0)
            asking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asking
    await assert_works(door)


async def test_a_door_to_the_outside_opens_to_nothing_in_the_house() -> None:
    door = Door(LaneClient(Classifier()), lane=Lane.WAN)
    async with ResponsesServer([Answer(text="Hello.")]) as server:
        with pytest.raises(LaneRefusedError, match="WAN lane only"):
            async with door.stream("GET", server.url):
                pass
        assert server.connections == 0
    await door.close()


async def test_redirects_are_followed_when_asked_for() -> None:
    door = Door(LaneClient(Classifier()))
    async with HttpServer(redirect(302, "/next")) as server:
        async with door.stream("GET", f"{server.url}/", follow_redirects=True) as stream:
            assert (stream.status, await stream.read()) == (200, b"arrived")
        assert [request.target for request in server.requests] == ["/", "/next"]
    await door.close()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_lines_are_the_same_however_their_bytes_arrive(size: int) -> None:
    text = "data: é\u2028\x85x\r\n\r\nb\n\nc\rd\r\r\ne"
    splitter = LineSplitter(100)
    raw = text.encode()
    lines = [line for start in range(0, len(raw), size) for line in splitter.feed(raw[start : start + size])]
    assert [*lines, splitter.end()] == ["data: é\u2028\x85x", "", "b", "", "c", "d", "", "e"]
