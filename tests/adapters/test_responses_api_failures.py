from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from appliance.adapters.fakes.http_door import FakeAnswer, FakeHttpDoor, Step
from appliance.adapters.responses_api import ResponsesEndpoint
from appliance.clock import FakeClock, SystemClock, settle
from appliance.errors import (
    BrainBusyError,
    BrainError,
    BrainKeyError,
    BrainRequestError,
    BrainStreamError,
    BrainTimeoutError,
    BrainUnreachableError,
    LaneRefusedError,
    NetworkError,
    NetworkTimeoutError,
)
from appliance.network.door import Door
from tests.adapters.responses_rig import COMPLETED, KEY, delta, events_of, on, over, sse, text_of
from tests.responses_server import Answer, ResponsesServer

# ---------------------------------------------------------------------------------------------- what fails


async def error_of(endpoint: ResponsesEndpoint) -> BrainError:
    with pytest.raises(BrainError) as caught:
        await events_of(endpoint)
    return caught.value


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (Answer(status=401), BrainKeyError, "does not accept the key"),
        (Answer(status=403), BrainKeyError, "does not accept the key"),
        (Answer(status=404, error_message="no such model"), BrainRequestError, "no such model"),
        (Answer(status=400, error_message="Invalid schema for function 'x'"), BrainRequestError, "'x'"),
        (Answer(status=301), BrainRequestError, "301"),
        (Answer(status=500), BrainBusyError, "500"),
        (Answer(status=503, body="<html>down</html>"), BrainBusyError, "answered 503$"),
        (Answer(status=429), BrainBusyError, "429"),
        (Answer(status=400, body='{"error": "told as text"}'), BrainRequestError, "told as text"),
        (Answer(status=400, body="x" * 5000), BrainRequestError, "…$"),
        (Answer(text="Half of it", fault="cut"), BrainStreamError, "was cut"),
        (Answer(text="Half of it", fault="end"), BrainStreamError, "before it was complete"),
        (Answer(text="Half of it", fault="broken_json"), BrainStreamError, "broken JSON"),
        (Answer(text="x", fault="failed", error_message="fell over"), BrainBusyError, "fell over"),
        (Answer(text="x", fault="failed", error_code="invalid_prompt"), BrainRequestError, "scripted failure"),
        (Answer(text="x", fault="error", error_code="rate_limit_exceeded"), BrainBusyError, "scripted failure"),
        (Answer(body="data: [1]\n\n"), BrainStreamError, "no event"),
        (Answer(body="data: [DONE]\n\n"), BrainStreamError, "before it was complete"),
        (Answer(body='data: {"error": {"message": "out of memory", "code": 500}}\n\n'), BrainBusyError, "memory"),
        (Answer(body="data: " + "[" * 100_000 + "\n\n"), BrainStreamError, "broken JSON"),
        (Answer(body="{}", headers={"Content-Type": "application/json"}), BrainStreamError, "application/json"),
        (Answer(fault="hang_up"), BrainUnreachableError, "broke"),
    ],
)
async def test_what_fails_is_told_apart(door: Door, answer: Answer, kind: type[BrainError], words: str) -> None:
    async with ResponsesServer([answer]) as server:
        with pytest.raises(kind, match=words):
            await events_of(on(server, door))


async def test_nobody_there_and_a_missing_key_and_a_wrong_path(door: Door) -> None:
    async with ResponsesServer([Answer(text="Hello.")], key="other") as server:
        assert "wants a key" in str(await error_of(on(server, door, key="")))
        elsewhere = ResponsesEndpoint(door, url=f"{server.url}/other/v1", clock=SystemClock(), model="tiny")
        wrong = await error_of(elsewhere)
        assert isinstance(wrong, BrainRequestError)
        assert "no Responses API at this address, or not the model 'tiny'" in str(wrong)
        gone = on(server, door)
    assert isinstance(await error_of(gone), BrainUnreachableError)


async def test_no_key_is_in_an_error(door: Door) -> None:
    echo = f"Incorrect key {KEY} and sk-proj-abcdefghijk"
    async with ResponsesServer(
        [Answer(status=400, error_message=echo), Answer(text="x", fault="error", error_message=echo)]
    ) as server:
        for _ in range(2):
            words = str(await error_of(on(server, door)))
            assert "***" in words and "Incorrect key" in words
            assert KEY not in words and "abcdefghijk" not in words


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "späß"])
async def test_a_key_that_cannot_be_one_is_told_without_being_sent(clock: FakeClock, key: str) -> None:
    door = FakeHttpDoor()
    error = await error_of(over(door, clock, key=key))
    assert isinstance(error, BrainKeyError) and key not in str(error)
    assert door.requests == []


# ------------------------------------------------------------------------------------------- trying once more


async def test_a_connection_that_broke_at_once_is_tried_once_more(clock: FakeClock) -> None:
    door = FakeHttpDoor(FakeAnswer(error=NetworkError("broke")), FakeAnswer(lines=sse(delta("Hi"), COMPLETED)))
    assert text_of(await events_of(over(door, clock))) == "Hi"
    door = FakeHttpDoor(*[FakeAnswer(error=NetworkError("broke"))] * 3)
    assert isinstance(await error_of(over(door, clock)), BrainUnreachableError)
    assert len(door.requests) == 2


