"""What only sounds like the wake word: no turn, no sound, no light; and it is counted."""

from __future__ import annotations

from appliance.adapters.fakes.quick_reader import FakeQuickReader
from appliance.adapters.fakes.voice_activity import LoudnessVoiceActivity
from appliance.listen.wake_check import WakeCheck
from tests.assistant.conftest import MakeRig
from tests.assistant.rig import WAKE_WORD, Rig


def look_twice(rig: Rig, text: str) -> None:
    rig.box.ear.check_wake_words(WakeCheck(FakeQuickReader(text), LoudnessVoiceActivity(), rig.clock))


async def test_what_is_no_call_starts_no_turn_and_is_counted(make_rig: MakeRig) -> None:
    rig = await make_rig()
    look_twice(rig, "Okay, Google.")
    status = await rig.control.call("status", {})
    assert status["wake words refused"] == 0

    rig.speaks(1.0)
    await rig.runs(0.5)
    await rig.hears(WAKE_WORD)
    await rig.runs(3.0)

    assert rig.endings == []
    assert rig.tones == []
    assert not rig.is_ear_open
    status = await rig.control.call("status", {})
    assert status["wake words refused"] == 1


async def test_a_call_that_passes_is_answered(make_rig: MakeRig) -> None:
    rig = await make_rig()
    look_twice(rig, "Okay, Nabu.")
    rig.speaks(0.5)
    await rig.runs(0.5)
    await rig.asks("What time is it?")
    assert rig.said == ["It is three oh seven in the afternoon."]
