"""When the ear stays open without a wake word, and a reply that is too long to be heard at once."""

from __future__ import annotations

import pytest

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, says
from appliance.events import EndReason
from appliance.listen.earcons import Earcon
from tests.assistant.conftest import MakeRig
from tests.assistant.rig import WAKE_WORD

TWO_SENTENCES = {"speak.longest_reply_sentences": "2"}
GO_ON = ("Shall I go on?", "Do you want to hear the rest?")
FIVE = "One is first. Two is second. Three is third. Four is fourth. Five is last."


async def test_behind_a_question_the_person_answers_without_the_wake_word(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("What is your name?"), says("Hello Ada.")))
    await rig.asks_and_waits("Say hello.")
    await rig.runs(0.5)

    await rig.hears("Ada.")
    await rig.rests()

    assert rig.said == ["What is your name?", "Hello Ada."]
    assert rig.endings == [EndReason.ANSWERED, EndReason.ANSWERED]
    assert rig.tones.count(Earcon.WOKE) == 1


async def test_behind_a_statement_the_ear_is_closed(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("It is sunny.")))
    await rig.asks("How is the weather?")

    await rig.runs(0.5)

    assert not rig.is_ear_open
    assert rig.endings == [EndReason.ANSWERED]


async def test_one_silent_wait_ends_the_talk(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("What is your name?")))
    await rig.asks_and_waits("Say hello.")

    seconds = await rig.rests()
    await rig.runs(3.0)

    assert 5.5 < seconds < 7.5
    assert not rig.is_ear_open
    assert rig.endings == [EndReason.ANSWERED, EndReason.NOTHING_HEARD]
    assert Earcon.CLOSED not in rig.tones  # Nobody asked for anything.


async def test_the_wake_word_in_the_wait_is_a_question_like_any_other(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("What is your name?"), says("It is sunny.")))
    await rig.asks_and_waits("Say hello.")
    await rig.runs(0.5)

    await rig.hears("Okay Nabu, how is the weather?")
    await rig.rests()

    assert rig.said[-1] == "It is sunny."


async def test_a_box_that_asks_back_without_a_model_understands_the_answer(make_rig: MakeRig) -> None:
    rig = await make_rig()
    await rig.asks_and_waits("Set a timer.")
    await rig.runs(0.5)

    await rig.hears("Ten minutes.")
    await rig.rests()

    assert "ten minutes" in rig.said[-1]
    assert len(rig.box.schedule.waiting) == 1


@pytest.mark.parametrize("answer", ["Yes.", "More.", "Go on, please."])
@pytest.mark.parametrize("is_model_there", [True, False])
async def test_a_long_reply_stops_and_goes_on_when_the_person_wants_it(
    make_rig: MakeRig, answer: str, is_model_there: bool
) -> None:
    """The rest is there already: no model is asked for it again, and none need be there."""
    answers = [says(FIVE), says("I am asked again.")] if is_model_there else [says(FIVE)]
    rig = await make_rig(model=FakeModelEndpoint(*answers), settings=TWO_SENTENCES)
    await rig.asks_and_waits("Count to five.")
    assert rig.said[:2] == ["One is first.", "Two is second."]
    assert rig.said[2] in GO_ON

    await rig.hears(answer)
    await rig.until(lambda: rig.is_ear_open)
    await rig.hears(answer)
    await rig.rests()

    rest = [sentence for sentence in rig.said if sentence not in GO_ON]
    assert rest == ["One is first.", "Two is second.", "Three is third.", "Four is fourth.", "Five is last."]
    assert sum(sentence in GO_ON for sentence in rig.said) == 2
    assert rig.model is not None
    assert len(rig.model.requests) == 1


async def test_the_rest_waits_behind_a_silence(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says(FIVE)), settings={"speak.longest_reply_sentences": "3"})
    await rig.asks("Count to five.")

    await rig.asks("Go on.")

    assert rig.said[-2:] == ["Four is fourth.", "Five is last."]
    did = (await rig.control.call("tool.run", {"name": "box_did"}))["text"]
    assert did in rig.sentences("talk.did_nothing"), "reading on is no deed"


async def test_no_is_no(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says(FIVE), says("As you like.")), settings=TWO_SENTENCES)
    await rig.asks_and_waits("Count to five.")

    await rig.hears("No.")
    await rig.rests()

    assert rig.said[-1] == "As you like."
    assert not rig.is_ear_open


async def test_what_was_heard_of_a_long_reply_is_what_the_model_remembers(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says(FIVE), says("I know.")), settings=TWO_SENTENCES)
    await rig.asks_and_waits("Count to five.")
    await rig.hears("Yes.")
    await rig.until(lambda: rig.is_ear_open)
    await rig.rests()

    await rig.asks("Really?")

    assert rig.model is not None
    told = [item["content"][0]["text"] for item in rig.model.requests[-1].items if "content" in item]
    assert any("Two is second." in text for text in told)
    assert any("Four is fourth." in text for text in told), "what was heard later belongs to it"
    assert not any("Five is last." in text for text in told), "that was never heard"


async def test_without_a_model_a_long_answer_of_the_box_is_cut_too(make_rig: MakeRig) -> None:
    rig = await make_rig(settings={"speak.longest_reply_sentences": "1"})
    await rig.asks_and_waits("What can you do?")
    first = rig.said[0]

    await rig.hears("More.")
    await rig.until(lambda: len(rig.said) >= 3)

    assert rig.said[1] in GO_ON
    assert rig.said[2] not in (first, *GO_ON)


async def test_a_model_that_says_nothing_new_gives_no_rest(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("One."), says("Two.")))
    await rig.asks("Count.")

    await rig.asks("Go on.")

    assert rig.said == ["One.", "Two."]


async def test_a_typed_reply_is_whole(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says(FIVE)), settings=TWO_SENTENCES)

    assert (await rig.types("Count to five."))["reply"] == FIVE


async def test_the_button_opens_the_ear_when_the_wait_is_over(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("What is your name?"), says("Hello Ada.")))
    await rig.asks("Say hello.")

    rig.box.assistant.press()
    await rig.runs(0.3)
    await rig.hears("Ada.")
    await rig.rests()

    assert rig.said[-1] == "Hello Ada."


async def test_a_question_that_was_stopped_opens_nothing(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("What is your name, and where do you come from?")))
    await rig.hears(WAKE_WORD, "Say hello.")
    await rig.until(lambda: rig.box.speaker.now_saying)

    rig.box.assistant.stop()
    await rig.runs(1.0)

    assert not rig.is_ear_open
    assert rig.endings == [EndReason.STOPPED]
