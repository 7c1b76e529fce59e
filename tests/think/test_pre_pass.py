"""From what whisper writes to canonical words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.think.misheard import mended
from appliance.think.pre_pass import pre_pass, readings
from appliance.think.spoken_numbers import to_digits, to_ordinal_words, to_words


@pytest.mark.parametrize(
    ("heard", "canonical"),
    [
        ("Okay, Nabu, what time is it?", "what time is it"),
        ("Okay Nabu.", ""),
        ("OK, Naboo! Stop.", "stop"),
        ("Hey, Jarvis, um, stop", "stop"),
        ("Hey Travis stop", "stop"),
        ("Alexa, stop.", "stop"),
        ("Okay, Nabu. Okay, Nabu. Stop.", "stop"),
        ("[BLANK_AUDIO]", ""),
        ("(music playing)", ""),
        ("♪ ♪", ""),
        ("", ""),
        ("Set a 5-minute timer, please.", "set a 5 minute timer"),
        ("Set a timer for twenty–five minutes", "set a timer for 25 minutes"),
        ("Could you, uh, set a timer for 1,200 seconds?", "set a timer for 1200 seconds"),
        ("Wake me at 7 a.m.", "wake me at 7 am"),
        ("Wake me at 7A.M. on weekdays", "wake me at 7 am on weekdays"),
        ("at 3:30 p.m.", "at 3:30 pm"),
        ("at 3.30 p.m.", "at 3.30 pm"),
        ("seven o clock", "7 o'clock"),
        ("Half past six", "half past 6"),
        ("on the twenty-first of May", "on the 21st of may"),
        ("1½ hours", "1 1/2 hours"),
        ("50%", "50 percent"),
        ("What's up? It's fine, I'm here, you're not.", "what is up it is fine i am here you are not"),
        ("don't, can’t, won't", "do not can not will not"),
        ("what what time is is it", "what time is it"),
        ("set a timer set a timer for 5 minutes", "set a timer for 5 minutes"),
        ("five five", "5 5"),
        ("Five more minutes", "5 minutes more"),
        ("Hi there!", "hi there"),
        ("hey", "hey"),
        ("a second timer for two seconds", "a second timer for 2 seconds"),
        ("Ärger mit 日本", "ärger mit 日本"),
    ],
)
def test_it_is_brought_to_one_spelling(heard: str, canonical: str) -> None:
    assert pre_pass(heard) == canonical


def test_words_that_a_misheard_wake_phrase_left_are_taken_off_in_a_second_reading() -> None:
    assert "stop" in readings("Okay now, boot, stop.")
    assert "cancel the timer" in readings("Okay now we'll cancel the timer.")
    assert "remind me to drink" in readings("That remind me to drink.")
    assert readings("What time is it?") == ("what time is it",)


def test_a_not_is_never_taken_off() -> None:
    assert all("not" in reading for reading in readings("Okay no, don't stop."))
    assert "stop" not in readings("Okay, don't stop.")


def test_the_owners_wake_phrase_is_taken_off_too() -> None:
    assert pre_pass("Hello computer, stop", ("hello computer",)) == "stop"


@given(st.text(max_size=80))
def test_nothing_that_can_be_heard_breaks_it(text: str) -> None:
    assert pre_pass(text) == pre_pass(text).strip()


@given(st.integers(0, 99))
def test_number_words_come_back_as_the_number(number: int) -> None:
    assert to_digits(to_words(number).replace("-", " ").split()) == [str(number)]


@given(st.integers(1, 31))
def test_ordinals_come_back_as_the_day(number: int) -> None:
    (digits,) = to_digits(to_ordinal_words(number).replace("-", " ").split()) if number != 2 else ["2nd"]
    assert digits[:-2] == str(number)


@pytest.mark.parametrize(
    ("words", "digits"),
    [
        ("one hundred and twenty", "120"),
        ("a hundred", "100"),
        ("two thousand and five", "2005"),
        ("seven thirty", "7 30"),
        ("twenty twenty six", "20 26"),
        ("thirty first", "31st"),
        ("a second", "a second"),
    ],
)
def test_only_what_is_one_number_is_joined(words: str, digits: str) -> None:
    assert " ".join(to_digits(words.split())) == digits


@pytest.mark.parametrize("number", [-1, 100])
def test_numbers_without_words_are_refused(number: int) -> None:
    with pytest.raises(ValueError, match="no words"):
        to_words(number)


@pytest.mark.parametrize("number", [0, 32])
def test_days_without_words_are_refused(number: int) -> None:
    with pytest.raises(ValueError, match="no ordinal"):
        to_ordinal_words(number)


@pytest.mark.parametrize(
    "text",
    ["set the table for 5", "it is a half truth", "the value of 5", "half a pass", "you are right", "at 2 minutes"],
)
def test_mending_leaves_other_talk_alone(text: str) -> None:
    assert mended(text) == text
