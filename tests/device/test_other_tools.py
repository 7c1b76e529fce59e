"""Time, volume, pace, mute, talk about the talk, and the box about itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from appliance.device.box_tool import BoxTool, flag_of, number_of, text_of
from appliance.device.settings import COLLECTION, BoxSettings, Settings, alert_percent
from appliance.events import Outcome
from appliance.tools.registry import Registry
from appliance.tools.tool import Risk, Tool
from tests.device.house import House

Live = Callable[[House], Awaitable[None]]


@pytest.fixture
def house() -> House:
    return House()


# ---------------------------------------------------------------------------------------------- time


async def test_it_tells_the_time(house: House) -> None:
    assert await house.say("box_time") == "It is three oh seven in the afternoon."
    assert await house.say("box_time", channel="text") == "It's 3:07 PM."


async def test_it_tells_the_time_of_the_house_not_of_greenwich() -> None:
    house = House(zone=ZoneInfo("America/New_York"))
    assert await house.say("box_time") == "It is eleven oh seven in the morning."


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("tokyo", "In Tokyo, it is twelve oh seven at night, tomorrow."),
        ("new york city", "In New York City, it is eleven oh seven in the morning."),
        ("Asia/Ho_Chi_Minh", "In Ho Chi Minh, it is ten oh seven at night."),
        ("Lisbon, Portugal", "In Lisbon, it is four oh seven in the afternoon."),
        ("uk", "In UK, it is four oh seven in the afternoon."),
        ("Port-au-Prince", "In Port-au-Prince, it is eleven oh seven in the morning."),
    ],
)
async def test_it_tells_the_time_elsewhere(house: House, place: str, said: str) -> None:
    assert await house.say("box_time", {"place": place}) == said


@pytest.mark.parametrize("place", ["Gotham", "../../etc/passwd", "a" * 500, "Europe/"])
async def test_a_place_it_does_not_know_is_said_so(house: House, place: str) -> None:
    result = await house.run("box_time", {"place": place})
    assert result.outcome is Outcome.FAILED and "don't know what time it is" in result.text


async def test_it_tells_the_date(house: House) -> None:
    assert await house.say("box_time", {"what": "date"}) == "Today is Monday, May the fourth, twenty twenty-six."
    assert await house.say("box_time", {"what": "date", "day": "tomorrow"}) == "Tomorrow is Tuesday, May the fifth."
    assert (
        await house.say("box_time", {"what": "both"})
        == "It is three oh seven in the afternoon, on Monday, May the fourth."
    )


async def test_without_a_set_clock_it_does_not_make_up_a_time() -> None:
    house = House(datetime(1970, 1, 1, tzinfo=UTC), trusted=False)
    for arguments in ({}, {"place": "Tokyo"}, {"what": "date"}):
        result = await house.run("box_time", arguments)
        assert result.outcome is Outcome.FAILED
        assert result.text.startswith("I don't know the time yet. My clock is not set")


# --------------------------------------------------------------------------------------------- knobs


async def test_volume_is_set_in_force_and_kept(house: House) -> None:
    assert await house.say("box_volume", {"percent": 30}) == "Volume 30 percent."
    assert house.controls.volume_percent == 30
    assert (await BoxSettings(house.documents).load()).volume_percent == 30


async def test_volume_goes_in_steps_and_says_where_it_ends(house: House) -> None:
    house.controls.set_volume(95)
    assert "100 percent" in await house.say("box_volume", {"change": "up"})
    assert await house.say("box_volume", {"change": "up"}) == "The volume is at its highest."
    house.controls.set_volume(15)
    assert "10 percent" in await house.say("box_volume", {"change": "down"})
    assert "lowest" in await house.say("box_volume", {"change": "down"})
    assert house.controls.volume_percent == 10


async def test_without_arguments_it_tells_the_volume(house: House) -> None:
    assert await house.say("box_volume") == "The volume is at 60 percent."


async def test_a_volume_of_two_hundred_is_refused(house: House) -> None:
    assert (await house.run("box_volume", {"percent": 200})).outcome is Outcome.FAILED
    assert house.controls.volume_percent == 60


async def test_volume_zero_comes_after_it_was_said_how_to_come_back(house: House) -> None:
    said = await house.say("box_volume", {"percent": 0})
    assert "say: volume up" in said
    assert house.controls.volume_percent == 60, "the sentence must be heard"
    await house.controls.end_reply()
    assert house.controls.volume_percent == 0
    assert "10 percent" in await house.say("box_volume", {"change": "up"})


async def test_a_full_disk_does_not_keep_it_loud(house: House) -> None:
    house.documents.fail_writes = True
    assert (await house.run("box_volume", {"change": "down"})).outcome is Outcome.FAILED
    assert house.controls.volume_percent == 50


async def test_pace_goes_in_steps_within_limits(house: House) -> None:
    assert "85 percent" in await house.say("box_speech_rate", {"change": "slower"})
    assert house.controls.speed == 0.85
    assert await house.say("box_speech_rate", {"change": "normal"}) == "I speak at my usual speed again."
    assert "200 percent" in await house.say("box_speech_rate", {"percent": 900})
    assert await house.say("box_speech_rate", {"change": "faster"}) == "I can't speak any faster."
    house.controls.set_speed(0.5)
    assert await house.say("box_speech_rate", {"change": "slower"}) == "I can't speak any slower."
    assert await house.say("box_speech_rate") == "I speak at 50 percent of my usual speed."
    assert (await BoxSettings(house.documents).load()).speed == 2.0


async def test_mute_says_how_to_come_back_before_the_microphone_closes(house: House) -> None:
    said = await house.say("box_mute", {"muted": True})
    assert "type: unmute" in said and "button" not in said
    muted_before = house.controls.is_muted
    await house.controls.end_reply()
    assert (muted_before, house.controls.is_muted) == (False, True)
    assert (await BoxSettings(house.documents).load()).is_muted
    assert await house.say("box_mute", {"muted": True}) == "My microphone is already closed."


async def test_with_a_button_mute_names_the_button() -> None:
    house = House(has_button=True)
    assert "press my button" in await house.say("box_mute", {})


async def test_unmute_opens_the_microphone_at_once(house: House) -> None:
    await house.controls.mute(True)
    assert await house.say("box_mute", {"muted": False}, channel="text") == "I am listening again."
    assert not house.controls.is_muted
    assert await house.say("box_mute", {"muted": False}) == "I am listening already."


async def test_settings_that_make_no_sense_count_as_not_set(house: House) -> None:
    assert await BoxSettings(house.documents).load() == Settings()
    house.documents.collections[COLLECTION] = {"volume_percent": 900, "speed": "fast", "is_muted": "perhaps"}
    assert await BoxSettings(house.documents).load() == Settings()


@pytest.mark.parametrize(("volume", "loud"), [(0, 30), (10, 30), (80, 80)])
def test_alarms_are_never_quieter_than_their_floor(volume: int, loud: int) -> None:
    assert alert_percent(volume, 30) == loud


# ---------------------------------------------------------------------------------------------- talk


async def test_stop_silences_what_rings_and_what_runs(house: House, live: Live) -> None:
    await live(house)
    await house.run("box_timer_set", {"seconds": 60})
    await house.clock.advance(65)
    assert await house.say("box_stop") == "Okay."
    assert house.ringer.ringing == ()
    assert house.controls.stops == 1


async def test_repeat_says_the_last_reply_again(house: House) -> None:
    assert await house.say("box_repeat") == "I haven't said anything yet."
    house.memory.last_reply = "It is three."
    assert await house.say("box_repeat") == "It is three."


async def test_more_goes_on_until_all_is_said(house: House) -> None:
    house.memory.rest = ["Second part.", "Third part."]
    assert await house.say("box_more") == "Second part."
    assert await house.say("box_more", {"is_yes": True}) == "Third part."
    assert await house.say("box_more") == "That was all."
    assert await house.say("box_more", {"is_yes": True}) == "Okay."


async def test_a_new_topic_and_forgetting_reach_the_memory(house: House) -> None:
    house.memory.turns = 1
    assert "new topic" in await house.say("box_new_topic")
    assert house.memory.topics == 1
    assert await house.say("box_forget") == "It is forgotten."
    assert await house.say("box_forget") == "There is nothing to forget."


async def test_it_tells_what_it_heard_and_did(house: House) -> None:
    assert await house.say("box_heard") == "I haven't heard anything before this."
    assert await house.say("box_did") == "I haven't done anything lately."
    house.memory.last_heard = "what time is it"
    house.memory.last_did = ("Your timer is set for 5 minutes.",)
    assert await house.say("box_heard") == "I heard: what time is it"
    assert await house.say("box_did") == "Your timer is set for 5 minutes."


# --------------------------------------------------------------------------------------------- about


async def test_a_healthy_box_says_so(house: House) -> None:
    house.health.model = "gpt-5 at home"
    await house.run("box_timer_set", {"seconds": 300})
    assert await house.say("box_health") == (
        "I'm fine. I hear you through USB microphone. My model is gpt-5 at home. I keep one timer for you."
    )


async def test_a_box_with_troubles_tells_them_first(house: House) -> None:
    house.clock.set_wall(datetime(1970, 1, 1, tzinfo=UTC), trusted=False)
    house.health.model, house.health.is_model_away = "gpt-5", True
    house.health.microphone = ""
    house.health.problems = ("My storage is nearly full.",)
    assert await house.say("box_health") == (
        "Not so well. My storage is nearly full. My clock is not set. I have no microphone, so I only read what you "
        "type. My model, gpt-5, does not answer at the moment. I still do the simple things myself."
    )


async def test_without_a_model_it_says_what_it_can_do(house: House) -> None:
    assert "I have no model" in await house.say("box_health")
    assert await house.say("box_help") != await house.say("box_help"), "it does not sound like a recording"
    house.health.model = "gpt-5"
    assert "Ask me anything" in await house.say("box_help")


async def test_it_says_who_it_is(house: House) -> None:
    assert "Nabu" in await house.say("box_who")


# ------------------------------------------------------------------------------------------- as tools


def test_every_tool_is_a_tool_with_a_name_that_no_plugin_uses(house: House) -> None:
    tools: list[Tool] = list(house.tools.values())
    assert len(tools) == 27
    assert all(tool.name.startswith("box_") and tool.origin == "box" and tool.toolset == "box" for tool in tools)
    assert all(tool.risk in (Risk.READ, Risk.WRITE) for tool in tools)


def test_a_model_gets_the_tools_it_cannot_do_without_and_the_offline_brain_finds_all(house: House) -> None:
    registry = Registry()
    for tool in house.tools.values():
        assert registry.add(tool)
    selection = registry.select()
    offered = {entry.tool.name for entry in selection.offered}
    assert {"box_time", "box_timer_set", "box_volume", "box_stop"} <= offered
    assert offered.isdisjoint({"box_repeat", "box_more", "box_heard", "box_did", "box_help", "box_who"})
    assert selection.find("box_repeat") is not None
    for schema in selection.schemas:
        assert schema["type"] == "function" and len(schema["description"]) > 20
        assert set(schema["parameters"]["required"]) <= set(schema["parameters"]["properties"])


async def test_a_fault_of_ours_is_a_sentence_and_a_log_line(house: House, caplog: pytest.LogCaptureFixture) -> None:
    async def broken(*_: object) -> str:
        raise RuntimeError("secret detail")

    house.tools["box_broken"] = BoxTool("box_broken", "Fails.", broken, house.catalogue)
    result = await house.run("box_broken")
    assert result.outcome is Outcome.FAILED
    assert "secret" not in result.text
    assert "secret detail" in caplog.text
    assert "went wrong" in house.tools["box_broken"].timed_out(10).text


def test_arguments_of_the_wrong_kind_count_as_missing() -> None:
    odd = {"number": True, "words": 5, "list": [1], "nan": "nan", "text": "  two \n words "}
    assert [number_of(odd, name) for name in ("number", "list", "nan", "none", "text")] == [None] * 5
    assert [text_of(odd, name) for name in ("words", "list", "none")] == [""] * 3
    assert text_of(odd, "text") == "two words"
    assert flag_of({"yes": "true"}, "yes") and not flag_of({"yes": "false"}, "yes")
