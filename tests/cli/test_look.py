"""``config``, ``devices``, ``status``, ``models`` and ``face``: look, and draw."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from appliance.adapters.fakes.face import FakeFace
from appliance.cli.face import play_demo
from appliance.cli.status import waits_of
from appliance.clock import FakeClock
from appliance.crash_file import write_crash
from appliance.events import Emotion
from tests.cli.shell import Process, Shell

# ---------------------------------------------------------------------------------------------------- config


def test_config_shows_each_value_with_where_it_comes_from(shell: Shell) -> None:
    shell.write("config.toml", '[speak]\nspeed = 1.25\n[box]\nplace = "Lisbon"\n')
    shell.set_variable("APPLIANCE_SPEAK_VOLUME_PERCENT", "55")
    ran = shell("config", "speak", "--set", "speak.hum=off")
    assert (ran.code, ran.err) == (0, "")
    title, *lines = ran.out.splitlines()
    assert title == f"# {shell.home / 'config.toml'}"
    origins = {line.split()[0]: " ".join(line.split()[1:4]) for line in lines}
    assert origins["speak.speed"] == "1.25 file pace"
    assert origins["speak.volume_percent"] == "55 environment APPLIANCE_SPEAK_VOLUME_PERCENT"
    assert origins["speak.hum"] == "False command line"
    assert origins["speak.voice"] == "'en_US-joe-medium' default piper"
    assert not any(key.startswith("box.") for key in origins)


_WRONG = """
[speak]
speed = "fast"
volume_percent = 140
loud = true
[listn]
earcons = true
[think]
reasoning_effort = "enormous"
"""
_PROBLEMS = (
    "speak.speed = 'fast' (file): must be a number",
    "speak.volume_percent = 140 (file): must be at most 100",
    "speak.loud (file) is no setting; there are: ",
    "[listn] (file) is no section; did you mean [listen]?",
    "think.reasoning_effort = 'enormous' (file): must be one of ''",
)


def test_config_names_every_wrong_setting_and_still_shows_the_rest(shell: Shell) -> None:
    shell.write("config.toml", _WRONG)
    ran = shell("config")
    assert ran.code == 78
    assert all(problem in ran.err for problem in _PROBLEMS)
    assert "speak.speed" in ran.out and "default" in ran.out
    assert len(shell("config", "--json").json["problems"]) == len(_PROBLEMS)


@pytest.mark.parametrize("words", [("ask", "--text", "hello"), ("say", "hello"), ("tool", "list"), ("models", "list")])
def test_a_wrong_setting_stops_a_command_with_what_is_allowed(shell: Shell, words: tuple[str, ...]) -> None:
    shell.write("config.toml", _WRONG)
    ran = shell(*words)
    assert (ran.code, ran.out) == (78, "")
    assert all(problem in ran.err for problem in _PROBLEMS)


@pytest.mark.parametrize("command", ["config", "tool"])
def test_settings_that_are_not_toml_are_told_with_the_line(shell: Shell, command: str) -> None:
    shell.write("config.toml", "[speak]\nspeed = \n")
    ran = shell(command, *(["list"] if command == "tool" else []))
    assert (ran.code, ran.out) == (78, "")
    assert "config.toml is not valid TOML" in ran.err and "line 2" in ran.err


def test_a_wrong_setting_for_approval_is_never_guessed(shell: Shell) -> None:
    shell.write("config.toml", '[approval]\nbutton_for = ["everything"]\n')
    ran = shell("config")
    assert ran.code == 78
    assert "approval.button_for = 'everything': must be one of" in ran.err


def test_a_prefix_that_fits_no_setting_is_a_usage_error(shell: Shell) -> None:
    ran = shell("config", "volume")
    assert ran.code == 2 and "no setting begins with 'volume'" in ran.err


# --------------------------------------------------------------------------------------------------- devices


def test_devices_on_a_machine_without_any_says_what_to_do(process: Process) -> None:
    ran = process("devices")
    assert (ran.code, ran.out) == (1, "")
    assert "no sound device was found; plug one in" in ran.err
    assert process("devices", "--json").json == []


def test_devices_without_portaudio_says_how_to_install_it(process: Process, tmp_path: Path) -> None:
    (tmp_path / "sounddevice.py").write_text("raise OSError('PortAudio library not found')\n")
    process.environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), process.environment.get("PYTHONPATH", "")])
    ran = process("devices")
    assert (ran.code, ran.out) == (1, "")
    assert "PortAudio is not installed; install it with: sudo apt install libportaudio2" in ran.err
    # What needs no sound works without it.
    assert process("ask", "--text", "what time is it").code == 0


# ---------------------------------------------------------------------------------------------------- status


def test_status_of_a_device_that_does_not_run(shell: Shell) -> None:
    ran = shell("status")
    assert ran.code == 1
    facts = dict(line.split(maxsplit=1) for line in ran.out.splitlines() if not line.startswith("last"))
    assert facts["home"] == str(shell.home) and facts["state"] == "not running" and facts["version"]
    assert "appliance run starts it" in ran.err
    assert shell("status", "--json").json == {
        "version": facts["version"],
        "home": str(shell.home),
        "settings": str(shell.home / "config.toml"),
        "state": "not running",
        "disk": "cannot tell: No such file or directory",
        "last crash": "none",
    }


def test_status_names_the_last_crash_and_the_room_on_the_disk(shell: Shell) -> None:
    write_crash(shell.home / "crashes", "Fatal Python error: Aborted\n")
    (shell.home / "crashes" / "crash-000002.txt").touch()
    facts = shell("status", "--json").json
    assert facts["last crash"].endswith("crash-000001.txt"), "the empty one waits for a crash"
    assert " GB free of " in facts["disk"]


def test_the_wait_is_from_the_last_word_to_the_first_sound() -> None:
    answered = {"end_reason": "answered", "stages": {"speech_ended": 2.0, "first_sound": 3.5}}
    typed = {"end_reason": "answered", "stages": {"first_sound": 1.0}}
    stopped = {"end_reason": "stopped", "stages": {"speech_ended": 2.0, "first_sound": 9.0}}
    assert waits_of([answered, typed, stopped]) == [1.5]


# ---------------------------------------------------------------------------------------------------- models


def test_models_lists_the_weights_and_marks_those_in_use(shell: Shell) -> None:
    rows = {row["name"]: row for row in shell("models", "list", "--json").json}
    assert rows["tiny.en"]["is_here"] and rows["tiny.en"]["is_used"] and rows["en_US-joe-medium"]["is_used"]
    assert not rows["small"]["is_here"] and not rows["small"]["is_used"]
    lines = shell("models", "list").out.splitlines()
    assert next(line for line in lines if " tiny.en " in line).startswith("*")


def test_models_verify_reads_every_byte_of_what_is_in_use(shell: Shell) -> None:
    ran = shell("models", "verify")
    assert (ran.code, ran.out) == (0, "whole: tiny.en, en_US-joe-medium, smart-turn\n")


def test_optional_weights_that_are_damaged_are_told_and_no_failure(shell: Shell) -> None:
    shell.write("models/smart-turn/smart-turn-v3.2-cpu.onnx", "x" * 8_679_182)
    ran = shell("models", "verify")
    assert (ran.code, ran.out) == (0, "whole: tiny.en, en_US-joe-medium\n")
    assert "smart-turn-v3.2-cpu.onnx is damaged" in ran.err and "works without" in ran.err
    assert shell("models", "verify", "smart-turn").code == 1, "who asks for it by name wants it"


def test_models_verify_tells_damage_and_absence(shell: Shell) -> None:
    ran = shell("models", "verify", "small", "tiny.en", "--json")
    assert ran.code == 1
    assert "small" in ran.err and "appliance models fetch small" in ran.err
    assert len(ran.json["problems"]) == 1


def test_the_owner_s_own_weights_that_are_not_there_are_told(shell: Shell) -> None:
    ran = shell("say", "hello", "--out", "hello.wav", "--set", "speak.voice_path=/nowhere/voice.onnx")
    assert (ran.code, ran.out) == (1, "")
    assert "there are no weights at /nowhere/voice.onnx" in ran.err


@pytest.mark.parametrize("action", ["fetch", "verify"])
def test_weights_that_nobody_knows_are_told_with_those_there_are(shell: Shell, action: str) -> None:
    ran = shell("models", action, "enormous")
    assert ran.code == 1
    assert "no weights named 'enormous'" in ran.err and "tiny.en" in ran.err


def test_weights_that_are_here_are_not_fetched_again(shell: Shell) -> None:
    ran = shell("models", "fetch", "tiny.en")
    assert ran.code == 0 and ran.out.startswith("tiny.en: ")
    assert set(shell("models", "fetch", "tiny.en", "okay_nabu", "--json").json) == {"tiny.en", "okay_nabu"}


def test_weights_cannot_be_fetched_into_a_folder_that_is_none(shell: Shell) -> None:
    shell.write("models", "a file")
    ran = shell("models", "fetch", "small")
    assert (ran.code, ran.out) == (1, "")
    assert "cannot write small to" in ran.err


# ------------------------------------------------------------------------------------------------------ face


def test_a_mood_is_drawn_on_the_terminal_or_into_a_picture(shell: Shell) -> None:
    assert "happy · speaking" in shell("face", "show", "happy", "--activity", "speaking").out
    assert shell("face", "show", "sad", "--out", "sad.png").out == "wrote sad.png\n"
    assert shell("face", "sheet", "--out", "sheet.png", "--json").json == {"wrote": "sheet.png"}
    for file in ("sad.png", "sheet.png"):
        assert (shell.folder / file).read_bytes().startswith(b"\x89PNG")
    assert shell("face", "show", "happy", "--json").json["emotion"] == "happy"


def test_a_mood_that_is_none_is_told_with_those_there_are(shell: Shell) -> None:
    ran = shell("face", "show", "grumpy")
    assert (ran.code, ran.out) == (2, "")
    assert "no emotion is called 'grumpy'" in ran.err and "affectionate" in ran.err


@pytest.mark.parametrize("words", [("sheet",), ("show", "happy")], ids=" ".join)
def test_a_picture_that_cannot_be_written_is_told(shell: Shell, words: tuple[str, ...]) -> None:
    ran = shell("face", *words, "--out", "nowhere/face.png")
    assert (ran.code, ran.out) == (1, "")
    assert "nowhere/face.png cannot be written: its folder does not exist" in ran.err


async def test_the_demo_shows_every_mood_in_turn() -> None:
    face, clock = FakeFace(), FakeClock()
    demo = asyncio.create_task(play_demo(face, clock))
    for number, emotion in enumerate(Emotion, start=1):
        await clock.advance(0.0 if number == 1 else 1.2)
        assert face.shown[-1].emotion is emotion and len(face.shown) == number
    await clock.advance(1.2)
    assert demo.done() and face.is_parked
