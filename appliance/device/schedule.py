"""Timers, alarms and reminders: what is due when, and what is left of them after a power cut.

What was confirmed is on disk: every change is stored before the method returns. Countdowns run on monotonic time,
so that a clock that is set meanwhile does not move them; their end on the clock is stored for the time after a
power cut. What rings stays stored until its ring has ended.
"""

from __future__ import annotations

import logging
import uuid
from asyncio import Event
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo

from appliance.clock import Clock, within
from appliance.device.entry import Due, DueCause, Entry, EntryState, Kind, RingEnding
from appliance.device.moments import next_repeat, parse_time_of_day
from appliance.errors import ApplianceError, StoreError
from appliance.store.shapes import Documents

_LOG = logging.getLogger(__name__)

COLLECTION = "timers"
MOST_ENTRIES = 100

#: How soon a clock that was set, by the network or by hand, is noticed.
_LOOK_AT_CLOCK_SECONDS = 30.0
_LOOK_FOR_TRUST_SECONDS = 5.0
#: Less delay than this is no delay to speak of.
_LATE_SECONDS = 5.0
#: A countdown's stored end is written again when the clock was set by more than this.
_CLOCK_MOVED_SECONDS = 2.0
#: How long after its end a ring can still be snoozed ("okay nabu" ends it, then comes "snooze").
_SNOOZE_AFTER_SECONDS = 600.0


class FullError(ApplianceError):
    """There are too many entries already."""


