"""Answers without a model: a sentence, a tool, what the tool says, and questions that wait for their answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from appliance.adapters.fakes.sentence_matcher import FakeSentenceMatcher
from appliance.adapters.fakes.tool import FakeTool
from appliance.catalogue import Catalogue
from appliance.clock import FakeClock
from appliance.events import Outcome
from appliance.home import shipped
from appliance.think.brain import Brain, BrainAnswer, Hands, Question
from appliance.think.offline_brain import OfflineBrain
from appliance.think.sentences import Sentences
from appliance.tools.registry import Registry
from appliance.tools.tool import ToolCall, ToolResult
from tests.think.offline_sentences import sentences


class Box:
    """An offline brain with tools that answer what the test wants."""

    def __init__(self, *, has_model: bool = False) -> None:
        self.clock = FakeClock()
        self.catalogue = Catalogue.load(shipped("soul"), "en")
        self.brain = OfflineBrain(sentences(), self.catalogue, self.clock, has_model=has_model)
        self.said: list[str] = []
        self.calls: list[ToolCall] = []
        self.results: dict[str, ToolResult] = {}

    async def ask(self, text: str, *, is_alert: bool = False) -> BrainAnswer:
        """One question."""
        registry = Registry()
        registry.add(FakeTool("box_time"))
        ids = iter(f"call-{number}" for number in range(1, 9))
        hands = Hands(self.said.append, self._run, registry.select(), lambda: next(ids))
        return await self.brain.answer(Question("turn-1", text, "voice"), hands, is_alert=is_alert)

    async def _run(self, call: ToolCall) -> ToolResult:
        self.calls.append(call)
        return self.results.get(call.name, ToolResult(f"{call.name} done."))

    @property
    def last(self) -> tuple[str, dict[str, Any]]:
        """Name and arguments of the last call."""
        return self.calls[-1].name, dict(self.calls[-1].arguments)


@pytest.fixture
def box() -> Box:
    return Box()


async def test_a_sentence_becomes_a_call_and_its_result_is_said(box: Box) -> None:
    box.results["box_time"] = ToolResult("It is three oh seven in the afternoon.")
    answer = await box.ask("Okay, Nabu, what time is it in Tokyo?")
    assert box.last == ("box_time", {"what": "time", "place": "tokyo"})
    assert box.said == ["It is three oh seven in the afternoon."]
    assert answer.reply_text == box.said[0]
    assert not answer.wants_answer and answer.is_remembered and answer.failed == ""


async def test_the_call_enters_the_conversation_for_a_model_that_comes_back(box: Box) -> None:
    answer = await box.ask("set a timer for 5 minutes")
    call, output, reply = answer.items
    assert call["type"] == "function_call" and json.loads(call["arguments"]) == {"seconds": 300.0}
    assert output == {"type": "function_call_output", "call_id": call["call_id"], "output": "box_timer_set done."}
    assert reply["role"] == "assistant"
    assert answer.did == ("box_timer_set done.",)


async def test_telling_the_time_is_nothing_that_was_done(box: Box) -> None:
    assert (await box.ask("what time is it")).did == ()


async def test_a_tool_that_cannot_says_so_itself(box: Box) -> None:
    box.results["box_time"] = ToolResult("I don't know the time yet.", Outcome.FAILED)
    answer = await box.ask("what time is it")
    assert box.said == ["I don't know the time yet."]
    assert answer.did == ()


@pytest.mark.parametrize(
    "result",
    [
        ToolResult("NOTHING ran. Do not try again.", Outcome.REFUSED, error="declined"),
        ToolResult("There is no tool named x, use another.", Outcome.FAILED, error="unknown tool"),
    ],
)
async def test_words_that_were_written_for_a_model_are_not_said(box: Box, result: ToolResult) -> None:
    box.results["box_timer_set"] = result
    answer = await box.ask("set a timer for 5 minutes")
    assert box.said == ["I could not do that. My log says why."]
    assert answer.items[1]["output"] == result.text


async def test_courtesies_take_turns_and_are_not_remembered(box: Box) -> None:
    answers = [await box.ask("thank you") for _ in range(3)]
    assert len({answer.reply_text for answer in answers}) == 3
    assert not any(answer.is_remembered for answer in answers)
    assert box.calls == []


async def test_talk_about_the_talk_is_not_remembered(box: Box) -> None:
    for heard in ("repeat that", "forget what I just said", "what did you hear", "stop", "more"):
        assert not (await box.ask(heard)).is_remembered, heard


async def test_what_it_does_not_know_it_says_in_changing_words(box: Box) -> None:
    said = {(await box.ask("who wrote Hamlet?")).reply_text for _ in range(3)}
    assert len(said) == 3
    assert all("model" in text or "on my own" in text for text in said)


async def test_a_model_that_is_away_is_another_thing_than_none() -> None:
    box = Box(has_model=True)
    answer = await box.ask("who wrote Hamlet?")
    assert (
        answer.reply_text
        == "My model does not answer at the moment. I still tell the time and set timers, alarms and reminders."
    )


async def test_a_bare_wake_word_is_answered_with_a_question(box: Box) -> None:
    answer = await box.ask("Okay, Nabu.")
    assert answer.reply_text == "Yes?" and answer.wants_answer


@pytest.mark.parametrize(
    ("heard", "asked", "then", "call"),
    [
        ("set a timer", "For how long?", "five minutes", ("box_timer_set", {"seconds": 300.0})),
        ("set a timer", "For how long?", "For half an hour, please.", ("box_timer_set", {"seconds": 1800.0})),
        ("set a timer", "For how long?", "ten", ("box_timer_set", {"seconds": 600.0})),
        ("wake me up", "When?", "at six thirty", ("box_alarm_set", {"is_waking": True, "time": "06:30?"})),
        ("wake me up", "When?", "seven", ("box_alarm_set", {"is_waking": True, "time": "07:00?"})),
        ("set an alarm", "When?", "tomorrow at noon", ("box_alarm_set", {"time": "12:00", "day": "tomorrow"})),
        ("set an alarm", "When?", "ten minutes", ("box_alarm_set", {"in_seconds": 600.0})),
        ("cancel the timer", "Which one?", "the pasta one", ("box_timer_cancel", {"kind": "timer", "name": "pasta"})),
        (
            "cancel the timer",
            "Which one?",
            "all of them",
            ("box_timer_cancel", {"kind": "timer", "name": "all of them"}),
        ),
        ("remind me to call mom", "When?", "at six", ("box_reminder_set", {"text": "call mom", "time": "06:00?"})),
    ],
)
async def test_the_next_words_fill_what_the_box_asked_for(
    box: Box, heard: str, asked: str, then: str, call: tuple[str, dict[str, Any]]
) -> None:
    tool = call[0]
    box.results[tool] = ToolResult(asked)
    assert (await box.ask(heard)).wants_answer
    box.results.clear()
    await box.ask(then)
    assert box.last == call


async def test_two_gaps_are_filled_one_after_the_other(box: Box) -> None:
    box.results["box_reminder_set"] = ToolResult("Of what?")
    await box.ask("remind me")
    box.results["box_reminder_set"] = ToolResult("When?")
    await box.ask("To water the plants.")
    assert box.last == ("box_reminder_set", {"text": "water the plants"})
    box.results.clear()
    await box.ask("tomorrow at 9 am")
    assert box.last == ("box_reminder_set", {"text": "water the plants", "time": "09:00", "day": "tomorrow"})


async def test_instead_of_an_answer_something_else_may_be_asked(box: Box) -> None:
    box.results["box_timer_set"] = ToolResult("For how long?")
    await box.ask("set a timer")
    await box.ask("never mind")
    assert box.last == ("box_stop", {})
    await box.ask("five minutes")
    assert box.last == ("box_stop", {}), "the question is closed"


async def test_a_minute_later_the_question_is_forgotten(box: Box) -> None:
    box.results["box_timer_set"] = ToolResult("For how long?")
    await box.ask("set a timer")
    await box.clock.advance(61)
    await box.ask("five minutes")
    assert len(box.calls) == 1


async def test_while_something_rings_okay_means_stop(box: Box) -> None:
    await box.ask("Okay.", is_alert=True)
    assert box.last == ("box_stop", {})
    await box.ask("five more minutes", is_alert=True)
    assert box.last == ("box_snooze", {"seconds": 300.0})


async def test_it_is_a_brain_and_warms_up_off_the_loop() -> None:
    matcher = FakeSentenceMatcher({})
    brain = OfflineBrain(Sentences(matcher), Catalogue.load(shipped("soul"), "en"), FakeClock())
    as_brain: Brain = brain
    await brain.warm_up()
    assert matcher.loads == 1
    assert as_brain is brain
    assert brain.match("what time is it") is None and brain.match_alert("stop") is None


def test_every_tool_that_a_sentence_calls_exists() -> None:
    from tests.device.house import House
    from tests.think.offline_sentences import rows

    tools = set(House().tools)
    called = {row.meaning for row in rows() if row.meaning.startswith("box_")}
    assert called == tools
