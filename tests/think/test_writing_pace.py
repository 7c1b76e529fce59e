"""Whether a model writes so fast that its sentence may be begun before it is written."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from appliance.clock import FakeClock
from appliance.ports_think import Completed, ModelEvent, ModelRequest, TextDelta
from appliance.think.writing_pace import WritingPace

_REQUEST = ModelRequest("", ())


class Typist:
    """A model that writes ``pieces``, each after ``seconds``."""

    name, is_reasoning = "typist", False

    def __init__(self, clock: FakeClock, pieces: list[str], seconds: float) -> None:
        self.clock = clock
        self.pieces = pieces
        self.seconds = seconds
        self.warmed: list[ModelRequest | None] = []

    async def respond(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        for piece in self.pieces:
            await self.clock.advance(self.seconds)
            yield TextDelta(piece)
        yield Completed()

    async def warm_up(self, request: ModelRequest | None) -> None:
        self.warmed.append(request)


async def paces(pace: WritingPace) -> list[bool]:
    """Whether it counted as fast, at each piece of the answer."""
    return [pace.is_fast async for event in pace.respond(_REQUEST) if isinstance(event, TextDelta)]


@pytest.mark.parametrize(
    ("words_per_second", "is_fast"), [(40.0, True), (12.0, True), (7.5, True), (6.5, False), (2.5, False)]
)
async def test_a_model_that_writes_far_faster_than_anybody_speaks(words_per_second: float, is_fast: bool) -> None:
    clock = FakeClock()
    pace = WritingPace(Typist(clock, ["one ", "two ", "three ", "four ", "five "], 1 / words_per_second), clock)
    assert await paces(pace) == [False, False, is_fast, is_fast, is_fast]


async def test_words_count_and_not_their_pieces() -> None:
    clock = FakeClock()
    pace = WritingPace(Typist(clock, ["The", " mu", "se", "um", " op", "ens", " at"], 0.1), clock)
    assert not any(await paces(pace)), "ten pieces a second are five words"


async def test_a_burst_of_words_does_not_count_when_the_answer_before_came_slowly() -> None:
    clock = FakeClock()
    typist = Typist(clock, ["one ", "two ", "three ", "four "], 0.4)
    pace = WritingPace(typist, clock)
    await paces(pace)
    typist.seconds = 0.0
    assert not any(await paces(pace))
    assert (await paces(pace))[-1], "two answers in a row came fast"


async def test_an_answer_without_words_says_nothing_about_the_next() -> None:
    clock = FakeClock()
    typist = Typist(clock, ["one ", "two ", "three ", "four "], 0.01)
    pace = WritingPace(typist, clock)
    await paces(pace)
    typist.pieces = []
    await paces(pace)
    assert not pace.is_fast
    typist.pieces = ["one ", "two ", "three ", "four "]
    assert (await paces(pace))[-1]


async def test_the_rest_of_an_endpoint_is_passed_on() -> None:
    typist = Typist(FakeClock(), [], 0.0)
    pace = WritingPace(typist, typist.clock)
    await pace.warm_up(_REQUEST)
    assert (pace.name, pace.is_reasoning, typist.warmed) == ("typist", False, [_REQUEST])
