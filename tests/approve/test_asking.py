"""Asking a person: when a press counts, how each question ends, and who comes first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from appliance.approve.config import ApprovalConfig
from appliance.approve.hand import HandEnding, HandPress
from appliance.errors import UsageError
from appliance.events import Outcome
from appliance.ports import Priority
from appliance.store.approvals import ApprovalState
from appliance.tools.tool import ToolResult
from tests.approve.rig import Scene
from tests.contracts.gate import until

Make = Callable[..., Scene]


@pytest.fixture
async def make(tmp_path: Path) -> AsyncIterator[Make]:
    scenes: list[Scene] = []

    def scene(config: ApprovalConfig | None = None, **settings: Any) -> Scene:
        scenes.append(Scene(tmp_path, config, **settings))
        return scenes[-1]

    yield scene
    for entry in scenes:
        entry.database.close()


async def test_a_press_after_the_question_runs_the_call_once(make: Make) -> None:
    scene = make()
    call = await scene.asked(arguments={"command": "rsync -a /home /mnt"})
    assert scene.person.said[0] == (
        "May I use the tool, run backup? It runs the program rsync, with 3 more words. "
        "Press my button for yes. Hold it for no.",
        Priority.APPROVAL,
    )
    assert (await scene.row()).state is ApprovalState.ARMED
    await scene.clock.advance(7.0)
    scene.hand.press()  # type: ignore[union-attr]
    result = await call
    assert (result.text, scene.runs) == ("done", [{"command": "rsync -a /home /mnt"}])
    assert (await scene.row()).state is ApprovalState.DONE
    decision, intent, end = await scene.entries()
    assert (decision.kind, decision.verdict, decision.approver, decision.took_seconds) == (
        "decision",
        "approved",
        "button",
        7.0,
    )
    assert (intent.kind, intent.verdict, intent.approver) == ("intent", "approved", "button")
    assert (end.kind, end.outcome, end.detail) == ("result", "ok", "executed")
    assert decision.request_id == intent.request_id == end.request_id


async def test_the_hand_is_armed_only_when_the_tool_was_named(make: Make) -> None:
    scene = make(hears_at_once=False)
    call = scene.start()
    await scene.until_asked()
    playback = scene.person.playbacks[0]
    for heard in ("", "May I use", "May I use the tool, run"):
        playback.named_so_far = heard
        await scene.clock.advance(0.5)
        await scene.quiet()
        assert not scene.hand.is_armed  # type: ignore[union-attr]
        scene.hand.press()  # type: ignore[union-attr]
    playback.named_so_far = "May I use the tool, run backup?"
    await scene.clock.advance(0.2)
    await scene.until_armed()
    assert scene.runs == []
    scene.hand.press()  # type: ignore[union-attr]
    await call
    assert len(scene.runs) == 1
    assert playback.is_withdrawn


async def test_a_question_that_was_cut_off_is_said_again_and_then_given_up(make: Make) -> None:
    scene = make(hears_at_once=False)
    call = scene.start()
    for attempt in range(2):
        await scene.until_asked(attempt + 1)
        assert len(scene.person.playbacks) == attempt + 1
        scene.person.playbacks[attempt].finish("May I")
    result = await call
    assert "could not ask" in result.text
    assert (scene.runs, scene.decisions) == ([], ["unreachable"])


async def test_a_hold_is_a_no(make: Make) -> None:
    scene = make()
    call = await scene.asked()
    scene.hand.hold()  # type: ignore[union-attr]
    result = await call
    assert (result.outcome, scene.runs) == (Outcome.REFUSED, [])
    assert "said NO" in result.text
    assert scene.told_person[0].person_text in scene.catalogue.forms("approve.declined")
    assert (await scene.row()).state is ApprovalState.DENIED
    assert [(entry.verdict, entry.approver) for entry in await scene.entries()] == [("declined", "button")]


@pytest.mark.parametrize(("channel", "seconds"), [("voice", 60.0), ("text", 180.0)])
async def test_silence_is_no_answer_and_is_told_as_that(make: Make, channel: str, seconds: float) -> None:
    scene = make()
    call = await scene.asked(channel=channel)
    await scene.clock.advance(seconds - 0.5)
    await scene.quiet()
    assert not call.done()
    await scene.clock.advance(0.5)
    result = await call
    assert "timed out on screen" in result.text
    assert "said NO" not in result.text
    assert scene.told_person[0].person_text in scene.catalogue.forms("approve.unanswered")
    assert (await scene.row()).state is ApprovalState.EXPIRED
    assert scene.hand.told[-1].endswith(": expired")  # type: ignore[union-attr]
    assert [(entry.verdict, entry.approver) for entry in await scene.entries()] == [("unanswered", "default")]


async def test_a_press_exactly_at_expiry_comes_too_late(make: Make) -> None:
    scene = make()
    call = await scene.asked()
    clock, hand = scene.clock, scene.hand
    assert hand is not None

    async def press_at_the_end() -> None:
        await clock.sleep(60.0)
        hand.press()

    pressing = asyncio.create_task(press_at_the_end())
    await clock.advance(60.0)
    await pressing
    assert "timed out" in (await call).text
    assert scene.runs == []


async def test_a_no_counts_before_a_yes_of_the_same_moment(make: Make) -> None:
    scene = make()
    call = await scene.asked()
    request = scene.office.asker.asked
    assert request is not None
    scene.hand.press()  # type: ignore[union-attr]
    assert scene.office.asker.deny(request.request_id, "voice")
    assert "said NO" in (await call).text
    assert scene.runs == []
    assert (await scene.entries())[-1].approver == "voice"


async def test_a_hand_that_breaks_is_a_no_and_a_stopped_turn_is_stopped_all_the_same(make: Make) -> None:
    scene = make()
    hand = scene.hand
    assert hand is not None

    def break_it() -> None:
        hand._answers[hand.request_id].set_exception(OSError("the machine broke"))

    call = await scene.asked()
    break_it()
    assert (await call).outcome is Outcome.REFUSED
    call = await scene.asked()
    break_it()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert scene.runs == []


async def test_a_question_on_a_screen_names_the_shell_only_when_there_is_one(make: Make) -> None:
    scene = make()
    for is_open in (False, True):
        scene.office.asker.is_shell_open = is_open
        call = await scene.asked(channel="text")
        assert ("appliance approval approve" in scene.shown[-1]) is is_open
        assert "Press my button for yes." in scene.shown[-1]
        scene.hand.hold()  # type: ignore[union-attr]
        await call


async def test_a_button_that_goes_away_ends_the_question(make: Make) -> None:
    scene = make()
    call = await scene.asked()
    scene.hand.lose()  # type: ignore[union-attr]
    assert "could not ask" in (await call).text
    assert (await scene.row()).state is ApprovalState.CANCELLED


@pytest.mark.parametrize(
    "press",
    [
        HandPress(HandEnding.APPROVED, 999.0, 1001.0),
        HandPress(HandEnding.APPROVED, 1000.0, 1001.0),
        HandPress(HandEnding.APPROVED, 1002.0, 1001.0),
        HandPress(HandEnding.APPROVED),
    ],
)
async def test_a_press_that_did_not_begin_after_arming_approves_nothing(make: Make, press: HandPress) -> None:
    scene = make()
    call = await scene.asked()
    scene.hand.press_as(press)  # type: ignore[union-attr]
    assert (await call).outcome is Outcome.REFUSED
    assert (scene.runs, scene.decisions) == ([], ["unreachable"])


async def test_a_stopped_turn_takes_the_question_back_and_says_so_in_the_trail(make: Make) -> None:
    scene = make()
    call = await scene.asked()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await scene.quiet()
    assert (scene.runs, scene.decisions) == ([], ["dismissed"])
    assert (await scene.row()).state is ApprovalState.CANCELLED
    assert [(entry.verdict, entry.approver) for entry in await scene.entries()] == [("dismissed", "stop")]
    assert scene.hand.told[-1].startswith("end")  # type: ignore[union-attr]
    assert scene.office.asker.pending == ()


async def test_a_hold_that_also_stops_the_turn_is_written_down_as_a_no(make: Make) -> None:
    scene = make()
    call = await scene.asked()
    scene.hand.hold()  # type: ignore[union-attr]
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await scene.quiet()
    assert (await scene.row()).state is ApprovalState.DENIED
    assert [(entry.verdict, entry.approver) for entry in await scene.entries()] == [("declined", "button")]


# ------------------------------------------------------------------------------------------ one at a time


async def test_of_two_requests_the_second_waits_and_needs_a_press_of_its_own(make: Make) -> None:
    scene = make()
    first = await scene.asked(arguments={"target": "one"})
    second = scene.start(arguments={"target": "two"})
    await until(lambda: len(scene.office.asker.pending) == 2)
    waiting = scene.office.asker.pending
    assert [record.as_json()["arguments"]["target"] for record in waiting] == ["one", "two"]
    assert len(scene.questions) == 1
    await scene.clock.advance(50.0)
    scene.hand.press()  # type: ignore[union-attr]
    scene.hand.press()  # type: ignore[union-attr]
    await first
    await scene.until_armed()
    assert scene.runs == [{"target": "one"}]
    assert len(scene.questions) == 2
    await scene.clock.advance(59.0)
    await scene.quiet()
    assert not second.done()
    scene.hand.press()  # type: ignore[union-attr]
    await second
    assert scene.runs == [{"target": "one"}, {"target": "two"}]


async def test_a_request_that_waits_can_be_denied_and_is_never_asked_about(make: Make) -> None:
    scene = make()
    first = await scene.asked(arguments={"target": "one"})
    second = scene.start(arguments={"target": "two"})
    await until(lambda: len(scene.office.asker.pending) == 2)
    waiting = scene.office.asker.pending[1]
    with pytest.raises(UsageError, match="not asked about yet"):
        await scene.office.asker.approve(waiting.request_id, "owner:0")
    assert scene.office.asker.deny(waiting.request_id, "owner:0")
    scene.hand.press()  # type: ignore[union-attr]
    await first
    assert "said NO" in (await second).text
    assert (len(scene.questions), scene.runs) == (1, [{"target": "one"}])


async def test_what_cannot_be_undone_is_asked_twice_and_armed_twice(make: Make) -> None:
    scene = make(ApprovalConfig(two_step=("plugin:backup/run_backup",)))
    call = await scene.asked()
    scene.hand.press()  # type: ignore[union-attr]
    scene.hand.press()  # type: ignore[union-attr]
    await scene.until_armed()
    assert scene.runs == []
    assert scene.questions[1].startswith("Once more, because it cannot be undone.")
    scene.hand.press()  # type: ignore[union-attr]
    await call
    assert len(scene.runs) == 1
    told = [fact.split(":")[0] for fact in scene.hand.told]  # type: ignore[union-attr]
    first = told[0].split()[1]
    names = [first, first, first, f"{first}/2", f"{first}/2", f"{first}/2"]
    assert told == [f"{what} {name}" for what, name in zip(["begin", "arm", "end"] * 2, names, strict=True)]


async def test_one_press_of_two_is_none(make: Make) -> None:
    scene = make(ApprovalConfig(two_step=("plugin:backup",)))
    call = await scene.asked()
    scene.hand.press()  # type: ignore[union-attr]
    await scene.until_armed()
    await scene.clock.advance(60.0)
    assert "timed out" in (await call).text
    assert scene.runs == []


# ---------------------------------------------------------------------------------------- without a button


async def test_a_spoken_request_without_a_button_is_refused_at_once(make: Make) -> None:
    scene = make(has_hand=False)
    scene.office.asker.is_shell_open = True
    result = await scene.start()
    assert "could not ask" in result.text
    assert "button" in scene.told_person[0].person_text
    assert (scene.questions, scene.runs) == ([], [])


async def test_a_typed_request_without_a_button_waits_for_a_shell(make: Make) -> None:
    scene = make(has_hand=False)
    scene.office.asker.is_shell_open = True
    call = await scene.asked(channel="text")
    request = scene.office.asker.asked
    assert request is not None
    assert f"appliance approval approve {request.request_id}" in scene.shown[0]
    assert scene.questions == []
    answering = asyncio.create_task(scene.office.asker.approve(request.request_id, "owner:0"))
    assert await answering == "approved"
    assert (await call).text == "done"
    assert (await scene.entries())[0].approver == "owner:0"
    with pytest.raises(UsageError, match="may have expired"):
        await scene.office.asker.approve(request.request_id, "owner:0")


@pytest.mark.parametrize("config", [None, ApprovalConfig(ask_over_ssh=False)])
async def test_it_waits_for_no_shell_that_is_not_there(make: Make, config: ApprovalConfig | None) -> None:
    scene = make(config, has_hand=False)
    scene.office.asker.is_shell_open = config is not None
    assert "could not ask" in (await scene.start(channel="text")).text


async def test_a_shell_may_answer_what_the_button_is_asked_about(make: Make) -> None:
    scene = make()
    call = await scene.asked()
    request = scene.office.asker.asked
    assert request is not None
    assert await scene.office.asker.approve(request.request_id, "owner:1000") == "approved"
    assert (await call).text == "done"


async def test_a_shell_approves_twice_what_is_asked_twice(make: Make) -> None:
    scene = make(ApprovalConfig(two_step=("plugin:backup",)))
    call = await scene.asked()
    request = scene.office.asker.asked
    assert request is not None
    assert await scene.office.asker.approve(request.request_id, "owner:0") == "asked again"
    await scene.until_armed()
    assert scene.runs == []
    assert await scene.office.asker.approve(request.request_id, "owner:0") == "approved"
    assert (await call).text == "done"


async def test_a_yes_from_a_shell_that_comes_with_the_end_is_too_late(make: Make) -> None:
    scene = make()
    call = await scene.asked()
    request = scene.office.asker.asked
    assert request is not None
    advancing = asyncio.create_task(scene.clock.advance(60.0))
    await asyncio.sleep(0)
    scene.clock._seconds += 60.0
    answering = asyncio.create_task(scene.office.asker.approve(request.request_id, "owner:0"))
    assert await answering == "unanswered"
    await advancing
    assert "timed out" in (await call).text


# ---------------------------------------------------------------------------- what is asked about must stay


async def test_a_script_that_is_changed_while_the_person_thinks_does_not_run(make: Make) -> None:
    scene = make()
    script = scene.workdir / "backup.sh"
    script.write_text("echo good\n", encoding="utf-8")
    call = await scene.asked(arguments={"command": "sh backup.sh"})
    script.write_text("echo evil\n", encoding="utf-8")
    scene.hand.press()  # type: ignore[union-attr]
    result = await call
    assert "changed before it ran" in result.text
    assert scene.told_person[-1].person_text in scene.catalogue.forms("approve.invalidated")
    assert (scene.runs, scene.decisions) == ([], ["approved", "invalidated"])
    assert (await scene.row()).state is ApprovalState.INVALIDATED
    kinds = [(entry.kind, entry.verdict or entry.outcome) for entry in await scene.entries()]
    assert kinds == [
        ("decision", "approved"),
        ("intent", "approved"),
        ("decision", "invalidated"),
        ("result", "refused"),
    ]


async def test_a_script_that_appears_while_the_person_thinks_does_not_run(make: Make) -> None:
    scene = make()
    call = await scene.asked(arguments={"command": "sh backup.sh"})
    (scene.workdir / "backup.sh").write_text("echo evil\n", encoding="utf-8")
    scene.hand.press()  # type: ignore[union-attr]
    assert "changed before it ran" in (await call).text
    assert scene.runs == []


async def test_a_plugin_that_is_changed_while_the_person_thinks_does_not_run(make: Make) -> None:
    scene = make()
    call = await scene.asked()
    scene.plugin_digests["plugin:backup"] = "other files"
    scene.hand.press()  # type: ignore[union-attr]
    assert "changed before it ran" in (await call).text
    assert scene.runs == []


async def test_arguments_that_a_model_changes_later_do_not_run(make: Make) -> None:
    scene = make()
    call = await scene.asked(arguments={"target": "/home"})
    request = scene.office.asker.asked
    assert request is not None
    request.request.call.arguments["target"] = "/"  # type: ignore[index]
    scene.hand.press()  # type: ignore[union-attr]
    assert (await call).outcome is Outcome.REFUSED
    assert scene.runs == []


async def test_nothing_to_hold_on_to_is_left_behind(make: Make) -> None:
    """Whatever ends a question, no task and no case of it stays."""
    scene = make()
    for end in ("press", "hold", "lose"):
        scene.hand.is_usable = True  # type: ignore[union-attr]
        call = await scene.asked()
        getattr(scene.hand, end)()
        await call
    await scene.quiet()
    assert scene.office.asker.pending == ()
    assert scene.clock.sleeping == 0
    assert {task.get_name() for task in asyncio.all_tasks()} & {"hand", "window", "question"} == set()


async def test_the_result_of_an_approved_call_is_the_tools_own(make: Make) -> None:
    scene = make()
    scene.backup._results = [ToolResult("exit code 3", Outcome.FAILED, error="exit 3")]
    call = await scene.asked()
    scene.hand.press()  # type: ignore[union-attr]
    assert (await call).text == "exit code 3"
    assert (await scene.row()).state is ApprovalState.FAILED
    assert [entry.detail for entry in await scene.entries()] == ["decision", "", "executed:failed"]
