"""How timers, alarms and reminders are spoken of: what one is called, when it is, and why it rings late."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, tzinfo

from appliance.catalogue import Catalogue
from appliance.clock import Clock
from appliance.device.entry import Due, DueCause, Entry, Kind
from appliance.device.time_words import join_words, say_clock, say_day, say_days, say_moment
from appliance.think.spoken_duration import say_duration


class EntryWords:
    """Sentences about entries; ``is_spoken`` False gives the clock times for reading."""

    def __init__(self, catalogue: Catalogue, clock: Clock, zone: tzinfo) -> None:
        self._catalogue = catalogue
        self._clock = clock
        self._zone = zone

    def name(self, entry: Entry) -> str:
        """What a person calls it: ``pasta timer``, ``10 minute timer``, ``alarm``, ``reminder, call mom,``."""
        if entry.name:
            return self._catalogue.say("entry.named", name=entry.name, kind=entry.kind)
        length = _length_word(entry.length_seconds)
        return self._catalogue.say(f"entry.{entry.kind}", length=length, text=self.text(entry))

    def text(self, entry: Entry) -> str:
        """A reminder's text as the box says it back: ``my`` is ``your`` now."""
        return re.sub(r"\bmy\b", "your", entry.text)

    def state(self, entry: Entry, left_seconds: float | None, *, is_spoken: bool = True) -> str:
        """One sentence: how long is left, or when it is."""
        if left_seconds is not None and _counts(entry):
            return self._catalogue.say("timer.left", name=self.name(entry), left=say_duration(max(1.0, left_seconds)))
        if entry.kind is Kind.REMINDER:
            return self._catalogue.say(
                "reminder.one", moment=self.when(entry, is_spoken=is_spoken), text=self.text(entry)
            )
        name = self.name(entry)
        if entry.days:
            clock = say_clock(self._local(entry), is_spoken=is_spoken)
            return self._catalogue.say("alarm.one_repeated", name=name, clock=clock, days=say_days(entry.days))
        return self._catalogue.say("alarm.one", name=name, moment=self.when(entry, is_spoken=is_spoken))

    def when(self, entry: Entry, *, is_spoken: bool = True) -> str:
        """The moment it is due, as said now: ``seven o'clock in the morning, tomorrow``."""
        if entry.due_at is None or not self._clock.is_trusted():
            return self._catalogue.say("entry.unknown_moment")
        if entry.days:
            clock = say_clock(self._local(entry), is_spoken=is_spoken)
            return self._catalogue.say("entry.repeated", clock=clock, days=say_days(entry.days))
        return say_moment(self._local(entry), self._now(), is_spoken=is_spoken)

    def short(self, entry: Entry, left_seconds: float | None, *, is_spoken: bool = True) -> str:
        """For a list: ``a pasta timer with 4 minutes left``, ``an alarm for seven o'clock in the morning``."""
        name = self.name(entry)
        # "An 8 minute timer", "an 11 minute timer", "an 18 minute timer".
        is_vowel = name[0].lower() in "aeio8" or name.split()[0] in ("11", "18")
        name = self._catalogue.say("entry.an" if is_vowel else "entry.a", name=name)
        if left_seconds is not None and _counts(entry):
            return self._catalogue.say("entry.with_left", name=name, left=say_duration(max(1.0, left_seconds)))
        return self._catalogue.say("entry.for_moment", name=name, moment=self.when(entry, is_spoken=is_spoken))

    def count(self, entries: Sequence[Entry]) -> str:
        """How many of each kind: ``2 timers and one alarm``."""
        counts = {kind: sum(entry.kind is kind for entry in entries) for kind in Kind}
        return join_words(
            [
                self._catalogue.say(f"entry.one_{kind}" if count == 1 else f"entry.many_{kind}", count=count)
                for kind, count in counts.items()
                if count
            ]
        )

    def ring(self, dues: Sequence[Due]) -> str:
        """What is said when it rings, with an explanation when it is late."""
        return " ".join(self._ring_one(due) for due in dues)

    def missed(self, entry: Entry) -> str:
        """What is said to the first person that comes after it rang unheard."""
        return self._catalogue.say("ring.missed", name=self.name(entry), clock=self._clock_then(entry))

    def _ring_one(self, due: Due) -> str:
        entry = due.entry
        if due.cause is DueCause.LOST:
            return self._catalogue.say("ring.lost", name=self.name(entry))
        if due.cause is not DueCause.ON_TIME or due.is_only_told:
            keys = {DueCause.WAS_OFF: "ring.late_off", DueCause.CLOCK_WAS_WRONG: "ring.late_clock"}
            key = keys.get(due.cause, "ring.late")
            return self._catalogue.say(key, name=self.name(entry), clock=self._clock_then(entry))
        if entry.kind is Kind.REMINDER:
            return self._catalogue.say("ring.reminder", text=self.text(entry))
        named = "_named" if entry.name else ""
        if entry.kind is Kind.TIMER:
            return self._catalogue.say(f"ring.timer{named}", name=entry.name)
        if not self._clock.is_trusted():
            return self._catalogue.say("ring.alarm_countdown")
        return self._catalogue.say(f"ring.alarm{named}", name=entry.name, clock=say_clock(self._now()))

    def _clock_then(self, entry: Entry) -> str:
        """``at six oh five in the evening``, with the day when it was another day."""
        if entry.due_at is None:
            return self._catalogue.say("entry.then_unknown")
        then, today = self._local(entry), self._now().date()
        key = "entry.then" if then.date() == today else "entry.then_day"
        return self._catalogue.say(key, clock=say_clock(then), day=say_day(then.date(), today))

    def _local(self, entry: Entry) -> datetime:
        return (entry.due_at or self._clock.now()).astimezone(self._zone)

    def _now(self) -> datetime:
        return self._clock.now().astimezone(self._zone)


def _counts(entry: Entry) -> bool:
    """Whether people ask how long is left of it, and not when it is."""
    return entry.kind is Kind.TIMER or entry.due_at is None


def _length_word(seconds: float) -> str:
    """``10 minute``: a length in front of a noun."""
    return say_duration(seconds).replace("minutes", "minute").replace("hours", "hour").replace("seconds", "second")
