"""The watch: edges and samples reach the machine, decisions reach the house, and a lost button is looked for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from appliance.adapters.fakes.button import FakeButton
from appliance.adapters.fakes.lamp import FakeLamp
from appliance.approve.button_rules import (
    Approve,
    ButtonDecision,
    ButtonRules,
    Deny,
    Fault,
    FaultCleared,
    FaultReason,
    Mute,
    RequestEnding,
    Shutdown,
    ShutdownCountdown,
    Silence,
    StopAll,
    Talk,
)
from appliance.approve.button_watch import ButtonWatch
from appliance.approve.hand import HandEnding
from appliance.clock import FakeClock, settle

_KINDS: tuple[type[ButtonDecision], ...] = (
    Approve,
    Deny,
    Fault,
    FaultCleared,
    Mute,
    Shutdown,
    ShutdownCountdown,
    Silence,
    StopAll,
    Talk,
)


class House:
    """A watched button on a fake clock."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.button = FakeButton(self.clock)
        self.lamp = FakeLamp(self.clock)
        self.is_ringing = False
        self.decided: list[ButtonDecision] = []
        self.watch = ButtonWatch(self.button, self.clock, lamp=self.lamp, is_ringing=lambda: self.is_ringing)
        for kind in _KINDS:
            self.watch.on(kind, self.decided.append)
        self.life: asyncio.Task[None] | None = None

    async def live(self) -> None:
        """Begin to watch."""
        self.life = asyncio.create_task(self.watch.run())
        await self.clock.advance(0.3)

    async def end(self) -> None:
        """Stop watching."""
        if self.life is not None:
            self.life.cancel()
            await asyncio.gather(self.life, return_exceptions=True)
            self.life = None

    async def press(self, seconds: float = 0.15) -> None:
        """Down and up, and long enough for it to count."""
        self.button.press()
        await self.clock.advance(seconds)
        self.button.release()
        await self.clock.advance(0.8)

    async def ask(self, request_id: str = "r1") -> None:
        """A question until a press approves."""
        self.watch.begin(request_id)
        self.watch.arm(request_id)
        await self.clock.advance(1.1)

    def take(self) -> list[ButtonDecision]:
        """What was decided since the last time."""
        taken, self.decided[:] = list(self.decided), []
        return taken


@pytest.fixture
async def house() -> AsyncIterator[House]:
    house = House()
    await house.live()
    yield house
    await house.end()


# ------------------------------------------------------------------------------------------- press and tell


async def test_a_press_while_nothing_goes_on_is_noticed_at_once(house: House) -> None:
    """An edge ends the slow looking of idle times."""
    house.button.press()
    await house.clock.advance(0.1)
    house.button.release()
    await house.clock.advance(0.07)
    assert house.take() == [Talk()]


async def test_a_press_approves_the_request_that_is_waited_for(house: House) -> None:
    await house.ask("r1")
    answer = asyncio.create_task(house.watch.answer("r1"))
    pressed_at = house.clock.monotonic_seconds()
    await house.press(0.15)
    press = await answer
    assert press.ending is HandEnding.APPROVED
    assert press.pressed_at_seconds == pytest.approx(pressed_at)
    assert press.released_at_seconds == pytest.approx(pressed_at + 0.15)
    house.watch.end("r1")
    assert [type(decision) for decision in house.take()] == [Approve]


async def test_a_hold_denies_it_and_stops_everything(house: House) -> None:
    await house.ask("r1")
    house.button.press()
    await house.clock.advance(1.3)
    assert (await house.watch.answer("r1")).ending is HandEnding.DENIED
    assert house.take() == [Deny("r1"), StopAll()]


async def test_lost_edges_heal_by_looking(house: House) -> None:
    await house.ask("r1")
    house.button.loses_edges = True
    await house.press(0.2)
    assert (await house.watch.answer("r1")).ending is HandEnding.APPROVED


async def test_an_answer_that_came_before_it_was_waited_for_is_kept(house: House) -> None:
    await house.ask("r1")
    await house.press()
    assert (await house.watch.answer("r1")).ending is HandEnding.APPROVED


async def test_giving_up_waiting_leaves_the_question_open(house: House) -> None:
    await house.ask("r1")
    waiting = asyncio.create_task(house.watch.answer("r1"))
    await settle()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await house.press()
    assert (await house.watch.answer("r1")).ending is HandEnding.APPROVED


async def test_what_is_not_asked_cannot_be_waited_for(house: House) -> None:
    await house.ask("r1")
    house.watch.end("r1", RequestEnding.EXPIRED)
    house.watch.end("r1")
    with pytest.raises(KeyError):
        await house.watch.answer("r1")
    await house.press()
    assert house.take() == []


async def test_edges_come_from_a_thread_of_the_backend(house: House) -> None:
    thread = threading.Thread(target=house.button.press)
    thread.start()
    thread.join()
    await house.clock.advance(0.1)
    thread = threading.Thread(target=house.button.release)
    thread.start()
    thread.join()
    await house.clock.advance(0.2)
    assert house.take() == [Talk()]


async def test_while_something_rings_a_press_silences(house: House) -> None:
    await house.ask("r1")
    house.is_ringing = True
    await house.clock.advance(0.5)
    await house.press()
    assert house.take() == [Silence()]


async def test_a_handler_that_breaks_does_not_keep_the_others_from_being_told(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_decision: StopAll) -> None:
        raise RuntimeError("the house is on fire")

    told: list[StopAll] = []
    house.watch.on(StopAll, broken)
    house.watch.on(StopAll, told.append)
    await house.press(1.5)
    assert told == [StopAll()]
    assert "the house is on fire" in caplog.text
    await house.press()
    assert Talk() in house.take()


