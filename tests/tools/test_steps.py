"""Step rows and status lines: what a watching person sees of calls, live and afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.clock import FakeClock
from appliance.events import (
    EndReason,
    Event,
    Mark,
    Outcome,
    Peeked,
    StepDone,
    StepStarted,
    ToolFinished,
    TurnEnded,
    TurnStarted,
)
from appliance.store.recovery import open_database
from appliance.store.turn_log import TurnLog, TurnStep
from appliance.tools import steps
from appliance.tools.tool import ApprovalRequest, Decision, Risk, ToolCall, ToolResult, Verdict
from appliance.trace import Stopwatch


def request(risk: Risk) -> ApprovalRequest:
    return ApprovalRequest("r1", ToolCall("call-1", "lamp"), "plugin:lamp", risk, "{}", "chat-1", "t1", "voice")


@pytest.mark.contract("K-031", "K-042")
@pytest.mark.parametrize("risk", [Risk.WRITE, Risk.EXEC, Risk.NETWORK])
def test_an_action_has_one_row_with_its_risk_and_a_green_mark(risk: Risk) -> None:
    row = [*steps.started(request(risk), 1.0), *steps.done(request(risk), ToolResult("on"), 2.0)]
    assert row == [
        StepStarted("t1", 1.0, "call-1", "lamp", risk.value),
        StepDone("t1", 2.0, "call-1", "lamp", Mark.GREEN, ""),
    ]


@pytest.mark.contract("K-034")
def test_a_call_that_reads_is_a_status_line_that_comes_and_goes() -> None:
    line = [*steps.started(request(Risk.READ), 1.0), *steps.done(request(Risk.READ), ToolResult("off"), 2.0)]
    assert line == [Peeked("t1", 1.0, "lamp"), Peeked("t1", 2.0, "")]


@pytest.mark.contract("K-103", "K-107")
@pytest.mark.parametrize(
    ("outcome", "error", "mark", "note"),
    [
        (Outcome.REFUSED, "the tool declined", Mark.GREY, "It declined: nothing was done"),
        (Outcome.FAILED, "the upstream service\nreturned 502", Mark.RED, "the upstream service returned 502"),
        (Outcome.FAILED, "", Mark.RED, "It did not work"),
        (Outcome.INTERRUPTED, "stopped", Mark.GREY, "It was stopped before it was done"),
        (Outcome.PENDING, "", Mark.GREY, "It waits for an answer"),
    ],
)
def test_the_mark_tells_failed_from_not_done(outcome: Outcome, error: str, mark: Mark, note: str) -> None:
    (done,) = steps.done(request(Risk.WRITE), ToolResult("text", outcome, error=error), 2.0)
    assert done == StepDone("t1", 2.0, "call-1", "lamp", mark, note)


def test_a_note_is_short_and_holds_no_secret() -> None:
    error = "token=abcdefghijklmnop " + "long " * 100
    (done,) = steps.done(request(Risk.WRITE), ToolResult("text", Outcome.FAILED, error=error), 2.0)
    assert isinstance(done, StepDone)
    assert len(done.note) <= 160 and "abcdefghijklmnop" not in done.note


@pytest.mark.parametrize(
    ("verdict", "begins"),
    [
        (Verdict.DECLINED, "You said no"),
        (Verdict.UNANSWERED, "Nobody answered in time"),
        (Verdict.UNREACHABLE, "Nobody could be asked"),
        (Verdict.DISMISSED, "The question was taken back"),
        (Verdict.INVALIDATED, "It was changed after your yes"),
    ],
)
def test_an_action_that_was_not_allowed_has_a_grey_row_that_says_who_ended_it(verdict: Verdict, begins: str) -> None:
    started, done = steps.never_ran(Decision(request(Risk.EXEC), verdict, "button"), 3.0)
    assert isinstance(started, StepStarted) and isinstance(done, StepDone)
    assert done.mark is Mark.GREY
    assert done.note.startswith(begins) and done.note.endswith("it never ran")
    assert list(steps.never_ran(Decision(request(Risk.READ), verdict, "policy"), 3.0)) == []


async def test_the_steps_of_a_turn_can_be_looked_up_afterwards(tmp_path: Path) -> None:
    clock = FakeClock()
    database = open_database(tmp_path / "a.db", clock)
    log = TurnLog(database, clock, lambda text: text.replace("hunter2", "[secret]"))
    watch = Stopwatch(log, lambda: "")
    story: list[Event] = [
        TurnStarted("t1", 10.0, "voice"),
        Peeked("t1", 11.0, "clock"),
        Peeked("t1", 11.5, ""),
        StepStarted("t1", 12.0, "call-1", "lamp", "write"),
        StepDone("t1", 14.0, "call-1", "lamp", Mark.RED, "hunter2 is wrong"),
        ToolFinished("t1", 14.0, "call-1", "lamp", Outcome.FAILED),
        StepStarted("t1", 15.0, "call-2", "door", "exec"),
        TurnEnded("t1", 16.0, EndReason.STOPPED),
    ]
    for fact in story:
        watch(fact)
    await watch.close()

    found = await log.show("t1")
    database.close()
    assert found is not None
    assert found.steps == (
        TurnStep(1.0, "clock", "read", "", 1.5),
        TurnStep(2.0, "lamp", "write", "call-1", 4.0, "red", "[secret] is wrong"),
        TurnStep(5.0, "door", "exec", "call-2"),
    )
