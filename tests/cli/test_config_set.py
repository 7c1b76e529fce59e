"""``config set`` and ``unset``: what is written, what is refused, and when it holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.cli.config_set import how_to_restart
from appliance.home import Home
from tests.cli.shell import Bound, Shell
from tests.cli.test_run import Running

OWNERS = """# My box.
[speak]   # the voice
speed = 1.2  # quick
"""


def file_of(shell: Shell) -> str:
    return (shell.home / "config.toml").read_text(encoding="utf-8")


def test_a_setting_is_written_and_the_owners_words_around_it_stay(shell: Shell) -> None:
    shell.write("config.toml", OWNERS)
    ran = shell("config", "set", "speak.speed", "0.9")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "speak.speed = 0.9; it holds from the next start\n"
    assert file_of(shell) == OWNERS.replace("1.2", "0.9")
    assert shell("config", "unset", "speak.speed").out == "speak.speed is taken out; it holds from the next start\n"
    assert "# My box." in file_of(shell) and "speed" not in file_of(shell)


def test_lists_numbers_and_sentences_are_written_as_what_they_are(shell: Shell) -> None:
    shell("config", "set", "listen.wake_words", "okay_nabu", "alexa")
    shell("config", "set", "box.place", "Lisbon,", "Portugal")
    shell("config", "set", "speak.hum", "off")
    shell("config", "set", "approval.button_for", "")
    settings = shell("config", "--json").json["settings"]
    assert settings["listen.wake_words"]["value"] == ["okay_nabu", "alexa"]
    assert settings["box.place"]["value"] == "Lisbon, Portugal"
    assert settings["speak.hum"]["value"] is False
    assert settings["approval.button_for"] == {**settings["approval.button_for"], "value": [], "from": "file"}
    assert shell("config", "set", "speak.volume_percent", "70", "--json").json == {
        "file": str(shell.home / "config.toml"),
        "key": "speak.volume_percent",
        "value": 70,
        "holds": "next start",
    }


@pytest.mark.parametrize(
    ("key", "text", "sentence"),
    [
        ("speak.speed", "fast", "speak.speed = 'fast' (command line): must be a number"),
        ("speak.volume_percent", "140", "must be at most 100"),
        ("speak.spee", "1", "is no setting; did you mean speed?"),
        ("approval.button_for", "everything", "approval.button_for = 'everything': must be one of"),
        ("device.quiet_hours", "late", "must be a span such as"),
        ("listen.wake_words", "hey_bob", "'hey_bob' is no wake word; there are: okay_nabu"),
        ("face.backends", "terminal,hologram", "'hologram' is none; there are: terminal"),
        ("speak.voice", "bob", "must be one of en_US-joe-medium"),
        ("hear.model", "en_US-joe-medium", "must be one of tiny"),
        ("box.language", "xx", "must be one of en"),
        ("tools.risks", "lamp=harmless", "each entry is NAME=RISK"),
        ("network.proxy", "gopher://host", "network.proxy"),
    ],
)
def test_what_cannot_be_is_refused_with_what_is_allowed(shell: Shell, key: str, text: str, sentence: str) -> None:
    shell.write("config.toml", OWNERS)
    ran = shell("config", "set", key, text)
    assert (ran.code, ran.out) == (78, "")
    assert sentence in ran.err
    assert file_of(shell) == OWNERS


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("think.api_key", "owl-4711-feather"),
        ("think.url", "http://me:owl-4711-feather@host:8080"),
        ("network.proxy", "socks5h://me:owl-4711-feather@host:1080"),
        ("think.model", "sk-owl4711featherowl4711"),
        ("box.place", "known-to-the-box-as-a-secret"),
    ],
)
def test_a_secret_is_refused_with_where_it_belongs_and_not_repeated(shell: Shell, key: str, text: str) -> None:
    shell("credential", "set", "DOOR", stdin="known-to-the-box-as-a-secret\n")
    ran = shell("config", "set", key, text)
    assert ran.code == 78 and "appliance credential set" in ran.err
    assert "owl" not in ran.err and "known-to" not in ran.err
    assert not (shell.home / "config.toml").exists()


def test_a_secret_that_somebody_wrote_into_the_file_is_found(shell: Shell) -> None:
    assert shell("config", "check").out == "every setting makes sense\n"
    shell.write("config.toml", '[network]\nproxy = "socks5h://me:owl-4711@host:1080"\n[speak]\nspeed = "fast"\n')
    ran = shell("config", "check")
    assert ran.code == 78 and "PROXY_PASSWORD" in ran.err and "must be a number" in ran.err
    assert "owl-4711" not in ran.err + shell("config").out


def test_one_wrong_setting_does_not_keep_another_from_being_mended(shell: Shell) -> None:
    shell.write("config.toml", '[speak]\nspeed = "fast"\nloud = true\n')
    ran = shell("config", "set", "speak.speed", "1.0")
    assert ran.code == 0 and ran.out.startswith("speak.speed = 1.0")
    assert "speak.loud (file) is no setting" in ran.err and "fast" not in ran.err


def test_what_is_wrong_in_the_file_can_be_taken_out(shell: Shell) -> None:
    shell.write("config.toml", '[speak]\nspeed = "fast"\nloud = true\n[listn]\nx = 1\n')
    assert shell("config", "unset", "speak.speed").code == 0
    assert shell("config", "unset", "speak.loud").out == "speak.loud is taken out; it was no setting\n"
    assert shell("config", "unset", "listn.x").code == 0
    assert "x = 1" not in file_of(shell) and "loud" not in file_of(shell) and "fast" not in file_of(shell)


def test_taking_out_what_is_not_there_writes_nothing(shell: Shell) -> None:
    assert shell("config", "unset", "speak.speed").code == 0
    assert not (shell.home / "config.toml").exists()


def test_what_the_environment_says_comes_first_and_that_is_told(shell: Shell) -> None:
    shell.set_variable("APPLIANCE_SPEAK_SPEED", "1.5")
    assert (
        "environment APPLIANCE_SPEAK_SPEED says 1.5, which comes first"
        in shell("config", "set", "speak.speed", "0.9").out
    )


@pytest.mark.parametrize(
    "words", [("set",), ("set", "speak.speed"), ("unset",), ("set", "speak", "1"), ("speak", "listen")]
)
def test_half_a_command_is_a_usage_error(shell: Shell, words: tuple[str, ...]) -> None:
    ran = shell("config", *words)
    assert ran.code == 2 and ran.err


def test_a_file_that_may_not_be_written_is_told(tmp_path: Path) -> None:
    bound = Bound(tmp_path)
    bound.home.mkdir()
    (bound.home / "config.toml").write_text(OWNERS)
    bound.home.chmod(0o500)
    try:
        ran = bound("config", "set", "speak.speed", "0.9")
    finally:
        bound.home.chmod(0o700)
    assert ran.code == 78 and "cannot be changed" in ran.err


def test_a_service_is_restarted_by_its_manager_and_a_trial_by_hand() -> None:
    assert how_to_restart(Home(Path("/var/lib/appliance"), is_service=True)) == "sudo systemctl restart appliance"
    assert "./run" in how_to_restart(Home(Path("/home/ada/appliance")))


# -------------------------------------------------------------------------------------- a device that runs


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One device for all."""
    made = Running(tmp_path_factory.mktemp("device"))
    made.start("--stay", "--set", "listen.silence_seconds=0.5")
    made.wait_until_listening()
    yield made
    assert made.end().code == 0


def test_a_running_device_takes_what_it_can_and_says_what_needs_a_restart(device: Running) -> None:
    now = device("config", "set", "speak.volume_percent", "35")
    assert now.out == "speak.volume_percent = 35; the running device has it already\n"
    assert "35 %" in device("status").out
    later = device("config", "set", "hear.beam_size", "1")
    assert "the running device needs a restart for it: stop it (Ctrl-C) and start it again with ./run" in later.out
    assert device("config", "set", "listen.silence_seconds", "2", "--json").json["holds"] == (
        "the running device was started with --set listen.silence_seconds, which comes first"
    )
    assert "has it already" in device("config", "unset", "hear.beam_size").out
