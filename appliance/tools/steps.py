"""Step rows: what a person who watches sees of a call.

An action (write, exec, network) has a row from its start to its end, with a mark and a note. A call that only reads
is a line that comes and goes. Arguments and results are in neither: they may be private.
"""

from __future__ import annotations

from collections.abc import Iterator

from appliance.events import Event, Mark, Outcome, Peeked, StepDone, StepStarted
from appliance.tools.redact import redacted
from appliance.tools.tool import ApprovalRequest, Decision, ToolResult, Verdict

_MARKS = {Outcome.OK: Mark.GREEN, Outcome.FAILED: Mark.RED}
#: Why a call that asked somebody did nothing.
_NEVER_RAN = {
    Verdict.DECLINED: "You said no: it never ran",
    Verdict.UNANSWERED: "Nobody answered in time: it never ran",
    Verdict.UNREACHABLE: "Nobody could be asked: it never ran",
    Verdict.DISMISSED: "The question was taken back: it never ran",
    Verdict.INVALIDATED: "It was changed after your yes: it never ran",
}
_USUAL_NOTES = {
    Outcome.FAILED: "It did not work",
    Outcome.REFUSED: "It declined: nothing was done",
    Outcome.PENDING: "It waits for an answer",
    Outcome.INTERRUPTED: "It was stopped before it was done",
}
_LONGEST_NOTE = 160


def started(request: ApprovalRequest, at_seconds: float) -> Iterator[Event]:
    """The call begins."""
    if request.risk.is_action:
        yield StepStarted(request.turn_id, at_seconds, request.call.call_id, request.call.name, request.risk.value)
    else:
        yield Peeked(request.turn_id, at_seconds, request.call.name)


def done(request: ApprovalRequest, result: ToolResult, at_seconds: float) -> Iterator[Event]:
    """The call has ended."""
    if request.risk.is_action:
        mark = _MARKS.get(result.outcome, Mark.GREY)
        yield StepDone(
            request.turn_id, at_seconds, request.call.call_id, request.call.name, mark, _note_of_result(result)
        )
    else:
        yield Peeked(request.turn_id, at_seconds, "")


def never_ran(decision: Decision, at_seconds: float) -> Iterator[Event]:
    """The call was not allowed: its row shows that all the same."""
    request = decision.request
    if request.risk.is_action:
        yield from started(request, at_seconds)
        note = _NEVER_RAN.get(decision.verdict, "It was not allowed: it never ran")
        yield StepDone(request.turn_id, at_seconds, request.call.call_id, request.call.name, Mark.GREY, note)


def _note_of_result(result: ToolResult) -> str:
    if result.outcome is Outcome.OK:
        return ""
    if result.outcome is Outcome.FAILED and result.error:
        return " ".join(redacted(result.error).split())[:_LONGEST_NOTE]
    return _USUAL_NOTES.get(result.outcome, "")
