"""Limits on the tool calls of one turn, so that a confused model cannot keep a person waiting or repeat an action."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

from appliance.events import Outcome
from appliance.tools.tool import ToolCall

#: What the model is told instead of a result. NOTHING ran is said each time: a model must not report a success.
_UNKNOWN = (
    "There is no tool called {name}. NOTHING ran. Do not call it again and do not say that it worked; "
    "use another tool or answer in words."
)
_CUT_OFF = (
    "This call was cut off before it was whole. NOTHING ran. Do not say that it worked; answer in words, and briefly."
)
_ENOUGH_CALLS = (
    "NOTHING ran: this turn has had its {limit} tool calls. Answer in words now, with what you have; "
    "say plainly what is missing."
)
_ENOUGH_FAILURES = (
    "NOTHING ran: too many calls of this turn have failed. Answer in words now; say plainly what did not work."
)
_ONE_TOOL_TOO_OFTEN = (
    "NOTHING ran: {name} has failed in this turn and was called {count} times already. Nothing this call would have "
    "done has happened. Take another way, or answer in words."
)
_REPEATED = {
    Outcome.OK: "This exact call was already done in this turn, so it did not run again. Use the result you have.",
    Outcome.FAILED: (
        "This exact call did not succeed before, so it did not run again. Change your approach, or say what failed."
    ),
    Outcome.REFUSED: (
        "This exact call was not allowed before and never ran; it did not run now. Do not retry it by other means."
    ),
    Outcome.PENDING: (
        "This exact call still waits for the person's answer and never ran. Do not retry it by other means."
    ),
    Outcome.INTERRUPTED: "This exact call was interrupted before, so it did not run again. Say so in words.",
}


@dataclass(frozen=True)
class CallLimits:
    """How much one turn may do; ``calls_after_failure`` counts one tool, once it has failed."""

    most_calls: int = 8
    most_failures: int = 2
    calls_after_failure: int = 3


class CallGuard:
    """Watches the calls of one turn."""

    def __init__(self, limits: CallLimits) -> None:
        self._limits = limits
        self._calls = 0
        self._calls_of: Counter[str] = Counter()
        self._failures_of: Counter[str] = Counter()
        self._first_outcome: dict[str, Outcome] = {}

    @property
    def must_answer(self) -> bool:
        """Whether the model gets no tools any more and has to answer in words."""
        return self._calls >= self._limits.most_calls or self._has_failed_enough

    def refusal(self, call: ToolCall, *, is_known: bool = True, is_whole: bool = True) -> str:
        """Why this call must not run, in words for the model; "" when it may.

        Every call asked about counts, also one that is refused: a model that only repeats itself comes to an end.
        """
        too_many = self._calls >= self._limits.most_calls
        self._calls += 1
        self._calls_of[call.name] += 1
        if self._has_failed_enough:
            return _ENOUGH_FAILURES
        if too_many:
            return _ENOUGH_CALLS.format(limit=self._limits.most_calls)
        if not is_known or not is_whole:
            self._failures_of[call.name] += 1
            return _CUT_OFF if is_known else _UNKNOWN.format(name=call.name)
        before = self._first_outcome.get(_key(call))
        if before is not None:
            return _REPEATED[before]
        earlier = self._calls_of[call.name] - 1
        if self._failures_of[call.name] and earlier >= self._limits.calls_after_failure:
            return _ONE_TOOL_TOO_OFTEN.format(name=call.name, count=earlier)
        return ""

    def note(self, call: ToolCall, outcome: Outcome) -> None:
        """The call ran, or the desk refused it. Only a failure counts as one: a refusal is the person's will."""
        self._first_outcome.setdefault(_key(call), outcome)
        if outcome is Outcome.FAILED:
            self._failures_of[call.name] += 1

    @property
    def _has_failed_enough(self) -> bool:
        return self._failures_of.total() >= self._limits.most_failures


def _key(call: ToolCall) -> str:
    return f"{call.name} {json.dumps(call.arguments, sort_keys=True, default=str)}"
