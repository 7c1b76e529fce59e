"""Time that tests can move, and time that passes."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from appliance.clock import FakeClock, SystemClock, settle, within


async def test_nothing_passes_until_a_test_says_so() -> None:
    clock = FakeClock()
    began, today = clock.monotonic_seconds(), clock.now()

    await settle()

    assert (clock.monotonic_seconds(), clock.now()) == (began, today)


async def test_sleepers_wake_in_the_order_of_their_deadlines_each_at_its_own_time() -> None:
    clock = FakeClock()
    began = clock.monotonic_seconds()
    woken: list[tuple[str, float]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.monotonic_seconds() - began))

    tasks = [asyncio.create_task(sleeper(*one)) for one in (("late", 3.0), ("early", 1.0), ("never", 99.0))]
    await clock.advance(5.0)

    assert woken == [("early", 1.0), ("late", 3.0)]
    assert clock.monotonic_seconds() - began == 5.0
    assert clock.sleeping == 1
    tasks[-1].cancel()


async def test_who_sleeps_again_wakes_again_in_the_same_advance() -> None:
    clock = FakeClock()
    beats: list[float] = []

    async def beat() -> None:
        while True:
            await clock.sleep(2.0)
            beats.append(clock.monotonic_seconds())

    task = asyncio.create_task(beat())
    await clock.advance(7.0)
    task.cancel()

    assert beats == [1002.0, 1004.0, 1006.0]


async def test_a_cancelled_sleeper_is_no_sleeper() -> None:
    clock = FakeClock()
    task = asyncio.create_task(clock.sleep(1.0))
    await settle()
    assert clock.sleeping == 1

    task.cancel()
    await settle()

    assert clock.sleeping == 0
    await clock.advance(2.0)


async def test_no_time_at_all_lets_the_others_run() -> None:
    clock = FakeClock()
    await asyncio.wait_for(clock.sleep(0.0), 1.0)
    await asyncio.wait_for(clock.sleep(-1.0), 1.0)


async def test_setting_the_wall_clock_moves_no_timer() -> None:
    clock = FakeClock(trusted=False)
    before = clock.monotonic_seconds()
    moment = datetime(2030, 1, 1, tzinfo=UTC)

    clock.set_wall(moment)

    assert clock.now() == moment
    assert clock.is_trusted()
    assert clock.monotonic_seconds() == before
    await clock.advance(60.0)
    assert clock.now() == moment + timedelta(minutes=1)


async def test_within_gives_the_result_that_comes_in_time() -> None:
    clock = FakeClock()

    async def answer() -> str:
        await clock.sleep(1.0)
        return "here"

    work = asyncio.create_task(within(clock, 2.0, answer()))
    await clock.advance(1.0)

    assert await work == "here"
    await settle()
    assert clock.sleeping == 0, "its alarm is switched off"


async def test_within_ends_what_takes_too_long_and_waits_until_it_has_ended() -> None:
    clock = FakeClock()
    ended: list[str] = []

    async def slow() -> None:
        try:
            await clock.sleep(10.0)
        finally:
            await asyncio.sleep(0)
            ended.append("cleaned up")

    work = asyncio.create_task(within(clock, 2.0, slow()))
    await clock.advance(2.0)

    with pytest.raises(TimeoutError, match="longer than 2 s"):
        await work
    assert ended == ["cleaned up"]


async def test_within_passes_a_failure_on() -> None:
    async def broken() -> None:
        raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        await within(FakeClock(), 2.0, broken())


async def test_cancelling_within_cancels_the_work_and_its_alarm() -> None:
    clock = FakeClock()
    inner = asyncio.create_task(clock.sleep(10.0))
    outer = asyncio.create_task(within(clock, 20.0, inner))
    await settle()

    outer.cancel()
    await settle()

    assert (inner.cancelled(), outer.cancelled(), clock.sleeping) == (True, True, 0)


async def test_the_real_clock_never_runs_backwards_and_knows_its_zone() -> None:
    clock = SystemClock()
    first = clock.monotonic_seconds()

    await clock.sleep(0.0)
    await clock.sleep(-5.0)

    assert clock.monotonic_seconds() >= first
    assert clock.now().tzinfo is not None
    assert isinstance(clock.is_trusted(), bool)