async def test_a_short_pause_that_the_server_asks_for_is_waited_out(clock: FakeClock) -> None:
    busy = FakeAnswer(status=429, headers={"retry-after": "1.5"})
    door = FakeHttpDoor(busy, FakeAnswer(lines=sse(delta("Hi"), COMPLETED)))
    answering = asyncio.create_task(events_of(over(door, clock)))
    await clock.advance(1.4)
    assert len(door.requests) == 1
    await clock.advance(0.2)
    assert text_of(await answering) == "Hi"
    assert door.open_streams == 0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "20"}, 20.0),
        ({"retry-after": "Mon, 04 May 2026 15:08:00 GMT"}, 60.0),
        ({"retry-after": "Mon, 04 May 2026 15:08:00"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
async def test_a_long_pause_is_left_to_the_caller(headers: dict[str, str], seconds: float | None) -> None:
    clock = FakeClock(datetime(2026, 5, 4, 15, 7, tzinfo=UTC))
    door = FakeHttpDoor(FakeAnswer(status=429, headers=headers))
    error = await error_of(over(door, clock))
    assert isinstance(error, BrainBusyError) and error.retry_after_seconds == seconds
    assert len(door.requests) == 1


@pytest.mark.parametrize("status", [400, 401, 500])
async def test_other_refusals_are_not_repeated(clock: FakeClock, status: int) -> None:
    door = FakeHttpDoor(FakeAnswer(status=status, headers={"retry-after": "1"}), FakeAnswer(lines=sse(COMPLETED)))
    await error_of(over(door, clock))
    assert len(door.requests) == 1


async def test_an_answer_that_broke_after_it_began_is_not_asked_for_again(clock: FakeClock) -> None:
    door = FakeHttpDoor(FakeAnswer(lines=[*sse(delta("Hi")), NetworkError("broke")]), FakeAnswer(lines=sse(COMPLETED)))
    assert isinstance(await error_of(over(door, clock)), BrainStreamError)
    assert len(door.requests) == 1 and door.open_streams == 0


async def test_a_refused_lane_is_no_matter_of_trying_again(clock: FakeClock) -> None:
    door = FakeHttpDoor(FakeAnswer(error=LaneRefusedError("not on this side")), FakeAnswer(lines=sse(COMPLETED)))
    assert isinstance(await error_of(over(door, clock)), BrainRequestError)
    assert len(door.requests) == 1


# ------------------------------------------------------------------------------------------------- patience

LIMITS = {"first_token_seconds": 10.0, "total_seconds": 60.0}


async def timeout_after(
    clock: FakeClock, seconds: float, *lines: Step, opens_after: asyncio.Event | None = None
) -> str:
    """What the time-out says, which must come after ``seconds`` and not before."""
    door = FakeHttpDoor(FakeAnswer(lines=lines, opens_after=opens_after))
    failing = asyncio.create_task(error_of(over(door, clock, **LIMITS)))
    await clock.advance(seconds - 0.1)
    assert not failing.done()
    await clock.advance(0.2)
    error = await failing
    assert isinstance(error, BrainTimeoutError) and error.sentence_key == "brain.timeout"
    assert door.open_streams == 0
    return str(error)


async def test_a_server_that_says_nothing_is_given_up(clock: FakeClock) -> None:
    never = asyncio.Event()
    assert "did not begin to answer for 10 s" in await timeout_after(clock, 10, opens_after=never)
    accepted = sse({"type": "response.created"}, {"type": "response.in_progress"})
    assert "did not begin" in await timeout_after(clock, 10, *accepted, ": keep-alive", never)


async def test_a_silence_in_mid_sentence_is_given_up(clock: FakeClock) -> None:
    assert "mid-answer" in await timeout_after(clock, 10, *sse(delta("Well,")), asyncio.Event())


async def test_a_model_that_reasons_may_be_silent_up_to_the_total(clock: FakeClock) -> None:
    began = sse({"type": "response.output_item.added", "item": {"type": "reasoning"}})
    assert "longer than 60 s" in await timeout_after(clock, 60, *began, asyncio.Event())


async def test_an_answer_that_never_ends_is_given_up(clock: FakeClock) -> None:
    pieces = [asyncio.Event() for _ in range(20)]
    lines = [step for piece in pieces for step in (piece, *sse(delta("word ")))]
    door = FakeHttpDoor(FakeAnswer(lines=lines))
    failing = asyncio.create_task(error_of(over(door, clock, **LIMITS)))
    for piece in pieces[:9]:
        piece.set()
        await clock.advance(6.5)
        assert not failing.done()
    await clock.advance(1.6)
    assert "longer than 60 s" in str(await failing)


async def test_a_connection_that_takes_too_long_is_a_timeout(clock: FakeClock) -> None:
    late = NetworkTimeoutError("no connection to box:8080 within 5 s")
    door = FakeHttpDoor(FakeAnswer(error=late), FakeAnswer(lines=sse(COMPLETED)))
    error = await error_of(over(door, clock))
    assert isinstance(error, BrainTimeoutError) and "no connection" in str(error)
    assert door.requests[0].connect_seconds == 5.0 and len(door.requests) == 1


async def test_stopping_the_turn_closes_the_connection_at_once(clock: FakeClock) -> None:
    door = FakeHttpDoor(FakeAnswer(lines=[*sse(delta("Well,")), asyncio.Event()]))
    answering = asyncio.create_task(events_of(over(door, clock)))
    await settle()
    assert door.open_streams == 1
    answering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await answering
    assert door.open_streams == 0 and clock.sleeping == 0


async def test_a_real_server_that_says_nothing_is_given_up_too(door: Door) -> None:
    await door.warm_up()
    async with ResponsesServer([Answer(fault="silent")]) as server:
        assert isinstance(await error_of(on(server, door, first_token_seconds=0.1)), BrainTimeoutError)
    async with ResponsesServer([Answer(text="Hello.")]) as server:
        assert text_of(await events_of(on(server, door))) == "Hello."
