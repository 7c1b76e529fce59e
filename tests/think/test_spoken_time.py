"""Lengths and moments, as people say them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.think.pre_pass import pre_pass
from appliance.think.spoken_duration import parse_duration, say_duration
from appliance.think.spoken_time import WEEKDAYS, When, parse_when

_WORKDAYS = WEEKDAYS[:5]


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("5 minutes", 300),
        ("a minute", 60),
        ("an hour", 3600),
        ("half an hour", 1800),
        ("a half hour", 1800),
        ("an hour and a half", 5400),
        ("1 and a half hours", 5400),
        ("1 1/2 hours", 5400),
        ("1.5 hours", 5400),
        ("2 and a half minutes", 150),
        ("a quarter of an hour", 900),
        ("3 quarters of an hour", 2700),
        ("a couple of minutes", 120),
        ("1 hour 30", 5400),
        ("1 hour 20 minutes and 5 seconds", 4805),
        ("2 days and 3 hours", 183600),
        ("a week", 604800),
        ("45 min", 2700),
    ],
)
def test_a_length_is_understood(said: str, seconds: float) -> None:
    assert parse_duration(said) == seconds


@pytest.mark.parametrize(
    "said", ["", "5", "minutes", "3 minutes 2 hours", "5 minutes of fame", "0 minutes", "and a half"]
)
def test_what_is_no_length_is_none(said: str) -> None:
    assert parse_duration(said) is None


@given(st.integers(1, 7 * 86400 - 1))
def test_a_length_that_the_box_says_is_understood_by_the_box(seconds: int) -> None:
    assert parse_duration(pre_pass(say_duration(seconds))) == seconds


def test_a_length_is_said_as_people_say_it() -> None:
    assert say_duration(250) == "4 minutes and 10 seconds"
    assert say_duration(3661) == "1 hour, 1 minute and 1 second"
    assert say_duration(0.2) == "0 seconds"


@pytest.mark.parametrize(
    ("said", "when"),
    [
        ("in 10 minutes", When(in_seconds=600)),
        ("10 minutes from now", When(in_seconds=600)),
        ("after half an hour", When(in_seconds=1800)),
        ("at 6", When(time="06:00?")),
        ("at 12", When(time="12:00?")),
        ("at 7 am", When(time="07:00")),
        ("at 12 am", When(time="00:00")),
        ("at 12 pm", When(time="12:00")),
        ("at 7 pm", When(time="19:00")),
        ("at 19:30", When(time="19:30")),
        ("at 1930", When(time="19:30")),
        ("for 730 am", When(time="07:30")),
        ("at 7.30 pm", When(time="19:30")),
        ("at 7 30", When(time="07:30?")),
        ("at 7 oh 5 am", When(time="07:05")),
        ("7 o'clock in the evening", When(time="19:00")),
        ("at half past 6", When(time="06:30?")),
        ("quarter to 7 in the morning", When(time="06:45")),
        ("10 minutes to 1", When(time="12:50?")),
        ("at 9 at night", When(time="21:00")),
        ("at 2 at night", When(time="02:00")),
        ("at noon tomorrow", When(time="12:00", day="tomorrow")),
        ("at midnight", When(time="00:00")),
        ("tonight at 8", When(time="20:00", day="today")),
        ("this evening", When(time="19:00", day="today")),
        ("tomorrow", When(day="tomorrow")),
        ("tomorrow morning at 6:15", When(time="06:15", day="tomorrow")),
        ("in the morning", When(time="08:00")),
        ("on friday at 5", When(time="05:00?", day="friday")),
        ("every friday at 5", When(time="05:00?", days=("friday",))),
        ("on fridays at 5", When(time="05:00?", days=("friday",))),
        ("on weekdays at 7 am", When(time="07:00", days=_WORKDAYS)),
        ("at 7 am monday to friday", When(time="07:00", days=_WORKDAYS)),
        ("every day at noon", When(time="12:00", days=WEEKDAYS)),
        ("every morning at 6", When(time="06:00", days=WEEKDAYS)),
        ("saturday and sunday at 9 am", When(time="09:00", days=WEEKDAYS[5:])),
        ("on the weekend", When(days=WEEKDAYS[5:])),
        ("on may 5th at noon", When(time="12:00", day="05-05")),
        ("the 21st of december", When(day="12-21")),
    ],
)
def test_a_moment_is_understood(said: str, when: When) -> None:
    assert parse_when(said) == when


@pytest.mark.parametrize(
    "said",
    [
        *("", "6", "at 25", "at 7:61", "at 7 at 8", "at 7 am pm", "today tomorrow", "in time", "day", "monday or so"),
        *("on may 32nd", "at 7 minutes", "every", "tomorrow on friday", "the 31st of april"),
    ],
)
def test_what_is_no_moment_is_none(said: str) -> None:
    assert parse_when(said) is None


def test_only_what_was_said_becomes_an_argument() -> None:
    assert When(time="07:00", days=("monday",)).arguments == {"time": "07:00", "days": ["monday"]}
    assert When(in_seconds=60).arguments == {"in_seconds": 60}
