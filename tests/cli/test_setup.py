"""The guided set-up: what a person is asked, hears and is told, and what is kept of it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from appliance.adapters.fakes.face import FakeFace
from appliance.audio import HEARING_FORMAT, AudioChunk, Samples
from appliance.cli.level_meter import LevelMeter, Verdict
from appliance.cli.setup import STEPS
from appliance.cli.setup_beyond import set_up_button, set_up_face, set_up_model
from appliance.cli.setup_flow import set_up
from appliance.cli.setup_kit import Kit
from appliance.cli.setup_sound import set_up_microphone, set_up_speaker, set_up_wake_word
from appliance.cli.setup_words import set_up_language, set_up_name, set_up_voice
from appliance.clock import settle
from appliance.config import load
from appliance.config_file import set_values
from appliance.errors import AudioError
from appliance.events import Emotion
from tests.cli.setup_house import RATE_HZ, House, noise
from tests.cli.setup_session import hold_session
from tests.cli.shell import Process, Shell
from tests.cli.test_run import Running
from tests.sound_server import SoundServer

# ------------------------------------------------------------------------------------------------ microphone


@pytest.mark.parametrize(
    ("sound", "verdict"),
    [
        (noise(-20), Verdict.GOOD),
        (noise(-55), Verdict.QUIET),
        (noise(3), Verdict.CLIPPED),
        (np.zeros(5 * RATE_HZ, dtype=np.int16), Verdict.DEAD),
        (np.zeros(0, dtype=np.int16), Verdict.DEAD),
    ],
    ids=["good", "quiet", "clipped", "silent", "nothing"],
)
def test_the_meter_judges_what_it_heard(sound: Samples, verdict: Verdict) -> None:
    meter = LevelMeter()
    for start in range(0, len(sound), 1280):
        meter.hear(AudioChunk(sound[start : start + 1280], HEARING_FORMAT))
    assert meter.judge().verdict is verdict


def test_the_meter_draws_the_level_as_a_bar() -> None:
    meter = LevelMeter()
    loud = meter.hear(AudioChunk(noise(-6, 0.08), HEARING_FORMAT))
    soft = meter.hear(AudioChunk(noise(-48, 0.08), HEARING_FORMAT))
    assert loud.count("#") > 25 and 4 <= soft.count("#") <= 8
    assert "-48 dB" in soft and "loudest -6" in soft


async def test_a_microphone_is_picked_by_number_measured_and_kept(tmp_path: Path) -> None:
    house = House(tmp_path, "2", "")
    house.sounds = [noise(-20)]
    seen = await house.do(set_up_microphone)
    assert house.value("audio.microphone") == "Headset" and house.cards[0].info.microphone == "Headset"
    assert "2  Headset  1 channels" in seen and "Good." in seen
    assert len(house.terminal.shown) > 50 and "#" in house.terminal.shown[-1]
    assert house.cards[0].is_closed


async def test_one_that_is_too_quiet_is_kept_only_when_the_person_wants_it(tmp_path: Path) -> None:
    house = House(tmp_path, "usb", "", "n", "headset", "", "y")
    house.sounds = [noise(-55), noise(-55)]
    seen = await house.do(set_up_microphone)
    assert seen.count("Too quiet") == 2 and house.value("audio.microphone") == "Headset"


async def test_enter_leaves_the_microphone_and_s_skips_the_meter(tmp_path: Path) -> None:
    house = House(tmp_path, "", "s")
    await house.do(set_up_microphone)
    assert house.value("audio.microphone") == "" and house.cards == [] and house.kit.changes == []


async def test_a_microphone_that_stops_is_told_and_does_not_hang(tmp_path: Path) -> None:
    house = House(tmp_path, "", "")
    house.sounds = [noise(-20, 1.0)]
    step = asyncio.create_task(house.do(set_up_microphone))
    for _ in range(20):
        await house.clock.advance(1.0)
    assert "Good." in await step


@pytest.mark.parametrize("step", [set_up_microphone, set_up_speaker])
async def test_without_any_device_it_is_told_what_to_do(
    tmp_path: Path, step: Callable[[Kit], Coroutine[Any, Any, None]]
) -> None:
    house = House(tmp_path)
    house.devices = []
    assert "Plug one in" in await house.do(step)


# --------------------------------------------------------------------------------------------------- speaker


async def test_a_speaker_says_its_name_until_the_person_has_heard_it(tmp_path: Path) -> None:
    house = House(tmp_path, "1", "a", "y")
    await house.do(set_up_speaker)
    assert house.value("audio.speaker") == "USB Audio" and len(house.cards) == 2
    assert house.voice.asked == ["Hello. This is my voice, on USB Audio."]
    assert np.abs(np.concatenate(house.cards[1].played)).max() > 100


async def test_a_speaker_that_nobody_hears_is_not_kept(tmp_path: Path) -> None:
    house = House(tmp_path, "1", "n", "n", "")
    answers = house.terminal.unused
    answers.append("y")  # the present one is heard
    await house.do(set_up_speaker)
    assert house.value("audio.speaker") == ""


async def test_without_a_voice_there_is_a_tone(tmp_path: Path) -> None:
    house = House(tmp_path, "", "y")
    set_values(house.home.config_file, "speak", {"voice": "alba"})
    assert "a tone instead of words" in await house.do(set_up_speaker)
    assert np.abs(np.concatenate(house.cards[0].played)).max() > 100


# ------------------------------------------------------------------------------------------------- wake word


async def test_a_wake_word_is_picked_said_and_recognised(tmp_path: Path) -> None:
    house = House(tmp_path, "alexa", "")
    house.sounds = [noise(-20)]
    house.detector.find_next("alexa")
    assert 'Heard "alexa".' in await house.do(set_up_wake_word)
    assert house.value("listen.wake_words") == ("alexa",)


async def test_one_that_is_not_recognised_is_told_with_what_was_understood(tmp_path: Path) -> None:
    house = House(tmp_path, "", "", "n")
    house.sounds = [noise(-20, 6.0)]
    seen = await house.do(set_up_wake_word)
    assert 'Not recognised. What I understood: "okay nah boo"' in seen
    assert house.ears.is_closed and house.value("listen.wake_words") == ("okay_nabu",)


# ----------------------------------------------------------------------------------------------------- words


async def test_a_name_is_kept_and_a_language_is_not_asked_for_when_there_is_one(tmp_path: Path) -> None:
    house = House(tmp_path, "Ada")
    await house.do(set_up_name)
    assert house.value("box.name") == "Ada"
    assert "There is one language: en." in await house.do(set_up_language)


async def test_a_voice_that_is_not_here_is_fetched_and_heard(tmp_path: Path) -> None:
    house = House(tmp_path, "alba", "y", "y")
    seen = await house.do(set_up_voice)
    assert "to be fetched, 63 MB" in seen and house.fetched == ["alba"]
    assert house.voice.asked[0].startswith("Hello. I am your assistant.")
    assert house.value("speak.voice") == "alba"


async def test_a_voice_that_cannot_be_fetched_leaves_the_old_one(tmp_path: Path) -> None:
    house = House(tmp_path, "alba", "y", "")
    house.fetch_fails = "no connection to the model hub"
    assert "no connection to the model hub" in await house.do(set_up_voice)
    assert house.value("speak.voice") == "en_US-joe-medium"


# ---------------------------------------------------------------------------------------------------- beyond


async def test_a_model_is_tested_and_kept_with_its_key_which_nobody_sees(tmp_path: Path) -> None:
    house = House(tmp_path, "http://host:8080", "small", "owl-4711")
    seen = await house.do(set_up_model)
    assert house.models == [("http://host:8080", "small", "owl-4711")]
    assert "It answers." in seen and "owl" not in seen and house.terminal.secret_questions


async def test_a_model_that_does_not_answer_is_kept_only_when_wanted(tmp_path: Path) -> None:
    house = House(tmp_path, "http://host:8080", "", "", "n")
    house.model_works = False
    assert "It does not answer." in await house.do(set_up_model)
    assert house.models == []


async def test_no_model_and_the_model_as_it_is(tmp_path: Path) -> None:
    house = House(tmp_path, "none")
    await house.do(set_up_model)
    assert house.models == [("", "", None)]
    house = House(tmp_path, "", "y")
    set_values(house.home.config_file, "think", {"url": "http://host"})
    await house.do(set_up_model)
    assert house.checked == [("http://host", "", None)] and house.models == []


async def test_presses_of_the_button_are_shown_and_its_pin_is_kept(tmp_path: Path) -> None:
    house = House(tmp_path, "GPIO17")
    step = asyncio.create_task(house.do(set_up_button))
    await settle()
    for _ in range(2):
        house.button.press()
        await house.clock.advance(0.3)
        house.button.release()
        await house.clock.advance(0.3)
    seen = await step
    assert "2 presses came." in seen and "  press 1: down" in house.terminal.shown
    assert house.value("button.pin") == "GPIO17" and house.pins == ["GPIO17"] and house.button.is_closed


async def test_a_button_that_bounces_was_pressed_once(tmp_path: Path) -> None:
    house = House(tmp_path, "GPIO17")
    step = asyncio.create_task(house.do(set_up_button))
    await settle()
    for _ in range(3):
        house.button.press()
        await house.clock.advance(0.003)
        house.button.release()
        await house.clock.advance(0.003)
    await house.clock.advance(15.0)
    assert "One press came." in await step


async def test_a_pin_without_presses_is_not_kept_unless_wanted(tmp_path: Path) -> None:
    house = House(tmp_path, "GPIO17", "n")
    house.button.press()
    step = asyncio.create_task(house.do(set_up_button))
    await settle()
    await house.clock.advance(15.0)
    seen = await step
    assert "No press came" in seen and "reads as pressed already" in seen
    assert house.value("button.pin") == ""


async def test_a_pin_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    house = House(tmp_path, "GPIO17", "n")
    house.button.is_present = False
    assert "wire" in await house.do(set_up_button)


async def test_the_face_looks_happy_and_is_kept(tmp_path: Path) -> None:
    house = House(tmp_path, "hologram", "lamp", "y")
    face = house.faces[0]
    assert isinstance(face, FakeFace)
    seen = await house.do(set_up_face)
    assert "hologram: there is no such face." in seen
    assert face.emotions == [Emotion.HAPPY] and face.is_parked and face.is_closed
    assert house.value("face.backends") == ("lamp",)


async def test_a_face_that_is_not_there_is_told(tmp_path: Path) -> None:
    house = House(tmp_path, "lamp", "n")
    face = house.faces[0]
    assert isinstance(face, FakeFace)
    face.fail_next = 1
    assert "the face is unplugged" in await house.do(set_up_face)
    assert house.value("face.backends") == ("terminal",)


# ---------------------------------------------------------------------------------------------- all of it


async def test_enter_everywhere_changes_nothing(tmp_path: Path) -> None:
    house = House(tmp_path, "", "", "s", "", "y", "", "s", "", "", "", "", "y")
    await set_up(house.kit, [*STEPS], house.home)
    assert house.terminal.unused == [] and not house.home.config_file.exists()
    assert "Nothing was changed." in house.terminal.text


async def test_a_step_that_breaks_does_not_keep_the_next_one_from_coming(tmp_path: Path) -> None:
    house = House(tmp_path, "Ada")

    def broken() -> Sequence[dict[str, Any]]:
        raise AudioError("PortAudio is not installed")

    kit = replace(house.kit, bench=replace(house.kit.bench, sound_devices=broken))
    await set_up(kit, ["microphone", "name"], house.home)
    assert "PortAudio is not installed" in house.terminal.text and house.value("box.name") == "Ada"


async def test_what_cannot_be_kept_is_told(tmp_path: Path) -> None:
    house = House(tmp_path, "Ada")
    house.refused["box.name"] = "config.toml is the system's"
    await set_up(house.kit, ["name"], house.home)
    assert "config.toml is the system's" in house.terminal.text and "Nothing was changed." in house.terminal.text


@pytest.mark.skipif(os.geteuid() != 0, reason="only root leaves files that another user cannot read")
def test_what_root_made_in_the_home_of_a_service_belongs_to_the_service(shell: Shell) -> None:
    shell("setup", "model", stdin="http://127.0.0.1:9\n\nowl-4711-feather\ny\n")
    plugin = shell.write("plugins/strange/strange.py", "")
    os.chown(shell.home, 12_345, 12_345)
    shell("setup", "name", stdin="")
    owners = {name: (shell.home / name).stat().st_uid for name in ("lock", "credentials.json", "cache")}
    assert set(owners.values()) == {12_345}
    assert plugin.stat().st_uid == 0, "the service can only read plugins"


def test_a_script_answers_and_what_it_does_not_answer_stays(shell: Shell) -> None:
    ran = shell("setup", "name", "language", "model", stdin="Ada\n")
    assert (ran.code, ran.err) == (0, "")
    assert "No more answers: the rest stays as it is." in ran.out and 'Changed: box.name = "Ada"' in ran.out
    assert shell("config", "box.name", "--json").json["settings"]["box.name"]["value"] == "Ada"


def test_a_model_of_a_script_is_checked_and_its_key_is_kept_elsewhere(shell: Shell) -> None:
    ran = shell("setup", "model", stdin="http://127.0.0.1:9\n\nowl-4711-feather\ny\n")
    assert "does not work" in ran.out and "owl" not in ran.out + ran.err
    assert "owl" not in (shell.home / "config.toml").read_text()
    assert "OPENAI_API_KEY" in shell("credential", "list").out


def test_a_step_that_there_is_not_is_told_with_those_there_are(shell: Shell) -> None:
    ran = shell("setup", "hat")
    assert ran.code == 2 and "'hat' is no step; there are: name, language, microphone" in ran.err


def test_on_a_machine_without_sound_it_goes_on_with_the_rest(process: Process) -> None:
    ran = process("setup", "microphone", "speaker", "name", stdin="Ada\n")
    assert ran.code == 0 and ran.out.count("was found. Plug one in") == 2 and "Ada" in ran.out


def test_while_the_device_runs_it_says_how_to_stop_it(tmp_path: Path) -> None:
    device = Running(tmp_path)
    device.start()
    device.wait_until_listening()
    try:
        ran = device("setup", "name", stdin="Ada\n")
    finally:
        device.end()
    assert ran.code == 1 and "stop it first (Ctrl-C where it runs)" in ran.err
    assert not (device.home / "config.toml").exists()


@pytest.mark.sound
def test_a_whole_session_at_a_terminal_with_a_real_sound_server(sound_server: SoundServer, tmp_path: Path) -> None:
    """Typed answers, a voice that the microphone hears, a speaker that plays."""
    home = tmp_path / "home"
    text = hold_session(sound_server, {"APPLIANCE_HOME": str(home)})
    assert "Good." in text and 'Heard "okay nabu".' in text and "owl-4711" not in text
    settings = load(home / "config.toml", {})
    assert settings.sections["audio"].microphone == "default" and settings.sections["box"].name == "Ada"
