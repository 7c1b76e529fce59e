"""Brings a tool module's question to the desk."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from appliance.approve.dangerous import danger_of
from appliance.approve.desk import ApprovalDesk, ToolQuestion
from appliance.contracts.kotoba.context import Confirmation
from appliance.tools.tool import Verdict


def ask_at(desk: ApprovalDesk) -> Callable[[Confirmation], Awaitable[Verdict]]:
    """A ``Confirm`` that ends at ``desk``."""

    async def confirm(question: Confirmation) -> Verdict:
        call = question.call
        return await desk.confirm(
            ToolQuestion(
                tool=question.tool,
                origin=f"plugin:{question.plugin}",
                action=question.action,
                call_id=call.call_id,
                turn_id=call.turn_id,
                chat=call.chat,
                channel=call.channel,
                risk_kind=question.risk_kind,
                force_ask=question.force_ask,
            )
        )

    return confirm


def detect_dangerous(command: str) -> str | None:
    """``kotoba.core.approval.detect_dangerous``: in one word, what is dangerous in a command; None when nothing is."""
    danger = danger_of(str(command or ""))
    return danger.value if danger is not None else None
