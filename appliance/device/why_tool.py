"""What the box did last, and on whose word: told from its own record, which no model can change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Protocol

from appliance.approve.operands import CHANGES_BEGIN_WITH
from appliance.catalogue import Catalogue
from appliance.clock import Clock
from appliance.device.box_tool import Arguments, BoxTool
from appliance.device.time_words import say_clock, say_day
from appliance.store.audit_log import AuditKind, AuditLine
from appliance.tools.tool import CallContext, Verdict

#: A deed is a few lines; more are read in case something was asked about again and again.
_LINES = 200
#: Decisions after which nothing ran. "unknown" is how a restart closes what was under way.
_NOES = (
    *(Verdict.DECLINED, Verdict.UNANSWERED, Verdict.UNREACHABLE, Verdict.DISMISSED, Verdict.INVALIDATED),
    "unknown",
)


class Trail(Protocol):
    """The audit trail, to read."""

    async def lines(self, limit: int = 100) -> list[AuditLine]:
        """The last ``limit`` lines, oldest first. Raises ``StoreError``."""
        ...


@dataclass(frozen=True)
class Deed:
    """The last thing that was done, or was to be done. ``outcome`` is "" when it never ran.

    ``has_changes`` is whether a file that it depends on was changed, or touched, while it ran.
    """

    tool: str
    at: str
    verdict: str
    approver: str
    outcome: str = ""
    has_changes: bool = False


def last_deed(lines: Sequence[AuditLine]) -> Deed | None:
    """The newest deed in these lines; permissions that were only given, and calls under way, are none."""
    intents = {line.sequence: line.entry for line in lines if line.entry.kind is AuditKind.INTENT}
    for line in reversed(lines):
        entry = line.entry
        if entry.kind is AuditKind.RESULT:
            intent = intents.get(entry.intent or 0)
            verdict, approver = (intent.verdict, intent.approver) if intent else ("", "")
            # Allowed, and stopped at the last look: the decision before it says why.
            if entry.outcome == "refused" and _is_invalidated(lines, entry.request_id):
                return Deed(entry.tool, line.at, Verdict.INVALIDATED.value, "default")
            has_changes = any(part.startswith(CHANGES_BEGIN_WITH) for part in entry.detail.split("; "))
            return Deed(entry.tool, line.at, verdict, approver, entry.outcome, has_changes)
        if entry.kind is AuditKind.DECISION and entry.verdict in _NOES:
            return Deed(entry.tool, line.at, entry.verdict, entry.approver)
    return None


def why_tools(deeds: DeedTeller, catalogue: Catalogue) -> list[BoxTool]:
    """``box_why``."""
    return [
        BoxTool(
            name="box_why",
            description="What this box did last and who allowed it, or why it did not, from its own record.",
            work=deeds.why,
            catalogue=catalogue,
        )
    ]


class DeedTeller:
    """Puts the last deed into words."""

    def __init__(self, trail: Trail, clock: Clock, zone: tzinfo, catalogue: Catalogue) -> None:
        self._trail = trail
        self._clock = clock
        self._zone = zone
        self._catalogue = catalogue

    async def what(self, is_spoken: bool) -> str:
        """What it was and how it ended; "" when there is none. Raises ``StoreError``."""
        deed = last_deed(await self._trail.lines(_LINES))
        return self._what(deed, is_spoken) if deed is not None else ""

    async def why(self, arguments: Arguments, context: CallContext) -> str:
        """The same, and on whose word."""
        deed = last_deed(await self._trail.lines(_LINES))
        if deed is None:
            return self._catalogue.say("why.nothing")
        changes = self._catalogue.say("why.changes") if deed.has_changes else ""
        parts = (self._what(deed, context.channel == "voice"), self._reason(deed), changes)
        return " ".join(filter(None, parts))

    def _what(self, deed: Deed, is_spoken: bool) -> str:
        tool = re.sub(r"[\W_]+", " ", deed.tool.removeprefix("box_")).strip()
        key = f"did.{deed.outcome}" if deed.outcome else "did.not_done"
        return self._catalogue.say(
            key if key in self._catalogue.keys else "did.not_done", tool=tool, when=self._when(deed.at, is_spoken)
        )

    def _reason(self, deed: Deed) -> str:
        """The sentence for who decided how; the last fitting one, from the narrow to the wide."""
        who = deed.approver.partition(":")[0]
        keys = (f"why.{deed.verdict}_{who}", f"why.{deed.verdict}")
        key = next((key for key in keys if key in self._catalogue.keys), "")
        return self._catalogue.say(key) if key else ""

    def _when(self, at: str, is_spoken: bool) -> str:
        try:
            moment = datetime.fromisoformat(at).astimezone(self._zone)
        except ValueError:
            return self._catalogue.say("did.some_time")
        if not self._clock.is_trusted():
            return self._catalogue.say("did.some_time")
        today = self._clock.now().astimezone(self._zone).date()
        key = "did.today" if moment.date() == today else "did.earlier"
        clock, day = say_clock(moment, is_spoken=is_spoken), say_day(moment.date(), today, is_spoken=is_spoken)
        return self._catalogue.say(key, clock=clock, day=day)


def _is_invalidated(lines: Sequence[AuditLine], request_id: str) -> bool:
    return any(line.entry.request_id == request_id and line.entry.verdict == Verdict.INVALIDATED for line in lines)
