from __future__ import annotations

import pytest

from appliance import config
from appliance.errors import ConfigError
from appliance.listen.config import AudioConfig, HearConfig, ListenConfig
from appliance.listen.endpointing import LATE_START_SECONDS


def test_the_defaults_need_no_file() -> None:
    settings = config.load(None, {})
    assert settings.of(ListenConfig).wake_words == ("okay_nabu",)
    assert settings.of(AudioConfig) == AudioConfig("", "")
    assert settings.of(HearConfig).model == "tiny.en"


def test_several_wake_words_are_given_in_one_line() -> None:
    settings = config.load(None, {"APPLIANCE_LISTEN_WAKE_WORDS": "okay_nabu, /home/me/computer.json"})
    assert settings.of(ListenConfig).wake_words == ("okay_nabu", "/home/me/computer.json")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("listen.silence_seconds", "0.01"),
        ("listen.speech_threshold", "1.5"),
        ("listen.earcon_volume_percent", "101"),
        ("listen.no_speech_seconds", "forever"),
        ("hear.beam_size", "0"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused(key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=key):
        config.load(None, {}, {key: value})


def test_with_default_windows_a_silent_person_is_let_go_within_six_seconds() -> None:
    assert ListenConfig().no_speech_seconds + LATE_START_SECONDS < 6.0
