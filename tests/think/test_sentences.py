"""Heard sentences, and what they ask for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from appliance.adapters.fakes.sentence_matcher import FakeSentenceMatcher
from appliance.adapters.sentence_matcher import HassilMatcher
from appliance.catalogue import Catalogue
from appliance.errors import ConfigError
from appliance.home import shipped
from appliance.ports_think import SentenceMatch
from appliance.think.sentences import Sentences, parse_percent
from tests.think.offline_sentences import Row, rows, sentences


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.heard)
def test_what_was_heard_asks_for_this(row: Row) -> None:
    match = sentences().match(row.heard)
    if row.meaning == "-":
        assert match is None
        return
    assert match is not None, "nothing was understood"
    assert (match.tool or match.say_key.removeprefix("offline.")) == row.meaning
    assert dict(match.arguments) == row.arguments
    assert match.is_control == row.is_control


def test_the_table_is_large_and_has_near_misses() -> None:
    table = rows()
    assert len(table) >= 240
    assert sum(row.meaning == "-" for row in table) >= 30


def test_stop_cancel_volume_and_mute_never_wait_for_a_model() -> None:
    for heard in ("stop", "cancel", "cancel the timer", "louder", "volume 40", "mute", "stop listening", "never mind"):
        match = sentences().match(heard)
        assert match is not None and match.is_control, heard
    for heard in ("what time is it", "set a timer for 5 minutes", "how are you", "snooze"):
        match = sentences().match(heard)
        assert match is not None and not match.is_control, heard


@pytest.mark.parametrize(
    "heard",
    [
        "Stop.",
        "Okay.",
        "Thanks!",
        "I'm awake.",
        "Yes, I hear you.",
        "Alright, alright, stop!",
        "Stop the timer.",
        "Turn it off.",
        "Okay, Nabu, stop.",
        "Shut up.",
        "Got it.",
        "Please stop that noise now.",
    ],
)
def test_while_something_rings_this_stops_it(heard: str) -> None:
    match = sentences().match_alert(heard)
    assert match is not None and match.tool == "box_stop", match


@pytest.mark.parametrize(
    ("heard", "arguments"),
    [
        ("Snooze.", {}),
        ("It's new.", {}),
        ("It's news for five minutes.", {"seconds": 300.0}),
        ("Snooze for ten minutes, please.", {"seconds": 600.0}),
        ("Five more minutes!", {"seconds": 300.0}),
        ("Again in a quarter of an hour", {"seconds": 900.0}),
        ("Later.", {}),
    ],
)
def test_while_something_rings_this_snoozes(heard: str, arguments: dict[str, float]) -> None:
    match = sentences().match_alert(heard)
    assert match is not None and match.tool == "box_snooze", match
    assert dict(match.arguments) == arguments


@pytest.mark.parametrize(
    "heard",
    [
        "What time is it?",
        "Set a timer for five minutes.",
        "So I told her that the train was late again and we all had to walk home in the rain.",
        "Did you see the game yesterday?",
        "Hello?",
        "Louder.",
        "",
    ],
)
def test_while_something_rings_other_talk_means_nothing(heard: str) -> None:
    assert sentences().match_alert(heard) is None


def test_a_named_timer_that_rings_can_be_cancelled_by_name() -> None:
    match = sentences().match_alert("Cancel the pasta timer.")
    assert match is not None and match.tool == "box_timer_cancel"
    assert match.arguments["name"] == "pasta"


def test_a_sentence_of_ringing_means_nothing_when_nothing_rings() -> None:
    for heard in ("I'm awake", "not yet", "in 5 minutes", "alright now stop it all you noisy thing"):
        assert sentences().match(heard) is None, heard


def test_a_name_of_four_words_is_no_name() -> None:
    assert sentences().match("set a very long winded pasta timer for 5 minutes") is None


def test_of_two_readings_the_one_with_less_free_text_is_taken() -> None:
    match = sentences().match("remind me to call mom at 6 tomorrow")
    assert match is not None
    assert dict(match.arguments) == {"text": "call mom", "time": "06:00?", "day": "tomorrow"}


def test_a_reminder_keeps_words_that_look_like_a_command() -> None:
    match = sentences().match("remind me at 5 to set a timer for 3 minutes")
    assert match is not None and match.tool == "box_reminder_set"
    assert match.arguments["text"] == "set a timer for 3 minutes"


def test_thirty_seconds_of_television_are_not_even_tried() -> None:
    matcher = FakeSentenceMatcher({})
    assert Sentences(matcher).match("and so he went to the market " * 10) is None
    assert matcher.lists == {}


def test_the_matcher_gets_the_lengths_and_moments_of_this_sentence() -> None:
    matcher = FakeSentenceMatcher({"tea in 3 minutes": SentenceMatch("say_hello", {}, metadata={"forget": True})})
    match = Sentences(matcher).match("Tea in three minutes!")
    assert match is not None and match.say_key == "offline.say_hello" and not match.is_remembered
    assert matcher.lists["duration"] == {"3 minutes": 180.0}
    assert matcher.lists["when"] == {"in 3 minutes": {"in_seconds": 180.0}}
    assert matcher.lists["percent"] == {"3": 30}


def test_loading_is_passed_on_to_the_matcher() -> None:
    matcher = FakeSentenceMatcher({})
    Sentences(matcher).load()
    assert matcher.loads == 1


@pytest.mark.parametrize(
    ("said", "percent"), [("50 percent", 50), ("50", 50), ("5", 50), ("5 percent", 5), ("10", 100), ("loud", None)]
)
def test_a_bare_number_up_to_ten_is_a_step_of_the_dial(said: str, percent: int | None) -> None:
    assert parse_percent(said) == percent


def test_a_sentence_file_that_cannot_be_read_is_a_clear_error(tmp_path: Path) -> None:
    for content in (
        None,
        "intents: [",
        "language: en\nintents: {box_time: {}}\n",
        "language: en\nintents: {box_time: {data: [{sentences: ['(what']}]}}\n",
    ):
        file = tmp_path / "intents.yaml"
        if content is not None:
            file.write_text(content, encoding="utf-8")
        with pytest.raises(ConfigError, match=r"intents\.yaml cannot be read"):
            HassilMatcher(file).load()


def test_every_courtesy_has_its_sentence_in_the_catalogue() -> None:
    catalogue = Catalogue.load(shipped("soul"), "en")
    courtesies = {row.meaning for row in rows() if row.meaning.startswith("say_")}
    assert {f"offline.{name}" for name in courtesies} <= catalogue.keys


def test_every_rule_and_list_that_a_template_names_exists() -> None:
    text = (shipped("soul") / "en" / "intents.yaml").read_text(encoding="utf-8")
    templates = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    rules = set(re.findall(r"^  (\w+): \"", templates, re.MULTILINE))
    lists = {"duration", "when", "percent", "tail", "place", "name", "text", "any", "after"}
    assert set(re.findall(r"<(\w+)>", templates)) == rules
    assert set(re.findall(r"\{(\w+)(?::\w+)?\}", templates)) == lists


@pytest.mark.parametrize("row", [row for row in rows() if row.meaning == "-"], ids=lambda row: row.heard)
@pytest.mark.parametrize("wake", ["Okay, Nabu, ", "Okay now, boot, ", "Okay now. "])
def test_a_near_miss_stays_one_behind_a_wake_phrase(row: Row, wake: str) -> None:
    assert sentences().match(wake + row.heard) is None
