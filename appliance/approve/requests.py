"""The life of a request in the store: written down before it is asked about, moved before anything follows from it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from appliance.approve.operands import Operands, Surveyor
from appliance.approve.policy import Ruling
from appliance.approve.record import RequestRecord
from appliance.store.approvals import OPEN_STATES, ApprovalState, StoredApproval, StoredApprovals, record_digest
from appliance.tools.tool import ApprovalRequest, Verdict

#: SHA-256 over the files of a tool's origin, "" when they cannot be read; blocks.
PluginDigest = Callable[[str], str]

#: Where a request goes when nobody approved it.
_ENDINGS: Mapping[Verdict, ApprovalState] = {
    Verdict.APPROVED: ApprovalState.APPROVED,
    Verdict.DECLINED: ApprovalState.DENIED,
    Verdict.UNANSWERED: ApprovalState.EXPIRED,
    Verdict.UNREACHABLE: ApprovalState.CANCELLED,
    Verdict.DISMISSED: ApprovalState.CANCELLED,
}


class Requests:
    """Makes records and moves them. What touches the store raises ``StoreError``."""

    def __init__(self, stored: StoredApprovals, surveyor: Surveyor, plugin_digest: PluginDigest, boot: str) -> None:
        self._stored = stored
        self._surveyor = surveyor
        self._plugin_digest = plugin_digest
        self._boot = boot

    async def open(self, request: ApprovalRequest, ruling: Ruling, action: str = "") -> RequestRecord:
        """Look at everything that the call depends on, and write it down."""
        record = RequestRecord(
            request,
            plugin_digest=await asyncio.to_thread(self._plugin_digest, request.origin),
            operands=await asyncio.to_thread(self._surveyor.survey, request.call.arguments),
            boot=self._boot,
            danger=ruling.danger,
            follows=ruling.follows,
            is_two_step=ruling.is_two_step,
            action=action,
        )
        await self._stored.create(record.request_id, record.tool, request.chat, record.as_json())
        return record

    async def announce(self, record: RequestRecord) -> bool:
        """The question begins; also the second one of a two-step request."""
        before = (ApprovalState.CREATED, ApprovalState.ARMED)
        return await self._move(record, before, ApprovalState.ANNOUNCED)

    async def arm(self, record: RequestRecord) -> bool:
        """The person knows what is asked."""
        return await self._move(record, (ApprovalState.ANNOUNCED,), ApprovalState.ARMED)

    async def decide(self, record: RequestRecord, verdict: Verdict, approver: str) -> bool:
        """The end of the asking. A yes only counts for a request that was asked about."""
        asked = (ApprovalState.ANNOUNCED, ApprovalState.ARMED)
        before = asked if verdict is Verdict.APPROVED else OPEN_STATES
        return await self._move(record, before, _ENDINGS[verdict], approver)

    async def consume(self, record: RequestRecord) -> Operands | None:
        """Begin the one run: what it depends on, as it is now. None when anything is not what was asked about.

        The request is invalid from then on. The last look is the last thing that happens here, behind the write to
        the disk: between it and the run nothing is waited for.
        """
        row = await self._stored.consume(record.request_id, record.digest)
        if row is not None and _holds(row, record) and record_digest(record.as_json()) == record.digest:
            plugin_digest, operands = await asyncio.to_thread(self._look, record)
            if record.depends_on_the_same(plugin_digest, operands):
                return operands
        living = (ApprovalState.APPROVED, ApprovalState.CONSUMED)
        await self._move(record, living, ApprovalState.INVALIDATED)
        return None

    async def changes(self, record: RequestRecord, before: Operands) -> str:
        """What of ``before`` is different now, half a sentence for the audit trail; "" when nothing is."""
        now = await asyncio.to_thread(self._surveyor.survey, record.as_json()["arguments"], before)
        return before.changes(now)

    async def withdraw(self, record: RequestRecord) -> bool:
        """It was approved and will not run."""
        return await self._move(record, (*OPEN_STATES, ApprovalState.APPROVED), ApprovalState.CANCELLED)

    async def finish(self, record: RequestRecord, *, is_done: bool) -> bool:
        """The run is over."""
        after = ApprovalState.DONE if is_done else ApprovalState.FAILED
        return await self._move(record, (ApprovalState.CONSUMED,), after)

    def _look(self, record: RequestRecord) -> tuple[str, Operands]:
        """The plugin's files first: they have been imported long ago, while a script is still to be opened."""
        plugin_digest = self._plugin_digest(record.request.origin)
        return plugin_digest, self._surveyor.survey(record.as_json()["arguments"])

    async def _move(
        self, record: RequestRecord, before: tuple[ApprovalState, ...], after: ApprovalState, approver: str = ""
    ) -> bool:
        return await self._stored.move(record.request_id, record.digest, before, after, approver)


def _holds(row: StoredApproval, record: RequestRecord) -> bool:
    """Whether the row says what was asked about; of a private chat it keeps only the digest."""
    return row.record is None or record_digest(row.record) == record.digest
