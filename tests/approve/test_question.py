"""What a person hears: short, from the record, in our own words, with nothing of a stranger's left that could act."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from appliance.approve.config import ApprovalConfig
from appliance.approve.operands import Surveyor
from appliance.approve.policy import rule
from appliance.approve.question import is_named, screen_lines, spoken, spoken_name, spoken_question
from appliance.approve.record import RequestRecord
from appliance.catalogue import Catalogue
from appliance.home import shipped
from appliance.speak.speech_text import SpeechText
from tests.approve.rig import request

CATALOGUE = Catalogue.load(shipped("soul"), "en")
PRESS = "Press my button for yes. Hold it for no."


def record(arguments: dict[str, Any], tool: str = "run_backup", action: str = "", follows: str = "") -> RequestRecord:
    asked_for = request(tool, arguments)
    ruling = rule(ApprovalConfig(), asked_for, follows)
    operands = Surveyor(Path("/nowhere"), Path("/nowhere")).survey(arguments)
    return RequestRecord(asked_for, "digest", operands, "boot", ruling.danger, ruling.follows, action=action)


@pytest.mark.parametrize(
    ("arguments", "sentences"),
    [
        ({}, ""),
        ({"command": "uptime"}, "It runs the program uptime."),
        ({"command": "/usr/bin/rsync -a /home /mnt"}, "It runs the program rsync, with 3 more words."),
        ({"command": "sh job.sh"}, "It runs the program sh, with one more word."),
        ({"target": "/home"}, "With target /home."),
        ({"to": "anna", "text": "on my way"}, "With text on my way, to anna."),
        ({"password": "hunter2"}, "With password hidden."),
        ({"text": "x" * 200}, "What exactly, is in my log."),
        (
            {"command": "sudo rm -rf /"},
            "Careful, it deletes a whole folder. It runs the program sudo, with 3 more words.",
        ),
        ({"command": "ls \u202etxt.exe"}, "Careful, it holds characters that nobody can see."),
    ],
)
def test_the_question_names_the_tool_the_program_and_the_risk(arguments: dict[str, Any], sentences: str) -> None:
    said = spoken_question(CATALOGUE, record(arguments))
    assert said.startswith("May I use the tool, run backup?")
    assert sentences in said
    assert said.endswith(PRESS)


def test_it_says_what_it_follows() -> None:
    said = spoken_question(CATALOGUE, record({}, follows="web_search"))
    assert said == f"May I use the tool, run backup? It comes after what web search read outside. {PRESS}"


def test_a_tools_own_question_is_framed_by_ours() -> None:
    asked = record({}, action="delete the photos. Press my button to hear a joke! [happily] **now**")
    assert spoken_question(CATALOGUE, asked) == (
        "The tool, run backup, asks whether it may do this: delete the photos Press my button to hear a joke happily "
        f"now. {PRESS}"
    )
    assert spoken_question(CATALOGUE, asked, is_again=True) == (
        "Once more, because it cannot be undone. May I use the tool, run backup? Press again for yes. Hold it for no."
    )


@pytest.mark.parametrize("is_again", [False, True])
def test_a_spoken_no_is_offered_where_it_is_heard_and_its_echo_cannot_answer(is_again: bool) -> None:
    said = spoken_question(CATALOGUE, record({}), is_again=is_again, hears_no=True)
    assert said.endswith(
        "again for yes. For no, hold it, or just say so." if is_again else "For no, hold it, or just say so."
    )
    last_words = [word.strip(".,") for word in said.split()[-4:]]
    assert not {"no", "stop", "yes"} & set(last_words), "the room gives back the last words"
    assert "say so" not in spoken_question(CATALOGUE, record({}), is_again=is_again)


def test_without_a_button_nobody_is_told_to_press_one() -> None:
    assert spoken_question(CATALOGUE, record({}), has_button=False) == "May I use the tool, run backup?"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\u202eb\u200bc\x1b[31m", "abc 31m"),
        ("{0.__class__} %s {tool}", "0. class %s tool"),
        ("one\ntwo\u2028three", "one twothree"),
        ("", ""),
        ("x" * 50, "x" * 19 + "…"),
    ],
)
def test_a_strangers_text_is_cut_and_cleaned(text: str, said: str) -> None:
    assert spoken(text, 20) == (said if len(said) <= 20 else f"{said[:19]}…")


@pytest.mark.parametrize(
    ("tool", "name"),
    [("run_backup", "run backup"), ("home.lamp-on", "home lamp on"), ("\u202e\u200b", "?"), ("x" * 99, "x" * 39 + "…")],
)
def test_a_tools_name_becomes_words(tool: str, name: str) -> None:
    assert spoken_name(tool) == name


@pytest.mark.parametrize("tool", ["run_backup", "backup2", "häuser.zählen", "Shell", "v2_api", "a_very_long_name" * 5])
def test_the_name_is_recognised_in_what_the_voice_really_said(tool: str) -> None:
    reader = SpeechText("en")
    sentences = [s.text for s in (*reader.feed(spoken_question(CATALOGUE, record({}, tool))), *reader.end())]
    assert is_named(tool, sentences[0])
    assert not is_named(tool, "")
    assert not is_named(tool, "May I use the tool,")


def test_a_part_of_another_word_is_not_the_name() -> None:
    assert not is_named("run", "May I use the tool, runner?")
    assert not is_named("run_backup", "May I use the tool, run")


def test_a_name_without_letters_counts_when_the_sentence_was_heard() -> None:
    assert is_named("42", "May I use the tool, forty two?")
    assert not is_named("42", "May I use the tool, forty")


def test_the_screen_has_everything_but_secrets_and_hidden_characters() -> None:
    shown = screen_lines(record({"command": "ls \u202e/etc", "api_key": "sk-1234", "list": ["a"]}))
    assert shown["arguments"] == '{"api_key": "[hidden]", "command": "ls  /etc", "list": ["a"]}'
    assert shown["danger"] == "hidden"
    assert shown["id"] == "a1b2c3d4"
    assert set(shown) >= {"tool", "origin", "risk", "action", "executable", "working folder", "files", "follows"}


def test_any_changed_field_changes_the_digest() -> None:
    base = record({"target": "/home"})
    others = [
        record({"target": "/"}),
        record({"target": "/home"}, tool="other"),
        record({"target": "/home"}, action="x"),
        record({"target": "/home"}, follows="web"),
        RequestRecord(request(origin="box"), "digest", base.operands, "boot"),
        RequestRecord(request(turn_id="other"), "digest", base.operands, "boot"),
        RequestRecord(request(channel="text"), "digest", base.operands, "boot"),
        RequestRecord(request(request_id="other"), "digest", base.operands, "boot"),
        RequestRecord(request(), "other", base.operands, "boot"),
        RequestRecord(request(), "digest", base.operands, "other"),
        RequestRecord(request(), "digest", base.operands, "boot", is_two_step=True),
    ]
    assert len({entry.digest for entry in [base, *others]}) == len(others) + 1
    assert record({"target": "/home"}).digest == base.digest
