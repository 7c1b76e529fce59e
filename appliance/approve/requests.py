"""The life of a request in the store: written down before it is asked about, moved before anything follows from it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from appliance.approve.operands import Surveyor
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

    async def consume(self, record: RequestRecord) -> bool:
        """Begin the one run, when everything is still what was asked about; else the request is invalid from now on.

        The last look comes as late as it can: right before the row is moved.
        """
        arguments = record.as_json()["arguments"]
        operands = await asyncio.to_thread(self._surveyor.survey, arguments)
        plugin_digest = await asyncio.to_thread(self._plugin_digest, record.request.origin)
        if record.depends_on_the_same(plugin_digest, operands) and record_digest(record.as_json()) == record.digest:
            row = await self._stored.consume(record.request_id, record.digest)
            if row is not None and _holds(row, record):
                return True
        living = (ApprovalState.APPROVED, ApprovalState.CONSUMED)
        await self._move(record, living, ApprovalState.INVALIDATED)
        return False

    async def withdraw(self, record: RequestRecord) -> bool:
        """It was approved and will not run."""
        return await self._move(record, (*OPEN_STATES, ApprovalState.APPROVED), ApprovalState.CANCELLED)

    async def finish(self, record: RequestRecord, *, is_done: bool) -> bool:
        """The run is over."""
        after = ApprovalState.DONE if is_done else ApprovalState.FAILED
        return await self._move(record, (ApprovalState.CONSUMED,), after)

    async def _move(
        self, record: RequestRecord, before: tuple[ApprovalState, ...], after: ApprovalState, approver: str = ""
    ) -> bool:
        return await self._stored.move(record.request_id, record.digest, before, after, approver)


def _holds(row: StoredApproval, record: RequestRecord) -> bool:
    """Whether the row says what was asked about; of a private chat it keeps only the digest."""
    return row.record is None or record_digest(row.record) == record.digest
