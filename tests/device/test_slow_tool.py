"""Why were you slow? Told from the times of the last turn, in plain words."""

from __future__ import annotations

import pytest

from appliance.device.slow_tool import Wait
from appliance.store.turn_log import TurnTimes
from tests.device.house import House

#: A voice turn: the question ends at two seconds.
QUESTION = {"speech_started": 0.5, "speech_ended": 2.0}


def turn(end_reason: str = "answered", origin: str = "voice", **stages: float) -> TurnTimes:
    return TurnTimes("turn-1", "chat", origin, "2026-05-04T15:07:00", {**QUESTION, **stages}, end_reason)


async def asked(house: House) -> str:
    return await house.say("box_slow")


async def test_the_longest_part_comes_first_and_small_ones_are_left_out() -> None:
    house = House()
    house.health.model = "small"
    house.times.turns = [turn(transcribed=2.1, first_sound=3.0, first_reply_sound=8.1, ended=12.0)]
    assert await asked(house) == "My last answer took about 6 seconds. Waiting for my model took about 6 seconds."
    house.times.turns = [turn(transcribed=5.0, first_reply_sound=6.0, ended=9.0)]
    assert await asked(house) == (
        "My last answer took about 4 seconds. Understanding what you said took about 3 seconds. "
        "Waiting for my model took about a second."
    )


async def test_a_tool_and_a_hand_on_the_button_have_their_share() -> None:
    house = House()
    house.times.turns = [
        turn(transcribed=2.2, asked=2.3, decided=12.3, first_tool=12.3, first_tool_done=16.3, first_reply_sound=16.5)
    ]
    assert await asked(house) == (
        "My last answer took about 14 seconds. I waited about 10 seconds for a hand on my button. "
        "The work itself took about 4 seconds."
    )


async def test_a_model_that_is_away_is_to_blame_and_no_model_is_not() -> None:
    house = House()
    house.times.turns = [turn(transcribed=2.2, first_reply_sound=7.5)]
    assert "Finding the answer myself took about 5 seconds." in await asked(house)
    house.health.model, house.health.is_model_away = "small", True
    assert "my model, which did not answer, took about 5 seconds." in await asked(house)


async def test_a_quick_answer_is_told_as_one() -> None:
    house = House()
    house.times.turns = [turn(transcribed=2.2, first_reply_sound=2.9)]
    assert await asked(house) == "My last answer took about a second. Faster than that I cannot be."


@pytest.mark.parametrize(("reason", "says"), [("failed", "failed after"), ("timed_out", "gave up after")])
async def test_a_turn_that_failed_is_told_as_that(reason: str, says: str) -> None:
    house = House()
    house.times.turns = [turn(reason, transcribed=2.2, ended=9.0)]
    assert says in await asked(house)


async def test_what_nobody_waited_for_is_passed_over() -> None:
    house = House()
    assert await asked(house) == "I have no record of an answer yet."
    house.times.turns = [
        turn(transcribed=2.2, first_reply_sound=7.0),
        turn("nothing_heard", ended=9.0),
        turn(origin="alert", ended=60.0),
        turn("stopped", transcribed=2.1, ended=30.0),
    ]
    assert "about 5 seconds" in await asked(house)


def test_a_typed_turn_is_counted_from_its_start() -> None:
    times = TurnTimes("turn-1", "chat", "typed", "2026-05-04T15:07:00", {"first_reply_sound": 3.0}, "answered")
    assert Wait.of(times) == Wait(thinking=3.0)
