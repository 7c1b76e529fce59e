"""What is due when, and what is left of it after a power cut."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from appliance.clock import settle
from appliance.device.entry import Due, DueCause, Entry, EntryState, Kind, RingEnding
from appliance.device.moments import TimeOfDay, next_repeat
from appliance.device.schedule import COLLECTION, MOST_ENTRIES, FullError
from appliance.errors import StoreError
from tests.device.house import MONDAY_AFTERNOON, House

Spawn = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]


@pytest.fixture
def house() -> House:
    return House()


async def _watch(house: House, spawn: Spawn) -> list[Due]:
    found: list[Due] = []
    spawn(house.schedule.run(found.append))
    await settle()
    return found


async def test_a_timer_comes_due_on_the_second(house: House, spawn: Spawn) -> None:
    found = await _watch(house, spawn)
    entry = await house.schedule.add_countdown(Kind.TIMER, 300, name="pasta")
    await house.clock.advance(299.9)
    assert found == []
    await house.clock.advance(0.1)
    assert [due.entry.entry_id for due in found] == [entry.entry_id]
    assert found[0].cause is DueCause.ON_TIME


async def test_several_timers_come_due_in_their_order(house: House, spawn: Spawn) -> None:
    found = await _watch(house, spawn)
    for name, seconds in (("slow", 600), ("quick", 60), ("middle", 300)):
        await house.schedule.add_countdown(Kind.TIMER, seconds, name=name)
    assert [entry.name for entry in house.schedule.waiting] == ["quick", "middle", "slow"]
    await house.clock.advance(601)
    assert [due.entry.name for due in found] == ["quick", "middle", "slow"]


async def test_what_rings_does_not_come_due_twice(house: House, spawn: Spawn) -> None:
    found = await _watch(house, spawn)
    await house.schedule.add_countdown(Kind.TIMER, 60)
    await house.clock.advance(600)
    assert len(found) == 1
    assert house.schedule.waiting == ()


async def test_it_is_on_disk_before_it_is_confirmed(house: House) -> None:
    entry = await house.schedule.add_countdown(Kind.TIMER, 300, name="pasta")
    row = house.documents.collections[COLLECTION][entry.entry_id]
    assert row["name"] == "pasta"
    assert row["due_at"] == "2026-05-04T15:12:00+00:00"


async def test_a_timer_that_cannot_be_stored_does_not_exist(house: House) -> None:
    house.documents.fail_writes = True
    with pytest.raises(StoreError):
        await house.schedule.add_countdown(Kind.TIMER, 300)
    assert house.schedule.waiting == ()


async def test_a_cancelled_timer_is_gone_even_when_that_cannot_be_stored(house: House, spawn: Spawn) -> None:
    found = await _watch(house, spawn)
    entry = await house.schedule.add_countdown(Kind.TIMER, 60)
    house.documents.fail_writes = True
    with pytest.raises(StoreError):
        await house.schedule.cancel(entry.entry_id)
    await house.clock.advance(120)
    assert found == []


async def test_setting_the_clock_does_not_move_a_timer(house: House, spawn: Spawn) -> None:
    found = await _watch(house, spawn)
    entry = await house.schedule.add_countdown(Kind.TIMER, 3600)
    house.clock.set_wall(MONDAY_AFTERNOON + timedelta(hours=5))
    await house.clock.advance(3599)
    assert found == []
    row = house.documents.collections[COLLECTION][entry.entry_id]
    assert row["due_at"] == "2026-05-04T21:07:00+00:00", "its end on the clock follows, for a power cut"
    await house.clock.advance(1)
    assert len(found) == 1


async def test_an_alarm_follows_the_clock_that_is_set(house: House, spawn: Spawn) -> None:
    found = await _watch(house, spawn)
    await house.schedule.add_moment(Kind.ALARM, MONDAY_AFTERNOON + timedelta(hours=5))
    await settle()
    house.clock.set_wall(MONDAY_AFTERNOON + timedelta(hours=5, seconds=-10))
    await house.clock.advance(60)
    assert [due.cause for due in found] == [DueCause.CLOCK_WAS_WRONG]
    assert found[0].late_seconds == pytest.approx(20, abs=1)


async def test_a_timer_goes_on_over_a_restart_of_the_program(house: House, spawn: Spawn) -> None:
    await house.schedule.add_countdown(Kind.TIMER, 300, name="pasta")
    await house.clock.advance(100)
    house.start()
    found = await _watch(house, spawn)
    await house.clock.advance(199)
    assert found == []
    await house.clock.advance(1)
    assert [due.entry.name for due in found] == ["pasta"]


async def test_a_timer_goes_on_over_a_power_cut(house: House, spawn: Spawn) -> None:
    await house.schedule.add_countdown(Kind.TIMER, 300)
    house.power_cut(100)
    found = await _watch(house, spawn)
    await house.clock.advance(199)
    assert found == []
    await house.clock.advance(2)
    assert [due.cause for due in found] == [DueCause.ON_TIME]


async def test_a_timer_that_ended_in_a_power_cut_rings_late_and_says_so(house: House, spawn: Spawn) -> None:
    await house.schedule.add_countdown(Kind.TIMER, 300, name="pasta")
    house.power_cut(900)
    found = await _watch(house, spawn)
    (due,) = found
    assert due.cause is DueCause.WAS_OFF and due.late_seconds == pytest.approx(600)
    assert not due.is_only_told
    assert house.words.ring(found) == "Your pasta timer was due at three twelve in the afternoon, while I was off."


async def test_what_is_hours_late_is_only_told(house: House, spawn: Spawn) -> None:
    await house.schedule.add_countdown(Kind.TIMER, 300)
    house.power_cut(7200)
    found = await _watch(house, spawn)
    assert [due.is_only_told for due in found] == [True]


async def test_after_a_power_cut_an_old_timer_waits_until_the_clock_is_set(house: House, spawn: Spawn) -> None:
    await house.schedule.add_countdown(Kind.TIMER, 300)
    house.power_cut(900, trusted=False)
    house.clock.set_wall(datetime(2024, 1, 1, tzinfo=UTC), trusted=False)
    found = await _watch(house, spawn)
    await house.clock.advance(60)
    assert found == []
    assert house.schedule.seconds_left(house.schedule.waiting[0]) is None
    house.clock.set_wall(MONDAY_AFTERNOON + timedelta(seconds=960))
    await house.clock.advance(5)
    assert [due.cause for due in found] == [DueCause.WAS_OFF]


async def test_a_timer_works_while_the_clock_is_not_set(spawn: Spawn) -> None:
    house = House(datetime(1970, 1, 1, tzinfo=UTC), trusted=False)
    found = await _watch(house, spawn)
    entry = await house.schedule.add_countdown(Kind.TIMER, 300)
    assert house.documents.collections[COLLECTION][entry.entry_id]["due_at"] == ""
    await house.clock.advance(100)
    house.clock.set_wall(MONDAY_AFTERNOON)
    await house.clock.advance(5)
    row = house.documents.collections[COLLECTION][entry.entry_id]
    assert row["due_at"] == "2026-05-04T15:10:20+00:00", "now its end is known"
    await house.clock.advance(195)
    assert len(found) == 1


async def test_a_timer_of_which_nobody_can_know_when_it_ended_is_told(spawn: Spawn) -> None:
    house = House(datetime(1970, 1, 1, tzinfo=UTC), trusted=False)
    await house.schedule.add_countdown(Kind.TIMER, 300, name="tea")
    house.power_cut(900, trusted=False)
    found = await _watch(house, spawn)
    assert [due.cause for due in found] == [DueCause.LOST]
    assert "tea timer ran while I was off" in house.words.ring(found)


async def test_a_row_that_is_no_timer_is_skipped_and_kept(house: House, caplog: pytest.LogCaptureFixture) -> None:
    good = Entry("good", Kind.TIMER, length_seconds=60, boot_id="boot-1", due_monotonic_seconds=9e9).to_json()
    bad: dict[str, Any] = {
        "kind": {**good, "kind": "egg"},
        "text": "nonsense",
        "moment": {**good, "due_at": "soon"},
        "naive": {**good, "due_at": "2026-05-04T15:12:00"},
        "nothing": {"kind": "alarm"},
        "days": {**good, "days": ["someday"], "time": "07:00"},
        "time": {**good, "days": ["monday"], "time": "late"},
        "none": None,
    }
    house.documents.collections[COLLECTION] = {**bad, "good": good}
    await house.schedule.load()
    assert [entry.entry_id for entry in house.schedule.waiting] == ["good"]
    assert set(house.documents.collections[COLLECTION]) == {*bad, "good"}
    assert all(f"stored timer {key} is skipped" in caplog.text for key in bad)


async def test_a_snoozed_timer_rings_again(house: House, spawn: Spawn) -> None:
    found = await _watch(house, spawn)
    await house.schedule.add_countdown(Kind.TIMER, 60, name="tea")
    await house.clock.advance(60)
    await house.ended(found[0], RingEnding.SNOOZED, 540)
    await house.clock.advance(539)
    assert len(found) == 1
    await house.clock.advance(1)
    assert [due.entry.name for due in found] == ["tea", "tea"]
    await house.ended(found[1], RingEnding.STOPPED)
    assert house.documents.collections[COLLECTION] == {}


async def test_an_alarm_on_weekdays_comes_every_weekday(spawn: Spawn) -> None:
    house = House(datetime(2026, 5, 7, 6, 59, tzinfo=UTC))  # a Thursday
    found = await _watch(house, spawn)
    days = ("monday", "tuesday", "wednesday", "thursday", "friday")
    first = next_repeat(TimeOfDay(7, 0), days, house.clock.now(), UTC)
    await house.schedule.add_moment(Kind.ALARM, first, time="07:00", days=days)
    rang: list[str] = []
    for _ in range(4 * 24):
        await house.clock.advance(3600)
        while found:
            due = found.pop()
            rang.append(f"{due.entry.due_at:%A %H:%M}")
            await house.ended(due, RingEnding.STOPPED)
    assert rang == ["Thursday 07:00", "Friday 07:00"]
    await house.clock.advance(24 * 3600)
    assert [f"{due.entry.due_at:%A %H:%M}" for due in found] == ["Monday 07:00"]


async def test_a_snoozed_weekday_alarm_rings_again_today_and_still_tomorrow(spawn: Spawn) -> None:
    house = House(datetime(2026, 5, 4, 6, 59, tzinfo=UTC))
    found = await _watch(house, spawn)
    days = ("monday", "tuesday")
    await house.schedule.add_moment(Kind.ALARM, datetime(2026, 5, 4, 7, tzinfo=UTC), time="07:00", days=days)
    await house.clock.advance(60)
    await house.ended(found.pop(), RingEnding.SNOOZED, 540)
    await house.clock.advance(540)
    assert len(found) == 1 and not found[0].entry.days
    await house.ended(found.pop(), RingEnding.STOPPED)
    (tomorrow,) = house.schedule.waiting
    assert tomorrow.due_at == datetime(2026, 5, 5, 7, tzinfo=UTC)


async def test_what_nobody_answered_is_told_once_even_after_a_restart(house: House, spawn: Spawn) -> None:
    found = await _watch(house, spawn)
    await house.schedule.add_countdown(Kind.TIMER, 60, name="tea")
    await house.clock.advance(60)
    await house.ended(found[0], RingEnding.UNANSWERED)
    house.start()
    await house.schedule.load()
    assert house.schedule.waiting == ()
    (missed,) = await house.schedule.take_missed()
    assert missed.state is EntryState.MISSED
    assert house.words.missed(missed) == "Your tea timer rang at three oh eight in the afternoon, and nobody answered."
    assert await house.schedule.take_missed() == ()
    assert house.documents.collections[COLLECTION] == {}


async def test_a_power_cut_while_it_rings_lets_it_ring_again(house: House, spawn: Spawn) -> None:
    found = await _watch(house, spawn)
    await house.schedule.add_countdown(Kind.TIMER, 60)
    await house.clock.advance(65)
    assert len(found) == 1
    house.power_cut(30)
    again = await _watch(house, spawn)
    assert [due.cause for due in again] == [DueCause.WAS_OFF]


async def test_what_stopped_a_moment_ago_can_still_be_snoozed(house: House, spawn: Spawn) -> None:
    found = await _watch(house, spawn)
    await house.schedule.add_countdown(Kind.TIMER, 60, name="tea")
    await house.clock.advance(60)
    await house.ended(found[0], RingEnding.STOPPED)
    await house.clock.advance(20)
    (again,) = await house.schedule.snooze_ended(300)
    assert again.name == "tea"
    assert await house.schedule.snooze_ended(300) == ()
    await house.clock.advance(300)
    assert len(found) == 2


async def test_ten_minutes_later_there_is_nothing_to_snooze(house: House, spawn: Spawn) -> None:
    found = await _watch(house, spawn)
    await house.schedule.add_countdown(Kind.TIMER, 60)
    await house.clock.advance(60)
    await house.ended(found[0], RingEnding.STOPPED)
    await house.clock.advance(601)
    assert await house.schedule.snooze_ended(300) == ()


async def test_a_timer_can_be_made_longer(house: House, spawn: Spawn) -> None:
    found = await _watch(house, spawn)
    entry = await house.schedule.add_countdown(Kind.TIMER, 60)
    longer = await house.schedule.extend(entry, 30)
    assert longer.due_at == MONDAY_AFTERNOON + timedelta(seconds=90)
    await house.clock.advance(89)
    assert found == []
    await house.clock.advance(1)
    assert len(found) == 1


async def test_there_is_an_end_to_how_many(house: House) -> None:
    for _ in range(MOST_ENTRIES):
        await house.schedule.add_countdown(Kind.TIMER, 60)
    with pytest.raises(FullError):
        await house.schedule.add_countdown(Kind.TIMER, 60)


async def test_a_disk_that_cannot_be_read_is_an_error_at_start(house: House) -> None:
    house.documents.fail_reads = True
    with pytest.raises(StoreError):
        await house.schedule.load()


async def test_an_alarm_at_seven_stays_at_seven_when_summer_time_begins(spawn: Spawn) -> None:
    berlin = ZoneInfo("Europe/Berlin")
    house = House(datetime(2026, 3, 28, 11, tzinfo=UTC), zone=berlin)  # noon of the day before
    found = await _watch(house, spawn)
    days = ("sunday", "monday")
    first = next_repeat(TimeOfDay(7, 0), days, house.clock.now(), berlin)
    await house.schedule.add_moment(Kind.ALARM, first, time="07:00", days=days)
    await house.clock.advance(18 * 3600)
    assert [due.entry.due_at for due in found] == [datetime(2026, 3, 29, 5, tzinfo=UTC)]
    await house.ended(found.pop(), RingEnding.STOPPED)
    assert [entry.due_at for entry in house.schedule.waiting] == [datetime(2026, 3, 30, 5, tzinfo=UTC)]


async def test_a_full_disk_does_not_make_it_ring_again_and_again(house: House, spawn: Spawn) -> None:
    found = await _watch(house, spawn)
    days = ("monday", "tuesday")
    due_at = MONDAY_AFTERNOON + timedelta(minutes=1)
    await house.schedule.add_moment(Kind.ALARM, due_at, time="15:08", days=days)
    await house.schedule.add_countdown(Kind.TIMER, 60, name="tea")
    await house.clock.advance(60)
    house.documents.fail_writes = True
    for due in [*found]:
        with pytest.raises(StoreError):
            await house.ended(due, RingEnding.SNOOZED, 540)
    await house.clock.advance(530)
    assert len(found) == 2
    await house.clock.advance(15)
    assert len(found) == 4, "both were snoozed"
