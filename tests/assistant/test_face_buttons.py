"""The buttons of a face in a whole box: they talk, mute and stop, and never say yes."""

from __future__ import annotations

import asyncio

import pytest

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, calls, says
from appliance.adapters.fakes.tool import FakeTool
from appliance.events import ApprovalRequested, EndReason, MuteChanged, ToolStarted, WakeDetected
from appliance.listen.earcons import Earcon
from appliance.tools.tool import Risk
from tests.assistant.conftest import MakeRig
from tests.assistant.rig import Rig


async def test_talk_on_the_face_opens_the_ear(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint(says("Four.")))
    await rig.presses_on_face("talk")
    assert rig.is_ear_open
    await rig.hears("Two and two?")
    await rig.rests()
    assert [fact.word for fact in rig.told(WakeDetected)] == ["button"]
    assert rig.said == ["Four."]


async def test_talk_on_the_face_is_a_press_even_where_the_button_is_held_to_talk(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint([asyncio.Event()]), settings={"button.hold_to_talk": "true"})
    await rig.presses_on_face("talk")
    await rig.hears("Think for ever.")
    await rig.until(lambda: rig.model and rig.model.requests)
    await rig.presses_on_face("talk")
    await rig.rests()
    assert rig.endings == [EndReason.STOPPED]
    assert not rig.is_ear_open


async def test_mute_on_the_face_closes_the_microphone_and_opens_it(make_rig: MakeRig) -> None:
    rig = await make_rig()
    for is_muted in (True, False):
        await rig.presses_on_face("mute")
        await rig.rests()
        assert rig.card.is_muted is is_muted
    assert [fact.is_muted for fact in rig.told(MuteChanged)] == [True, False]


async def test_stop_on_the_face_stops_everything_with_a_sound(make_rig: MakeRig) -> None:
    rig = await make_rig(model=FakeModelEndpoint([asyncio.Event()]))
    await rig.presses_on_face("talk")
    await rig.hears("Think for ever.")
    await rig.until(lambda: rig.model and rig.model.requests)
    await rig.presses_on_face("stop")
    await rig.rests()
    assert rig.endings == [EndReason.STOPPED]
    assert rig.last_tone is Earcon.CLOSED


async def asked_to_approve(make_rig: MakeRig) -> tuple[Rig, FakeTool]:
    """A box that has just asked for the button, which would approve now."""
    rig = await make_rig(has_button=True, model=FakeModelEndpoint(calls(("wipe", {})), says("Done.")))
    tool = FakeTool("wipe", risk=Risk.EXEC)
    rig.adds(tool)
    await rig.presses_on_face("talk")
    await rig.hears("Wipe it.")
    await rig.until(lambda: rig.told(ApprovalRequested))
    await rig.runs(6.0)
    return rig, tool


async def test_the_button_itself_approves(make_rig: MakeRig) -> None:
    rig, tool = await asked_to_approve(make_rig)
    await rig.presses()
    await rig.rests()
    assert len(tool.calls) == 1


@pytest.mark.parametrize("action", ["talk", "mute", "stop", "approve", "yes", ""])
async def test_no_button_of_a_face_ever_approves(make_rig: MakeRig, action: str) -> None:
    rig, tool = await asked_to_approve(make_rig)
    for _ in range(3):
        await rig.presses_on_face(action)
        await rig.runs(0.5)
    await rig.runs(40.0)
    await rig.rests()
    assert (tool.calls, rig.told(ToolStarted)) == ([], [])


async def test_an_unknown_button_of_a_face_does_nothing(make_rig: MakeRig) -> None:
    rig = await make_rig()
    before = len(rig.facts)
    await rig.presses_on_face("dance")
    assert len(rig.facts) == before
