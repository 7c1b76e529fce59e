"""Settings: where they come from, what they may be, and what is said when they are wrong."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from appliance import config
from appliance.approve.config import ApprovalConfig
from appliance.config import SECTIONS, BoxConfig, Config, load
from appliance.device.config import DeviceConfig
from appliance.errors import ConfigError
from appliance.listen.config import ListenConfig
from appliance.think.config import ThinkConfig


def loaded(
    folder: Path,
    text: str = "",
    environment: Mapping[str, str] | None = None,
    overrides: Mapping[str, str] | None = None,
    *,
    keep_going: bool = False,
) -> Config:
    """The settings that a config.toml of this text gives."""
    file = folder / "config.toml"
    file.write_text(text, encoding="utf-8")
    return load(file, environment or {}, overrides, keep_going=keep_going)


def problem(folder: Path, text: str = "", **sources: Any) -> str:
    """What is said about settings that are wrong."""
    with pytest.raises(ConfigError) as raised:
        loaded(folder, text, **sources)
    assert raised.value.exit_code == 78
    return str(raised.value)


# ------------------------------------------------------------------------------------------------- the list


@pytest.mark.parametrize("section", SECTIONS)
def test_every_section_is_a_frozen_dataclass_whose_defaults_obey_their_own_limits(section: str) -> None:
    module, _, name = SECTIONS[section].partition(":")
    kind: Any = getattr(importlib.import_module(module), name)
    values = kind()
    assert dataclasses.is_dataclass(values)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(values, dataclasses.fields(kind)[0].name, None)
    for spec in dataclasses.fields(kind):
        lowest, highest = spec.metadata.get("at_least"), spec.metadata.get("at_most")
        value = getattr(values, spec.name)
        may_be_zero = spec.metadata.get("or_zero") and value == 0
        assert lowest is None or value >= lowest or may_be_zero, spec.name
        assert highest is None or value <= highest, spec.name


def test_every_default_can_be_written_in_a_shell_as_it_is_shown(tmp_path: Path) -> None:
    """``appliance config`` shows a value; whoever copies it into the environment gets the same."""
    shown = loaded(tmp_path).origins
    environment = {}
    for origin in shown:
        value = ",".join(origin.value) if isinstance(origin.value, tuple) else str(origin.value)
        environment[f"APPLIANCE_{origin.section}_{origin.key}".upper()] = value

    again = loaded(tmp_path, environment=environment)

    assert [origin.value for origin in again.origins] == [origin.value for origin in shown]
    assert all(origin.source.startswith("environment APPLIANCE_") for origin in again.origins)


def test_without_a_file_everything_is_as_shipped(tmp_path: Path) -> None:
    settings = load(tmp_path / "none.toml", {})

    assert settings.of(ListenConfig) == ListenConfig()
    assert settings.problems == ()
    assert {origin.source for origin in settings.origins} == {"default"}
    assert all(len(origin.help) > 10 for origin in settings.origins)
    with pytest.raises(KeyError, match="Path"):
        settings.of(Path)


# -------------------------------------------------------------------------------------------- where from


def test_the_command_line_beats_the_environment_beats_the_file_beats_the_default(tmp_path: Path) -> None:
    text = '[box]\nname = "file"\nplace = "file"\nlanguage = "file"\n'
    environment = {"APPLIANCE_BOX_NAME": "environment", "APPLIANCE_BOX_PLACE": "environment"}

    settings = loaded(tmp_path, text, environment, {"box.name": "command line"})

    assert settings.of(BoxConfig) == BoxConfig(name="command line", place="environment", language="file")
    sources = {origin.key: origin.source for origin in settings.origins if origin.section == "box"}
    assert sources == {"name": "command line", "place": "environment APPLIANCE_BOX_PLACE", "language": "file"}


def test_a_key_of_several_words_has_its_name_in_the_environment(tmp_path: Path) -> None:
    environment = {"APPLIANCE_THINK_FIRST_TOKEN_SECONDS": "7.5", "APPLIANCE_LISTEN_EARCONS": "off"}

    settings = loaded(tmp_path, environment=environment)

    assert settings.of(ThinkConfig).first_token_seconds == 7.5
    assert settings.of(ListenConfig).earcons is False


def test_what_is_not_ours_in_the_environment_is_left_alone(tmp_path: Path) -> None:
    environment = {"APPLIANCE_HOME": "/x", "APPLIANCE_DEBUG": "1", "APPLIANCE_FOO_BAR": "1", "BOX_NAME": "x"}

    assert loaded(tmp_path, environment=environment) == loaded(tmp_path)


@pytest.mark.parametrize(("text", "value"), [("a, b,c", ("a", "b", "c")), ("", ()), ("one", ("one",)), (" , ", ())])
def test_a_list_is_written_with_commas_in_a_shell(tmp_path: Path, text: str, value: tuple[str, ...]) -> None:
    settings = loaded(tmp_path, overrides={"listen.wake_words": text})

    assert settings.of(ListenConfig).wake_words == value


@pytest.mark.parametrize("text", ["true", "TRUE", "1", "on"])
def test_yes_has_several_spellings_in_a_shell(tmp_path: Path, text: str) -> None:
    assert loaded(tmp_path, overrides={"speak.hum": text}).problems == ()


def test_a_whole_number_will_do_for_a_number(tmp_path: Path) -> None:
    settings = loaded(tmp_path, "[listen]\nno_speech_seconds = 4\n")

    assert settings.of(ListenConfig).no_speech_seconds == 4.0
    assert isinstance(settings.of(ListenConfig).no_speech_seconds, float)


# ------------------------------------------------------------------------------------------- what is wrong


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[lisen]\nx = 1\n", "[lisen] (file) is no section; did you mean [listen]?"),
        ("[zzz]\nx = 1\n", "[zzz] (file) is no section; there are: box, audio, listen"),
        ("name = 'x'\n", "[name] (file) is no section"),
        ("listen = 5\n", "listen. (file) is no setting"),
        ("[box]\nnaem = 'x'\n", "box.naem (file) is no setting; did you mean name?"),
        ("[box]\nzzz = 'x'\n", "box.zzz (file) is no setting; there are: name, language, place"),
        ("[box.name]\nx = 1\n", "box.name = {'x': 1} (file): must be a text"),
        ("[box]\nname = 5\n", "box.name = 5 (file): must be a text"),
        ("[listen]\nearcons = 'yes'\n", "listen.earcons = 'yes' (file): must be true or false"),
        ("[listen]\nearcons = 1\n", "listen.earcons = 1 (file): must be true or false"),
        ("[listen]\nno_speech_seconds = true\n", "listen.no_speech_seconds = True (file): must be a number"),
        ("[listen]\nno_speech_seconds = 'x'\n", "listen.no_speech_seconds = 'x' (file): must be a number"),
        ("[listen]\nno_speech_seconds = nan\n", "listen.no_speech_seconds = nan (file): must be a finite number"),
        ("[listen]\nno_speech_seconds = 0.5\n", "listen.no_speech_seconds = 0.5 (file): must be at least 1"),
        ("[listen]\nno_speech_seconds = 31\n", "listen.no_speech_seconds = 31 (file): must be at most 30"),
        ("[hear]\nbeam_size = 2.5\n", "hear.beam_size = 2.5 (file): must be a whole number"),
        ("[hear]\nbeam_size = true\n", "hear.beam_size = True (file): must be a whole number"),
        ("[listen]\nwake_words = 'alexa'\n", "listen.wake_words = 'alexa' (file): must be a list of texts"),
        ("[listen]\nwake_words = [1]\n", "listen.wake_words = [1] (file): must be a list of texts"),
        ("[think]\nreasoning_effort = 'max'\n", "must be one of '', 'off', 'minimal', 'low', 'medium', 'high'"),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_allowed(tmp_path: Path, text: str, said: str) -> None:
    assert said in problem(tmp_path, text)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("APPLIANCE_SPEAK_HUM", "perhaps", "(environment APPLIANCE_SPEAK_HUM): must be true or false"),
        ("APPLIANCE_HEAR_BEAM_SIZE", "2.5", "must be a whole number"),
        ("APPLIANCE_LISTEN_NO_SPEECH_SECONDS", "inf", "must be a finite number"),
        ("APPLIANCE_LISTEN_NO_SPEECH_SECONDS", "soon", "must be a number"),
        ("APPLIANCE_BOX_NAEM", "x", "box.naem (environment APPLIANCE_BOX_NAEM) is no setting; did you mean name?"),
    ],
)
def test_the_environment_is_named_by_its_own_name(tmp_path: Path, name: str, text: str, said: str) -> None:
    assert said in problem(tmp_path, environment={name: text})


def test_everything_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    said = problem(tmp_path, "[box]\nname = 5\n[zzz]\nx = 1\n")

    assert "box.name" in said
    assert "[zzz]" in said


def test_whoever_must_go_on_gets_the_default_and_is_told(tmp_path: Path) -> None:
    text = "[box]\nname = 5\nplace = 'Lisbon'\n[listen]\nno_speech_seconds = 99\n[zzz]\nx = 1\n"

    settings = loaded(tmp_path, text, keep_going=True)

    assert settings.of(BoxConfig) == BoxConfig(place="Lisbon")
    assert settings.of(ListenConfig) == ListenConfig()
    assert len(settings.problems) == 3
    assert {origin.source for origin in settings.origins if origin.key == "no_speech_seconds"} == {"default"}


def test_what_decides_about_permission_is_never_guessed(tmp_path: Path) -> None:
    """A box whose approval settings are wrong does not start on defaults."""
    with pytest.raises(ConfigError, match=r"approval\.button_for = 'exce'"):
        loaded(tmp_path, '[approval]\nbutton_for = ["exce"]\n', keep_going=True)
    assert loaded(tmp_path, "[approval]\nbutton_for = []\n").of(ApprovalConfig).button_for == ()


@pytest.mark.parametrize("keep_going", [True, False])
@pytest.mark.parametrize("content", [b"[box\n", b"\xff\xfe", b"[box]\nname = 'x'\nname = 'y'\n"])
def test_a_file_that_is_not_toml_stops_everybody(tmp_path: Path, content: bytes, keep_going: bool) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(content)

    with pytest.raises(ConfigError, match=r"config\.toml is not valid TOML"):
        load(file, {}, keep_going=keep_going)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(ConfigError, match=r"config\.toml cannot be read"):
        load(tmp_path / "config.toml", {})


def test_a_setting_carries_its_sentence_and_its_limits() -> None:
    spec = next(spec for spec in dataclasses.fields(DeviceConfig) if spec.name == "ring_minutes")

    assert spec.metadata["help"].startswith("how long something rings")
    assert (spec.metadata["at_least"], spec.metadata["at_most"]) == (0.5, 60)
    assert config.ENVIRONMENT_PREFIX == "APPLIANCE_"


@pytest.mark.parametrize("written", ["false", "'false'"])
def test_a_choice_of_true_and_false_needs_no_quotes(tmp_path: Path, written: str) -> None:
    assert loaded(tmp_path, f"[think]\nsees_images = {written}\n").of(ThinkConfig).sees_images == "false"
    assert loaded(tmp_path, environment={"APPLIANCE_THINK_SEES_IMAGES": "true"}).of(ThinkConfig).sees_images == "true"
