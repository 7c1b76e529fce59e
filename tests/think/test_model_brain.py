from __future__ import annotations

import asyncio
import json

import pytest

from appliance.adapters.fakes.model_endpoint import calls, says
from appliance.events import Outcome
from appliance.ports_think import Completed, OutputItem, TextDelta, Usage
from appliance.store.shapes import TurnRecord
from appliance.think.brain import BrainAnswer
from appliance.think.guards import CallLimits
from appliance.think.items import message_text, user_message
from appliance.tools.tool import ToolCall, ToolResult
from tests.think.scene import FAILED, Scene

# ------------------------------------------------------------------------------------------------- answering


async def test_an_answer_is_said_as_it_comes() -> None:
    scene = Scene(says("It is ", "noon."))
    answer = await scene.ask()
    assert scene.said == ["It is ", "noon."]
    assert answer == BrainAnswer("It is noon.", answer.items)
    assert [message_text(item) for item in answer.items] == ["It is noon."]
    request = scene.fake.requests[0]
    assert request.items == (user_message("What time is it?"),)
    assert "You are Pip" in request.instructions
    assert [tool["name"] for tool in request.tools] == ["get_time", "lamp_switch", "search", "camera"]


async def test_earlier_turns_stand_before_the_question() -> None:
    scene = Scene(says("Four."))
    await scene.ask("And plus one?", TurnRecord("t0", "Two plus one?", "Three.", "Three.", ()))
    texts = [message_text(item) for item in scene.fake.requests[0].items]
    assert texts == ["Two plus one?", "Three.", "And plus one?"]


async def test_what_requests_cost_teaches_how_much_history_fits() -> None:
    history = [TurnRecord("t0", "a" * 6000, "Yes.", "Yes.", ())]
    scene = Scene(*[says("Noon.", usage=Usage(input_tokens=20_000))] * 9)
    for _ in range(9):
        await scene.ask("And?", *history)
    assert [len(request.items) for request in scene.fake.requests][::8] == [3, 1]


