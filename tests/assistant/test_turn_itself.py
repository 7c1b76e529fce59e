"""A turn as a value: meant or thrown away, ended once."""

from __future__ import annotations

import asyncio

import pytest

from appliance.clock import settle
from appliance.errors import TurnDroppedError
from appliance.events import EndReason
from appliance.turn import Turn, TurnState


async def test_whatever_leaves_a_trace_waits_until_the_turn_is_meant() -> None:
    turn = Turn("voice")
    waiting = asyncio.create_task(turn.committed())
    await settle()
    assert not waiting.done()

    turn.commit()

    await waiting
    await turn.committed()


async def test_a_turn_that_was_thrown_away_stays_so() -> None:
    turn = Turn("voice")
    waiting = asyncio.create_task(turn.committed())
    await settle()

    turn.drop()
    turn.commit()

    for work in (waiting, turn.committed()):
        with pytest.raises(TurnDroppedError, match=turn.turn_id):
            await work


async def test_a_turn_that_was_meant_cannot_be_thrown_away_any_more() -> None:
    turn = Turn("voice")
    turn.commit()

    turn.drop()

    await turn.committed()


async def test_it_ends_once_and_whoever_still_waits_is_let_go() -> None:
    turn = Turn("voice")
    assert not turn.is_over

    assert turn.end(EndReason.NOTHING_HEARD)
    assert not turn.end(EndReason.ANSWERED)

    assert (turn.end_reason, turn.state, turn.is_over) == (EndReason.NOTHING_HEARD, TurnState.ENDED, True)
    with pytest.raises(TurnDroppedError):
        await turn.committed()


def test_only_what_is_typed_is_not_spoken() -> None:
    assert [Turn(origin).is_voice for origin in ("voice", "alert", "typed")] == [True, True, False]


def test_its_names_and_those_of_its_calls_are_its_own() -> None:
    one, two = Turn("voice"), Turn("voice")

    assert len({one.turn_id, two.turn_id, one.next_call_id(), one.next_call_id(), two.next_call_id()}) == 5
    assert one.next_call_id().startswith(one.turn_id)
