"""The audit trail of actions: what was going to be done, on whose word, and how it ended."""

from __future__ import annotations

import json
from collections.abc import Callable

from appliance.approve.request import arguments_digest, preview_of, sha256_of
from appliance.events import Outcome
from appliance.ports import Json
from appliance.store.audit_log import AuditEntry, AuditKind, AuditLog
from appliance.store.grants import Grant
from appliance.tools.redact import redacted
from appliance.tools.tool import ApprovalRequest, Decision

_PREVIEW_LENGTH = 180
#: What has been done, in the words of the tool-module contract.
_DETAILS = {Outcome.OK: "executed", Outcome.FAILED: "executed:failed", Outcome.INTERRUPTED: "executed:interrupted"}


class StoredAuditTrail:
    """``AuditTrail`` of the runner and ``DecisionRecord`` of the desk, on the store's audit log.

    ``mask`` hides every secret the box knows; what only looks like one is hidden as well.
    """

    def __init__(self, log: AuditLog, mask: Callable[[str], str]) -> None:
        self._log = log
        self._mask = mask

    async def intend(self, request: ApprovalRequest, decision: Decision) -> int:
        """Write the row before the action runs; its sequence number. Raises ``StoreError``."""
        return await self._log.write(self._entry(AuditKind.INTENT, request, decision))

    async def conclude(self, sequence: int, outcome: Outcome, error: str = "", note: str = "") -> None:
        """Write how it ended; ``note`` stands beside what was done. Raises ``StoreError``."""
        await self._log.write(
            AuditEntry(
                AuditKind.RESULT,
                intent=sequence,
                outcome=outcome.value,
                detail="; ".join(filter(None, (_DETAILS.get(outcome, ""), redacted(self._mask(note))))),
                error=redacted(self._mask(error)),
            )
        )

    async def decided(self, decision: Decision) -> None:
        """Write what the desk decided after a person was asked, or could not be. Raises ``StoreError``."""
        await self._log.write(self._entry(AuditKind.DECISION, decision.request, decision))

    async def permission(self, grant: Grant, verdict: str, uid: int) -> None:
        """Write that a standing permission was given or taken back. Raises ``StoreError``."""
        scope = "any arguments" if grant.arguments_json is None else "these arguments"
        arguments = json.loads(grant.arguments_json or "{}")
        until = f", until {grant.expires_at}" if grant.expires_at else ""
        await self._log.write(
            AuditEntry(
                AuditKind.DECISION,
                tool=grant.tool,
                origin=grant.origin,
                arguments_digest=sha256_of(grant.arguments_json or ""),
                arguments_preview=self._preview(arguments),
                verdict=verdict,
                approver=f"owner:{uid}",
                detail=f"grant:{grant.number} for {scope}{until}",
            )
        )

    def _preview(self, arguments: Json) -> str:
        return redacted(self._mask(preview_of(arguments)))[:_PREVIEW_LENGTH]

    def _entry(self, kind: AuditKind, request: ApprovalRequest, decision: Decision) -> AuditEntry:
        return AuditEntry(
            kind,
            call_id=request.call.call_id,
            request_id=request.request_id,
            tool=request.call.name,
            origin=request.origin,
            risk=request.risk.value,
            arguments_digest=arguments_digest(request),
            arguments_preview=self._preview(json.loads(request.arguments_json)),
            chat=request.chat,
            turn_id=request.turn_id,
            channel=request.channel,
            verdict=decision.verdict.value,
            approver=decision.approver,
            detail="decision" if kind is AuditKind.DECISION else "",
            took_seconds=round(decision.took_seconds, 3) if kind is AuditKind.DECISION else None,
        )
