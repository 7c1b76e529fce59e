"""What a person hears around a tool, and what a tool may ask of the person."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from appliance.adapters.fakes.control import FakeControl
from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, calls, says
from appliance.adapters.fakes.tool import FakeTool
from appliance.control import Peer
from appliance.errors import RefusedError
from appliance.events import EndReason, LineKind, Narrated, Outcome, ToolFinished, ToolStarted
from appliance.ports import Answer, Json, Person
from appliance.tools.tool import CallContext, Risk, ToolResult, VoiceLines
from tests.assistant.conftest import MakeRig
from tests.assistant.rig import WAKE_WORD, Rig

LINES = VoiceLines("I look it up.", ("Still looking.", "It takes a while."), "Found it.", "I found nothing.")


def slow_tool(rig: Rig, seconds: float = 35.0, *, outcome: Outcome = Outcome.OK, risk: Risk = Risk.READ) -> FakeTool:
    """A tool that takes its time."""
    tool = FakeTool(
        "search",
        ToolResult("42", outcome),
        clock=rig.clock,
        seconds=seconds,
        budget=120.0,
        risk=risk,
        voice_lines=LINES,
    )
    rig.adds(tool)
    return tool


async def test_its_lines_come_in_order_and_before_the_reply(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(calls(("search", {"for": "x"})), says("It is blue.")))
    slow_tool(rig)

    await rig.asks("What is x?")

    assert rig.said == ["I look it up.", "Still looking.", "It takes a while.", "Found it.", "It is blue."]
    (started,) = rig.told(ToolStarted)
    at_seconds = {fact.text: fact.at_seconds - started.at_seconds for fact in rig.told(Narrated)}
    assert at_seconds["Still looking."] == pytest.approx(9.0, abs=0.5)
    assert at_seconds["It takes a while."] == pytest.approx(30.0, abs=0.5)
    assert [fact.kind for fact in rig.told(Narrated)] == [
        LineKind.ANNOUNCE,
        LineKind.HEARTBEAT,
        LineKind.HEARTBEAT,
        LineKind.COMPLETE,
    ]
    assert [record.heard_text for record in await rig.history()] == ["It is blue."]


async def test_what_the_model_says_before_a_tool_is_heard_before_the_tools_lines(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(calls(("search", {}), text="One moment"), says("It is blue.")))
    slow_tool(rig, 3.0)

    await rig.asks("What is x?")

    assert rig.said == ["One moment.", "I look it up.", "Found it.", "It is blue."]


async def test_a_failure_has_its_own_line_and_the_model_tells_the_rest(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(calls(("search", {})), says("That did not work.")))
    slow_tool(rig, 3.0, outcome=Outcome.FAILED)

    await rig.asks("What is x?")

    assert rig.said == ["I look it up.", "I found nothing.", "That did not work."]


async def test_a_typed_turn_is_silent(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(calls(("search", {})), says("It is blue.")))
    slow_tool(rig)

    report = await rig.types("What is x?")

    assert report["reply"] == "It is blue."
    assert (rig.said, rig.told(Narrated), bool(rig.sound.any())) == ([], [], False)


async def test_a_model_that_narrates_by_itself_gets_a_hum_in_place_of_each_heartbeat(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(calls(("search", {})), says("It is blue."), is_reasoning=True))
    slow_tool(rig)
    await rig.hears(WAKE_WORD, "What is x?")
    await rig.until(lambda: rig.told(ToolStarted))
    silent_until = len(rig.sound)

    await rig.rests()

    assert rig.said == ["It is blue."]
    assert [fact.kind for fact in rig.told(Narrated)] == [LineKind.HUM, LineKind.HUM]
    assert rig.sound[silent_until:].any()


async def test_a_tool_that_needs_the_button_is_refused_in_words(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(calls(("search", {"for": "x"})), says("Then not.")))
    tool = slow_tool(rig, risk=Risk.EXEC)

    await rig.asks("Run it.")

    *refusal, reply = rig.said
    assert " ".join(refusal) in rig.sentences("approve.unreachable")
    assert reply == "Then not."
    assert (tool.calls, rig.told(ToolStarted), rig.told(Narrated)) == ([], [], [])
    (line,) = await rig.audit()
    assert (line["kind"], line["tool"], line["verdict"]) == ("decision", "search", "unreachable")
    assert rig.model is not None
    output = rig.model.requests[1].items[-1]
    assert output["type"] == "function_call_output"
    assert "needs a person's hand on the button" in output["output"]


async def test_the_same_refused_call_again_is_not_said_again(make_rig: MakeRig) -> None:
    again = calls(("search", {"for": "x"}), first_id=2)
    rig = await make_rig(model=FakeModelEndpoint(calls(("search", {"for": "x"})), again, says("Then not.")))
    slow_tool(rig, risk=Risk.EXEC)

    await rig.asks("Run it.")

    assert " ".join(rig.said[:-1]) in rig.sentences("approve.unreachable")
    assert len(await rig.audit()) == 1


async def test_the_owner_may_run_it_from_a_shell(make_rig: MakeRig) -> None:
    rig = await make_rig(is_living=False)
    tool = slow_tool(rig, 0.0, risk=Risk.EXEC)

    root = FakeControl(rig.box.handlers, peer=Peer(os.getuid() + 1, 0, 1))
    call = {"name": "search", "arguments": {"for": "x"}}

    refused = await rig.control.call("tool.run", call)
    # What runs as the device's own user may be a plugin.
    with pytest.raises(RefusedError, match="cannot allow itself"):
        await rig.control.call("tool.run", {**call, "yes": True})
    allowed = await root.call("tool.run", {**call, "yes": True})

    assert (refused["outcome"], allowed["outcome"], allowed["text"]) == ("refused", "ok", "42")
    assert [arguments for arguments, _ in tool.calls] == [{"for": "x"}]
    *_, intent, result = await rig.audit()
    assert intent["approver"].startswith("owner:")
    assert result["outcome"] == "ok"
    assert (await rig.control.call("tool.why", {"name": "search"}))["risk"] == "exec"


async def test_an_action_is_recorded_before_it_runs(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(calls(("search", {})), says("Done.")))
    slow_tool(rig, 3.0, risk=Risk.WRITE)

    await rig.asks("Do it.")

    assert [(line["kind"], line["outcome"]) for line in await rig.audit()] == [("intent", ""), ("result", "ok")]


# ----------------------------------------------------------------------------------- asking the person back


@dataclass
class AskingTool(FakeTool):
    """A tool that asks the person in the middle of its call."""

    person: Person
    answers: list[Answer] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__("asking", is_interactive=True)

    async def invoke(self, arguments: Mapping[str, Json], context: CallContext) -> ToolResult:
        """Ask, and give the model what was answered."""
        answer = await self.person.ask("Which one do you mean?", 8.0)
        self.answers.append(answer)
        return ToolResult(answer.text or answer.ending)


async def asking_rig(make_rig: MakeRig) -> tuple[Rig, AskingTool]:
    """A box with a model that calls the asking tool in each turn."""
    answers = itertools.chain.from_iterable((calls(("asking", {})), says("Thank you.")) for _ in range(3))
    rig = await make_rig(model=FakeModelEndpoint(*answers))
    tool = AskingTool(rig.box.assistant)
    rig.adds(tool)
    return rig, tool


async def test_a_tool_asks_and_is_answered_without_a_wake_word(make_rig: MakeRig) -> None:
    rig, tool = await asking_rig(make_rig)
    await rig.hears(WAKE_WORD, "Turn on the light.")
    await rig.until(lambda: rig.is_ear_open)
    assert rig.said == ["Which one do you mean?"]

    await rig.runs(1.0)
    await rig.hears("The one in the kitchen.")
    await rig.rests()

    assert tool.answers == [Answer("The one in the kitchen.", "answered")]
    assert rig.said[-1] == "Thank you."
    assert rig.endings == [EndReason.ANSWERED]


async def test_a_tool_that_is_not_answered_learns_that(make_rig: MakeRig) -> None:
    rig, tool = await asking_rig(make_rig)

    await rig.asks("Turn on the light.")

    assert tool.answers == [Answer("", "unanswered")]
    assert rig.said[-1] == "Thank you."


async def test_a_tool_whose_answer_cannot_be_transcribed_is_not_answered(make_rig: MakeRig) -> None:
    rig, tool = await asking_rig(make_rig)
    await rig.hears(WAKE_WORD, "Turn on the light.")
    await rig.until(lambda: rig.is_ear_open)
    await rig.runs(1.0)
    rig.ears.fail()

    await rig.hears_noise()
    await rig.rests()

    assert tool.answers == [Answer("", "unanswered")]
    assert rig.endings == [EndReason.ANSWERED]


async def test_nobody_can_be_asked_in_a_typed_turn_or_without_a_microphone(make_rig: MakeRig) -> None:
    rig, tool = await asking_rig(make_rig)

    await rig.types("Turn on the light.")
    await rig.box.controls.mute(True)
    await rig.types("Turn on the light.", is_voiced=True)
    await rig.box.controls.mute(False)
    rig.card.lose()
    await rig.runs(0.5)
    await rig.types("Turn on the light.", is_voiced=True)

    assert tool.answers == [Answer("", "unreachable")] * 3
    assert "Which one do you mean?" not in rig.said


async def test_stop_ends_a_call_that_waits_for_its_answer(make_rig: MakeRig) -> None:
    rig, tool = await asking_rig(make_rig)
    await rig.hears(WAKE_WORD, "Turn on the light.")
    await rig.until(lambda: rig.is_ear_open)

    rig.box.assistant.stop()
    await rig.rests()

    assert tool.answers == []
    assert [fact.outcome for fact in rig.told(ToolFinished)] == [Outcome.INTERRUPTED]
    assert (rig.endings, rig.is_ear_open) == ([EndReason.STOPPED], False)
