"""Times in five fields, as cron has them: minute, hour, day of the month, month, day of the week."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
#: Two 29ths of February are at most eight years apart.
_DAYS_TO_LOOK_AT = 8 * 366 + 1


@dataclass(frozen=True)
class Cron:
    """A set of moments. Days of the week count from Sunday, 0."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    #: With both kinds of days given, either may fit.
    is_any_day_enough: bool

    @classmethod
    def parse(cls, text: str) -> Cron:
        """From ``30 7 * * mon-fri``. Raises ``ValueError`` with a sentence."""
        fields = text.lower().split()
        if len(fields) != 5:
            raise ValueError(f"{text!r} is no time: it takes five fields, such as '30 7 * * *' for half past seven")
        minute, hour, day, month, weekday = fields
        return cls(
            _numbers(minute, 0, 59),
            _numbers(hour, 0, 23),
            _numbers(day, 1, 31),
            _numbers(month, 1, 12, _MONTHS, first=1),
            frozenset(number % 7 for number in _numbers(weekday, 0, 7, _DAYS)),
            not day.startswith("*") and not weekday.startswith("*"),
        )

    @classmethod
    def daily(cls, hour: int, minute: int) -> Cron:
        """Every day at this time."""
        return cls.parse(f"{minute} {hour} * * *")

    def after(self, moment: datetime, zone: tzinfo) -> datetime | None:
        """The first moment (UTC) behind ``moment``, read in ``zone``; None when there is none, as on 31 February."""
        day = moment.astimezone(zone).date()
        for offset in range(_DAYS_TO_LOOK_AT):
            today = day + timedelta(days=offset)
            if not self._has_day(today):
                continue
            for hour in sorted(self.hours):
                for minute in sorted(self.minutes):
                    local = datetime(today.year, today.month, today.day, hour, minute, tzinfo=zone)
                    if (found := local.astimezone(UTC)) > moment:
                        return found
        return None

    def _has_day(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        is_day, is_weekday = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return is_day or is_weekday if self.is_any_day_enough else is_day and is_weekday


def _numbers(field: str, lowest: int, highest: int, names: tuple[str, ...] = (), *, first: int = 0) -> frozenset[int]:
    """``*``, ``5``, ``1-5``, ``*/15``, ``mon,wed``."""
    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        begin, dash, end = span.partition("-")
        if span == "*":
            low, high = lowest, highest
        else:
            low = _number(begin, names, first)
            high = _number(end, names, first) if dash else highest if step else low
        if not lowest <= low <= high <= highest or (step and not (step.isdecimal() and int(step))):
            raise ValueError(f"{field!r} is no part of a time: here stands a number from {lowest} to {highest}")
        found.update(range(low, high + 1, int(step or 1)))
    return frozenset(found)


def _number(text: str, names: tuple[str, ...], first: int) -> int:
    """-1 for what is none."""
    if text[:3] in names:
        return names.index(text[:3]) + first
    return int(text) if text.isdecimal() else -1
