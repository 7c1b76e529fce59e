"""An audit trail in memory that can be told to fail."""

from __future__ import annotations

from appliance.errors import StoreError
from appliance.events import Outcome
from appliance.tools.tool import ApprovalRequest, Decision


class FakeAuditTrail:
    """An AuditTrail and DecisionRecord.

    ``intents`` and ``decisions`` are what was written; ``results`` maps an intent's number to its end,
    ``notes`` to what was noted there.
    ``fails`` makes every write raise, as a full disk does.
    """

    def __init__(self) -> None:
        self.intents: list[tuple[ApprovalRequest, Decision]] = []
        self.decisions: list[Decision] = []
        self.results: dict[int, tuple[Outcome, str]] = {}
        self.notes: dict[int, str] = {}
        self.fails = False

    async def intend(self, request: ApprovalRequest, decision: Decision) -> int:
        self._check()
        self.intents.append((request, decision))
        return len(self.intents)

    async def conclude(self, sequence: int, outcome: Outcome, error: str = "", note: str = "") -> None:
        self._check()
        if sequence in self.results or not 1 <= sequence <= len(self.intents):
            raise StoreError(f"line {sequence} is no open intent")
        self.results[sequence] = (outcome, error)
        if note:
            self.notes[sequence] = note

    async def decided(self, decision: Decision) -> None:
        self._check()
        self.decisions.append(decision)

    @property
    def open_intents(self) -> list[int]:
        """Numbers of the intents that have no result."""
        return [number for number in range(1, len(self.intents) + 1) if number not in self.results]

    def _check(self) -> None:
        if self.fails:
            raise StoreError("the disk is full: nothing more can be stored; free some space")
