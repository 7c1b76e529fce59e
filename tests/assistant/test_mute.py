"""The microphone that is closed on request."""

from __future__ import annotations

from typing import Any

from appliance.adapters.fakes.sound_card import FakeSoundCard
from appliance.errors import SoundCardLostError
from appliance.events import MuteChanged, PlaybackFinished, WakeDetected
from appliance.listen.earcons import Earcon
from tests.assistant.conftest import MakeRig
from tests.assistant.rig import WAKE_WORD, Rig


async def muted(make_rig: MakeRig, **parts: Any) -> Rig:
    """A box that was asked to close its microphone."""
    rig = await make_rig(**parts)
    await rig.asks("Stop listening.")
    assert rig.card.is_muted
    return rig


async def test_it_says_how_to_come_back_before_the_microphone_closes(make_rig: MakeRig) -> None:
    rig = await muted(make_rig)

    assert " ".join(rig.said) in rig.sentences("mute.on")
    order = [type(fact) for fact in rig.facts if isinstance(fact, PlaybackFinished | MuteChanged)]
    assert order == [*(PlaybackFinished for _ in rig.said), MuteChanged]
    assert rig.last_tone is Earcon.MUTED


async def test_nothing_is_heard_while_it_is_closed(make_rig: MakeRig) -> None:
    rig = await muted(make_rig)
    told = len(rig.told(WakeDetected))

    await rig.hears(WAKE_WORD)
    await rig.hears_noise()

    assert len(rig.told(WakeDetected)) == told
    assert not rig.is_ear_open


async def test_it_stays_closed_over_a_restart(make_rig: MakeRig) -> None:
    before = await muted(make_rig)

    rig = await make_rig(disk=before.disk)

    assert rig.card.is_muted
    assert (await rig.control.call("status"))["muted"] is True


async def test_typing_unmute_opens_it_for_good(make_rig: MakeRig) -> None:
    rig = await muted(make_rig)

    report = await rig.types("unmute")

    assert report["reply"] == "I am listening again."
    assert not rig.card.is_muted
    await rig.asks("What time is it?")
    assert rig.said[-1].startswith("It is")
    assert not (await make_rig(disk=rig.disk)).card.is_muted


async def test_typing_unmute_while_the_device_is_off_counts_when_it_starts(make_rig: MakeRig) -> None:
    device = await muted(make_rig)
    command = await make_rig(disk=device.disk, is_living=False)

    await command.types("unmute")

    assert not (await make_rig(disk=device.disk)).card.is_muted


async def test_a_shell_closes_and_opens_it_at_once(make_rig: MakeRig) -> None:
    rig = await make_rig()

    await rig.control.call("tool.run", {"name": "box_mute", "arguments": {"muted": True}})
    assert rig.card.is_muted
    await rig.control.call("tool.run", {"name": "box_mute", "arguments": {"muted": False}})

    assert not rig.card.is_muted


async def test_stopping_the_announcement_closes_it_all_the_same(make_rig: MakeRig) -> None:
    rig = await make_rig()
    await rig.hears(WAKE_WORD, "Stop listening.")
    await rig.until(lambda: rig.box.speaker.now_saying)

    rig.box.assistant.stop()
    await rig.rests()

    assert rig.card.is_muted


async def test_an_alarm_rings_while_it_is_closed_and_is_stopped_by_typing(make_rig: MakeRig) -> None:
    rig = await make_rig()
    await rig.asks("Set a timer for 20 seconds.")
    await rig.asks("Stop listening.")
    await rig.until(lambda: rig.box.ringer.ringing)
    await rig.until(lambda: rig.said[-1] in rig.sentences("ring.timer"))

    await rig.types("stop")

    assert rig.box.ringer.ringing == ()
    await rig.rests()


class StuckCard(FakeSoundCard):
    """A card whose microphone cannot be closed."""

    async def mute(self, muted: bool) -> None:
        raise SoundCardLostError("the plug was pulled")


async def test_a_card_that_cannot_be_closed_does_not_take_the_device_down(make_rig: MakeRig) -> None:
    rig = await make_rig(card=StuckCard())

    await rig.asks("Stop listening.")
    await rig.types("what time is it", is_voiced=True)

    assert rig.said[-1].startswith("It")
    assert rig.box.controls.is_muted


async def test_the_owners_volume_and_pace_hold_until_somebody_asks_for_others(make_rig: MakeRig) -> None:
    rig = await make_rig(settings={"speak.volume_percent": "35", "speak.speed": "1.5"})
    assert (rig.box.controls.volume_percent, rig.box.controls.speed) == (35, 1.5)
