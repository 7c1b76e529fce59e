"""Setting timers, alarms and reminders: from what was said to an entry, and to the sentence that confirms it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, tzinfo

from appliance.catalogue import Catalogue
from appliance.clock import Clock
from appliance.device.box_tool import Arguments, CannotError, flag_of, number_of, text_of
from appliance.device.entry import Entry, Kind
from appliance.device.entry_words import EntryWords
from appliance.device.moments import (
    MomentError,
    TimeOfDay,
    next_moment,
    next_repeat,
    parse_days,
    parse_time_of_day,
    settle_half,
)
from appliance.device.schedule import FullError, Schedule
from appliance.device.time_words import say_clock, say_days
from appliance.think.spoken_duration import say_duration
from appliance.tools.tool import CallContext

_LONGEST_SECONDS = 7 * 86400.0
_LONGEST_NAME = 40
_LONGEST_TEXT = 300
#: A reminder "for tomorrow", without a time, comes at this time.
_REMINDER_TIME = TimeOfDay(9, 0)


@dataclass(frozen=True)
class _Moment:
    """When something is due: in so many seconds, or at a moment that may repeat."""

    in_seconds: float = 0.0
    at: datetime | None = None
    time: str = ""
    days: tuple[str, ...] = ()


@dataclass(frozen=True)
class TimerSetting:
    """Sets things; every sentence that it returns is true already."""

    schedule: Schedule
    clock: Clock
    zone: tzinfo
    catalogue: Catalogue
    words: EntryWords

    async def set_timer(self, arguments: Arguments, context: CallContext) -> str:
        """Start a timer; asks for the length when there is none."""
        seconds = self._seconds(arguments, "seconds")
        if seconds is None:
            return self.catalogue.say("timer.how_long")
        name = text_of(arguments, "name", _LONGEST_NAME)
        entry = await self._add(Kind.TIMER, _Moment(in_seconds=seconds), name=name)
        key = "timer.set_named" if name else "timer.set"
        return self.catalogue.say(key, name=name, length=say_duration(entry.length_seconds))

    async def add_time(self, arguments: Arguments, context: CallContext) -> str:
        """Make a running timer longer; the one that ends first when no name is given."""
        seconds = self._seconds(arguments, "seconds")
        if seconds is None:
            return self.catalogue.say("timer.how_long")
        name = text_of(arguments, "name", _LONGEST_NAME).lower()
        timers = [
            entry
            for entry in self.schedule.waiting
            if entry.kind is Kind.TIMER
            and (not name or name in entry.name.lower())
            and self.schedule.seconds_left(entry) is not None
        ]
        if not timers:
            raise CannotError(self.catalogue.say("timer.none_to_add"))
        called = self.words.name(timers[0])
        longer = await self.schedule.extend(timers[0], seconds)
        left = self.schedule.seconds_left(longer) or 0.0
        return self.catalogue.say("timer.added", name=called, left=say_duration(left))

    async def set_alarm(self, arguments: Arguments, context: CallContext) -> str:
        """Set an alarm; asks for the time when there is none."""
        moment = self._moment(arguments, is_waking=flag_of(arguments, "is_waking"))
        if moment is None:
            return self.catalogue.say("alarm.what_time")
        name = text_of(arguments, "name", _LONGEST_NAME)
        entry = await self._add(Kind.ALARM, moment, name=name)
        is_spoken = context.channel == "voice"
        named = "_named" if name else ""
        if entry.is_countdown:
            return self.catalogue.say(f"alarm.set_in{named}", name=name, length=say_duration(entry.length_seconds))
        if moment.days and entry.due_at is not None:
            clock = say_clock(entry.due_at.astimezone(self.zone), is_spoken=is_spoken)
            return self.catalogue.say(f"alarm.set_repeated{named}", name=name, clock=clock, days=say_days(moment.days))
        return self.catalogue.say(f"alarm.set{named}", name=name, moment=self.words.when(entry, is_spoken=is_spoken))

    async def set_reminder(self, arguments: Arguments, context: CallContext) -> str:
        """Set a reminder; asks what for, or for the time, when that is missing."""
        text = text_of(arguments, "text", _LONGEST_TEXT).rstrip(".!")
        if not text:
            return self.catalogue.say("reminder.what")
        moment = self._moment(arguments, is_reminder=True)
        if moment is None:
            return self.catalogue.say("reminder.when")
        entry = await self._add(Kind.REMINDER, moment, text=text)
        said = self.words.text(entry)
        if entry.is_countdown:
            return self.catalogue.say("reminder.set_in", length=say_duration(entry.length_seconds), text=said)
        is_spoken = context.channel == "voice"
        if moment.days and entry.due_at is not None:
            clock = say_clock(entry.due_at.astimezone(self.zone), is_spoken=is_spoken)
            return self.catalogue.say("reminder.set_repeated", clock=clock, days=say_days(moment.days), text=said)
        return self.catalogue.say("reminder.set", moment=self.words.when(entry, is_spoken=is_spoken), text=said)

    async def _add(self, kind: Kind, moment: _Moment, *, name: str = "", text: str = "") -> Entry:
        try:
            if moment.at is None:
                return await self.schedule.add_countdown(kind, moment.in_seconds, name=name, text=text)
            return await self.schedule.add_moment(
                kind, moment.at, name=name, text=text, time=moment.time, days=moment.days
            )
        except FullError as error:
            raise CannotError(self.catalogue.say("timer.full")) from error

    def _seconds(self, arguments: Arguments, name: str) -> float | None:
        """A length that makes sense; None when none was given."""
        seconds = number_of(arguments, name)
        if seconds is None or seconds <= 0:
            return None
        if seconds > _LONGEST_SECONDS:
            raise CannotError(self.catalogue.say("timer.too_long"))
        return seconds

    def _moment(self, arguments: Arguments, *, is_waking: bool = False, is_reminder: bool = False) -> _Moment | None:
        """When it is due; None when no time was said."""
        in_seconds = self._seconds(arguments, "in_seconds")
        if in_seconds is not None:
            return _Moment(in_seconds=in_seconds)
        try:
            return self._time_of_day(arguments, is_waking, is_reminder)
        except MomentError as error:
            raise CannotError(self.catalogue.say(str(error))) from error

    def _time_of_day(self, arguments: Arguments, is_waking: bool, is_reminder: bool) -> _Moment | None:
        said, day = text_of(arguments, "time"), text_of(arguments, "day").lower()
        listed = arguments.get("days")
        days = parse_days([str(entry) for entry in listed]) if isinstance(listed, list) else ()
        if not said and not (is_reminder and (days or day not in ("", "today"))):
            return None
        if not self.clock.is_trusted():
            raise CannotError(self.catalogue.say("alarm.clock_not_set"))
        time = parse_time_of_day(said) if said else _REMINDER_TIME
        if days or is_waking or day not in ("", "today", "tonight"):
            time = settle_half(time, is_waking=is_waking, is_reminder=is_reminder)
        now = self.clock.now()
        if days:
            return _Moment(at=next_repeat(time, days, now, self.zone), time=str(time), days=days)
        return _Moment(at=next_moment(time, day, now, self.zone))
