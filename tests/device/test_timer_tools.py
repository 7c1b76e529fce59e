"""What the box says when timers, alarms and reminders are set, asked for and cancelled."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from appliance.device.entry import Kind
from appliance.device.schedule import COLLECTION, MOST_ENTRIES
from appliance.events import Outcome
from tests.device.house import House

Live = Callable[[House], Awaitable[None]]


@pytest.fixture
def house() -> House:
    return House()


async def test_a_timer_is_confirmed_with_its_length(house: House) -> None:
    assert await house.say("box_timer_set", {"seconds": 300}) == "Your timer is set for 5 minutes."
    assert await house.say("box_timer_set", {"seconds": 90, "name": "tea"}) == (
        "Your tea timer is set for 1 minute and 30 seconds."
    )
    assert [entry.length_seconds for entry in house.schedule.waiting] == [90, 300]


async def test_a_timer_without_a_length_is_asked_about(house: House) -> None:
    for arguments in ({}, {"seconds": 0}, {"seconds": -5}, {"seconds": "soon"}, {"seconds": float("nan")}):
        assert (await house.say("box_timer_set", arguments)).endswith("?")
    assert house.schedule.waiting == ()


async def test_a_length_that_a_model_writes_as_text_is_taken(house: House) -> None:
    assert await house.say("box_timer_set", {"seconds": "300"}) == "Your timer is set for 5 minutes."


async def test_a_timer_of_a_month_is_refused(house: House) -> None:
    result = await house.run("box_timer_set", {"seconds": 30 * 86400})
    assert result.outcome is Outcome.FAILED and "at most a week" in result.text


async def test_a_timer_that_cannot_be_stored_is_not_confirmed(house: House) -> None:
    house.documents.fail_writes = True
    result = await house.run("box_timer_set", {"seconds": 300})
    assert result.outcome is Outcome.FAILED
    assert "does not count" in result.text and result.error == ""
    assert house.schedule.waiting == ()


async def test_too_many_timers_are_refused_in_words(house: House) -> None:
    for _ in range(MOST_ENTRIES):
        await house.schedule.add_countdown(Kind.TIMER, 60)
    assert "too many" in await house.say("box_timer_set", {"seconds": 300})


async def test_how_long_is_left(house: House) -> None:
    await house.run("box_timer_set", {"seconds": 300, "name": "pasta"})
    await house.clock.advance(50)
    assert await house.say("box_timer_list", {"kind": "timer"}) == "Your pasta timer has 4 minutes and 10 seconds left."
    assert await house.say("box_timer_list", {"kind": "timer", "name": "Pasta"}) == (
        "Your pasta timer has 4 minutes and 10 seconds left."
    )


async def test_several_timers_are_listed_soonest_first(house: House) -> None:
    await house.run("box_timer_set", {"seconds": 600})
    await house.run("box_timer_set", {"seconds": 300, "name": "egg"})
    assert await house.say("box_timer_list", {}) == (
        "You have an egg timer with 5 minutes left and a 10 minute timer with 10 minutes left."
    )


async def test_what_is_not_there_is_said_to_be_not_there(house: House) -> None:
    assert await house.say("box_timer_list", {"kind": "timer"}) == "There is no timer running."
    assert await house.say("box_timer_list", {"kind": "alarm"}) == "No alarm is set."
    assert await house.say("box_timer_list", {"kind": "reminder"}) == "There are no reminders."
    assert await house.say("box_timer_list", {"kind": "nonsense"}) == "Nothing is set: no timer, no alarm, no reminder."
    await house.run("box_timer_set", {"seconds": 300, "name": "tea"})
    assert await house.say("box_timer_list", {"kind": "timer", "name": "pasta"}) == (
        "There is no pasta timer. You have a tea timer with 5 minutes left."
    )


async def test_a_timer_is_cancelled(house: House) -> None:
    await house.run("box_timer_set", {"seconds": 300, "name": "tea"})
    assert await house.say("box_timer_cancel", {"kind": "timer"}) == "Your tea timer is cancelled."
    assert house.schedule.waiting == ()
    assert house.documents.collections[COLLECTION] == {}


async def test_of_several_timers_the_box_asks_which_one(house: House) -> None:
    await house.run("box_timer_set", {"seconds": 300, "name": "tea"})
    await house.run("box_timer_set", {"seconds": 600, "name": "pasta"})
    asked = await house.say("box_timer_cancel", {"kind": "timer"})
    assert asked.startswith("You have a tea timer") and asked.endswith("Which one?")
    assert await house.say("box_timer_cancel", {"kind": "timer", "name": "pasta"}) == "Your pasta timer is cancelled."
    assert [entry.name for entry in house.schedule.waiting] == ["tea"]


@pytest.mark.parametrize("arguments", [{"all": True}, {"name": "both"}, {"name": "all of them"}, {"all": "true"}])
async def test_all_timers_are_cancelled_at_once(house: House, arguments: dict[str, object]) -> None:
    await house.run("box_timer_set", {"seconds": 300, "name": "tea"})
    await house.run("box_timer_set", {"seconds": 600, "name": "pasta"})
    await house.run("box_alarm_set", {"time": "07:00"})
    said = await house.say("box_timer_cancel", {"kind": "timer", **arguments})
    assert said == "I cancelled 2 timers."
    assert [entry.kind for entry in house.schedule.waiting] == [Kind.ALARM]


async def test_a_timer_is_cancelled_by_its_length(house: House) -> None:
    await house.run("box_timer_set", {"seconds": 300})
    await house.run("box_timer_set", {"seconds": 600})
    assert await house.say("box_timer_cancel", {"kind": "timer", "seconds": 600}) == (
        "Your 10 minute timer is cancelled."
    )


async def test_an_alarm_is_cancelled_by_its_time_or_its_day(house: House) -> None:
    for time in ("06:30", "18:30", "07:00"):
        await house.run("box_alarm_set", {"time": time})
    await house.run("box_alarm_set", {"time": "08:00", "day": "friday"})
    assert (await house.say("box_timer_cancel", {"kind": "alarm", "time": "06:30?"})).endswith("Which one?")
    assert "cancel" in await house.say("box_timer_cancel", {"kind": "alarm", "time": "06:30"})
    assert "cancel" in await house.say("box_timer_cancel", {"kind": "alarm", "day": "friday"})
    assert [f"{entry.due_at:%H:%M}" for entry in house.schedule.waiting] == ["18:30", "07:00"]


async def test_cancelling_what_rings_silences_it(house: House, live: Live) -> None:
    await live(house)
    await house.run("box_timer_set", {"seconds": 60, "name": "tea"})
    await house.run("box_timer_set", {"seconds": 600, "name": "pasta"})
    await house.clock.advance(65)
    assert await house.say("box_timer_cancel", {"kind": "timer"}) == "Your tea timer is cancelled."
    assert not house.ringer.ringing
    assert [entry.name for entry in house.schedule.waiting] == ["pasta"]


async def test_cancelling_all_includes_what_rings(house: House, live: Live) -> None:
    await live(house)
    await house.run("box_timer_set", {"seconds": 60, "name": "tea"})
    await house.clock.advance(65)
    assert await house.say("box_timer_cancel", {"kind": "timer", "all": True}) == "Your tea timer is cancelled."
    assert not house.ringer.ringing


async def test_another_name_than_that_which_rings_is_looked_for_among_the_rest(house: House, live: Live) -> None:
    await live(house)
    await house.run("box_timer_set", {"seconds": 60, "name": "tea"})
    await house.run("box_timer_set", {"seconds": 600, "name": "pasta"})
    await house.clock.advance(65)
    assert "pasta timer" in await house.say("box_timer_cancel", {"kind": "timer", "name": "pasta"})
    assert house.ringer.ringing and not house.schedule.waiting


async def test_time_is_added_to_the_timer_that_ends_first_or_to_the_named_one(house: House) -> None:
    await house.run("box_timer_set", {"seconds": 300, "name": "tea"})
    await house.run("box_timer_set", {"seconds": 600, "name": "pasta"})
    assert await house.say("box_timer_add", {"seconds": 60}) == "Your tea timer has 6 minutes left now."
    assert await house.say("box_timer_add", {"seconds": 60, "name": "pasta"}) == (
        "Your pasta timer has 11 minutes left now."
    )
    result = await house.run("box_timer_add", {"seconds": 60, "name": "egg"})
    assert result.outcome is Outcome.FAILED


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"time": "18:00"}, "six o'clock in the evening."),
        ({"time": "07:00"}, "seven o'clock in the morning, tomorrow."),
        ({"time": "07:00?", "is_waking": True}, "seven o'clock in the morning, tomorrow."),
        ({"time": "07:00?"}, "seven o'clock in the evening."),
        ({"time": "09:30", "day": "friday"}, "nine thirty in the morning, on Friday."),
        (
            {"time": "09:30", "day": "2026-12-24"},
            "nine thirty in the morning, on Thursday, December the twenty-fourth.",
        ),
        ({"time": "06:45?", "days": ["weekdays"]}, "six forty-five in the morning, on weekdays."),
    ],
)
async def test_an_alarm_is_confirmed_with_the_moment_it_means(
    house: House, arguments: dict[str, object], said: str
) -> None:
    assert await house.say("box_alarm_set", arguments) == f"Your alarm is set for {said}"


async def test_in_a_typed_turn_the_time_is_written_in_digits(house: House) -> None:
    assert await house.say("box_alarm_set", {"time": "07:00"}, channel="text") == (
        "Your alarm is set for 7:00 AM, tomorrow."
    )


async def test_a_named_alarm_is_listed_by_name(house: House) -> None:
    assert "Your work alarm" in await house.say("box_alarm_set", {"time": "07:00", "name": "work"})
    assert await house.say("box_timer_list", {"kind": "alarm"}) == (
        "Your work alarm is set for seven o'clock in the morning, tomorrow."
    )


async def test_a_repeated_alarm_is_listed_with_its_days(house: House) -> None:
    await house.run("box_alarm_set", {"time": "07:00", "days": ["monday", "friday"]})
    assert await house.say("box_timer_list", {"kind": "alarm"}) == (
        "Your alarm is set for seven o'clock in the morning, every Monday and Friday."
    )


async def test_an_alarm_without_a_time_is_asked_about(house: House) -> None:
    for arguments in ({}, {"day": "tomorrow"}, {"days": ["monday"]}):
        assert (await house.say("box_alarm_set", arguments)).endswith("time?")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"time": "soon"}, "did not understand which time"),
        ({"time": "07:00", "day": "someday"}, "did not understand which day"),
        ({"time": "08:00", "day": "today"}, "already past"),
    ],
)
async def test_a_moment_that_makes_no_sense_is_refused(house: House, arguments: dict[str, object], said: str) -> None:
    result = await house.run("box_alarm_set", arguments)
    assert result.outcome is Outcome.FAILED and said in result.text
    assert house.schedule.waiting == ()


async def test_without_a_set_clock_an_alarm_is_refused_and_a_countdown_is_not() -> None:
    house = House(datetime(1970, 1, 1, tzinfo=UTC), trusted=False)
    result = await house.run("box_alarm_set", {"time": "07:00"})
    assert result.outcome is Outcome.FAILED and "clock is not set" in result.text
    assert await house.say("box_alarm_set", {"in_seconds": 3600}) == "Your alarm will ring in 1 hour."
    assert await house.say("box_timer_list", {"kind": "alarm"}) == "Your alarm has 1 hour left."
    assert (await house.run("box_timer_set", {"seconds": 60})).outcome is Outcome.OK
    assert "1 minute left" in await house.say("box_timer_list", {"kind": "timer"})


async def test_a_reminder_is_confirmed_with_its_text(house: House) -> None:
    assert await house.say("box_reminder_set", {"text": "call mom", "in_seconds": 600}) == (
        "I will remind you in 10 minutes: call mom."
    )
    assert await house.say("box_reminder_set", {"text": "feed my cat", "time": "06:00?"}) == (
        "I will remind you at six o'clock in the evening: feed your cat."
    )
    assert await house.say("box_reminder_set", {"text": "drink water", "time": "10:00", "days": ["daily"]}) == (
        "I will remind you at ten o'clock in the morning, every day: drink water."
    )


async def test_a_reminder_for_a_day_comes_in_the_morning(house: House) -> None:
    said = await house.say("box_reminder_set", {"text": "buy milk", "day": "tomorrow"})
    assert said == "I will remind you at nine o'clock in the morning, tomorrow: buy milk."


async def test_a_reminder_asks_for_what_is_missing(house: House) -> None:
    assert (await house.say("box_reminder_set", {})).endswith("?")
    assert await house.say("box_reminder_set", {"text": "call mom"}) == "When shall I remind you?"


async def test_reminders_are_listed_and_cancelled_by_their_text(house: House) -> None:
    await house.run("box_reminder_set", {"text": "call mom", "time": "18:00"})
    assert await house.say("box_timer_list", {"kind": "reminder"}) == (
        "Your reminder for six o'clock in the evening: call mom."
    )
    await house.run("box_reminder_set", {"text": "buy milk", "time": "19:00"})
    assert await house.say("box_timer_cancel", {"kind": "reminder", "name": "call mom"}) == (
        "Your reminder, call mom, is cancelled."
    )


async def test_snooze_lets_what_rings_ring_again(house: House, live: Live) -> None:
    await live(house)
    await house.run("box_timer_set", {"seconds": 60})
    await house.clock.advance(65)
    assert await house.say("box_snooze") == "I will ring again in 9 minutes."
    assert not house.ringer.ringing
    await house.clock.advance(545)
    assert house.ringer.ringing


async def test_snooze_after_the_wake_word_silenced_it_still_works(house: House, live: Live) -> None:
    await live(house)
    await house.run("box_timer_set", {"seconds": 60})
    await house.clock.advance(65)
    house.ringer.stop()
    await house.clock.advance(5)
    assert await house.say("box_snooze", {"seconds": 120}) == "I will ring again in 2 minutes."
    await house.clock.advance(125)
    assert house.ringer.ringing


async def test_there_may_be_nothing_to_snooze(house: House) -> None:
    result = await house.run("box_snooze")
    assert result.outcome is Outcome.FAILED and result.text == "Nothing is ringing."


async def test_the_alarm_says_the_time_when_it_rings(live: Live) -> None:
    house = House(datetime(2026, 5, 4, 4, 59, tzinfo=UTC), zone=ZoneInfo("Europe/Berlin"))
    await live(house)
    await house.run("box_alarm_set", {"time": "07:00"})
    await house.clock.advance(70)
    assert house.heard[0] == "It is seven o'clock in the morning. This is your alarm."
