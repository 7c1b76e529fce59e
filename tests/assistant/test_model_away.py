"""A model that fails costs one sentence; what the box can do by itself goes on."""

from __future__ import annotations

import pytest

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, Step, calls, says
from appliance.adapters.fakes.tool import FakeTool
from appliance.errors import (
    BrainBusyError,
    BrainError,
    BrainKeyError,
    BrainRequestError,
    BrainStreamError,
    BrainTimeoutError,
    BrainUnreachableError,
)
from appliance.events import EndReason, ErrorRaised
from appliance.ports_think import TextDelta
from appliance.tools.tool import VoiceLines
from tests.assistant.conftest import NO_DRAFTS, MakeRig
from tests.assistant.rig import Rig

FAILURES = (
    BrainUnreachableError("refused"),
    BrainTimeoutError("30 s"),
    BrainKeyError("401"),
    BrainBusyError("429", retry_after_seconds=5.0),
    BrainStreamError("cut"),
    BrainRequestError("400"),
    BrainError("?"),
)


def questions(rig: Rig) -> list[str]:
    """What the model was told in its last request, as texts."""
    assert rig.model is not None
    return [item["content"][0]["text"] for item in rig.model.requests[-1].items]


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
async def test_before_a_word_is_one_sentence_and_no_memory(make_rig: MakeRig, error: BrainError) -> None:
    rig = await make_rig(model=FakeModelEndpoint([error], says("Here again.")), settings=NO_DRAFTS)

    await rig.asks("Why is the sky blue?")

    assert " ".join(rig.said) in rig.sentences(error.sentence_key)
    assert rig.endings == [EndReason.FAILED]
    assert [fact.where for fact in rig.told(ErrorRaised)] == ["model"]
    assert await rig.history() == []
    await rig.asks("Are you there?")
    assert rig.said[-1] == "Here again."
    assert questions(rig) == ["Are you there?"]


async def test_in_the_middle_of_an_answer_what_was_written_is_said_and_not_remembered(make_rig: MakeRig) -> None:
    broken: list[Step] = [TextDelta("The sky is blue. Because the"), BrainStreamError("cut")]
    rig = await make_rig(model=FakeModelEndpoint(broken, says("Here again.")), settings=NO_DRAFTS)

    await rig.asks("Why is the sky blue?")

    assert rig.said[:2] == ["The sky is blue.", "Because the."]
    assert " ".join(rig.said[2:]) in rig.sentences("brain.stream")
    assert await rig.history() == []
    await rig.asks("Are you there?")
    assert questions(rig) == ["Are you there?"]


async def test_behind_a_tool_the_tool_is_not_run_again(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(calls(("weather", {})), [BrainTimeoutError("30 s")]))
    tool = FakeTool("weather", voice_lines=VoiceLines("I look.", (), "I have it.", ""))
    rig.adds(tool)

    await rig.asks("Will it rain?")

    assert len(tool.calls) == 1
    assert rig.said[:2] == ["I look.", "I have it."]
    assert " ".join(rig.said[2:]) in rig.sentences("brain.timeout")
    assert await rig.history() == []


async def test_the_box_answers_its_own_sentences_all_the_same(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint())

    await rig.asks("What time is it?")
    await rig.asks("Set a timer for ten minutes.")

    assert rig.said == ["It is three oh seven in the afternoon.", "Your timer is set for ten minutes."]
    assert rig.endings == [EndReason.ANSWERED, EndReason.ANSWERED]
    assert [record.user_text for record in await rig.history()] == [
        "What time is it?",
        "Set a timer for ten minutes.",
    ]


async def test_how_are_you_tells_that_the_model_is_away_and_that_it_is_back(make_rig: MakeRig) -> None:
    away, there = BrainUnreachableError("refused"), says("Blue.")
    rig = await make_rig(model=FakeModelEndpoint([away], [away], there), settings=NO_DRAFTS)
    await rig.asks("Why is the sky blue?")
    sentence = "My model, fake model, does not answer at the moment."

    assert sentence in (await rig.types("how are you"))["reply"]
    await rig.asks("Why is the sky blue?")

    assert rig.said[-1] == "Blue."
    report = await rig.control.call("tool.run", {"name": "box_health"})
    assert sentence not in report["text"]


@pytest.mark.parametrize(
    ("sentence", "reply"),
    [
        ("Stop.", ""),
        ("Louder.", "Volume 70 percent."),
        ("Set the volume to 30 percent.", "Volume 30 percent."),
        ("Cancel the timer.", "There is no timer running."),
        ("Mute.", "I stop listening now."),
        ("Unmute.", "I am listening already."),
    ],
)
async def test_what_must_not_wait_never_reaches_the_model(make_rig: MakeRig, sentence: str, reply: str) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("I am the model.")))

    report = await rig.types(sentence)

    assert rig.model is not None
    assert rig.model.requests == []
    assert report["reply"].startswith(reply)
    assert report["reason"] == "answered"


async def test_what_the_model_got_is_kept_for_whoever_looks(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("Blue."), [BrainTimeoutError("30 s")]), settings=NO_DRAFTS)
    await rig.asks("Which colour?")
    await rig.asks("And now?")

    last, first = await rig.control.call("turns.last", {"count": 2})

    assert (first["end_reason"], last["end_reason"]) == ("answered", "failed")
    story = await rig.control.call("turns.show", {"turn_id": last["turn_id"]})
    (round_,) = story["rounds"]
    assert round_["answer"]["error"] == "BrainTimeoutError: 30 s"
    assert round_["request"]["items"][-1]["content"][0]["text"] == "And now?"