class Schedule:
    """The box's timers, alarms and reminders. ``boot_id`` names this boot of the machine."""

    def __init__(self, *, documents: Documents, clock: Clock, zone: tzinfo, boot_id: str) -> None:
        self._documents = documents
        self._clock = clock
        self._zone = zone
        self._boot_id = boot_id
        self._started_seconds = clock.monotonic_seconds()
        self._is_loaded = False
        self._entries: dict[str, Entry] = {}
        self._ringing: set[str] = set()
        self._ended: list[tuple[float, Entry]] = []
        self._changed = Event()

    # -------------------------------------------------------------------------------------- running

    async def load(self) -> None:
        """Read what was stored. A row that is no entry is skipped and stays where it is. Raises ``StoreError``."""
        for entry_id, row in (await self._documents.all(COLLECTION)).items():
            try:
                self._entries[entry_id] = Entry.from_json(entry_id, row)
            except ValueError as error:
                _LOG.warning("stored timer %s is skipped: %s", entry_id, error)
        self._is_loaded = True
        self._changed.set()

    async def run(self, on_due: Callable[[Due], None]) -> None:
        """Call ``on_due`` for everything that comes due, for ever; whoever takes it calls ``finish`` later."""
        if not self._is_loaded:
            await self.load()
        while True:
            await self._follow_clock()
            for due in self._take_due():
                on_due(due)
            try:
                await within(self._clock, self._seconds_to_wait(), self._changed.wait())
            except TimeoutError:
                continue
            self._changed.clear()

    async def finish(self, due: Due, ending: RingEnding, snooze_seconds: float = 0.0) -> None:
        """A ring ended: forget the entry, ring again later, or keep it as missed.

        In force at once, also when storing fails: a full disk must not make an alarm ring again and again.
        Raises ``StoreError``.
        """
        entry = due.entry
        self._note_ended(entry, ending)
        once = replace(entry, days=(), time="", entry_id=_new_id() if entry.days else entry.entry_id)
        kept = [self._advanced(entry)] if entry.days else []
        if ending is RingEnding.SNOOZED:
            kept.append(self._countdown(once, snooze_seconds))
        elif ending is RingEnding.UNANSWERED:
            kept.append(replace(once, state=EntryState.MISSED))
        self._entries.pop(entry.entry_id, None)
        self._ringing.discard(entry.entry_id)
        self._entries |= {each.entry_id: each for each in kept}
        self._changed.set()
        for each in kept:
            await self._store(each)
        if entry.entry_id not in self._entries:
            await self._documents.delete(COLLECTION, entry.entry_id)

    # -------------------------------------------------------------------------------------- changing

    async def add_countdown(self, kind: Kind, seconds: float, *, name: str = "", text: str = "") -> Entry:
        """Something due in ``seconds``; stored when this returns. Raises ``StoreError``, ``FullError``."""
        return await self._add(self._countdown(Entry(_new_id(), kind, name=name, text=text), seconds))

    async def add_moment(
        self,
        kind: Kind,
        due_at: datetime,
        *,
        name: str = "",
        text: str = "",
        time: str = "",
        days: tuple[str, ...] = (),
    ) -> Entry:
        """Something due at ``due_at``, and then on each of ``days`` at ``time`` (``HH:MM`` in the house's zone).

        Raises ``StoreError``, ``FullError``.
        """
        entry = Entry(_new_id(), kind, name=name, text=text, due_at=due_at.astimezone(UTC), time=time, days=days)
        return await self._add(entry)

    async def extend(self, entry: Entry, seconds: float) -> Entry:
        """Let a countdown run ``seconds`` longer. Raises ``StoreError``."""
        longer = replace(
            entry,
            length_seconds=entry.length_seconds + seconds,
            due_monotonic_seconds=entry.due_monotonic_seconds + seconds,
            due_at=entry.due_at and entry.due_at + timedelta(seconds=seconds),
        )
        await self._store(longer)
        self._changed.set()
        return longer

    async def cancel(self, entry_id: str) -> None:
        """Take it out. It is out at once, also when storing that fails. Raises ``StoreError``."""
        self._entries.pop(entry_id, None)
        self._ringing.discard(entry_id)
        self._changed.set()
        await self._documents.delete(COLLECTION, entry_id)

    async def snooze_ended(self, seconds: float) -> tuple[Entry, ...]:
        """Ring again in ``seconds`` what stopped ringing a moment ago. Raises ``StoreError``."""
        oldest = self._clock.monotonic_seconds() - _SNOOZE_AFTER_SECONDS
        ended, self._ended = [entry for at_seconds, entry in self._ended if at_seconds >= oldest], []
        again = []
        for entry in ended:
            once = replace(entry, entry_id=_new_id(), days=(), time="")
            again.append(await self._add(self._countdown(once, seconds)))
        return tuple(again)

    async def take_missed(self) -> tuple[Entry, ...]:
        """What rang without an answer since this was last asked; it is forgotten now. Raises ``StoreError``."""
        missed = tuple(entry for entry in self._entries.values() if entry.state is EntryState.MISSED)
        for entry in missed:
            await self.cancel(entry.entry_id)
        return missed

    # -------------------------------------------------------------------------------------- looking

    @property
    def waiting(self) -> tuple[Entry, ...]:
        """What is still to come, soonest first; what nobody can tell yet comes last."""
        waiting = [
            entry
            for entry in self._entries.values()
            if entry.state is EntryState.WAITING and entry.entry_id not in self._ringing
        ]
        return tuple(sorted(waiting, key=self._order))

    def seconds_left(self, entry: Entry) -> float | None:
        """Seconds until it is due, negative when it is late; None while the clock must be set first."""
        if entry.is_countdown and entry.boot_id == self._boot_id:
            return entry.due_monotonic_seconds - self._clock.monotonic_seconds()
        if entry.due_at is None or not self._clock.is_trusted():
            return None
        return (entry.due_at - self._clock.now()).total_seconds()

    # -------------------------------------------------------------------------------------- inside

    async def _add(self, entry: Entry) -> Entry:
        if len(self._entries) >= MOST_ENTRIES:
            raise FullError("there are too many timers, alarms and reminders")
        await self._store(entry)
        self._changed.set()
        return entry

    async def _store(self, entry: Entry) -> None:
        """On disk first, then in force."""
        await self._documents.put(COLLECTION, entry.entry_id, entry.to_json())
        self._entries[entry.entry_id] = entry

    def _note_ended(self, entry: Entry, ending: RingEnding) -> None:
        now_seconds = self._clock.monotonic_seconds()
        self._ended = [ended for ended in self._ended if ended[0] >= now_seconds - _SNOOZE_AFTER_SECONDS]
        if ending is not RingEnding.SNOOZED:
            self._ended.append((now_seconds, entry))

    def _countdown(self, entry: Entry, seconds: float) -> Entry:
        return replace(
            entry,
            length_seconds=seconds,
            boot_id=self._boot_id,
            due_monotonic_seconds=self._clock.monotonic_seconds() + seconds,
            due_at=self._clock.now().astimezone(UTC) + timedelta(seconds=seconds) if self._clock.is_trusted() else None,
        )

    def _advanced(self, entry: Entry) -> Entry:
        after = max(self._clock.now(), entry.due_at or self._clock.now())
        return replace(entry, due_at=next_repeat(parse_time_of_day(entry.time), entry.days, after, self._zone))

    def _take_due(self) -> list[Due]:
        """What is due now and does not ring yet, oldest first; it counts as ringing from here on."""
        found: list[Due] = []
        for entry in self.waiting:
            left = self.seconds_left(entry)
            if left is None and entry.due_at is None:
                found.append(Due(entry, cause=DueCause.LOST))
            elif left is not None and left <= 0:
                found.append(Due(entry, -left, self._cause(entry, -left)))
        self._ringing.update(due.entry.entry_id for due in found)
        return found

    def _cause(self, entry: Entry, late_seconds: float) -> DueCause:
        if late_seconds < _LATE_SECONDS:
            return DueCause.ON_TIME
        if self._clock.monotonic_seconds() - late_seconds < self._started_seconds:
            return DueCause.WAS_OFF
        return DueCause.ON_TIME if entry.is_countdown else DueCause.CLOCK_WAS_WRONG

    async def _follow_clock(self) -> None:
        """Once the clock can be trusted: what a countdown's end is on the clock, and where an old one stands."""
        if not self._clock.is_trusted():
            return
        for entry in self.waiting:
            left = self.seconds_left(entry)
            if not entry.is_countdown or left is None:
                continue
            due_at = self._clock.now().astimezone(UTC) + timedelta(seconds=left)
            is_off = entry.due_at is None or abs((entry.due_at - due_at).total_seconds()) > _CLOCK_MOVED_SECONDS
            if is_off or entry.boot_id != self._boot_id:
                due_seconds = self._clock.monotonic_seconds() + left
                try:
                    await self._store(
                        replace(entry, due_at=due_at, boot_id=self._boot_id, due_monotonic_seconds=due_seconds)
                    )
                except StoreError as error:
                    _LOG.warning("the end of a countdown could not be stored again: %s", error)

    def _seconds_to_wait(self) -> float:
        lefts = [self.seconds_left(entry) for entry in self.waiting]
        is_settled = None not in lefts and self._clock.is_trusted()
        longest = _LOOK_AT_CLOCK_SECONDS if is_settled else _LOOK_FOR_TRUST_SECONDS
        return max(0.0, min([longest, *(left for left in lefts if left is not None)]))

    def _order(self, entry: Entry) -> float:
        left = self.seconds_left(entry)
        return float("inf") if left is None else left


def _new_id() -> str:
    return uuid.uuid4().hex[:12]
