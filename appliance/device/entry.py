"""A timer, alarm or reminder as a value, and as the JSON that survives a power cut."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from appliance.ports import Json
from appliance.think.spoken_time import WEEKDAYS

#: What ``moments.TimeOfDay`` writes.
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d")


class Kind(enum.StrEnum):
    """What was asked for; decides how it rings and what is said."""

    TIMER = "timer"
    ALARM = "alarm"
    REMINDER = "reminder"


class EntryState(enum.StrEnum):
    """Where an entry is: still to come, or it rang and nobody answered (kept until somebody is told)."""

    WAITING = "waiting"
    MISSED = "missed"


class RingEnding(enum.StrEnum):
    """How a ring ended."""

    STOPPED = "stopped"
    SNOOZED = "snoozed"
    UNANSWERED = "unanswered"


@dataclass(frozen=True)
class Entry:
    """One thing that will ring.

    A countdown (``length_seconds`` > 0) runs on monotonic time: ``due_monotonic_seconds`` counts within the boot
    named ``boot_id``, ``due_at`` is where that falls on the clock, for the time after a power cut (None while the
    clock is not set). Everything else has only ``due_at`` (UTC), and ``time`` (``HH:MM`` in the house's zone) with
    ``days`` when it repeats.
    """

    entry_id: str
    kind: Kind
    name: str = ""
    text: str = ""
    length_seconds: float = 0.0
    due_at: datetime | None = None
    boot_id: str = ""
    due_monotonic_seconds: float = 0.0
    time: str = ""
    days: tuple[str, ...] = ()
    state: EntryState = EntryState.WAITING

    @property
    def is_countdown(self) -> bool:
        """Whether it counts seconds, and not up to a time of day."""
        return self.length_seconds > 0

    def to_json(self) -> dict[str, Json]:
        """The entry as it is stored."""
        return {
            "kind": self.kind.value,
            "name": self.name,
            "text": self.text,
            "length_seconds": self.length_seconds,
            "due_at": self.due_at.isoformat() if self.due_at else "",
            "boot_id": self.boot_id,
            "due_monotonic_seconds": self.due_monotonic_seconds,
            "time": self.time,
            "days": list(self.days),
            "state": self.state.value,
        }

    @classmethod
    def from_json(cls, entry_id: str, row: Json) -> Entry:
        """The entry that ``to_json`` wrote. Raises ``ValueError`` when the row is not one."""
        if not isinstance(row, Mapping):
            raise ValueError("it is no table")
        try:
            entry = cls(
                entry_id=entry_id,
                kind=Kind(row["kind"]),
                name=str(row.get("name", "")),
                text=str(row.get("text", "")),
                length_seconds=float(row.get("length_seconds", 0.0)),
                due_at=_moment(row.get("due_at", "")),
                boot_id=str(row.get("boot_id", "")),
                due_monotonic_seconds=float(row.get("due_monotonic_seconds", 0.0)),
                time=str(row.get("time", "")),
                days=tuple(str(day) for day in row.get("days", ())),
                state=EntryState(row.get("state", EntryState.WAITING)),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{type(error).__name__}: {error}") from error
        if not entry.is_countdown and entry.due_at is None:
            raise ValueError("it has neither a length nor a moment")
        if entry.days and not (set(entry.days) <= set(WEEKDAYS) and _TIME.fullmatch(entry.time)):
            raise ValueError(f"it repeats on {entry.days} at {entry.time!r}")
        return entry


class DueCause(enum.StrEnum):
    """Why something is due now."""

    ON_TIME = "on_time"
    WAS_OFF = "was_off"
    CLOCK_WAS_WRONG = "clock_was_wrong"
    #: A countdown that began while the clock was not set, and ended in a power cut: nobody knows when.
    LOST = "lost"


#: Behind this much delay nothing rings any more; it is only told.
_RINGS_AT_MOST_LATE_SECONDS = 3600.0


@dataclass(frozen=True)
class Due:
    """Something that has come due, ``late_seconds`` ago."""

    entry: Entry
    late_seconds: float = 0.0
    cause: DueCause = DueCause.ON_TIME

    @property
    def is_only_told(self) -> bool:
        """Whether it is too late to ring for it."""
        return self.cause is DueCause.LOST or self.late_seconds > _RINGS_AT_MOST_LATE_SECONDS


def _moment(text: Any) -> datetime | None:
    if not text:
        return None
    moment = datetime.fromisoformat(str(text))
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    return moment.astimezone(UTC)
