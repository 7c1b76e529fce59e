"""Asking for, cancelling and snoozing what is set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo

from appliance.catalogue import Catalogue
from appliance.clock import Clock
from appliance.device.box_tool import Arguments, CannotError, flag_of, number_of, text_of
from appliance.device.controls import Ringing
from appliance.device.entry import Entry, Kind, RingEnding
from appliance.device.entry_words import EntryWords
from appliance.device.moments import MomentError, days_meant, parse_time_of_day
from appliance.device.ringer import RingAnswer
from appliance.device.schedule import Schedule
from appliance.device.time_words import join_words
from appliance.think.spoken_duration import say_duration
from appliance.tools.tool import CallContext

_LONGEST_SNOOZE_SECONDS = 86400.0
#: Answers to "which one?" that mean every one.
_ALL_WORDS = frozenset({"all", "both", "everything", "all of them", "both of them", "every one", "all 3"})


@dataclass(frozen=True)
class TimerAsking:
    """Looks at and ends what is set."""

    schedule: Schedule
    ringing: Ringing
    clock: Clock
    zone: tzinfo
    catalogue: Catalogue
    words: EntryWords
    snooze_seconds: float

    async def list_entries(self, arguments: Arguments, context: CallContext) -> str:
        """What is set, of one kind or of all, and how long it has left."""
        kind, name = _kind(arguments), text_of(arguments, "name").lower()
        found = self._named(self._of_kind(self.schedule.waiting, kind), name)
        if not found:
            return self._none(kind, name)
        is_spoken = context.channel == "voice"
        if len(found) == 1:
            return self.words.state(found[0], self.schedule.seconds_left(found[0]), is_spoken=is_spoken)
        return self.catalogue.say("timer.several", names=self._listed(found, is_spoken=is_spoken))

    async def cancel(self, arguments: Arguments, context: CallContext) -> str:
        """Cancel what is meant; asks which one when that is not clear. What rings is meant first."""
        kind, name = _kind(arguments), text_of(arguments, "name").lower()
        is_all = flag_of(arguments, "all") or name in _ALL_WORDS
        silenced = await self._silence(kind, "" if is_all else name)
        if silenced and not is_all:
            return self._cancelled(silenced)
        found = self._of_kind(self.schedule.waiting, kind)
        if not is_all:
            found = self._at(self._long(self._named(found, name), arguments), arguments)
        if not found and not silenced:
            return self._none(kind, name)
        if len(found) > 1 and not is_all:
            return self.catalogue.say("timer.which", names=self._listed(found))
        for entry in found:
            await self.schedule.cancel(entry.entry_id)
        return self._cancelled([*silenced, *found])

    async def snooze(self, arguments: Arguments, context: CallContext) -> str:
        """Ring again later: what rings, or what stopped ringing a moment ago."""
        seconds = number_of(arguments, "seconds") or self.snooze_seconds
        seconds = min(max(seconds, 1.0), _LONGEST_SNOOZE_SECONDS)
        ended = await self.ringing.end(RingAnswer(RingEnding.SNOOZED, seconds))
        if not ended and not await self.schedule.snooze_ended(seconds):
            raise CannotError(self.catalogue.say("timer.nothing_to_snooze"))
        return self.catalogue.say("timer.snoozed", length=say_duration(seconds))

    async def _silence(self, kind: Kind | None, name: str) -> list[Entry]:
        """End the ring when something of that kind and name rings; what rang."""
        if not self._named(self._of_kind([due.entry for due in self.ringing.ringing], kind), name):
            return []
        return [due.entry for due in await self.ringing.end(RingAnswer(RingEnding.STOPPED))]

    def _cancelled(self, entries: list[Entry]) -> str:
        if len(entries) == 1:
            return self.catalogue.say("timer.cancelled", name=self.words.name(entries[0]))
        return self.catalogue.say("timer.cancelled_all", names=self.words.count(entries))

    def _listed(self, entries: list[Entry], *, is_spoken: bool = True) -> str:
        left = self.schedule.seconds_left
        return join_words([self.words.short(entry, left(entry), is_spoken=is_spoken) for entry in entries])

    def _none(self, kind: Kind | None, name: str) -> str:
        others = self._of_kind(self.schedule.waiting, kind)
        if name and others:
            # A misheard name is the likeliest reason: what there is helps to say it again.
            named = f"{name} {kind or Kind.TIMER}"
            return self.catalogue.say("timer.none_named_but", name=named, names=self._listed(others))
        if name:
            return self.catalogue.say("timer.none_named", name=f"{name} {kind or Kind.TIMER}")
        return self.catalogue.say(f"{kind}.none" if kind else "timer.nothing_set")

    @staticmethod
    def _of_kind(entries: Sequence[Entry], kind: Kind | None) -> list[Entry]:
        return [entry for entry in entries if kind is None or entry.kind is kind]

    def _named(self, entries: list[Entry], name: str) -> list[Entry]:
        """The entries of that name, exactly if there are such, else those that have it inside ("my tea")."""
        if not name:
            return entries
        exact = [entry for entry in entries if entry.name.lower() == name]
        return exact or [entry for entry in entries if name in f"{entry.text} {self.words.name(entry)}".lower()]

    @staticmethod
    def _long(entries: list[Entry], arguments: Arguments) -> list[Entry]:
        seconds = number_of(arguments, "seconds")
        return entries if seconds is None else [entry for entry in entries if entry.length_seconds == seconds]

    def _at(self, entries: list[Entry], arguments: Arguments) -> list[Entry]:
        """The entries that are due at the time of day, and on the day, that was said."""
        said, day = text_of(arguments, "time"), text_of(arguments, "day").lower()
        today = self.clock.now().astimezone(self.zone).date()
        try:
            time = parse_time_of_day(said) if said else None
            days = days_meant(day, today) if day else ()
        except MomentError as error:
            raise CannotError(self.catalogue.say(str(error))) from error
        local = [(entry, entry.due_at.astimezone(self.zone)) for entry in entries if entry.due_at is not None]
        if time is not None:
            local = [(entry, at) for entry, at in local if at.hour in time.hours and at.minute == time.minute]
        if days:
            local = [(entry, at) for entry, at in local if at.date() in days]
        return [entry for entry, _ in local] if said or day else entries


def _kind(arguments: Arguments) -> Kind | None:
    said = text_of(arguments, "kind")
    return Kind(said) if said in set(Kind) else None
