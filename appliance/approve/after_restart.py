"""What a restart makes of requests that were under way: nothing runs, and the trail says what is not known."""

from __future__ import annotations

import logging

from appliance.errors import StoreError
from appliance.store.approvals import OPEN_STATES, UNDER_WAY_STATES, ApprovalState, StoredApproval, StoredApprovals
from appliance.store.audit_log import AuditEntry, AuditKind, AuditLog
from appliance.tools.tool import Verdict

_LOG = logging.getLogger(__name__)

_NEVER_STARTED = "approved before a restart; it had not started"
_CUT = "it had started before a restart; its end is unknown"


async def settle(approvals: StoredApprovals, audit: AuditLog) -> None:
    """Take up the trail and end every request that a program before this one left open. Logs a store that fails."""
    try:
        await audit.begin()
        for row in await approvals.in_states(OPEN_STATES):
            await _end(approvals, audit, row, ApprovalState.CANCELLED, Verdict.DISMISSED.value, "decision")
        for row in await approvals.in_states(UNDER_WAY_STATES):
            has_started = row.state is ApprovalState.CONSUMED
            await _end(approvals, audit, row, ApprovalState.UNKNOWN, "unknown", _CUT if has_started else _NEVER_STARTED)
    except StoreError as error:
        _LOG.error("what was under way before the start cannot be written down: %s", error)


async def _end(
    approvals: StoredApprovals, audit: AuditLog, row: StoredApproval, after: ApprovalState, verdict: str, detail: str
) -> None:
    """The trail first: a second crash in between leaves a line too many, never one too few."""
    entry = AuditEntry(
        AuditKind.DECISION,
        request_id=row.request_id,
        tool=row.tool,
        verdict=verdict,
        approver="restart",
        detail=detail,
    )
    await audit.write(entry)
    await approvals.move(row.request_id, row.digest, (row.state,), after)
