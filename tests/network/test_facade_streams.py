"""Bodies that come piece by piece, and threads that go away in the middle."""

from __future__ import annotations

import gc
import io
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from appliance.adapters.fakes.exchange import FakeExchange, FakeIncoming
from appliance.contracts.interrupt import WorkAbandonedError, interrupt
from appliance.errors import NetworkError
from appliance.network.facade import Facade
from appliance.network.loop_thread import LoopThread
from tests.network.facades import WebServer, exchange_of, facade_over, real_facade

MEGABYTE = 1_000_000


class Counting:
    """Steps of a body that count how many were taken out."""

    def __init__(self, steps: int, size: int = 50_000) -> None:
        self.given = 0
        self._steps = steps
        self._size = size

    def __iter__(self) -> Any:
        for _ in range(self._steps):
            self.given += 1
            yield b"x" * self._size


def streaming(steps: Any) -> FakeExchange:
    return FakeExchange(FakeIncoming(steps=steps))


def until(fact: Callable[[], bool]) -> None:
    """Wait for another thread; fails when that takes unreasonably long."""
    pause = threading.Event()
    for _ in range(1_000):
        if fact():
            return
        pause.wait(0.01)
    pytest.fail("it did not happen")


def test_a_slow_reader_makes_the_sender_wait() -> None:
    steps = Counting(1_000)
    with facade_over(streaming(steps)) as facade, facade.get("http://nas/", stream=True) as response:
        until(lambda: steps.given >= 6)
        given = steps.given
        assert given <= 8, "much more than 256 kB waits unread"
        read = sum(len(response.raw.read(100_000)) for _ in range(10))
        assert read == MEGABYTE
        until(lambda: steps.given >= given + 20)
        assert steps.given <= given + 24
        assert sum(map(len, response.iter_content(65_536))) == 49 * MEGABYTE


@pytest.mark.parametrize("leave", ["close", "with", "drop", "end"])
def test_an_answer_that_nobody_reads_on_gives_its_connection_back(leave: str) -> None:
    exchange = streaming(Counting(3 if leave == "end" else 1_000))
    with facade_over(exchange) as facade:
        response = facade.get("http://nas/", stream=True)
        assert exchange.open_answers == 1 or leave == "end"
        if leave == "close":
            response.close()
        elif leave == "with":
            with response:
                pass
        elif leave == "drop":
            del response
            gc.collect()
        until(lambda: exchange.open_answers == 0)


def test_a_closed_answer_reads_as_empty_and_closing_twice_is_fine() -> None:
    with facade_over(streaming(Counting(1_000))) as facade:
        response = facade.get("http://nas/", stream=True)
        response.close()
        response.close()
        assert response.raw.read() == b"" and response.raw.closed


def test_the_raw_file_can_be_wrapped_as_any_file() -> None:
    body = "größer\nzweite\n".encode()
    with facade_over(exchange_of(*[FakeIncoming(steps=(body[:3], body[3:]))] * 3)) as facade:
        assert list(io.TextIOWrapper(facade.get("http://nas/", stream=True).raw, "utf-8")) == ["größer\n", "zweite\n"]
        assert io.BufferedReader(facade.get("http://nas/", stream=True).raw).read(4) == body[:4]
        assert facade.get("http://nas/", stream=True).raw.data == body


@pytest.mark.parametrize("silent", [FakeIncoming(is_mute=True), FakeIncoming(steps=(b"some", None))])
def test_a_thread_that_is_broken_into_while_it_waits_gives_its_connection_back(silent: FakeIncoming) -> None:
    exchange, ended = exchange_of(silent), []

    def ask() -> None:
        try:
            facade.get("http://nas/")
        except BaseException as error:
            ended.append(type(error))
            raise

    with facade_over(exchange) as facade:
        thread = threading.Thread(target=_quietly, args=(ask,))
        thread.start()
        until(lambda: exchange.open_answers == 1)
        interrupt(thread)
        thread.join(10)
        assert not thread.is_alive() and ended == [WorkAbandonedError]
        until(lambda: exchange.open_answers == 0)


def test_a_door_that_closes_ends_those_who_wait() -> None:
    exchange, ended = streaming((b"some", None)), []

    def ask() -> None:
        with pytest.raises(NetworkError) as caught:
            facade.get("http://nas/")
        ended.append(caught.value)

    with facade_over(exchange) as facade:
        thread = threading.Thread(target=ask)
        thread.start()
        until(lambda: exchange.open_answers == 1)
    thread.join(10)
    assert not thread.is_alive() and "closed" in str(ended[0])


def test_an_error_that_is_nobodys_plan_reaches_the_thread_that_waits() -> None:
    exchange = exchange_of(FakeIncoming(error=RuntimeError("our own fault")))
    with facade_over(exchange) as facade, pytest.raises(RuntimeError, match="our own fault"):
        facade.get("http://nas/")


def test_the_network_cannot_wait_for_itself() -> None:
    thread = LoopThread()

    async def ask_from_within() -> None:
        with pytest.raises(RuntimeError, match="cannot wait for itself"):
            thread.submit(ask_from_within)

    thread.submit(ask_from_within)
    thread.close()


def test_a_timeout_inside_the_work_is_not_taken_for_waiting() -> None:
    async def fail() -> None:
        raise TimeoutError("inside")

    thread = LoopThread()
    with pytest.raises(TimeoutError, match="inside"):
        thread.submit(fail)
    thread.close()


def test_a_thousand_calls_from_thirty_two_threads() -> None:
    before = threading.active_count()
    with WebServer() as server, real_facade() as facade:
        with ThreadPoolExecutor(32) as pool:
            replies = list(pool.map(lambda number: _call(facade, server.url, number), range(1_000)))
        assert replies == list(range(1_000))
        assert server.connections <= 100
        # Ours is one thread; the rest belongs to the server and to the transport's lookups.
        ours = [thread for thread in threading.enumerate() if thread.name == "network"]
        assert len(ours) == 1
    until(lambda: threading.active_count() <= before + 1)


def test_a_crowd_of_callers_keeps_its_connections() -> None:
    size = 40
    with WebServer() as server, real_facade() as facade, ThreadPoolExecutor(size) as pool:
        for _ in range(3):
            said = list(pool.map(lambda _: facade.get(f"{server.url}/together/{size}").text, range(size)))
            assert said == ["all here"] * size
        assert server.connections == size


def test_many_abandoned_streams_leave_nothing_behind() -> None:
    with WebServer() as server, real_facade() as facade:
        facade.get(f"{server.url}/big", stream=True).close()
        files = len(list(Path("/proc/self/fd").iterdir()))
        for _ in range(50):
            facade.get(f"{server.url}/big", stream=True)
        gc.collect()
        until(lambda: len(list(Path("/proc/self/fd").iterdir())) <= files + 4)
        assert facade.get(f"{server.url}/echo").ok


def _call(facade: Facade, url: str, number: int) -> int:
    if number % 3 == 0:
        with facade.get(f"{url}/echo", params={"n": number}, stream=True) as response:
            assert b"".join(response.iter_content(16)).startswith(b"{")
    elif number % 3 == 1:
        assert facade.post(f"{url}/echo", json={"n": number}).json()["body"] == f'{{"n": {number}}}'
    else:
        assert facade.session_for(url).get(f"{url}/gzip").text.startswith("unpacked")
    return number


def _quietly(work: Callable[[], None]) -> None:
    try:
        work()
    except WorkAbandonedError:
        return
