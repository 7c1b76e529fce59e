"""What the owner writes into the settings file while the box runs."""

from __future__ import annotations

import pytest

from appliance.adapters.fakes.control import FakeControl
from appliance.config import load
from appliance.config_file import set_values
from appliance.errors import UsageError
from appliance.events import Transcribed
from appliance.live_settings import LiveSettings
from tests.assistant.conftest import MakeRig
from tests.assistant.disk import FakeDisk
from tests.assistant.rig import WAKE_WORD, Rig


async def change(rig: Rig, key: str, value: object) -> str:
    """The owner changes the file and tells the box."""
    section, _, name = key.partition(".")
    set_values(rig.home.config_file, section, {name: value})
    effects = await FakeControl(rig.box.all_handlers).call("config.changed", {"keys": [key]})
    return str(effects[key])


async def test_a_volume_holds_at_once_and_wins_over_what_was_asked_for_by_voice_before(make_rig: MakeRig) -> None:
    disk = FakeDisk()
    rig = await make_rig(disk=disk)
    await rig.hears(WAKE_WORD, "set the volume to 20 percent")
    await rig.runs(5.0)
    assert rig.box.controls.volume_percent == 20
    assert await change(rig, "speak.volume_percent", 75) == "now"
    assert rig.box.controls.volume_percent == 75

    again = await make_rig(disk=disk, settings={"speak.volume_percent": "75"})
    assert again.box.controls.volume_percent == 75
    await again.hears(WAKE_WORD, "set the volume to 30 percent")
    await again.runs(5.0)
    third = await make_rig(disk=disk, settings={"speak.volume_percent": "75"})
    assert third.box.controls.volume_percent == 30, "what is asked for behind that holds over a restart"


async def test_the_ear_stays_open_as_long_as_the_owner_says(make_rig: MakeRig) -> None:
    rig = await make_rig()
    assert await change(rig, "listen.no_speech_seconds", 9.0) == "now"
    await rig.hears(WAKE_WORD)
    await rig.runs(8.0)
    assert rig.box.assistant.is_busy
    await rig.runs(2.5)
    assert not rig.box.assistant.is_busy


async def test_what_is_misheard_is_corrected_from_the_next_word_on(make_rig: MakeRig) -> None:
    rig = await make_rig()
    assert await change(rig, "listen.corrections", ["crime = time"]) == "now"
    await rig.hears(WAKE_WORD, "what crime is it")
    await rig.rests()
    assert [fact.text for fact in rig.facts if isinstance(fact, Transcribed)] == ["what time is it"]
    assert "must be what is heard" in await change(rig, "listen.corrections", ["crime"])


async def test_a_patient_box_waits_longer(make_rig: MakeRig) -> None:
    rig = await make_rig()
    assert await change(rig, "listen.patience", "relaxed") == "now"
    rig.ears.will_hear("what time is it")
    await rig.hears(WAKE_WORD)
    rig.speaks(0.6)
    await rig.runs(0.6 + 1.2)
    assert rig.is_ear_open
    await rig.runs(0.5)
    assert not rig.is_ear_open


async def test_quiet_hours_begin_when_they_are_written_down(make_rig: MakeRig) -> None:
    rig = await make_rig()
    assert await change(rig, "device.quiet_hours", "15:00-16:00") == "now"
    rig.box.speaker.notice("note", "the washing machine is done")
    await rig.runs(5.0)
    assert not any("washing" in text for text in rig.voice.asked)
    assert await change(rig, "device.quiet_hours", "") == "now"
    await rig.runs(120.0)
    assert any("washing" in text for text in rig.voice.asked)


async def test_quiet_hours_that_are_none_leave_the_old_ones(make_rig: MakeRig) -> None:
    rig = await make_rig()
    assert "must be a span" in await change(rig, "device.quiet_hours", "late")


async def test_what_no_part_can_take_now_needs_a_restart(make_rig: MakeRig) -> None:
    rig = await make_rig(settings={"speak.speed": "1.5"})
    assert await change(rig, "hear.beam_size", 1) == "restart"
    assert await change(rig, "hear.beam_size", None) == "now", "it is what the box was started with"
    assert "started with --set speak.speed" in await change(rig, "speak.speed", 1.0)


async def test_every_live_setting_can_be_taken(make_rig: MakeRig) -> None:
    rig = await make_rig()
    live = rig.box.handlers["config.changed"].__self__  # type: ignore[attr-defined]
    assert isinstance(live, LiveSettings)
    keys = sorted(live._takers)
    said = [f"{origin.section}.{origin.key}" for origin in load(None, {}).origins if origin.is_live]
    assert keys == sorted(said), "what appliance config says of them is so"
    effects = await FakeControl(rig.box.all_handlers).call("config.changed", {"keys": keys})
    assert set(effects.values()) == {"now"}


@pytest.mark.parametrize("keys", [None, "speak.speed", ["speak.loud"], [5]])
async def test_a_client_that_names_no_setting_is_told(make_rig: MakeRig, keys: object) -> None:
    rig = await make_rig()
    with pytest.raises(UsageError, match="which settings"):
        await FakeControl(rig.box.all_handlers).call("config.changed", {"keys": keys})