async def test_hold_to_talk_comes_from_the_rules() -> None:
    house = House()
    house.watch = ButtonWatch(house.button, house.clock, rules=ButtonRules.of(hold_to_talk=True))
    house.watch.on(Talk, house.decided.append)
    await house.live()
    house.button.press()
    await house.clock.advance(0.1)
    assert house.take() == [Talk()]
    await house.end()


# ------------------------------------------------------------------------------------------------ lost and found


async def test_before_it_is_watched_nothing_can_be_approved() -> None:
    house = House()
    assert not house.watch.is_usable
    house.watch.begin("r1")
    assert (await house.watch.answer("r1")).ending is HandEnding.LOST
    assert "not looked at yet" in house.watch.health


async def test_button_backend_dies_while_pending(house: House) -> None:
    await house.ask("r1")
    answer = asyncio.create_task(house.watch.answer("r1"))
    house.button.is_present = False
    await house.clock.advance(0.1)
    assert (await answer).ending is HandEnding.LOST
    assert not house.watch.is_usable
    assert house.take() == [Fault(FaultReason.DEAD)]
    assert house.watch.health == "the fake button: the wire of the button has fallen off"


async def test_a_lost_button_is_looked_for_with_growing_patience_and_told_once(house: House) -> None:
    house.button.is_present = False
    await house.clock.advance(120.0)
    assert house.take() == [Fault(FaultReason.DEAD)]
    assert house.button.openings == 1 + 1 + 1 + 1 + 1 + 3, "after 1, 2, 5 and 10 seconds, then every 30"
    house.button.is_present = True
    await house.clock.advance(32.0)
    assert house.take() == [FaultCleared()]
    assert house.watch.is_usable
    assert house.watch.health == "the fake button: ready"
    await house.press()
    assert house.take() == [Talk()]


async def test_without_a_button_at_the_start_it_waits_for_one() -> None:
    house = House()
    house.button.is_present = False
    await house.live()
    assert house.take() == [Fault(FaultReason.DEAD)]
    house.button.is_present = True
    await house.clock.advance(3.0)
    assert house.watch.is_usable
    await house.end()


async def test_stuck_at_boot_then_released() -> None:
    house = House()
    house.button.press()
    await house.live()
    assert house.take() == [Fault(FaultReason.STUCK)]
    assert not house.watch.is_usable
    house.button.release()
    await house.clock.advance(1.3)
    assert house.take() == [FaultCleared()]
    assert house.watch.is_usable


async def test_a_storm_of_edges_is_a_fault_and_does_not_pile_up(house: House) -> None:
    for _ in range(20):
        for _ in range(2000):
            house.button.press()
            house.button.release()
        await house.clock.advance(0.02)
    assert house.take() == [Fault(FaultReason.FLOATING)]


async def test_when_it_ends_the_button_is_given_back_and_nothing_more_is_approved(house: House) -> None:
    await house.ask("r1")
    await house.end()
    assert not house.watch.is_usable
    assert (await house.watch.answer("r1")).ending is HandEnding.LOST
    assert house.take() == [], "the end of the box is no fault of the button"
    assert house.button.is_closed
    assert house.lamp.is_closed
    house.button.press()
    await house.clock.advance(0.2)
    house.button.release()
    await house.clock.advance(0.5)
    assert house.take() == []


# ------------------------------------------------------------------------------------------------- the lamp


async def test_the_lamp_follows_a_request_from_question_to_yes(house: House) -> None:
    began_at = house.clock.monotonic_seconds()
    house.watch.begin("r1")
    await house.clock.advance(3.1)
    assert house.lamp.lit_seconds(began_at) == pytest.approx([1.0, 1.0], abs=0.03), "a slow pulse"
    house.watch.arm("r1")
    await house.clock.advance(2.0)
    armed_at = house.clock.monotonic_seconds()
    await house.clock.advance(2.0)
    assert house.lamp.lit_seconds(armed_at) == pytest.approx([0.25] * 4, abs=0.03)
    pressed_at = house.clock.monotonic_seconds()
    await house.press()
    await house.clock.advance(2.0)
    assert house.lamp.lit_seconds(pressed_at)[-1] >= 0.39, "solid, and it may join the blink before"
    assert not house.lamp.is_on


@pytest.mark.parametrize(("ending", "count"), [(RequestEnding.DENIED, 2), (RequestEnding.EXPIRED, 3)])
async def test_the_lamp_tells_a_no_from_silence(house: House, ending: RequestEnding, count: int) -> None:
    house.watch.begin("r1")
    await house.clock.advance(1.5)
    ended_at = house.clock.monotonic_seconds()
    house.watch.end("r1", ending)
    await house.clock.advance(3.0)
    assert house.lamp.lit_seconds(ended_at) == pytest.approx([0.15] * count, abs=0.03)


async def test_a_broken_lamp_does_not_keep_the_button_from_working(house: House) -> None:
    house.lamp.is_broken = True
    await house.ask("r1")
    await house.press()
    assert (await house.watch.answer("r1")).ending is HandEnding.APPROVED


async def test_the_lamp_tells_that_the_button_is_gone(house: House) -> None:
    house.button.is_present = False
    await house.clock.advance(0.3)
    lost_at = house.clock.monotonic_seconds()
    await house.clock.advance(3.0)
    assert house.lamp.lit_seconds(lost_at) == pytest.approx([0.08] * 6, abs=0.03)
