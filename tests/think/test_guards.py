from __future__ import annotations

from typing import Any

import pytest

from appliance.events import Outcome
from appliance.think.guards import CallGuard, CallLimits
from appliance.tools.tool import ToolCall


def call(name: str = "search", **arguments: Any) -> ToolCall:
    return ToolCall("id", name, arguments)


def run(guard: CallGuard, wanted: ToolCall, outcome: Outcome = Outcome.OK) -> str:
    """Ask for a call and run it if it may run; why it may not."""
    refusal = guard.refusal(wanted)
    if not refusal:
        guard.note(wanted, outcome)
    return refusal


def test_different_calls_of_one_tool_run_as_long_as_none_fails() -> None:
    guard = CallGuard(CallLimits())
    assert [run(guard, call(q=number)) for number in range(8)] == [""] * 8


def test_the_ninth_call_of_a_turn_does_not_run() -> None:
    guard = CallGuard(CallLimits(most_calls=8))
    for number in range(8):
        assert not guard.must_answer
        run(guard, call(f"tool{number}"))
    assert guard.must_answer
    assert "8 tool calls" in run(guard, call("one_more"))


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome.OK, "already done"),
        (Outcome.FAILED, "did not succeed"),
        (Outcome.REFUSED, "never ran"),
        (Outcome.PENDING, "never ran"),
        (Outcome.INTERRUPTED, "interrupted"),
    ],
)
def test_an_exact_repeat_does_not_run_and_is_told_how_the_first_one_went(outcome: Outcome, words: str) -> None:
    guard = CallGuard(CallLimits())
    assert run(guard, call(a=1, b=[2]), outcome) == ""
    assert words in run(guard, call(b=[2], a=1))  # the order of the arguments does not matter
    assert run(guard, call(a=1, b=[3])) == ""


def test_repeats_count_so_that_a_model_in_a_loop_comes_to_an_end() -> None:
    guard = CallGuard(CallLimits(most_calls=5))
    for _ in range(5):
        run(guard, call())
    assert guard.must_answer


def test_a_tool_that_failed_may_be_called_three_times_only() -> None:
    guard = CallGuard(CallLimits(most_failures=5))
    run(guard, call(q=1), Outcome.FAILED)
    assert run(guard, call(q=2)) == ""
    assert run(guard, call(q=3)) == ""
    refusal = run(guard, call(q=4))
    assert "NOTHING ran" in refusal and "search" in refusal and "3 times" in refusal
    assert run(guard, call("other")) == ""


def test_after_two_failures_nothing_runs_any_more() -> None:
    guard = CallGuard(CallLimits())
    said = []
    for name in ("a", "b"):
        said.append(guard.must_answer)
        run(guard, call(name), Outcome.FAILED)
    assert [*said, guard.must_answer] == [False, False, True]
    assert "NOTHING ran" in run(guard, call("c"))


def test_a_refusal_of_the_person_is_no_failure() -> None:
    guard = CallGuard(CallLimits())
    for number in range(3):
        run(guard, call(q=number), Outcome.REFUSED)
    assert not guard.must_answer


def test_an_unknown_tool_and_a_call_that_was_cut_off_are_failures_that_did_not_run() -> None:
    guard = CallGuard(CallLimits())
    unknown = guard.refusal(call("nope"), is_known=False)
    assert "nope" in unknown and "NOTHING ran" in unknown and "Do not call it again" in unknown
    assert "NOTHING ran" in guard.refusal(call(), is_whole=False)
    assert guard.must_answer
