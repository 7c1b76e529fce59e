"""What holds for every command: help, options anywhere, exit codes, no traceback, no secret."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from appliance.cli.main import COMMANDS
from tests.cli.shell import Process, Shell

_HEAVY = [
    "PIL",
    "ctranslate2",
    "faster_whisper",
    "gpiozero",
    "hassil",
    "httpx",
    "numpy",
    "onnxruntime",
    "piper",
    "pymicro_wakeword",
    "serial",
    "sounddevice",
    "soxr",
    "sqlite3",
    "tomlkit",
    "yaml",
]

_HELP_OF_EACH = """
import json, sys
from appliance.cli.main import COMMANDS, main

loaded = {}
for name in ["", *COMMANDS]:
    assert main([name, "--help"] if name else ["--help"]) == 0
    loaded[name] = [module for module in HEAVY if module in sys.modules]
json.dump(loaded, sys.stderr)
"""


def test_help_of_every_command_loads_nothing_heavy(process: Process) -> None:
    source = _HELP_OF_EACH.replace("HEAVY", repr(_HEAVY))
    command = [*process.command()[:1], "-c", source]
    ran = subprocess.run(command, env=process.environment, capture_output=True, text=True, check=True)
    assert json.loads(ran.stderr) == {name: [] for name in ["", *COMMANDS]}
    assert ran.stdout.count("usage: appliance") == len(COMMANDS) + 1


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_the_command_does_and_which_options_all_have(shell: Shell, name: str) -> None:
    ran = shell(name, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert COMMANDS[name].help.split(":")[0] in " ".join(ran.out.split())
    assert all(option in ran.out for option in ("--json", "--debug", "--set"))


def test_without_a_command_it_lists_them_all(shell: Shell) -> None:
    ran = shell()
    assert ran.code == 0
    assert all(f"\n    {name} " in ran.out for name in COMMANDS)


def test_an_unknown_command_is_a_usage_error_that_names_the_known_ones(shell: Shell) -> None:
    ran = shell("listen")
    assert ran.code == 2
    assert "'listen'" in ran.err and "talk" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ("--json", "chat", "list"),
        ("chat", "--json", "list"),
        ("chat", "list", "--json"),
        ("--set", "speak.speed=1.5", "chat", "list", "--json"),
    ],
    ids=" ".join,
)
def test_options_of_every_command_may_stand_anywhere(shell: Shell, words: tuple[str, ...]) -> None:
    ran = shell(*words)
    assert (ran.code, ran.json) == (0, [])


def test_settings_for_one_call_add_up_wherever_they_stand(shell: Shell) -> None:
    ran = shell("--set", "speak.speed=1.5", "config", "--set", "speak.volume_percent=20", "speak", "--json")
    settings = ran.json["settings"]
    assert (settings["speak.speed"]["value"], settings["speak.speed"]["from"]) == (1.5, "command line")
    assert settings["speak.volume_percent"]["value"] == 20


@pytest.mark.parametrize("pair", ["speak.speed", "speed=2"])
def test_a_setting_without_section_or_value_is_a_usage_error(shell: Shell, pair: str) -> None:
    ran = shell("ask", "--text", "hello", "--set", pair)
    assert ran.code == 2
    assert pair in ran.err and "SECTION.KEY=VALUE" in ran.err


def test_words_behind_two_dashes_are_no_options(shell: Shell) -> None:
    ran = shell("chat", "new", "--", "--json")
    assert ran.out.startswith("--json (0 turns)")


def test_a_home_that_cannot_be_made_is_told_with_what_to_do(shell: Shell) -> None:
    (shell.folder / "file").write_text("")
    shell.set_variable("APPLIANCE_HOME", str(shell.folder / "file" / "home"))
    ran = shell("chat", "list")
    assert ran.code == 1
    assert "file/home cannot be used" in ran.err and "APPLIANCE_HOME" in ran.err


def test_a_terminal_without_a_character_shows_a_question_mark(process: Process) -> None:
    process.environment["PYTHONIOENCODING"] = "ascii"
    ran = process("face", "show", "happy")
    assert ran.code == 0
    assert "(" in ran.out and "happy" in ran.out


def test_a_reader_that_goes_away_is_no_failure(process: Process) -> None:
    line = f"'{process.command()[0]}' -m appliance.cli.main config | head -n 1"
    ran = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line], env=process.environment, capture_output=True, text=True
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.count("\n") == 1


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written_is_told(process: Process, unbuffered: str) -> None:
    environment = {**process.environment, "PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            process.command("config"), env=environment, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ran.returncode == 1
    assert ran.stderr.startswith("appliance: the system says: No space left on device") and ran.stderr.count("\n") == 1


def test_no_secret_of_the_environment_or_the_home_is_in_what_debugging_prints(shell: Shell) -> None:
    shell.write("credentials.json", json.dumps({"RADIO": "tune-5521-wolf"}))
    shell.set_variable("SHED_PASSWORD", "blue-barn-4711")
    shell.write(
        "plugins/leak/leak.py",
        'SCHEMA = {"type": "function", "name": "leak", "description": "Leaks."}\n'
        "async def execute(args, ctx):\n"
        '    raise ValueError("blue-barn-4711 and tune-5521-wolf")\n',
    )
    ran = shell("tool", "run", "leak", "--debug")
    assert ran.code == 1
    assert "ValueError: [secret] and [secret]" in ran.err and "Traceback" in ran.err
    assert "blue-barn" not in ran.out + ran.err and "wolf" not in ran.out + ran.err


def test_a_damaged_file_of_secrets_is_told_and_the_command_goes_on(shell: Shell) -> None:
    shell.write("credentials.json", '{"OPENAI_API_KEY": "half of')
    ran = shell("ask", "--text", "what time is it")
    assert ran.code == 0 and ran.out.startswith("It")
    assert "credentials.json was damaged" in ran.err and "half of" not in ran.err
    assert "put aside as credentials.json.corrupt." in ran.err


def test_a_file_of_secrets_with_the_wrong_shape_is_told(shell: Shell) -> None:
    shell.write("credentials.json", '["a"]')
    ran = shell("credential", "list")
    assert ran.code == 0
    assert "must hold one JSON object of texts" in ran.err
