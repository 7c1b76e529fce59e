from __future__ import annotations

import pytest

from appliance.listen.sound_alike import distance, sounds


@pytest.mark.parametrize(
    ("phrase", "heard"),
    [
        ("okay nabu", "Okay, Nabu."),
        ("okay nabu", "OK, Naboo!"),
        ("okay nabu", "Okay, now boot."),
        ("okay nabu", "Okay, now blue"),
        ("hey jarvis", "Hey, Jarvis."),
        ("hey mycroft", "Hey, my croft"),
        ("alexa", "Alexa!"),
    ],
)
def test_another_spelling_of_the_same_sound_is_near(phrase: str, heard: str) -> None:
    assert distance(phrase, heard) <= 0.4


@pytest.mark.parametrize(
    ("phrase", "heard"),
    [
        ("okay nabu", "Okay, Google."),
        ("okay nabu", "Okay, thank you."),
        ("okay nabu", "Broken the boot"),
        ("okay nabu", "And now the weather."),
        ("hey jarvis", "Hey Charlie"),
        ("hey mycroft", "Hey, Michael"),
        ("alexa", "Thank you for watching!"),
    ],
)
def test_other_words_are_far(phrase: str, heard: str) -> None:
    assert distance(phrase, heard) >= 1.3


def test_what_is_said_before_and_behind_does_not_count() -> None:
    alone = distance("okay nabu", "okay nabu")
    assert alone == distance("okay nabu", "and then she said okay nabu, what time is it?") == 0.0


def test_nothing_is_as_far_as_the_whole_phrase() -> None:
    assert distance("okay nabu", "") > 3.0
    assert distance("okay nabu", "...") == distance("okay nabu", "")


def test_sounds_are_written_with_a_character_for_each() -> None:
    assert sounds("Phone") == sounds("fone")
    assert sounds("OK") == sounds("okay")
    assert sounds("naboo") == sounds("nabu")
    assert sounds("1, 2!") == ""
