"""English moments as people say them, read from canonical words (see ``pre_pass``).

``at half past 6 tomorrow``, ``every monday at 7:30 am``, ``in 10 minutes``, ``tonight at 8``. A phrase is read whole
or not at all. Nothing here knows what time it is: "at 6" stays "6, in either half of the day" until whoever sets
the alarm decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from appliance.ports import Json
from appliance.think.spoken_duration import parse_duration

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)


@dataclass(frozen=True)
class When:
    """A moment as it was said: after ``in_seconds``, or at a time of day, on a day or repeated on several.

    ``time`` is ``HH:MM`` in 24 hours, with a ``?`` behind it when the half of the day was not said (``07:00?``), ""
    when only a day was said. ``day`` is today, tomorrow, a weekday, ``MM-DD``, or "". ``days`` are the weekdays on
    which it repeats.
    """

    in_seconds: float | None = None
    time: str = ""
    day: str = ""
    days: tuple[str, ...] = ()

    @property
    def arguments(self) -> dict[str, Json]:
        """The fields that were said, as a tool takes them."""
        said = {"in_seconds": self.in_seconds, "time": self.time, "day": self.day, "days": list(self.days)}
        return {name: value for name, value in said.items() if value}


def parse_when(text: str) -> When | None:
    """The moment in a phrase; None when some word of it does not belong to a moment."""
    found = _AFTER.fullmatch(text.strip())
    seconds = parse_duration(found["in"] or found["from_now"]) if found is not None else None
    if seconds is not None:
        return When(in_seconds=seconds)
    reader = _Reader(text.strip())
    try:
        while reader.rest:
            if not any(read(reader) for read in _PARTS):
                return None
    except _ContradictionError:
        return None
    return reader.when()


_AFTER = re.compile(r"(?:in|after) (?P<in>.+)|(?P<from_now>.+) from now")

_DAY = "|".join(WEEKDAYS)
_MONTH = "|".join(MONTHS)
_UNIT_AHEAD = r"(?! (?:second|minute|hour|day|week|percent)s?\b)"


def _words(pattern: str) -> re.Pattern[str]:
    """A pattern of whole words, with the blank behind the last."""
    return re.compile(rf"(?:{pattern})(?: |$)")


_PAST = _words(
    r"(?:at |for |by )?(?P<amount>half|(?:a )?quarter|\d{1,2}(?: minutes?)?) (?P<side>past|after|to|before) "
    r"(?P<hour>\d{1,2})(?: o'clock)?"
)
_BEFORE_HALF = r"(?= (?:am|pm|in the|at night|tonight|this|tomorrow)\b)"
#: Whisper drops the colon or writes a full stop: "730 am", "at 19.30".
_CLOCKS = (
    _words(r"(?:at |for |by )?(?P<hour>\d{1,2}):(?P<minute>\d\d)(?: o'clock)?"),
    _words(rf"(?:at |for |by )?(?P<hour>\d{{1,2}})\.?(?P<minute>[0-5]\d){_BEFORE_HALF}"),
    _words(rf"(?:at|for|by) (?P<hour>\d{{1,2}})\.?(?P<minute>[0-5]\d){_UNIT_AHEAD}"),
    _words(r"(?:at |for |by )?(?P<hour>\d{1,2}) oh? (?P<minute>\d)"),
    _words(rf"(?:at |for |by )?(?P<hour>\d{{1,2}}) (?P<minute>[1-5]\d){_UNIT_AHEAD}"),
    _words(r"(?:at |for |by )?(?P<hour>\d{1,2}) o'clock"),
    _words(rf"(?:at |for |by )?(?P<hour>\d{{1,2}}){_BEFORE_HALF}"),
    _words(rf"(?:at|for|by) (?P<hour>\d{{1,2}}){_UNIT_AHEAD}"),
)
_NAMED_CLOCK = _words(r"(?:at |for |by )?(?P<name>noon|midday|midnight)")
_HALF = _words(r"(?P<half>am|pm)|in the (?P<part>morning|afternoon|evening)|at (?P<night>night)")
_TODAY_PART = _words(r"(?:for )?(?:this (?P<part>morning|afternoon|evening)|tonight)")
_TOMORROW = _words(r"(?:for )?tomorrow(?: (?P<part>morning|afternoon|evening|night))?")
_TODAY = _words(r"(?:for )?today|later today")
_REPEATED = _words(
    r"(?:on |for )?(?:every|each) (?P<group>weekday|weekend|day|morning|evening|night)|(?P<daily>daily)"
    r"|(?:on |for )?(?:the )?(?P<plural>weekday|weekend|morning|evening|night)s|on the (?P<the>weekend)"
)
_RANGE = _words(rf"(?:on |from |every )*(?P<first>{_DAY})s? (?:to|through|till|until) (?P<last>{_DAY})s?")
_NAMED_DAYS = _words(
    rf"(?P<how>(?:on |for |every |each |this |next |coming )*)(?P<days>(?:{_DAY})s?(?:(?: and)?(?: on)? (?:{_DAY})s?)*)"
    r"(?: (?P<part>morning|afternoon|evening|night))?"
)
_DATES = (
    _words(rf"(?:on )?(?:the )?(?P<number>\d{{1,2}})(?:st|nd|rd|th) (?:of )?(?P<month>{_MONTH})"),
    _words(rf"(?:on )?(?P<month>{_MONTH}) (?:the )?(?P<number>\d{{1,2}})(?:st|nd|rd|th)?"),
)

_MONTH_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
#: When only a part of the day was said, the hour that people usually mean.
_USUAL_TIME = {"": "", "morning": "08:00", "afternoon": "15:00", "evening": "19:00", "night": "20:00"}
_LATE_HALVES = frozenset({"pm", "afternoon", "evening"})


class _ContradictionError(ValueError):
    """The parts of a phrase make no moment together ("at 7 at 8", "at 25")."""


class _Reader:
    """Reads a phrase part by part; each ``read_…`` takes its part from the front, or returns False."""

    def __init__(self, text: str) -> None:
        self.rest = text
        self._hour: int | None = None
        self._minute = 0
        self._half = ""
        self._day = ""
        self._days: tuple[str, ...] = ()

    def when(self) -> When | None:
        """What was read; None when that makes no moment."""
        time = self._time()
        return When(time=time, day=self._day, days=self._days) if time or self._day or self._days else None

    def read_past(self) -> bool:
        """``half past 6``, ``10 minutes to 7``."""
        found = self._take(_PAST)
        if found is None:
            return False
        amount = {"half": 30, "quarter": 15}.get(found["amount"].removeprefix("a "))
        minute = amount or int(found["amount"].split()[0])
        hour = int(found["hour"])
        if found["side"] in ("to", "before"):
            hour, minute = ((hour - 2) % 12 + 1 if hour <= 12 else hour - 1), 60 - minute
        self._set_clock(hour, minute)
        return True

    def read_clock(self) -> bool:
        """``7:30``, ``at 7``, ``7 30``, ``7 o'clock``."""
        found = next((match for pattern in _CLOCKS if (match := self._take(pattern))), None)
        if found is None:
            return False
        self._set_clock(int(found["hour"]), int(found.groupdict().get("minute") or 0))
        return True

    def read_named_clock(self) -> bool:
        """``noon``, ``midnight``."""
        found = self._take(_NAMED_CLOCK)
        if found is None:
            return False
        is_midnight = found["name"] == "midnight"
        self._set_half("" if is_midnight else "pm")
        self._set_clock(0 if is_midnight else 12, 0)
        return True

    def read_half(self) -> bool:
        """``am``, ``in the evening``."""
        found = self._take(_HALF)
        if found is None:
            return False
        self._set_half(found["half"] or found["part"] or found["night"])
        return True

    def read_near_day(self) -> bool:
        """``today``, ``tonight``, ``tomorrow morning``."""
        for pattern, day, half in ((_TODAY_PART, "today", "night"), (_TOMORROW, "tomorrow", ""), (_TODAY, "today", "")):
            found = self._take(pattern)
            if found is not None:
                self._set_half(found.groupdict().get("part") or half)
                self._set_day(day)
                return True
        return False

    def read_repeated(self) -> bool:
        """``every day``, ``on weekdays``, ``monday to friday``."""
        if (found := self._take(_RANGE)) is not None:
            first, last = WEEKDAYS.index(found["first"]), WEEKDAYS.index(found["last"])
            self._set_days(tuple(WEEKDAYS[(first + step) % 7] for step in range((last - first) % 7 + 1)))
            return True
        if (found := self._take(_REPEATED)) is None:
            return False
        group = found["group"] or found["plural"] or found["the"] or "day"
        self._set_half(group if group in _USUAL_TIME else "")
        self._set_days({"weekday": WEEKDAYS[:5], "weekend": WEEKDAYS[5:]}.get(group, WEEKDAYS))
        return True

    def read_named_days(self) -> bool:
        """``on monday``, ``every monday and friday``, ``saturday morning``."""
        found = self._take(_NAMED_DAYS)
        if found is None:
            return False
        named = tuple(day for day in WEEKDAYS if day in found["days"])
        is_repeated = len(named) > 1 or re.search("every|each", found["how"]) or found["days"].endswith("s")
        self._set_half(found["part"] or "")
        if is_repeated:
            self._set_days(named)
        else:
            self._set_day(named[0])
        return True

    def read_date(self) -> bool:
        """``may 5th``, ``the 5th of may``."""
        found = next((match for pattern in _DATES if (match := self._take(pattern))), None)
        if found is None:
            return False
        month, number = MONTHS.index(found["month"]) + 1, int(found["number"])
        if not 1 <= number <= _MONTH_DAYS[month - 1]:
            raise _ContradictionError
        self._set_day(f"{month:02d}-{number:02d}")
        return True

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.rest)
        if found is not None:
            self.rest = self.rest[found.end() :]
        return found

    def _set_clock(self, hour: int, minute: int) -> None:
        if self._hour is not None or not 0 <= hour <= 23 or not 0 <= minute <= 59:
            raise _ContradictionError
        self._hour, self._minute = hour, minute

    def _set_half(self, half: str) -> None:
        if half and self._half:
            raise _ContradictionError
        self._half = self._half or half

    def _set_day(self, day: str) -> None:
        if self._day or self._days:
            raise _ContradictionError
        self._day = day

    def _set_days(self, days: tuple[str, ...]) -> None:
        if self._day or self._days:
            raise _ContradictionError
        self._days = days

    def _time(self) -> str:
        if self._hour is None:
            return _USUAL_TIME.get(self._half, "")
        hour = self._hour
        if self._half and 1 <= hour <= 12:
            # "12 at night" is midnight, "2 at night" is early, "9 at night" is late.
            is_late = self._half in _LATE_HALVES or (self._half == "night" and 5 <= hour <= 11)
            return f"{hour % 12 + (12 if is_late else 0):02d}:{self._minute:02d}"
        is_known = self._half or hour == 0 or hour > 12
        return f"{hour:02d}:{self._minute:02d}" + ("" if is_known else "?")


_PARTS = (
    _Reader.read_past,
    _Reader.read_clock,
    _Reader.read_named_clock,
    _Reader.read_half,
    _Reader.read_near_day,
    _Reader.read_repeated,
    _Reader.read_named_days,
    _Reader.read_date,
)
