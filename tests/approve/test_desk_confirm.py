"""A tool asks in the middle of its call: what one press covers, and that no setting answers it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from appliance.adapters.fakes.desk import FakeAsker
from appliance.approve.config import ApprovalConfig
from appliance.approve.desk import ToolQuestion
from appliance.store.approvals import ApprovalState
from appliance.tools.tool import Decision, Risk, ToolResult, Verdict
from tests.approve.rig import request
from tests.approve.room import Room


def question(action: str = "open the gate", **changes: Any) -> ToolQuestion:
    given = ToolQuestion("run_backup", "plugin:backup", action, "call-1", "turn-1", "", "voice")
    return replace(given, **changes)


async def running(room: Room, asker: FakeAsker, verdict: Verdict | None) -> None:
    """The call runs: approved by a hand, or (None) allowed by the policy."""
    if verdict is not None:
        asker.answer(verdict)
    await room.desk.begin(await room.desk.decide(request(risk=Risk.EXEC if verdict else Risk.WRITE)))


async def test_one_press_covers_one_call() -> None:
    room = Room(asker=(asker := FakeAsker()))
    await running(room, asker, Verdict.APPROVED)
    assert await room.desk.confirm(question()) is Verdict.APPROVED
    assert len(asker.asked) == 1
    await room.desk.ended(Decision(request(), Verdict.APPROVED, "button"), ToolResult("done"))
    assert await room.desk.confirm(question()) is Verdict.UNREACHABLE


@pytest.mark.parametrize(("action", "force_ask"), [("rm -rf /", False), ("open the gate", True)])
async def test_it_does_not_cover_what_is_dangerous_nor_what_must_be_asked(action: str, force_ask: bool) -> None:
    room = Room(asker=(asker := FakeAsker()))
    await running(room, asker, Verdict.APPROVED)
    asker.answer(Verdict.DECLINED)
    assert await room.desk.confirm(question(action, force_ask=force_ask)) is Verdict.DECLINED
    assert [record.action for record in asker.asked] == ["", action]


async def test_no_setting_answers_a_tools_own_question() -> None:
    config = ApprovalConfig(button_for=(), never_ask=("plugin:backup",))
    room = Room(config, asker=(asker := FakeAsker()))
    await running(room, asker, None)
    asker.answer(Verdict.APPROVED)
    assert await room.desk.confirm(question()) is Verdict.APPROVED
    assert [record.action for record in asker.asked] == ["open the gate"]
    assert await room.state(asker.asked[0].request_id) is ApprovalState.DONE
    assert room.record.decisions[-1].approver == "button"


async def test_a_question_about_reading_is_none_unless_it_must_be_asked() -> None:
    room = Room(asker=(asker := FakeAsker()))
    await running(room, asker, None)
    assert await room.desk.confirm(question(risk_kind="read")) is Verdict.APPROVED
    assert asker.asked == []
    asker.answer(Verdict.UNANSWERED)
    assert await room.desk.confirm(question(risk_kind="read", force_ask=True)) is Verdict.UNANSWERED


async def test_a_no_to_a_tools_own_question_is_told_to_the_person() -> None:
    room = Room(asker=(asker := FakeAsker()))
    await running(room, asker, None)
    asker.is_usable = False
    assert await room.desk.confirm(question()) is Verdict.UNREACHABLE
    assert room.told_person[0].person_text in room.catalogue.forms("approve.unreachable")


async def test_a_fault_while_a_tool_asks_is_a_no() -> None:
    room = Room(asker=(asker := FakeAsker()))
    await running(room, asker, None)
    asker.fail(OSError("the pin is gone"))
    assert await room.desk.confirm(question()) is Verdict.UNREACHABLE
