"""``kotoba.core.interaction``: a tool asks a person in the middle of its call, and tells how that ended.

What is asked here comes to the same desk as ``ctx.approval.confirm``. The box has no screen: what would be a card on
one is said aloud, or is honestly reported as not shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from appliance.contracts.kotoba.doors import Doors
from appliance.contracts.kotoba.inputs import InputAnswer
from appliance.contracts.kotoba.witness import ending_of, note_ending
from appliance.tools.tool import Verdict

APPROVED = Verdict.APPROVED.value
DECLINED = Verdict.DECLINED.value
UNANSWERED = Verdict.UNANSWERED.value
UNREACHABLE = Verdict.UNREACHABLE.value
DISMISSED = Verdict.DISMISSED.value

USUAL_WAIT_SECONDS = 180.0

#: For the model; filled with what was asked about, in the form "installing x".
_NOTES: Mapping[str, str] = {
    DECLINED: "The person was asked and said NO to {what}: it did not happen. Leave it, and do not ask again.",
    UNANSWERED: (
        "Nobody answered about {what}: the question timed out on screen, and that is not a no. Nothing ran. Tell the "
        "person that it timed out; they may ask again."
    ),
    DISMISSED: "The question about {what} was taken back before anybody decided. Nothing ran; that was not a no.",
}
_UNREACHABLE_NOTE = "The box could not ask anybody about {what}, so nothing ran. Say that plainly."


async def ask_approval(ctx: Any, action: str, family: str | None = None, notice: Any = None) -> str:
    """Ask whether ``action`` may be done; one of the five words. Anything but a yes marks the call as never run.

    ``notice`` belongs to a card on a screen, which this box does not have.
    """
    approval = getattr(ctx, "approval", None)
    ask = getattr(approval, "ask", None)
    verdict = UNREACHABLE if ask is None else str(await ask(action, family=family))
    if verdict != APPROVED:
        note_no_run(ctx, verdict)
    return verdict


def note_no_run(ctx: Any, verdict: str) -> None:
    """The call ended at a question and did nothing; bound to ``ctx.call_id``, nothing without one."""
    note_ending(getattr(ctx, "call_id", ""), verdict)


def no_run_verdict(ctx: Any, call_id: str) -> str:
    """How the question ended at which this call stopped; "" when none did."""
    return ending_of(call_id)


def no_run_result(ctx: Any, what: str, fallback: str) -> str:
    """What a tool returns after a no: the sentence for the ending of its question, else ``fallback``."""
    verdict = ending_of(getattr(ctx, "call_id", ""))
    return refusal_note(verdict, what) if verdict else fallback


def refusal_note(verdict: str, what: str) -> str:
    """What the model is told when a question about ``what`` ended without a yes."""
    return _NOTES.get(verdict, _UNREACHABLE_NOTE).format(what=what)


def el_agent_turn(ctx: Any) -> bool | None:
    """Whether somebody else's agent times this turn; on this box nobody does."""
    return getattr(ctx, "el_call_bound", None)


async def request_input(
    session_id: str | None,
    label: str,
    kind: str = "text",
    timeout: float = USUAL_WAIT_SECONDS,
    detail: str | None = None,
    name: str | None = None,
    card: dict[str, Any] | None = None,
) -> str | None:
    """Ask the person for words and wait: aloud in a spoken turn, else at a shell, where every secret is typed.

    What they gave, "" when they chose to give nothing, None when nobody decided; ``card["verdict"]`` then holds which
    of the five words it was. ``kind`` is text, link, key or secret. ``name`` belongs to a card on a screen.
    """
    doors = Doors.here()
    answer = InputAnswer(Verdict.UNREACHABLE)
    if session_id and doors is not None:
        answer = await doors.ask(str(label), str(kind), str(detail or ""), float(timeout))
    if card is not None:
        card["verdict"] = answer.verdict.value
    return answer.text


async def request_approval(
    session_id: str | None,
    action: str,
    timeout: float | None = None,
    channel: str | None = None,
    family: str | None = None,
    card: dict[str, Any] | None = None,
    notice: Any = None,
    el_agent: bool | None = None,
) -> tuple[bool, bool]:
    """Whether the person agrees to ``action``, and False: nothing is allowed for ever from inside a call.

    The box itself decides how long it waits and where it asks.
    """
    doors = Doors.here()
    verdict = Verdict.UNREACHABLE
    if session_id and doors is not None:
        verdict = await doors.approval.ask(str(action), family=family)
    if card is not None:
        card.update(verdict=verdict.value, always_exact=False)
    return verdict is Verdict.APPROVED, False


async def open_input_card(
    session_id: str | None, label: str, kind: str = "text", detail: str | None = None, name: str | None = None
) -> bool:
    """False: the box has no screen that shows a card which nobody waits for."""
    return False


async def open_link_card(session_id: str | None, url: str, why: str = "") -> bool:
    """False: the box has no screen that shows a link."""
    return False


def has_pending(session_id: str | None) -> bool:
    """Whether a call of that session waits for the person."""
    return Doors.is_asking(session_id)
