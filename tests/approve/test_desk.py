"""The desk: what may run, what is said when it may not, and that every fault is a no."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from appliance.adapters.fakes.desk import FakeAsker
from appliance.approve.asking import HandAnswer
from appliance.approve.config import ApprovalConfig
from appliance.approve.wording import Refusals
from appliance.catalogue import Catalogue
from appliance.clock import settle
from appliance.errors import ConfigError, RefusedError
from appliance.events import ApprovalDecided, ApprovalRequested, Event, Outcome
from appliance.store.approvals import ApprovalState
from appliance.tools.tool import ApprovalRequest, Decision, Risk, ToolCall, ToolResult, Verdict
from tests.approve.rig import caller, request
from tests.approve.room import Room


async def opened(asker: FakeAsker) -> None:
    """Wait until the question is open."""
    for _ in range(2_000):
        if asker.asked:
            await settle()
            return
        await asyncio.sleep(0.001)
    raise AssertionError("nothing is asked")


# ---------------------------------------------------------------------------------------------------- policy


@pytest.mark.parametrize("risk", [Risk.READ, Risk.WRITE, Risk.NETWORK])
async def test_what_needs_no_button_runs_at_once(risk: Risk) -> None:
    room = Room()
    decision = await room.desk.decide(request(risk=risk))
    assert (decision.verdict, decision.approver, decision.may_run) == (Verdict.ALLOWED, "policy", True)
    assert (decision.model_text, decision.person_text) == ("", "")
    assert room.decisions == ["allowed"]
    assert room.record.decisions == []


async def test_without_a_button_exec_is_refused_with_what_to_do() -> None:
    room = Room()
    decision = await room.desk.decide(request())
    assert (decision.verdict, decision.approver, decision.may_run) == (Verdict.UNREACHABLE, "default", False)
    assert "could not ask" in decision.model_text
    assert "Nothing ran" in decision.model_text
    assert "do not try another way" in decision.model_text
    assert "button" in decision.person_text
    assert "SSH" in decision.person_text
    assert room.told == [ApprovalDecided("turn-1", 1000.0, "a1b2c3d4", "run_backup", "unreachable")]
    assert room.record.decisions == [decision]


async def test_a_button_that_is_out_of_order_is_no_button() -> None:
    asker = FakeAsker(is_usable=False)
    decision = await Room(asker=asker).desk.decide(request())
    assert decision.verdict is Verdict.UNREACHABLE
    assert asker.asked == []


@pytest.mark.parametrize(
    ("settings", "origin", "risk", "may_run"),
    [
        ({"button_for": ()}, "plugin:backup", Risk.EXEC, True),
        ({"button_for": ("write", "network")}, "plugin:backup", Risk.NETWORK, False),
        ({"button_for": ("write", "network")}, "plugin:backup", Risk.EXEC, True),
        ({"always_ask": ("plugin:backup",)}, "plugin:backup", Risk.READ, False),
        ({"always_ask": ("plugin:backup/run_backup",)}, "plugin:backup", Risk.WRITE, False),
        ({"always_ask": ("plugin:backup/other",)}, "plugin:backup", Risk.WRITE, True),
        ({"never_ask": ("plugin:backup",)}, "plugin:backup", Risk.EXEC, True),
        ({"never_ask": ("plugin:backup/run_backup",)}, "plugin:other", Risk.EXEC, False),
        (
            {"never_ask": ("plugin:backup",), "always_ask": ("plugin:backup/run_backup",)},
            "plugin:backup",
            Risk.READ,
            False,
        ),
        (
            {"always_ask": ("plugin:backup",), "never_ask": ("plugin:backup/run_backup",)},
            "plugin:backup",
            Risk.EXEC,
            True,
        ),
        ({"always_ask": ("plugin:backup",), "never_ask": ("plugin:backup",)}, "plugin:backup", Risk.READ, False),
    ],
)
async def test_the_owner_sets_what_needs_the_button(
    settings: dict[str, Any], origin: str, risk: Risk, may_run: bool
) -> None:
    room = Room(ApprovalConfig(**settings))
    assert (await room.desk.decide(request(risk=risk, origin=origin))).may_run is may_run


@pytest.mark.parametrize(
    "settings", [{"button_for": ("exce",)}, {"never_ask": ("run_backup",)}, {"always_ask": ("backup/run_backup",)}]
)
def test_a_misspelt_setting_is_an_error_and_never_a_yes(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"approval\.\w+ = '.*must be"):
        ApprovalConfig(**settings)


# ---------------------------------------------------------------------------------------------------- asking


@pytest.mark.parametrize(
    ("verdict", "model_says", "person_key"),
    [
        (Verdict.DECLINED, ("said NO", "did not happen"), "approve.declined"),
        (Verdict.UNANSWERED, ("timed out on screen", "ask again", "not a no"), "approve.unanswered"),
        (Verdict.UNREACHABLE, ("could not ask",), "approve.unreachable"),
        (Verdict.DISMISSED, ("taken back", "Nothing ran"), "approve.dismissed"),
    ],
)
async def test_every_ending_has_its_own_sentences(
    verdict: Verdict, model_says: tuple[str, ...], person_key: str
) -> None:
    asker = FakeAsker()
    asker.answer(verdict, "button")
    room = Room(asker=asker)
    decision = await room.desk.decide(request())
    assert decision.verdict is verdict
    assert not decision.may_run
    assert all(words in decision.model_text for words in model_says)
    assert "said NO" not in decision.model_text or verdict is Verdict.DECLINED
    assert decision.person_text in room.catalogue.forms(person_key)
    assert [type(event) for event in room.told] == [ApprovalRequested, ApprovalDecided]
    assert room.record.decisions == [decision]


async def test_a_press_approves_exactly_the_call_that_was_asked_about() -> None:
    asker = FakeAsker()
    room = Room(asker=asker)
    asked_for = request()
    deciding = asyncio.create_task(room.desk.decide(asked_for))
    await opened(asker)
    assert [record.request.arguments_json for record in asker.asked] == ['{"target":"/home"}']
    asked_for.call.arguments["target"] = "/"  # type: ignore[index]
    asker.answer(Verdict.APPROVED)
    decision = await deciding
    assert (decision.verdict, decision.approver) == (Verdict.APPROVED, "button")
    assert decision.request.call.arguments == {"target": "/home"}
    assert room.record.decisions == [decision]


async def test_an_approval_that_cannot_be_written_down_is_none() -> None:
    asker = FakeAsker()
    asker.answer(Verdict.APPROVED)
    room = Room(asker=asker)
    room.record.fails = True
    decision = await room.desk.decide(request())
    assert not decision.may_run
    assert "could not ask" in decision.model_text
    assert decision.person_text in room.catalogue.forms("approve.unrecorded")
    assert room.decisions == ["unreachable"]
    assert await room.state() is ApprovalState.CANCELLED


async def test_a_refusal_that_cannot_be_written_down_is_still_a_refusal() -> None:
    room = Room()
    room.record.fails = True
    decision = await room.desk.decide(request())
    assert decision.verdict is Verdict.UNREACHABLE
    assert decision.person_text in room.catalogue.forms("approve.unreachable")


async def test_an_asker_that_breaks_is_a_no() -> None:
    asker = FakeAsker()
    asker.fail(OSError("the pin is gone"))
    assert not (await Room(asker=asker).desk.decide(request())).may_run


async def test_an_asker_cannot_speak_for_the_policy() -> None:
    asker = FakeAsker()
    asker.answer(Verdict.ALLOWED)
    assert not (await Room(asker=asker).desk.decide(request())).may_run


async def test_an_asker_that_never_asked_cannot_approve() -> None:
    asker = FakeAsker()
    asker.answer(Verdict.APPROVED)
    room = Room(asker=asker)
    asker.announce = None
    assert not (await room.desk.decide(request())).may_run


async def test_a_request_that_is_changed_while_it_is_asked_about_is_refused() -> None:
    asker = FakeAsker()
    deciding = asyncio.create_task(Room(asker=asker).desk.decide(request()))
    await opened(asker)
    asker.asked[0].request.call.arguments["target"] = "/"  # type: ignore[index]
    asker.answer(Verdict.APPROVED)
    assert not (await deciding).may_run


async def test_stop_while_asking_ends_the_question() -> None:
    room = Room(asker=(asker := FakeAsker()))
    deciding = asyncio.create_task(room.desk.decide(request()))
    await opened(asker)
    deciding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await deciding
    assert room.decisions == ["dismissed"]
    assert [(decision.verdict, decision.approver) for decision in room.record.decisions] == [
        (Verdict.DISMISSED, "stop")
    ]
    assert await room.state() is ApprovalState.CANCELLED


async def test_a_no_that_stops_the_turn_is_a_no_and_not_taken_back() -> None:
    asker = FakeAsker()
    asker.last_words = HandAnswer(Verdict.DECLINED, "button")
    room = Room(asker=asker)
    deciding = asyncio.create_task(room.desk.decide(request()))
    await opened(asker)
    deciding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await deciding
    assert room.decisions == ["declined"]
    assert await room.state() is ApprovalState.DENIED


# ------------------------------------------------------------------------------------------------ fails closed


@pytest.mark.parametrize("arguments_json", ['{"target":"/"}', "{}", "rubbish", "null", "[" * 100_000])
async def test_a_record_that_does_not_say_what_the_call_says_is_refused(arguments_json: str) -> None:
    room = Room(ApprovalConfig(button_for=()))
    assert not (await room.desk.decide(replace(request(), arguments_json=arguments_json))).may_run


async def test_a_missing_sentence_and_a_broken_observer_do_not_open_the_door() -> None:
    def broken(_event: Event) -> None:
        raise RuntimeError("the face fell off")

    room = Room()
    room.desk._parts = replace(room.desk._parts, refusals=Refusals(Catalogue("xx", {})), publish=broken)
    decision = await room.desk.decide(request())
    assert (decision.verdict, decision.person_text) == (Verdict.UNREACHABLE, "")


# ------------------------------------------------------------------------------------------------ owner's grant


async def test_the_owner_allows_one_call_from_a_shell_of_their_own() -> None:
    room = Room()
    with room.desk.owner_grant(request().call, caller(1000)):
        decision = await room.desk.decide(request())
        again = await room.desk.decide(request())
    assert (decision.verdict, decision.approver) == (Verdict.APPROVED, "owner:1000")
    assert room.record.decisions[0] == decision
    assert not again.may_run


@pytest.mark.parametrize(
    "other",
    [
        request(arguments={"target": "/"}),
        request("wipe_disk"),
        replace(request(), call=ToolCall("call-2", "run_backup", {"target": "/home"})),
    ],
)
async def test_the_owners_grant_covers_no_other_call(other: ApprovalRequest) -> None:
    room = Room()
    with room.desk.owner_grant(request().call, caller(0)):
        assert not (await room.desk.decide(other)).may_run


async def test_a_grant_that_was_not_used_is_gone() -> None:
    room = Room()
    with room.desk.owner_grant(request().call, caller(0)):
        pass
    assert not (await room.desk.decide(request())).may_run


async def test_the_user_that_plugins_run_as_cannot_grant_anything() -> None:
    room = Room()
    with (
        pytest.raises(RefusedError, match="cannot allow itself"),
        room.desk.owner_grant(request().call, caller(990)),
    ):
        raise AssertionError("the grant was given")
    assert not (await room.desk.decide(request())).may_run


# --------------------------------------------------------------------------------------------- the one run


async def approved(room: Room, asker: FakeAsker) -> Decision:
    asker.answer(Verdict.APPROVED)
    return await room.desk.decide(request())


async def test_a_yes_is_good_for_one_run() -> None:
    asker = FakeAsker()
    room = Room(asker=asker)
    decision = await approved(room, asker)
    assert await room.state() is ApprovalState.APPROVED
    assert await room.desk.begin(decision) == decision
    assert await room.state() is ApprovalState.CONSUMED
    assert not (await room.desk.begin(decision)).may_run
    await room.desk.ended(decision, ToolResult("done"))
    assert await room.state() is ApprovalState.DONE
    assert not (await room.desk.begin(decision)).may_run


async def test_a_run_that_failed_or_never_began_closes_its_request() -> None:
    asker = FakeAsker()
    room = Room(asker=asker)
    decision = await approved(room, asker)
    await room.desk.begin(decision)
    await room.desk.ended(decision, ToolResult("no", Outcome.FAILED))
    assert await room.state() is ApprovalState.FAILED
    asker.answer(Verdict.APPROVED)
    second = await room.desk.decide(replace(request(), request_id="second"))
    await room.desk.ended(second, ToolResult("stopped", Outcome.INTERRUPTED))
    assert await room.state("second") is ApprovalState.CANCELLED


async def test_a_yes_that_the_desk_never_gave_runs_nothing() -> None:
    room = Room()
    forged = Decision(request(), Verdict.APPROVED, "button")
    assert not (await room.desk.begin(forged)).may_run
    assert not (await room.desk.begin(Decision(request(), Verdict.ALLOWED, "policy"))).may_run


async def test_a_plugin_that_was_changed_after_the_press_does_not_run() -> None:
    asker = FakeAsker()
    room = Room(asker=asker)
    decision = await approved(room, asker)
    room.digest = "another"
    last_look = await room.desk.begin(decision)
    assert (last_look.verdict, last_look.may_run) == (Verdict.INVALIDATED, False)
    assert "changed before it ran" in last_look.model_text
    assert last_look.person_text in room.catalogue.forms("approve.invalidated")
    assert await room.state() is ApprovalState.INVALIDATED
    assert room.record.decisions[-1] == last_look
    assert room.decisions == ["approved", "invalidated"]


async def test_a_row_that_somebody_changed_in_the_store_runs_nothing() -> None:
    asker = FakeAsker()
    room = Room(asker=asker)
    decision = await approved(room, asker)
    change = "UPDATE approvals SET record = replace(record, '/home', '/')"
    await room.database.arun(lambda connection: connection.execute(change))
    assert not (await room.desk.begin(decision)).may_run


async def test_what_could_not_be_recorded_is_taken_back_and_said() -> None:
    asker = FakeAsker()
    room = Room(asker=asker)
    refused = await room.desk.unrecorded(await approved(room, asker))
    assert refused.person_text in room.catalogue.forms("approve.unrecorded")
    assert await room.state() is ApprovalState.CANCELLED
