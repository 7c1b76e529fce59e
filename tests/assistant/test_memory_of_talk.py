"""What the box remembers of a talk, tells of it, and forgets for good."""

from __future__ import annotations

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, calls, says
from appliance.adapters.fakes.tool import FakeTool
from appliance.clock import settle
from appliance.errors import BrainTimeoutError
from tests.assistant.conftest import MakeRig
from tests.assistant.rig import WAKE_WORD, Rig


def texts_of_last_request(rig: Rig) -> list[str]:
    """What the model was told last, as texts."""
    assert rig.model is not None
    return [item["content"][0]["text"] for item in rig.model.requests[-1].items if "content" in item]


async def test_the_next_question_knows_what_was_said_before(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("It is blue."), says("I said it is blue.")))

    await rig.asks("Which colour is the sky?")
    await rig.types("What did I ask you about?")

    assert texts_of_last_request(rig) == ["Which colour is the sky?", "It is blue.", "What did I ask you about?"]


async def test_the_talk_goes_on_after_a_restart(make_rig: MakeRig) -> None:
    before = await make_rig(model=FakeModelEndpoint(says("It is blue.")))
    await before.asks("Which colour is the sky?")

    rig = await make_rig(disk=before.disk, model=FakeModelEndpoint(says("Blue, I said.")))
    await rig.asks("Which one was it?")

    assert texts_of_last_request(rig) == ["Which colour is the sky?", "It is blue.", "Which one was it?"]


async def test_a_new_topic_knows_nothing_of_the_old_one(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("It is blue."), calls(("box_new_topic", {})), says("Yes?")))
    await rig.asks("Which colour is the sky?")

    await rig.asks("Let us talk about something else.")
    assert rig.model is not None
    rig.model.answers.append(says("I do not know."))
    await rig.types("Which colour was it?")

    assert "Which colour is the sky?" not in texts_of_last_request(rig)
    assert texts_of_last_request(rig)[-1] == "Which colour was it?"


async def test_what_is_forgotten_is_in_no_file_any_more(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("I will keep it to myself."), says("Hm.")))
    await rig.asks("My secret is a purple elephant.")
    await rig.asks("Do you still know it?")
    await settle()
    assert "purple elephant" in rig.disk.text

    for _ in range(2):
        report = await rig.types("Forget what I just said.")
        assert report["reply"] in rig.sentences("talk.forgotten")
    await settle()

    assert "purple elephant" not in rig.disk.text
    assert await rig.history() == []
    assert (await rig.types("Forget what I just said."))["reply"] in rig.sentences("talk.nothing_to_forget")


async def test_forgetting_works_without_a_model_and_leaves_no_trace_itself(make_rig: MakeRig) -> None:
    rig = await make_rig()
    await rig.asks("What time is it in Tokyo?")

    await rig.asks("Forget what I just said.")
    await settle()

    assert await rig.history() == []
    assert "Tokyo" not in rig.disk.text
    await rig.asks("What did you hear?")
    assert rig.said[-1] in rig.sentences("talk.nothing_heard")


async def test_a_model_that_is_asked_to_forget_in_other_words_leaves_no_round_of_it(make_rig: MakeRig) -> None:
    forgets = calls(("box_forget", {}))
    rig = await make_rig(model=FakeModelEndpoint(says("I will keep it."), forgets, says("It is gone.")))
    await rig.asks("My secret is a purple elephant.")

    await rig.asks("Please let that slip from your mind.")
    await settle()

    assert rig.said[-1] == "It is gone."
    assert "purple elephant" not in rig.disk.text


async def test_what_did_you_hear(make_rig: MakeRig) -> None:
    rig = await make_rig()
    await rig.asks("What time is it?")

    for _ in range(2):
        await rig.asks("What did you hear?")
        assert rig.said[-1] == "I heard: What time is it?"


async def test_what_did_you_just_do(make_rig: MakeRig) -> None:
    rig = await make_rig()
    await rig.asks("Set a timer for ten minutes.")

    await rig.asks("What did you just do?")

    assert rig.said[-1] == rig.said[0] == "Your timer is set for ten minutes."


async def test_what_a_model_did_is_told_honestly_even_when_it_broke_off(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(calls(("open_door", {})), [BrainTimeoutError("30 s")]))
    rig.adds(FakeTool("open_door"))
    await rig.asks("Open the door.")

    report = await rig.types("What did you just do?")

    assert report["reply"] == "I used open door, and it worked."


async def test_what_was_stopped_in_the_middle_of_a_tool_is_told_too(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(calls(("open_door", {}))))
    tool = FakeTool("open_door", clock=rig.clock, seconds=20.0)
    rig.adds(tool)
    await rig.hears(WAKE_WORD, "Open the door.")
    await rig.until(lambda: tool.calls)
    rig.box.assistant.stop()
    await rig.rests()

    report = await rig.types("What did you just do?")

    assert report["reply"] == "I began with open door, but was interrupted."


async def test_say_that_again(make_rig: MakeRig) -> None:
    rig = await make_rig()
    await rig.asks("What time is it?")

    await rig.asks("Say that again.")

    assert rig.said[0] == rig.said[1]


async def test_a_sentence_that_was_not_answered_is_not_what_is_forgotten(make_rig: MakeRig) -> None:
    """The answered turn before it must not be deleted in its place."""
    rig = await make_rig(model=FakeModelEndpoint(says("I will remember the milk."), [BrainTimeoutError("30 s")]))
    await rig.asks("We need milk.")
    await rig.asks("I hate the purple elephant.")

    report = await rig.types("Forget what I just said.")
    await settle()

    assert report["reply"] in rig.sentences("talk.forgotten")
    assert [record.user_text for record in await rig.history()] == ["We need milk."]
    assert "purple elephant" not in rig.disk.text
