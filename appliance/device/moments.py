"""From "at six" to the moment it means: pure functions of what was said, the time now and the house's time zone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo

from appliance.errors import ApplianceError
from appliance.think.pre_pass import pre_pass
from appliance.think.spoken_time import WEEKDAYS, parse_when


class MomentError(ApplianceError):
    """What was said makes no moment; ``str`` is the catalogue key of the sentence for the person."""


@dataclass(frozen=True)
class TimeOfDay:
    """A time on the clock; ``is_sure`` is False when the half of the day was not said (1 <= hour <= 12 then)."""

    hour: int
    minute: int
    is_sure: bool = True

    @property
    def hours(self) -> tuple[int, ...]:
        """The hours it may mean."""
        return (self.hour,) if self.is_sure else (self.hour % 12, self.hour % 12 + 12)

    def __str__(self) -> str:
        return f"{self.hour:02d}:{self.minute:02d}"


def parse_time_of_day(text: str) -> TimeOfDay:
    """``07:30``, ``7:30?`` (either half of the day), ``7:30 pm``, ``noon``. Raises ``MomentError``."""
    found = re.fullmatch(r"\s*(\d{1,2}):(\d\d)(?::00)?\s*(\?)?\s*", text)
    if found is not None:
        hour, minute = int(found[1]), int(found[2])
        if hour > 23 or minute > 59:
            raise MomentError("device.no_such_time")
        return TimeOfDay(hour, minute, is_sure=not (found[3] and 1 <= hour <= 12))
    when = parse_when(pre_pass(text)) or parse_when(f"at {pre_pass(text)}")
    if when is None or not when.time or when.day or when.days:
        raise MomentError("device.no_such_time")
    return parse_time_of_day(when.time)


def parse_days(days: Sequence[str]) -> tuple[str, ...]:
    """Weekdays in order, from names in any spelling ("Mon", "weekdays"). Raises ``MomentError``."""
    found: set[str] = set()
    for name in days:
        plain = name.strip().lower()
        group = {"weekdays": WEEKDAYS[:5], "weekends": WEEKDAYS[5:], "daily": WEEKDAYS, "everyday": WEEKDAYS}.get(plain)
        named = group or tuple(day for day in WEEKDAYS if len(plain) >= 3 and day.startswith(plain.removesuffix("s")))
        if not named:
            raise MomentError("device.no_such_day")
        found.update(named)
    return tuple(day for day in WEEKDAYS if day in found)


def settle_half(time: TimeOfDay, *, is_waking: bool, is_reminder: bool) -> TimeOfDay:
    """The half of the day that people usually mean, when nothing else decides.

    To be woken is a thing of the morning. Otherwise 7 to 11 is the morning, 12 to 6 the afternoon; an alarm
    (unlike a reminder) at 4 to 6 is early.
    """
    if time.is_sure:
        return time
    first_morning_hour = 1 if is_waking else 7 if is_reminder else 4
    is_late = time.hour == 12 or time.hour < first_morning_hour
    return TimeOfDay(time.hour % 12 + (12 if is_late else 0), time.minute)


def next_moment(time: TimeOfDay, day: str, now: datetime, zone: tzinfo) -> datetime:
    """The next time, in UTC, that it is ``time`` on ``day``: today, tomorrow, a weekday, ``MM-DD``, ``YYYY-MM-DD``, "".

    Raises ``MomentError`` when that is past, or no such day exists.
    """
    local = now.astimezone(zone)
    for candidate in _candidate_days(day.strip().lower(), time, local.date()):
        for hour in time.hours:
            moment = at(candidate, TimeOfDay(hour, time.minute), zone)
            if moment > now:
                return moment
    raise MomentError("device.past")


def next_repeat(time: TimeOfDay, days: Sequence[str], after: datetime, zone: tzinfo) -> datetime:
    """The first moment behind ``after``, in UTC, that it is ``time`` on one of ``days``."""
    start = after.astimezone(zone).date()
    for ahead in range(9):
        day = start + timedelta(days=ahead)
        moment = at(day, time, zone)
        if WEEKDAYS[day.weekday()] in days and moment > after:
            return moment
    raise MomentError("device.no_such_day")


def at(day: date, time: TimeOfDay, zone: tzinfo) -> datetime:
    """That time on that day, in UTC.

    In the hour that a spring change skips it is as much later as was skipped; in the hour that comes twice in
    autumn it is the first.
    """
    return datetime(day.year, day.month, day.day, time.hour, time.minute, tzinfo=zone).astimezone(UTC)


def days_meant(day: str, today: date) -> list[date]:
    """The days that ``day`` may mean, in order. Raises ``MomentError``."""
    if day in ("today", "tonight"):
        return [today]
    if day == "tomorrow":
        return [today + timedelta(days=1)]
    if day in WEEKDAYS:
        ahead = (WEEKDAYS.index(day) - today.weekday()) % 7
        return [today + timedelta(days=ahead), today + timedelta(days=ahead + 7)]
    return _dates(day, today)


def _candidate_days(day: str, time: TimeOfDay, today: date) -> list[date]:
    """The days on which the next such time may be, in order."""
    # "Tonight at one" is already tomorrow.
    is_behind_midnight = day in ("today", "tonight") and time.is_sure and time.hour < 6
    if day == "" or is_behind_midnight:
        return [today, today + timedelta(days=1)]
    return days_meant(day, today)


def _dates(day: str, today: date) -> list[date]:
    found = re.fullmatch(r"(?:(\d{4})-)?(\d{1,2})-(\d{1,2})", day)
    if found is None:
        raise MomentError("device.no_such_day")
    years = [int(found[1])] if found[1] else range(today.year, today.year + 9)
    dates = []
    for year in years:
        try:
            dates.append(date(year, int(found[2]), int(found[3])))
        except ValueError:
            # The 29th of February: only every fourth year has it.
            continue
    if not dates:
        raise MomentError("device.no_such_day")
    return dates
