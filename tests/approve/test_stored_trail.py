"""What the trail of a real action looks like in the store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from appliance.approve.audit_trail import StoredAuditTrail
from appliance.clock import FakeClock
from appliance.events import Outcome
from appliance.store.audit_log import AuditLog
from appliance.store.canonical_json import canonical_json
from appliance.store.grants import Grant
from appliance.store.recovery import memory_database
from appliance.tools.tool import ApprovalRequest, AuditTrail, Decision, Risk, ToolCall, Verdict


@pytest.fixture
def log() -> Iterator[AuditLog]:
    database = memory_database()
    yield AuditLog(database, FakeClock(), "boot-1")
    database.close()


@pytest.fixture
def trail(log: AuditLog) -> StoredAuditTrail:
    return StoredAuditTrail(log, lambda text: text.replace("hunter2", "[secret]"))


def decision(arguments: dict[str, object], verdict: Verdict = Verdict.APPROVED, approver: str = "button") -> Decision:
    call = ToolCall("call-1", "run_backup", arguments)
    request = ApprovalRequest("r1", call, "plugin:backup", Risk.EXEC, canonical_json(arguments), "", "turn-1", "voice")
    return Decision(request, verdict, approver)


@pytest.mark.parametrize(
    ("outcome", "detail"),
    [
        (Outcome.OK, "executed"),
        (Outcome.FAILED, "executed:failed"),
        (Outcome.INTERRUPTED, "executed:interrupted"),
        (Outcome.REFUSED, ""),
        (Outcome.PENDING, ""),
    ],
)
async def test_an_action_leaves_its_intent_and_its_result(
    log: AuditLog, trail: StoredAuditTrail, outcome: Outcome, detail: str
) -> None:
    port: AuditTrail = trail
    approved = decision({"target": "/home"})
    sequence = await port.intend(approved.request, approved)
    await port.conclude(sequence, outcome, "exit code 3")
    intent, result = [line.entry for line in await log.lines()]
    assert (intent.kind, intent.tool, intent.risk, intent.verdict, intent.approver) == (
        "intent",
        "run_backup",
        "exec",
        "approved",
        "button",
    )
    assert (intent.call_id, intent.request_id, intent.turn_id, intent.channel) == ("call-1", "r1", "turn-1", "voice")
    assert intent.arguments_preview == '{"target": "/home"}'
    assert len(intent.arguments_digest) == 64
    assert (result.kind, result.intent, result.tool) == ("result", sequence, "run_backup")
    assert (result.outcome, result.detail, result.error) == (outcome.value, detail, "exit code 3")
    assert await log.verify() == []


async def test_a_refusal_is_one_line(log: AuditLog, trail: StoredAuditTrail) -> None:
    await trail.decided(decision({}, Verdict.UNREACHABLE, "default"))
    (line,) = await log.lines()
    assert (line.entry.kind, line.entry.verdict, line.entry.approver, line.entry.detail) == (
        "decision",
        "unreachable",
        "default",
        "decision",
    )


async def test_a_decision_tells_how_long_the_person_took(log: AuditLog, trail: StoredAuditTrail) -> None:
    await trail.decided(replace(decision({}), took_seconds=7.12345))
    (line,) = await log.lines()
    assert line.entry.took_seconds == 7.123


async def test_a_permission_is_one_line_without_secrets(log: AuditLog, trail: StoredAuditTrail) -> None:
    arguments = '{"note":"hunter2","password":"x"}'
    grant = Grant(3, "plugin:backup", "run_backup", "digest", arguments, 1000, "", "2026-06-01T00:00:00+00:00")
    await trail.permission(grant, "granted", 1000)
    await trail.permission(replace(grant, arguments_json=None, expires_at=""), "revoked", 0)
    first, second = [line.entry for line in await log.lines()]
    assert (first.verdict, first.approver, first.detail) == (
        "granted",
        "owner:1000",
        "grant:3 for these arguments, until 2026-06-01T00:00:00+00:00",
    )
    assert first.arguments_preview == '{"note": "[secret]", "password": "[hidden]"}'
    assert (second.verdict, second.approver, second.detail) == ("revoked", "owner:0", "grant:3 for any arguments")


async def test_no_secret_and_no_control_character_enters_the_trail(log: AuditLog, trail: StoredAuditTrail) -> None:
    arguments: dict[str, object] = {
        "url": "https://me:swordfish@host/",
        "note": "my key is hunter2\u202e\x1b[31m",
        "nested": [{"api_key": "open sesame now", "door_pin": 4711}],
        "then more": "x" * 1000,
    }
    sequence = await trail.intend(decision(arguments).request, decision(arguments))
    await trail.conclude(sequence, Outcome.FAILED, "login as hunter2 failed: password=swordfish")
    intent, result = [line.entry for line in await log.lines()]
    assert len(intent.arguments_preview) == 180
    assert intent.arguments_preview.isprintable()
    for secret in ("swordfish", "hunter2", "sesame", "4711"):
        assert secret not in intent.arguments_preview + result.error
