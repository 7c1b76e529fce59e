"""``chat``, ``turns`` and ``audit``: what was said, how fast, who did what."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from tests.cli.scripted_model import ScriptedModel
from tests.cli.shell import Shell
from tests.responses_server import Answer, Call

# ------------------------------------------------------------------------------------------------------ chat


def test_a_new_home_has_no_chat_and_the_first_turn_begins_one(shell: Shell) -> None:
    assert shell("chat", "list", "--json").json == []
    shell("ask", "--text", "what time is it")
    (chat,) = shell("chat", "list", "--json").json
    assert (chat["name"], chat["turns"], chat["is_current"]) == ("chat 1", 1, True)


def test_a_chat_shows_what_was_said(shell: Shell) -> None:
    shell("ask", "--text", "who are you")
    ran = shell("chat", "show")
    assert ran.code == 0
    you, box = ran.out.splitlines()
    assert you == "you: who are you" and box.startswith("box: ") and "Wren" in box
    (turn,) = shell("chat", "show", "chat 1", "--json").json
    assert turn["user_text"] == "who are you" and turn["turn_id"].startswith("turn-")


def test_chats_are_begun_used_renamed_emptied_and_deleted(shell: Shell) -> None:
    shell("ask", "--text", "who are you")
    assert shell("chat", "new", "kitchen").out == "kitchen (0 turns)\n"
    shell("ask", "--text", "what time is it")
    assert shell("chat", "rename", "kitchen", "the shed").out == "the shed (1 turns)\n"
    assert shell("chat", "use", "chat 1").out == "chat 1 (1 turns)\n"
    assert shell("chat", "clear", "the shed").out == "the shed is empty\n"
    listed = shell("chat", "list").out.splitlines()
    assert [line.split()[:3] for line in listed] == [["*", "chat", "1"], ["the", "shed", "0"]]
    assert shell("chat", "delete", "chat 1").out == "chat 1 is deleted\n"
    assert [chat["name"] for chat in shell("chat", "list", "--json").json] == ["the shed"]
    assert "who are you" not in shell("chat", "show").out


def test_a_turn_after_its_chat_was_deleted_begins_a_new_one(shell: Shell) -> None:
    shell("ask", "--text", "who are you")
    shell("chat", "delete", "chat 1")
    assert shell("ask", "--text", "what time is it").code == 0
    assert "what time is it" in shell("chat", "show").out


@pytest.mark.parametrize("words", [("use", "attic"), ("show", "attic"), ("clear", "attic"), ("rename", "attic", "x")])
def test_a_chat_that_is_not_there_is_told_with_where_to_look(shell: Shell, words: tuple[str, ...]) -> None:
    ran = shell("chat", *words)
    assert (ran.code, ran.out) == (1, "")
    assert "no chat 'attic'" in ran.err and "appliance chat list" in ran.err


def test_two_chats_do_not_get_the_same_name(shell: Shell) -> None:
    shell("chat", "new", "kitchen")
    ran = shell("chat", "new", "Kitchen")
    assert ran.code == 1 and "another chat is named" in ran.err


# ----------------------------------------------------------------------------------------------------- turns


def test_turns_shows_how_long_each_one_took(shell: Shell) -> None:
    shell("ask", "--text", "what time is it")
    shell("ask", "--text", "what time is it", "--voice", "--out", "reply.wav")
    title, spoken, typed = shell("turns").out.splitlines()
    assert title.split() == ["turn", "started", "origin", "end", "waited", "whole"]
    assert typed.split()[3:6] == ["typed", "answered", "-"] and spoken.split()[3:5] == ["voice", "answered"]
    assert spoken.split()[-1] == "s" and float(spoken.split()[-2]) > 0.0
    assert len(shell("turns", "--count", "1", "--json").json) == 1


def test_a_turn_shows_exactly_what_the_model_got_and_answered_without_the_key(shell: Shell) -> None:
    key = "sk-test-8841-owl"
    answers = (Answer(calls=[Call("calculate", {"expression": "6 * 7"})]), Answer(text=f"It is 42, and {key}."))
    shell.set_variable("OPENAI_API_KEY", key)
    with ScriptedModel(*answers, key=key) as model:
        report = shell("ask", "--text", f"how much is 6 * 7, {key}", "--set", f"think.url={model.url}", "--json").json
        sent = [request.body for request in model.requests]
    ran = shell("turns", "show", report["turn_id"], "--model", "--json")
    rounds = ran.json["rounds"]
    assert [entry["number"] for entry in rounds] == [1, 2]
    for entry, body in zip(rounds, sent, strict=True):
        assert entry["request"]["instructions"] == body["instructions"]
        assert [tool["name"] for tool in entry["request"]["tools"]] == [tool["name"] for tool in body["tools"]]
    assert [item["type"] for item in rounds[1]["request"]["items"]] == [item["type"] for item in sent[1]["input"]]
    texts = shell("turns", "show", report["turn_id"], "--model")
    assert texts.code == 0 and "--- round 2: answer" in texts.out
    assert "It is 42, and [secret]." in texts.out and "how much is 6 * 7, [secret]" in texts.out
    assert key not in ran.out + texts.out


def test_a_turn_without_a_model_says_so(shell: Shell) -> None:
    turn_id = shell("ask", "--text", "what time is it", "--json").json["turn_id"]
    ran = shell("turns", "show", turn_id, "--model")
    assert ran.code == 0
    assert ran.out.startswith(f"{turn_id}  ") and "typed  answered" in ran.out
    assert "first tool" in ran.out and "no model was asked in this turn" in ran.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("turns", "show", "turn-none"), "no turn 'turn-none' is known"),
        (("turns", "--count", "0"), "a number of rows from 1 to 1000 is wanted, not 0"),
        (("turns", "--count", "many"), "invalid int value: 'many'"),
        (("audit", "--count", "5000"), "a number of rows from 1 to 1000 is wanted, not 5000"),
    ],
)
def test_what_cannot_be_listed_is_a_usage_error(shell: Shell, words: tuple[str, ...], sentence: str) -> None:
    ran = shell(*words)
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err


# ----------------------------------------------------------------------------------------------------- audit

_DIARY = """
SCHEMA = {"type": "function", "name": "diary", "description": "Writes into the diary."}
RISK = "write"


