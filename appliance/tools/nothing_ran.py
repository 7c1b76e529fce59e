"""Results of calls that never reached their tool, in words a model cannot mistake for a success."""

from __future__ import annotations

from appliance.events import Outcome
from appliance.tools.tool import Decision, ToolResult


def unknown(name: str) -> ToolResult:
    """No tool has that name. Counts as a failure: the model invented it, or its plugin went away."""
    return ToolResult(
        f"There is no tool named {name}, so nothing ran. Do not say that it worked; use a tool that you were given, "
        "or answer without one.",
        Outcome.FAILED,
        error="unknown tool",
    )


def withheld(name: str, reason: str) -> ToolResult:
    """The tool exists, but this conversation does not have it."""
    return ToolResult(
        f"NOTHING ran: {name} is not part of this conversation ({reason}). That is a setting, not a failure and "
        "not an obstacle to work around. Do not call it again and do not imitate it by other means.",
        Outcome.REFUSED,
        error=f"withheld: {reason}",
    )


def not_json(name: str, error: Exception) -> ToolResult:
    """The arguments cannot be written down, so nobody could approve or audit them."""
    return ToolResult(
        f"{name} was not run: its arguments are not valid JSON. Call it again with plain JSON values.",
        Outcome.FAILED,
        error=f"arguments: {error}",
    )


def not_allowed(decision: Decision) -> ToolResult:
    """The desk said no, or nobody was there to ask."""
    return ToolResult(decision.model_text, Outcome.REFUSED, error=f"{decision.verdict} by {decision.approver}")


def not_asked(name: str) -> ToolResult:
    """The desk could not answer, and without an answer nothing runs."""
    return ToolResult(
        f"{name} was not run: the box could not ask for permission. Nothing happened; do not try again.",
        Outcome.REFUSED,
        error="the desk gave no answer",
    )


def not_recorded(name: str) -> ToolResult:
    """The audit trail cannot take the row, and an action that leaves no trace must not happen."""
    return ToolResult(
        f"{name} was not run: the box could not write it into its audit trail, and it does nothing of this kind "
        "without a record. Say that its storage has a problem; do not try again.",
        Outcome.REFUSED,
        error="the audit row could not be written",
    )
