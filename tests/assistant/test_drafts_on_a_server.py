"""Drafts and warming up against a real server on the loopback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from appliance.adapters.fakes.http_door import FakeHttpDoor
from appliance.adapters.responses_api import ResponsesEndpoint
from appliance.clock import FakeClock, SystemClock, settle
from appliance.errors import BrainKeyError, BrainStreamError, BrainUnreachableError
from appliance.network.classifier import Classifier
from appliance.network.door import Door
from appliance.network.lane_client import LaneClient
from appliance.network.passage import Passage
from appliance.ports_think import ModelRequest, TextDelta
from appliance.think.drafted_endpoint import DraftedEndpoint
from tests.responses_server import Answer, ResponsesServer

TOOL = {"type": "function", "name": "lamp", "parameters": {"type": "object", "properties": {}}}
ASK = ModelRequest("Be brief.", ({"type": "message", "role": "user", "content": "Grüße?"},), (TOOL,), 500)
SLOW = Answer(text="One two three four five six seven eight.", pause_seconds=0.01)


class Line:
    """An endpoint with a draft in front of it, and what went over its line."""

    def __init__(self, server: ResponsesServer) -> None:
        self.passages: list[Passage] = []
        self.door = Door(LaneClient(Classifier(), seen=self.passages.append))
        self.plain = ResponsesEndpoint(self.door, url=server.url, clock=SystemClock(), model="m", key="k-123456")
        self.drafted = DraftedEndpoint(self.plain)
        self.ends: list[bool] = []
        self.ahead: list[str] = []
        self.server = server

    def text(self, delta: str) -> None:
        self.ahead.append(delta)

    def whole(self) -> None:
        self.ahead.append("(whole)")

    def over(self, *, is_used: bool) -> None:
        self.ends.append(is_used)

    async def begins(self, request: ModelRequest) -> None:
        """A draft, until its first text is there."""
        self.drafted.begin(request, self)
        while not self.ahead:
            await asyncio.sleep(0.001)

    async def says(self, request: ModelRequest) -> str:
        return "".join([event.text async for event in self.drafted.respond(request) if isinstance(event, TextDelta)])

    async def hangs_up(self) -> None:
        """Until the server has seen that nobody listens any more."""
        while self.server.open_connections:
            await asyncio.sleep(0.001)


@pytest.fixture
async def server() -> AsyncIterator[ResponsesServer]:
    async with ResponsesServer([SLOW]) as server:
        yield server


@pytest.fixture
async def line(server: ResponsesServer) -> AsyncIterator[Line]:
    line = Line(server)
    yield line
    await line.drafted.close()
    await line.door.close()


async def test_the_same_request_gets_the_drafts_answer_and_is_sent_once(line: Line) -> None:
    await line.begins(ASK)
    # Equal, not the same: the turn builds its request anew.
    assert await line.says(replace(ASK, items=tuple(map(dict, ASK.items)))) == SLOW.text
    assert len(line.server.requests) == 1 and line.ends == [True]


async def test_a_draft_sends_the_very_bytes_that_the_turn_would(line: Line) -> None:
    await line.begins(ASK)
    line.drafted.drop()
    assert await line.says(ASK) == SLOW.text
    drafted, asked = line.server.requests
    assert drafted.raw == asked.raw and drafted.headers == asked.headers


async def test_a_draft_that_is_not_wanted_hangs_up_and_leaves_its_traffic_alone(line: Line) -> None:
    await line.begins(ASK)
    line.drafted.drop()
    await line.hangs_up()
    assert line.ends == [False]
    assert [passage.host for passage in line.passages] == ["127.0.0.1"]


async def test_another_request_ends_the_draft(line: Line) -> None:
    await line.begins(ASK)
    other = replace(ASK, items=(*ASK.items, *ASK.items))
    assert await line.says(other) == SLOW.text
    assert line.ends == [False] and len(line.server.requests) == 2
    assert len(line.server.requests[1].body["input"]) == 2


async def test_the_next_draft_takes_the_place_of_the_one_before(line: Line) -> None:
    await line.begins(ASK)
    line.ahead.clear()
    await line.begins(replace(ASK, instructions="Be briefer."))
    assert line.ends == [False]
    assert await line.says(ASK) == SLOW.text
    assert line.ends == [False, False]


async def test_a_draft_goes_on_where_it_is_when_it_is_taken(line: Line) -> None:
    line.server.answers = [Answer(text="word " * 3000)]
    await line.begins(ASK)
    while len(line.ahead) <= 1_000:
        await asyncio.sleep(0.001)
    await settle()
    assert len(line.ahead) == 1_001, "it is kept back only so far, and the rest waits at the server"
    assert await line.says(ASK) == "word " * 3000


async def test_a_reader_who_leaves_closes_the_draft_too(line: Line) -> None:
    await line.begins(ASK)
    reading = line.drafted.respond(ASK)
    await anext(reading)
    await reading.aclose()  # type: ignore[attr-defined]
    await line.hangs_up()


async def test_a_draft_that_was_refused_is_asked_again(line: Line) -> None:
    line.server.answers = [Answer(status=500), SLOW]
    line.drafted.begin(ASK, line)
    while not line.passages:
        await asyncio.sleep(0.001)
    await settle()
    assert await line.says(ASK) == SLOW.text
    assert line.ends == [False]


async def test_a_draft_that_is_cut_once_it_is_taken_is_cut(line: Line) -> None:
    line.server.answers = [replace(SLOW, fault="cut", fault_after=6)]
    await line.begins(ASK)
    with pytest.raises(BrainStreamError):
        await line.says(ASK)
    assert len(line.server.requests) == 1


# ----------------------------------------------------------------------------------------------- warming up


async def test_warming_up_sends_the_beginning_of_the_request_and_asks_for_next_to_nothing(line: Line) -> None:
    await line.drafted.warm_up(ASK)
    await line.says(ASK)
    warmed, asked = (request.body for request in line.server.requests)
    assert warmed["max_output_tokens"] == 16
    assert warmed | {"max_output_tokens": 500} == asked


async def test_warming_up_does_not_wait_for_the_answer(line: Line) -> None:
    line.server.answers = [Answer(text="never " * 50, pause_seconds=0.1)]
    async with asyncio.timeout(3):
        await line.drafted.warm_up(ASK)
    await line.hangs_up()


async def test_warming_up_ends_when_a_draft_begins(line: Line) -> None:
    line.server.answers = [Answer(fault="silent"), SLOW]
    warming = asyncio.create_task(line.drafted.warm_up(ASK))
    while not line.server.requests:
        await asyncio.sleep(0.001)
    await line.begins(ASK)
    async with asyncio.timeout(5):
        await warming
    assert await line.says(ASK) == SLOW.text


async def test_an_open_connection_is_used_again(line: Line) -> None:
    await line.drafted.warm_up(None)
    await line.says(ASK)
    looked, asked = line.server.requests
    assert (looked.method, looked.path) == ("GET", "/v1/models/m")
    assert looked.headers["authorization"] == "Bearer k-123456"
    assert looked.connection == asked.connection == 1


async def test_a_model_that_refuses_to_be_warmed_up_says_why() -> None:
    async with ResponsesServer([SLOW], key="another") as server:
        line = Line(server)
        with pytest.raises(BrainKeyError):
            await line.drafted.warm_up(ASK)
        await line.drafted.warm_up(None)  # whatever the answer is: the connection is open
        await line.door.close()


@pytest.mark.parametrize("request_", [ASK, None], ids=["beginning", "connection"])
async def test_a_model_that_is_away_cannot_be_warmed_up(request_: ModelRequest | None) -> None:
    nowhere = ResponsesEndpoint(FakeHttpDoor(), url="http://box:8080", clock=FakeClock(), model="m")
    with pytest.raises(BrainUnreachableError):
        await DraftedEndpoint(nowhere).warm_up(request_)