async def execute(args, ctx):
    return "written"
"""


def test_the_audit_trail_shows_what_was_done_and_is_whole(shell: Shell) -> None:
    shell.write("plugins/diary/diary.py", _DIARY)
    shell("tool", "run", "diary", '{"line": "rain"}')
    intent, result = (line.split() for line in shell("audit").out.splitlines())
    assert (intent[0], intent[2:4], result[2:5]) == ("1", ["intent", "diary"], ["result", "diary", "ok"])
    ran = shell("audit", "verify")
    assert (ran.code, ran.out) == (0, "the audit trail is whole\n")
    assert shell("audit", "verify", "--json").json == {"is_whole": True, "faults": []}


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("UPDATE audit SET line = replace(line, 'rain', 'snow') WHERE sequence = 1", "line 1 was changed"),
        ("DELETE FROM audit WHERE sequence = 1", "lines 1 to 1 are missing"),
        ("DELETE FROM audit WHERE sequence = 2", "was replaced or cut"),
    ],
)
def test_an_audit_trail_that_somebody_touched_is_told(shell: Shell, statement: str, fault: str) -> None:
    shell.write("plugins/diary/diary.py", _DIARY)
    shell("tool", "run", "diary", '{"line": "rain"}')
    with closing(sqlite3.connect(shell.home / "appliance.db", isolation_level=None)) as connection:
        for trigger in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {trigger[0]}")
        assert connection.execute(statement).rowcount == 1
    ran = shell("audit", "verify")
    assert (ran.code, ran.out) == (1, "")
    assert fault in ran.err
    verdict = shell("audit", "verify", "--json").json
    assert verdict["is_whole"] is False and any(fault in told for told in verdict["faults"])
