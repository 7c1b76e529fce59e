"""Times and days in English words that the voice reads well and a listener cannot mistake.

The forms were chosen by having the voice speak them and the transcriber write them down: "9:00" is read as "nine
zero zero", "3:07 PM" as "three oh seven" with a swallowed ending; "three oh seven in the afternoon" survives.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta

from appliance.think.spoken_numbers import to_ordinal_words, to_words
from appliance.think.spoken_time import WEEKDAYS


def say_clock(moment: datetime, *, is_spoken: bool = True) -> str:
    """``three oh seven in the afternoon``; ``3:07 PM`` when it is read, not heard."""
    hour, minute = moment.hour, moment.minute
    if not is_spoken:
        return f"{(hour - 1) % 12 + 1}:{minute:02d} {'AM' if hour < 12 else 'PM'}"
    if (hour, minute) == (0, 0):
        return "midnight"
    if (hour, minute) == (12, 0):
        return "twelve noon"
    minutes = "o'clock" if minute == 0 else f"oh {to_words(minute)}" if minute < 10 else to_words(minute)
    return f"{to_words((hour - 1) % 12 + 1)} {minutes} {_part_of_day(hour)}"


def say_date(day: date, *, is_spoken: bool = True) -> str:
    """``Monday, May the fourth``; ``Monday, May 4`` when it is read."""
    number = f"the {to_ordinal_words(day.day)}" if is_spoken else str(day.day)
    return f"{day:%A}, {day:%B} {number}"


def say_day(day: date, today: date, *, is_spoken: bool = True) -> str:
    """A day as seen from ``today``: ``today``, ``tomorrow``, ``on Friday``, ``on Friday, May the fifteenth``."""
    ahead = (day - today).days
    if ahead in (-1, 0, 1):
        return {-1: "yesterday", 0: "today", 1: "tomorrow"}[ahead]
    return f"on {day:%A}" if 1 < ahead < 7 else f"on {say_date(day, is_spoken=is_spoken)}"


def say_days(days: Sequence[str]) -> str:
    """Weekdays on which something repeats: ``every day``, ``on weekdays``, ``every Monday and Friday``."""
    ordered = tuple(day for day in WEEKDAYS if day in days)
    groups = {WEEKDAYS: "every day", WEEKDAYS[:5]: "on weekdays", WEEKDAYS[5:]: "on weekends"}
    return groups.get(ordered) or f"every {join_words([day.capitalize() for day in ordered])}"


def say_moment(moment: datetime, now: datetime, *, is_spoken: bool = True) -> str:
    """``seven o'clock in the morning, tomorrow``; the day is left out when it can only be today or tonight."""
    clock = say_clock(moment, is_spoken=is_spoken)
    is_near = moment.date() == now.date() and timedelta(0) <= moment - now < timedelta(hours=12)
    return clock if is_near else f"{clock}, {say_day(moment.date(), now.date(), is_spoken=is_spoken)}"


def join_words(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _part_of_day(hour: int) -> str:
    if hour < 12:
        return "at night" if hour == 0 else "in the morning"
    return "in the afternoon" if hour < 18 else "in the evening" if hour < 22 else "at night"