async def test_a_tool_is_run_and_its_result_goes_back_with_everything_before() -> None:
    reasoning = OutputItem({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"})
    scene = Scene([reasoning, *calls(("lamp_switch", {"on": True}))], says("The lamp is on."))
    answer = await scene.ask()
    assert scene.ran == [ToolCall("call_1", "lamp.switch", {"on": True})]
    sent = scene.fake.requests[1].items
    assert [item["type"] for item in sent] == ["message", "reasoning", "function_call", "function_call_output"]
    assert sent[1]["encrypted_content"] == "sealed"
    assert scene.outputs() == ["result of lamp.switch"]
    assert [item["type"] for item in answer.items] == ["reasoning", "function_call", "function_call_output", "message"]
    assert answer.did == ("I used lamp switch, and it worked.",)


async def test_calls_of_one_answer_run_one_after_another_in_order() -> None:
    scene = Scene(calls(("search", {"q": 1}), ("get_time", {}), ("search", {"q": 2})), says("Done."))
    running = 0

    async def alone() -> None:
        nonlocal running
        running += 1
        assert running == 1
        await asyncio.sleep(0)
        running -= 1

    scene.before_run = alone
    await scene.ask()
    assert [(call.name, call.arguments) for call in scene.ran] == [
        ("search", {"q": 1}),
        ("get_time", {}),
        ("search", {"q": 2}),
    ]
    assert [item["type"] for item in scene.fake.requests[1].items[1:]] == [
        *["function_call"] * 3,
        *["function_call_output"] * 3,
    ]


async def test_words_before_a_tool_and_behind_it_are_two_sentences() -> None:
    scene = Scene(calls(("get_time", {}), text="Let me look."), says("It is noon."))
    answer = await scene.ask()
    assert "".join(scene.said) == answer.reply_text == "Let me look.\nIt is noon."
    assert [message_text(item) for item in answer.items if item["type"] == "message"] == ["Let me look.", "It is noon."]


@pytest.mark.parametrize(
    ("reply", "asks"),
    [
        ("Shall I go on?", True),
        ('It is five. Did you mean "today"?', True),
        ('She asked "why?"', True),
        ("[curious] Which one? 😀", True),
        ("Which one?\n\n[pause]", True),
        ("まだですか？", True),
        ("Why? Because.", False),
        ("It is noon.", False),
        ("<think>Really?</think> Yes.", False),
    ],
)
async def test_a_question_at_the_end_opens_the_ear(reply: str, asks: bool) -> None:
    assert (await Scene(says(reply)).ask()).wants_answer is asks


async def test_text_without_a_message_item_still_enters_the_conversation() -> None:
    answer = await Scene([TextDelta("Noon."), Completed()]).ask()
    assert [message_text(item) for item in answer.items] == ["Noon."]


# ------------------------------------------------------------------------------------------- confused models


async def test_an_unknown_tool_is_not_run_and_the_model_is_told() -> None:
    scene = Scene(calls(("teleport", {})), says("I cannot do that."))
    answer = await scene.ask()
    assert scene.ran == [] and answer.did == ()
    assert "no tool called teleport" in scene.outputs()[0]


@pytest.mark.parametrize("raw", ['{"q": "half', "[1, 2]", "nonsense", ""])
async def test_broken_arguments_become_none_and_never_reach_the_endpoint_again(raw: str) -> None:
    scene = Scene(calls(("search", raw)), says("Done."))
    await scene.ask()
    assert scene.ran[0].arguments == {}
    sent = scene.fake.requests[1].items[1]
    assert json.loads(sent["arguments"]) == {}


async def test_a_call_that_was_cut_off_for_length_does_not_run() -> None:
    cut = [*calls(("search", '{"q": "half'))[:-1], Completed(is_incomplete=True)]
    scene = Scene(cut, says("That was too long."))
    await scene.ask()
    assert scene.ran == [] and "cut off" in scene.outputs()[0]


async def test_calls_without_ids_or_with_the_same_one_are_told_apart() -> None:
    items = [
        OutputItem({"type": "function_call", "call_id": i, "name": "search", "arguments": a})
        for i, a in [("", '{"q": 1}'), ("x", '{"q": 2}'), ("x", '{"q": 3}')]
    ]
    scene = Scene([*items, Completed()], says("Done."))
    await scene.ask()
    assert [call.call_id for call in scene.ran] == ["own-1", "x", "own-2"]
    sent = scene.fake.requests[1].items
    for kind in ("function_call", "function_call_output"):
        assert [item["call_id"] for item in sent if item["type"] == kind] == ["own-1", "x", "own-2"]


async def test_the_same_call_again_is_answered_without_running() -> None:
    scene = Scene(calls(("get_time", {})), calls(("get_time", {}), first_id=2), says("Noon."))
    await scene.ask()
    assert len(scene.ran) == 1
    assert "already done" in scene.outputs()[1]


async def test_after_two_failures_the_model_gets_no_tools_and_answers_in_words() -> None:
    scene = Scene(
        calls(("search", {"q": 1}), ("search", {"q": 2}), ("get_time", {})),
        says("The search does not work."),
    )
    scene.results["search"] = FAILED
    answer = await scene.ask()
    assert len(scene.ran) == 2
    assert "NOTHING ran" in scene.outputs()[2]
    last = scene.fake.requests[1]
    assert last.tools == () and "no more tools" in last.instructions
    assert answer.reply_text == "The search does not work."
    assert answer.did == ("I tried search, but it failed.",) * 2


async def test_after_eight_calls_the_model_answers_in_words_even_if_it_wants_more() -> None:
    rounds = [calls(("search", {"q": n}), first_id=n) for n in range(1, 10)]
    scene = Scene(*rounds[:8], [*rounds[8][:-1], *says("Enough.")])
    answer = await scene.ask()
    assert len(scene.ran) == 8 and len(scene.fake.requests) == 9
    assert scene.fake.requests[7].tools and not scene.fake.requests[8].tools
    assert answer.reply_text == "Enough."
    assert [item["type"] for item in answer.items].count("function_call") == 8


async def test_the_limits_can_be_set() -> None:
    scene = Scene(calls(("search", {})), says("Enough."), limits=CallLimits(most_calls=1))
    await scene.ask()
    assert scene.fake.requests[1].tools == ()


async def test_a_refused_call_is_told_and_is_no_failure() -> None:
    scene = Scene(calls(("search", {"q": 1}), ("camera", {})), calls(("get_time", {}), first_id=5), says("All right."))
    scene.results["search"] = scene.results["camera"] = ToolResult("Nobody allowed it.", Outcome.REFUSED)
    answer = await scene.ask()
    assert scene.outputs()[:2] == ["Nobody allowed it."] * 2
    assert len(scene.ran) == 3
    assert answer.did[0] == "I wanted to use search, but it was not allowed."


# -------------------------------------------------------------------------------------------- empty answers

EMPTY = [Completed()]


async def test_an_empty_answer_is_asked_for_once_more() -> None:
    scene = Scene(EMPTY, says("Noon."))
    assert (await scene.ask()).reply_text == "Noon."


@pytest.mark.parametrize("text", ["", "[happily]", "<think>I wonder", " \n"])
async def test_a_model_that_says_nothing_twice_is_a_failure_told_in_one_sentence(text: str) -> None:
    scene = Scene(says(text), says(text))
    answer = await scene.ask()
    assert answer.reply_text in scene.catalogue.forms("brain.empty")
    assert scene.said[-1] == answer.reply_text
    assert "without a word" in answer.failed and not answer.is_remembered and answer.items == ()


async def test_a_model_that_is_silent_after_its_tools_did_their_work_is_done() -> None:
    scene = Scene(calls(("lamp_switch", {})), EMPTY, EMPTY)
    answer = await scene.ask()
    assert answer.reply_text in scene.catalogue.forms("brain.done")
    assert not answer.failed and message_text(answer.items[-1]) == answer.reply_text


async def test_a_model_that_is_silent_after_a_failed_tool_has_not_done_it() -> None:
    scene = Scene(calls(("lamp_switch", {})), EMPTY, EMPTY)
    scene.results["lamp.switch"] = FAILED
    answer = await scene.ask()
    assert answer.reply_text in scene.catalogue.forms("brain.empty")
    assert answer.failed and answer.did


async def test_a_model_that_spoke_before_its_tools_may_be_silent_behind_them() -> None:
    scene = Scene(calls(("lamp_switch", {}), text="The lamp is on."), EMPTY, EMPTY)
    answer = await scene.ask()
    assert answer.reply_text == "The lamp is on.\n" and not answer.failed
