"""When "at six" is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.device.moments import (
    MomentError,
    TimeOfDay,
    next_moment,
    next_repeat,
    parse_days,
    parse_time_of_day,
    settle_half,
)
from appliance.think.spoken_time import WEEKDAYS
from tests.device.house import MONDAY_AFTERNOON

BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")


@pytest.mark.parametrize(
    ("said", "time"),
    [
        ("07:30", TimeOfDay(7, 30)),
        ("7:30", TimeOfDay(7, 30)),
        ("07:30?", TimeOfDay(7, 30, is_sure=False)),
        ("00:30?", TimeOfDay(0, 30)),
        ("19:30?", TimeOfDay(19, 30)),
        ("19:30:00", TimeOfDay(19, 30)),
        ("7:30 pm", TimeOfDay(19, 30)),
        ("7 PM", TimeOfDay(19, 0)),
        ("noon", TimeOfDay(12, 0)),
        ("half past six", TimeOfDay(6, 30, is_sure=False)),
    ],
)
def test_a_time_of_day_is_read_as_people_and_models_write_it(said: str, time: TimeOfDay) -> None:
    assert parse_time_of_day(said) == time


@pytest.mark.parametrize("said", ["25:00", "7:60", "soon", "", "tomorrow", "monday at 7"])
def test_what_is_no_time_of_day_is_refused(said: str) -> None:
    with pytest.raises(MomentError, match=r"device\.no_such_time"):
        parse_time_of_day(said)


@pytest.mark.parametrize(
    ("time", "day", "expected"),
    [
        # It is Monday, 15:07.
        ("06:00?", "", "2026-05-04 18:00"),
        ("03:00?", "", "2026-05-05 03:00"),
        ("03:08?", "", "2026-05-04 15:08"),
        ("12:00?", "", "2026-05-05 00:00"),
        ("07:00", "", "2026-05-05 07:00"),
        ("16:00", "today", "2026-05-04 16:00"),
        ("01:00", "today", "2026-05-05 01:00"),
        ("07:00", "tomorrow", "2026-05-05 07:00"),
        ("16:00", "monday", "2026-05-04 16:00"),
        ("09:00", "monday", "2026-05-11 09:00"),
        ("09:00", "friday", "2026-05-08 09:00"),
        ("12:00", "05-05", "2026-05-05 12:00"),
        ("12:00", "05-04", "2027-05-04 12:00"),
        ("12:00", "02-29", "2028-02-29 12:00"),
        ("12:00", "2026-12-24", "2026-12-24 12:00"),
    ],
)
def test_the_next_such_moment_is_meant(time: str, day: str, expected: str) -> None:
    moment = next_moment(parse_time_of_day(time), day, MONDAY_AFTERNOON, UTC)
    assert f"{moment:%Y-%m-%d %H:%M}" == expected


@pytest.mark.parametrize(("time", "day"), [("08:00", "today"), ("12:00", "2026-05-01"), ("03:00?", "today")])
def test_what_is_past_is_refused(time: str, day: str) -> None:
    with pytest.raises(MomentError, match=r"device\.past"):
        next_moment(parse_time_of_day(time), day, MONDAY_AFTERNOON, UTC)


@pytest.mark.parametrize("day", ["someday", "13-01", "02-30", "2025-02-29"])
def test_a_day_that_does_not_exist_is_refused(day: str) -> None:
    with pytest.raises(MomentError, match=r"device\.no_such_day"):
        next_moment(TimeOfDay(7, 0), day, MONDAY_AFTERNOON, UTC)


@pytest.mark.parametrize(
    ("hour", "is_waking", "is_reminder", "expected"),
    [
        *((7, True, False, 7), (3, True, False, 3), (12, True, False, 12), (5, False, False, 5)),
        *((3, False, False, 15), (5, False, True, 17), (9, False, True, 9), (12, False, True, 12)),
    ],
)
def test_the_usual_half_of_the_day_is_taken(hour: int, is_waking: bool, is_reminder: bool, expected: int) -> None:
    time = settle_half(TimeOfDay(hour, 0, is_sure=False), is_waking=is_waking, is_reminder=is_reminder)
    assert time == TimeOfDay(expected, 0)


def test_a_time_in_the_hour_that_spring_skips_comes_an_hour_later() -> None:
    before = datetime(2026, 3, 28, 23, tzinfo=UTC)
    moment = next_moment(TimeOfDay(2, 30), "", before, BERLIN)
    assert moment == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
    assert f"{moment.astimezone(BERLIN):%H:%M}" == "03:30"


def test_a_time_in_the_hour_that_comes_twice_comes_once() -> None:
    before = datetime(2026, 10, 31, 12, tzinfo=UTC)
    first = next_repeat(TimeOfDay(1, 30), ("sunday", "monday"), before, NEW_YORK)
    assert first == datetime(2026, 11, 1, 5, 30, tzinfo=UTC), "still summer time"
    assert next_repeat(TimeOfDay(1, 30), ("sunday", "monday"), first, NEW_YORK) == datetime(
        2026, 11, 2, 6, 30, tzinfo=UTC
    )


def test_tomorrow_is_the_houses_tomorrow() -> None:
    late_evening = datetime(2026, 5, 5, 3, tzinfo=UTC)  # Monday, 23:00 in New York
    moment = next_moment(TimeOfDay(7, 0), "tomorrow", late_evening, NEW_YORK)
    assert moment == datetime(2026, 5, 5, 11, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "days"),
    [
        (["monday"], ("monday",)),
        (["Fri", "mon"], ("monday", "friday")),
        (["weekdays"], WEEKDAYS[:5]),
        (["sundays", "saturday"], WEEKDAYS[5:]),
        ([], ()),
    ],
)
def test_weekdays_are_read_in_any_spelling(said: list[str], days: tuple[str, ...]) -> None:
    assert parse_days(said) == days


def test_what_is_no_weekday_is_refused() -> None:
    with pytest.raises(MomentError, match=r"device\.no_such_day"):
        parse_days(["someday"])


@given(
    hour=st.integers(0, 23),
    minute=st.integers(0, 59),
    days=st.sets(st.sampled_from(WEEKDAYS), min_size=1),
    after=st.datetimes(min_value=datetime(2025, 1, 1), max_value=datetime(2028, 1, 1), timezones=st.just(UTC)),
)
def test_a_repeat_is_always_ahead_within_eight_days_and_on_a_right_day(
    hour: int, minute: int, days: set[str], after: datetime
) -> None:
    moment = next_repeat(TimeOfDay(hour, minute), tuple(days), after, BERLIN)
    assert after < moment <= after + timedelta(days=8)
    assert WEEKDAYS[moment.astimezone(BERLIN).weekday()] in days
