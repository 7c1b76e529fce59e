"""The button's own state machine as the hand of the desk: the two halves of approval joined."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from appliance.adapters.fakes.button import FakeButton
from appliance.approve.button_watch import ButtonWatch
from appliance.approve.hand import Hand
from appliance.clock import FakeClock
from appliance.events import Outcome
from tests.approve.rig import Scene
from tests.contracts.gate import until


class Desk:
    """A scene with a real button machine; its fake hand is not used."""

    def __init__(self, folder: Path) -> None:
        self.watches: list[ButtonWatch] = []
        self.button = FakeButton()

        def hand(clock: FakeClock) -> Hand:
            self.button = FakeButton(clock)
            self.watches.append(ButtonWatch(self.button, clock))
            return self.watches[0]

        self.scene = Scene(folder, has_hand=False, hand=hand)
        self.running = asyncio.create_task(self.watches[0].run())

    async def ready(self) -> None:
        await self.scene.clock.advance(2.0)
        assert self.watches[0].is_usable

    async def until_asked(self, count: int = 1) -> None:
        """The question was heard, and the store knows that it is armed."""
        armed = "SELECT count(*) FROM approvals WHERE state = 'armed'"
        await self.scene.until_asked(count)
        await until(lambda: self.scene.database.run(lambda c: c.execute(armed).fetchone()) == (1,))
        await self.scene.quiet()

    async def press(self, seconds: float = 0.2) -> None:
        self.button.press()
        await self.scene.clock.advance(seconds)
        self.button.release()
        # The machine waits for the contact to come to rest.
        await self.scene.clock.advance(0.9)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    found = Desk(tmp_path)
    await found.ready()
    yield found
    found.running.cancel()
    await asyncio.gather(found.running, return_exceptions=True)
    found.scene.database.close()


async def test_a_press_a_second_after_the_question_approves(desk: Desk) -> None:
    call = desk.scene.start(arguments={"target": "/home"})
    await desk.until_asked()
    await desk.scene.clock.advance(1.5)
    await desk.press()
    assert (await call).text == "done"
    assert desk.scene.runs == [{"target": "/home"}]


async def test_a_press_too_early_and_one_held_through_the_question_approve_nothing(desk: Desk) -> None:
    desk.button.press()
    await desk.scene.clock.advance(0.1)
    call = desk.scene.start()
    await desk.until_asked()
    await desk.scene.clock.advance(0.3)
    desk.button.release()
    await desk.scene.clock.advance(0.2)
    await desk.press()
    await desk.scene.quiet()
    assert not call.done()
    await desk.scene.clock.advance(60.0)
    assert "timed out" in (await call).text
    assert desk.scene.runs == []


async def test_a_hold_denies(desk: Desk) -> None:
    call = desk.scene.start()
    await desk.until_asked()
    await desk.scene.clock.advance(1.5)
    desk.button.press()
    await desk.scene.clock.advance(1.5)
    assert "said NO" in (await call).text
    assert desk.scene.runs == []


async def test_one_press_answers_one_of_two(desk: Desk) -> None:
    first, second = desk.scene.start(arguments={"n": 1}), desk.scene.start(arguments={"n": 2})
    await desk.until_asked()
    await desk.scene.clock.advance(1.5)
    await desk.press()
    await desk.press()
    await asyncio.wait({first, second}, return_when=asyncio.FIRST_COMPLETED)
    await desk.until_asked(2)
    assert len(desk.scene.runs) == 1
    await desk.scene.clock.advance(3.0)
    await desk.press()
    await asyncio.gather(first, second)
    assert len(desk.scene.runs) == 2


async def test_a_button_that_is_torn_off_ends_the_question(desk: Desk) -> None:
    call = desk.scene.start()
    await desk.until_asked()
    desk.button.is_present = False
    await desk.scene.clock.advance(1.0)
    result = await call
    assert (result.outcome, desk.scene.runs) == (Outcome.REFUSED, [])
    assert "could not ask" in result.text
