"""The button in a whole box: it talks, stops, silences, mutes, and is held to talk."""

from __future__ import annotations

import asyncio

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, says
from appliance.events import EndReason, MuteChanged, WakeDetected
from appliance.listen.earcons import Earcon
from tests.assistant.conftest import MakeRig
from tests.assistant.rig import WAKE_WORD


async def test_press_and_ask(make_rig: MakeRig) -> None:
    rig = await make_rig(has_button=True, model=FakeModelEndpoint(says("Four.")))
    await rig.presses()
    assert rig.is_ear_open
    await rig.hears("Two and two?")
    await rig.rests()
    assert [fact.word for fact in rig.told(WakeDetected)] == ["button"]
    assert rig.said == ["Four."]


async def test_a_press_ends_what_is_being_worked_on(make_rig: MakeRig) -> None:
    rig = await make_rig(has_button=True, model=FakeModelEndpoint([asyncio.Event()]))
    await rig.presses()
    await rig.hears("Think for ever.")
    await rig.until(lambda: rig.model and rig.model.requests)
    await rig.presses()
    await rig.rests()
    assert rig.endings == [EndReason.STOPPED]


async def test_a_press_silences_an_alarm_and_opens_no_ear(make_rig: MakeRig) -> None:
    rig = await make_rig(has_button=True)
    await rig.sets_timer(5.0)
    await rig.until(lambda: rig.box.ringer.ringing)
    await rig.runs(0.5)
    await rig.presses()
    assert not rig.box.ringer.ringing
    await rig.rests()
    assert rig.told(WakeDetected) == []


async def test_a_press_in_the_gap_between_two_rings_ends_the_ring_and_the_listening(make_rig: MakeRig) -> None:
    rig = await make_rig(has_button=True)
    await rig.sets_timer(5.0)
    await rig.until(lambda: rig.is_ear_open)
    await rig.presses()
    assert not rig.box.ringer.ringing
    assert not rig.is_ear_open
    await rig.rests()
    await rig.presses()
    assert rig.is_ear_open, "the next press talks"


async def test_a_double_press_mutes_and_another_unmutes(make_rig: MakeRig) -> None:
    rig = await make_rig(has_button=True)
    for is_muted in (True, False):
        await rig.presses()
        await rig.runs(0.1)
        await rig.presses()
        await rig.rests()
        assert rig.box.controls.is_muted is is_muted
        assert rig.card.is_muted is is_muted
        await rig.runs(1.0)
    assert [fact.is_muted for fact in rig.told(MuteChanged)] == [True, False]


async def test_muted_a_press_says_how_to_open_the_ear(make_rig: MakeRig) -> None:
    rig = await make_rig(has_button=True)
    await rig.box.controls.mute(True)
    await rig.presses()
    await rig.rests()
    assert rig.said == ["My microphone is closed.", "Press the button twice to open it."]


async def test_a_hold_stops_everything_with_a_sound(make_rig: MakeRig) -> None:
    rig = await make_rig(has_button=True, model=FakeModelEndpoint([asyncio.Event()]))
    await rig.presses()
    await rig.hears("Think for ever.")
    await rig.presses(1.4)
    await rig.rests()
    assert rig.endings == [EndReason.STOPPED]
    assert rig.last_tone is Earcon.CLOSED


async def test_the_countdown_to_the_shutdown_is_heard_and_taken_back(make_rig: MakeRig) -> None:
    rig = await make_rig(has_button=True, may_shut_down=True)
    rig.button.press()
    await rig.runs(9.5)
    rig.button.release()
    await rig.runs(6.0)
    await rig.rests()
    assert any("stay on" in text for text in rig.said), rig.said
    assert "shut down" in rig.said[0]
    assert rig.power.offs == 0


async def test_the_machine_goes_down_when_the_farewell_was_heard_to_its_end(make_rig: MakeRig) -> None:
    rig = await make_rig(has_button=True, may_shut_down=True)
    rig.button.press()
    await rig.until(lambda: rig.power.offs)
    assert rig.said[-1] == "I am shutting down."
    rig.button.release()
    await rig.rests()
    await rig.close()
    assert rig.power.offs == 1


async def test_a_machine_that_could_not_be_switched_off_goes_on_answering(make_rig: MakeRig) -> None:
    rig = await make_rig(has_button=True, may_shut_down=True, model=FakeModelEndpoint(says("Four.")))
    rig.power.problem = "access denied"
    await rig.presses(13.5)
    await rig.rests()
    assert "I could not switch the machine off, so I stay on." in rig.said
    await rig.asks("Two and two?")
    assert rig.said[-1] == "Four."


async def test_where_it_may_not_the_box_says_how_to_let_it(make_rig: MakeRig) -> None:
    rig = await make_rig(has_button=True)
    await rig.presses(13.5)
    await rig.rests()
    assert rig.said[0] == "I may not switch this machine off."
    assert rig.power.offs == 0


async def test_hold_to_talk(make_rig: MakeRig) -> None:
    rig = await make_rig(
        has_button=True, model=FakeModelEndpoint(says("Four.")), settings={"button.hold_to_talk": "true"}
    )
    rig.button.press()
    await rig.runs(0.3)
    assert rig.is_ear_open
    rig.ears.will_hear("Two and two?")
    rig.speaks(0.6)
    await rig.runs(0.65)
    rig.button.release()
    await rig.runs(0.2)
    assert not rig.is_ear_open, "letting go ends the utterance, not a pause"
    await rig.rests()
    assert rig.said == ["Four."]


async def test_a_short_tap_with_hold_to_talk_only_stops(make_rig: MakeRig) -> None:
    rig = await make_rig(
        has_button=True, model=FakeModelEndpoint([asyncio.Event()]), settings={"button.hold_to_talk": "true"}
    )
    rig.button.press()
    await rig.runs(0.3)
    await rig.hears("Think for ever.")
    rig.button.release()
    await rig.runs(0.5)
    await rig.presses(0.08)
    await rig.runs(0.5)
    assert not rig.is_ear_open
    await rig.rests()
    assert rig.endings[0] is EndReason.STOPPED


async def test_a_button_that_is_gone_is_said(make_rig: MakeRig) -> None:
    rig = await make_rig(has_button=True)
    rig.button.is_present = False
    await rig.until(lambda: len(rig.said) >= 3, 30.0)
    assert rig.said[0] == "I can't reach my button."


async def test_holding_to_talk_while_the_ear_is_open_keeps_it_open(make_rig: MakeRig) -> None:
    rig = await make_rig(
        has_button=True, model=FakeModelEndpoint(says("Four.")), settings={"button.hold_to_talk": "true"}
    )
    await rig.hears(WAKE_WORD)
    rig.ears.will_hear("Two and two?")
    rig.speaks(1.0)
    await rig.runs(0.2)
    rig.button.press()
    await rig.runs(0.85)
    rig.button.release()
    await rig.rests()
    assert rig.said == ["Four."]
    assert rig.endings == [EndReason.ANSWERED]
