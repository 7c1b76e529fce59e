"""Quiet hours, the house's time zone, and times in words."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.device.quiet_hours import QuietHours
from appliance.device.time_words import join_words, say_clock, say_date, say_day, say_days, say_moment
from appliance.device.zone import boot_id, house_zone
from appliance.errors import ConfigError
from appliance.think.pre_pass import pre_pass
from appliance.think.spoken_time import WEEKDAYS, parse_when
from appliance.think.time_zones import find_zone, places


@pytest.mark.parametrize(
    ("span", "clock", "is_quiet"),
    [
        ("22:00-07:00", "23:30", True),
        ("22:00-07:00", "06:59", True),
        ("22:00-07:00", "07:00", False),
        ("22:00 – 07:00", "22:00", True),
        ("13:00-14:30", "14:00", True),
        ("13:00-14:30", "15:00", False),
        ("00:00-00:00", "03:00", False),
        ("", "03:00", False),
    ],
)
def test_quiet_hours_may_pass_midnight(span: str, clock: str, is_quiet: bool) -> None:
    now = datetime.combine(date(2026, 5, 4), time.fromisoformat(clock), UTC)
    assert QuietHours.parse(span).is_quiet(now) is is_quiet


@pytest.mark.parametrize("span", ["night", "22-7", "22:00", "25:00-07:00", "22:00-07:60"])
def test_quiet_hours_that_are_no_span_name_what_is_allowed(span: str) -> None:
    with pytest.raises(ConfigError, match=r'quiet_hours = .*must be a span such as "22:00-07:00"'):
        QuietHours.parse(span)


@pytest.mark.parametrize(
    ("clock", "spoken", "written"),
    [
        ("00:00", "midnight", "12:00 AM"),
        ("00:05", "twelve oh five at night", "12:05 AM"),
        ("07:00", "seven o'clock in the morning", "7:00 AM"),
        ("12:00", "twelve noon", "12:00 PM"),
        ("12:30", "twelve thirty in the afternoon", "12:30 PM"),
        ("15:07", "three oh seven in the afternoon", "3:07 PM"),
        ("18:45", "six forty-five in the evening", "6:45 PM"),
        ("22:10", "ten ten at night", "10:10 PM"),
    ],
)
def test_a_time_is_said_so_that_it_is_heard_right(clock: str, spoken: str, written: str) -> None:
    moment = datetime.combine(date(2026, 5, 4), time.fromisoformat(clock), UTC)
    assert say_clock(moment) == spoken
    assert say_clock(moment, is_spoken=False) == written


@given(st.integers(0, 23), st.integers(0, 59), st.booleans())
def test_a_time_that_the_box_says_is_understood_by_the_box(hour: int, minute: int, is_spoken: bool) -> None:
    said = say_clock(datetime(2026, 5, 4, hour, minute, tzinfo=UTC), is_spoken=is_spoken)
    when = parse_when(pre_pass(f"at {said}".replace("twelve noon", "noon")))
    assert when is not None and when.time == f"{hour:02d}:{minute:02d}"


def test_days_are_said_as_seen_from_today() -> None:
    today = date(2026, 5, 4)
    assert say_day(date(2026, 5, 3), today) == "yesterday"
    assert say_day(date(2026, 5, 5), today) == "tomorrow"
    assert say_day(date(2026, 5, 8), today) == "on Friday"
    assert say_day(date(2026, 5, 11), today) == "on Monday, May the eleventh"
    assert say_date(date(2026, 5, 22), is_spoken=False) == "Friday, May 22"
    assert say_date(date(2026, 5, 31)) == "Sunday, May the thirty-first"


def test_a_near_moment_needs_no_day() -> None:
    now = datetime(2026, 5, 4, 15, 7, tzinfo=UTC)
    assert say_moment(datetime(2026, 5, 4, 18, tzinfo=UTC), now) == "six o'clock in the evening"
    assert say_moment(datetime(2026, 5, 5, 1, tzinfo=UTC), now) == "one o'clock in the morning, tomorrow"


def test_weekdays_are_grouped() -> None:
    assert say_days(WEEKDAYS) == "every day"
    assert say_days(WEEKDAYS[4::-1]) == "on weekdays"
    assert say_days(("sunday", "saturday")) == "on weekends"
    assert say_days(("friday", "monday", "sunday")) == "every Monday, Friday and Sunday"
    assert [join_words(words) for words in ([], ["a"], ["a", "b"])] == ["", "a", "a and b"]


def test_the_house_is_where_the_system_says(tmp_path: Path) -> None:
    assert house_zone({"TZ": "Asia/Tokyo"}) == ZoneInfo("Asia/Tokyo")
    assert house_zone({"TZ": ":Asia/Tokyo"}) == ZoneInfo("Asia/Tokyo")
    assert house_zone({"TZ": "Nowhere/Land"}) is UTC
    assert house_zone({}, tmp_path / "missing") is UTC
    (tmp_path / "localtime").write_bytes(b"no zone")
    assert house_zone({}, tmp_path / "localtime") is UTC


def test_the_house_follows_its_localtime_file_with_summer_time(tmp_path: Path) -> None:
    source = Path("/usr/share/zoneinfo/Europe/Berlin")
    if not source.exists():
        pytest.skip("this machine has no time zone files")
    (tmp_path / "localtime").write_bytes(source.read_bytes())
    zone = house_zone({}, tmp_path / "localtime")
    assert [datetime(2026, month, 1, tzinfo=zone).utcoffset() for month in (1, 7)] == [
        datetime(2026, month, 1, tzinfo=ZoneInfo("Europe/Berlin")).utcoffset() for month in (1, 7)
    ]


def test_the_boot_is_named_by_the_system_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "boot_id").write_text("abc\n", encoding="ascii")
    assert boot_id(tmp_path / "boot_id") == "abc"
    assert boot_id(tmp_path / "missing") == ""


def test_places_are_known_by_city_country_and_zone() -> None:
    assert find_zone("New York") == "America/New_York"
    assert find_zone("the Netherlands") == "Europe/Amsterdam"
    assert find_zone("Europe/Paris") == "Europe/Paris"
    assert find_zone("Gotham") is None
    assert len(places()) > 400
    assert all(place == place.lower() and place == " ".join(place.split()) for place in places())
