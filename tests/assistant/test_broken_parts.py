"""Whatever part breaks: a sentence where one can be said, no hang, and the next question is answered."""

from __future__ import annotations

import gc

import pytest

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, calls, says
from appliance.adapters.fakes.tool import FakeTool
from appliance.clock import settle
from appliance.errors import StoreError
from appliance.events import EndReason, ErrorRaised
from appliance.tools.tool import Risk
from tests.assistant.conftest import NO_DRAFTS, MakeRig
from tests.assistant.disk import FakeDisk
from tests.assistant.rig import WAKE_WORD, Rig


async def assert_answers(rig: Rig) -> None:
    """The box is all right again."""
    await rig.asks("What time is it?")
    assert rig.endings[-1] is EndReason.ANSWERED
    assert rig.said[-1].startswith("It")


async def test_a_transcriber_that_fails_is_a_sentence(make_rig: MakeRig) -> None:
    rig = await make_rig()
    rig.ears.fail()

    await rig.hears(WAKE_WORD)
    await rig.hears_noise()
    await rig.rests()

    assert " ".join(rig.said) in rig.sentences("assistant.hearing_failed")
    assert rig.endings == [EndReason.FAILED]
    assert [fact.where for fact in rig.told(ErrorRaised)] == ["hearing"]
    assert await rig.history() == []
    await assert_answers(rig)


async def test_a_transcriber_that_never_answers_is_given_up(make_rig: MakeRig) -> None:
    rig = await make_rig()
    rig.ears.block()
    await rig.hears(WAKE_WORD)
    await rig.hears_noise()

    await rig.until(lambda: rig.endings, at_most_seconds=70.0)
    rig.ears.release()
    await rig.rests()

    assert " ".join(rig.said) in rig.sentences("assistant.hearing_failed")
    await assert_answers(rig)


async def test_a_failure_ahead_of_the_end_of_speech_costs_nothing_when_the_person_goes_on(make_rig: MakeRig) -> None:
    rig = await make_rig()
    await rig.hears(WAKE_WORD)
    rig.ears.fail()
    rig.speaks(0.6)
    await rig.runs(0.9)
    assert len(rig.ears.heard) == 1

    await rig.hears("What time is it?")
    await rig.rests()
    gc.collect()  # Where a failure that nobody looked at would be told.

    assert rig.endings == [EndReason.ANSWERED]
    assert rig.said[-1].startswith("It is")


async def test_a_voice_that_fails_ends_no_turn_badly_and_hangs_nothing(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("One. Two. Three."), says("Here.")))
    rig.voice.fail()

    await rig.asks("Count.")

    assert rig.said == []
    assert [fact.where for fact in rig.told(ErrorRaised)] == ["voice"] * 3
    rig.voice.fail("nothing that is ever said")
    await rig.asks("Are you there?")
    assert rig.said == ["Here."]


async def test_a_voice_that_hangs_is_given_up(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("One."), says("Here.")))
    rig.voice.block()
    await rig.hears(WAKE_WORD, "Count.")

    await rig.until(lambda: rig.endings, at_most_seconds=45.0)
    rig.voice.release()

    await rig.asks("Are you there?")
    assert rig.said[-1] == "Here."


async def test_a_full_disk_costs_the_memory_but_no_answer(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("It is blue."), says("I forgot.")))
    rig.disk.is_full = True

    await rig.asks("Which colour is the sky?")
    await rig.asks("Are you sure?")
    await rig.types("louder")

    assert rig.said == ["It is blue.", "I forgot."]
    assert set(rig.endings) == {EndReason.ANSWERED}
    rig.disk.is_full = False
    assert await rig.history() == []


async def test_a_full_disk_is_said_where_something_was_to_be_kept(make_rig: MakeRig) -> None:
    rig = await make_rig()
    rig.disk.is_full = True

    await rig.asks("Set a timer for ten minutes.")

    assert " ".join(rig.said) in rig.sentences("device.not_stored")
    assert rig.box.schedule.waiting == ()


async def test_on_a_card_that_is_read_only_timers_still_work(make_rig: MakeRig) -> None:
    """No line of the audit trail can be written then; the box's own tools need none to be trusted."""
    rig = await make_rig(disk=FakeDisk(is_lasting=False))

    await rig.asks("Set a timer for 20 seconds.")

    assert rig.said == ["Your timer is set for twenty seconds."]
    await rig.until(lambda: rig.box.ringer.ringing)
    await rig.asks("Stop.")
    assert rig.box.ringer.ringing == ()


@pytest.mark.parametrize("risk", [Risk.WRITE, Risk.NETWORK])
async def test_a_strangers_action_that_cannot_be_recorded_is_not_done(make_rig: MakeRig, risk: Risk) -> None:
    model = FakeModelEndpoint(calls(("shutters", {})), says("My storage has a problem."))
    rig = await make_rig(disk=FakeDisk(is_lasting=False), model=model)
    tool = FakeTool("shutters", risk=risk)
    rig.adds(tool)

    await rig.asks("Close the shutters.")

    assert tool.calls == []
    assert "could not write it into its audit trail" in model.requests[-1].items[-1]["output"]


async def test_a_microphone_that_is_lost_and_found_is_told_once_each(make_rig: MakeRig) -> None:
    rig = await make_rig()

    rig.card.lose()
    await rig.runs(60.0)
    lost = " ".join(rig.said)
    rig.card.come_back()
    await rig.runs(60.0)
    assert [lost] == rig.sentences("assistant.microphone_lost")
    assert [" ".join(rig.said).removeprefix(f"{lost} ")] == rig.sentences("assistant.microphone_back")

    await assert_answers(rig)
    rig.card.lose()
    await rig.runs(60.0)

    assert " ".join(rig.said).count(lost) == 2, "each time that it happens"


async def test_a_microphone_that_is_lost_in_mid_sentence_ends_the_turn(make_rig: MakeRig) -> None:
    rig = await make_rig()
    await rig.hears(WAKE_WORD)
    rig.speaks(5.0)
    await rig.runs(0.4)

    rig.card.lose()
    rig.falls_silent()
    await rig.until(lambda: rig.endings)

    assert rig.endings == [EndReason.NOTHING_HEARD]
    await rig.runs(5.0)
    rig.card.come_back()
    await rig.until(lambda: rig.sentences("assistant.microphone_back")[0] in rig.said)
    await assert_answers(rig)


async def test_without_a_microphone_a_typed_question_is_answered_aloud(make_rig: MakeRig) -> None:
    rig = await make_rig()
    rig.card.lose()
    await rig.runs(5.0)

    report = await rig.types("What time is it?", is_voiced=True)

    assert report["said"] == "It is three oh seven in the afternoon."


async def test_an_error_of_our_own_is_a_sentence_and_the_box_lives_on(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint([KeyError("a fault of ours")], says("Here.")), settings=NO_DRAFTS)

    await rig.asks("Break.")

    assert " ".join(rig.said) in rig.sentences("assistant.turn_failed")
    assert rig.endings == [EndReason.FAILED]
    assert len(rig.tracebacks) == 1, "the log shows where"
    rig.tracebacks.clear()
    await rig.asks("Are you there?")
    assert rig.said[-1] == "Here."


async def test_a_disk_that_fails_while_the_box_is_idle_is_no_trouble(make_rig: MakeRig) -> None:
    rig = await make_rig()
    rig.disk.is_full = True
    await rig.runs(60.0)
    with pytest.raises(StoreError):
        await rig.control.call("chat.list")
    rig.disk.is_full = False
    await settle()
    await assert_answers(rig)
