"""``model`` and ``credential``: giving the box a model and its key; and models that misbehave in every way."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import stat
import subprocess
import termios
from pathlib import Path

import pytest

from tests.cli.scripted_model import ScriptedModel
from tests.cli.shell import Process, Shell
from tests.e2e.device import PATIENCE_SECONDS
from tests.responses_server import Answer

KEY = "sk-test-8841-owl"


def _key_file(shell: Shell) -> dict[str, str]:
    file = shell.home / "credentials.json"
    return dict(json.loads(file.read_text())) if file.exists() else {}


def _settings(shell: Shell) -> str:
    file = shell.home / "config.toml"
    return file.read_text() if file.exists() else ""


def test_a_model_is_set_with_its_key_tested_and_used(shell: Shell) -> None:
    with ScriptedModel(Answer(text="Ready."), key=KEY) as model:
        ran = shell("model", "set", model.url, "--model", "owl-7", stdin=f"{KEY}\n")
        assert (ran.code, ran.err) == (0, "")
        assert "owl-7 at 127.0.0.1" in ran.out and "answers." in ran.out and "next start" in ran.out
        assert shell("ask", "--text", "are you there, my friend").out == "Ready.\n"
        bodies = [request.body["model"] for request in model.requests]
        shown = shell("model", "show", "--json").json
    assert bodies == ["owl-7", "owl-7"]
    assert (shown["url"], shown["model"], shown["works"]) == (model.url, "owl-7", True)
    assert _key_file(shell) == {"OPENAI_API_KEY": KEY}
    assert stat.S_IMODE((shell.home / "credentials.json").stat().st_mode) == 0o600
    assert KEY not in _settings(shell) + ran.out


def test_what_the_owner_wrote_around_it_stays(shell: Shell) -> None:
    shell.write("config.toml", '# mine\n[think]\nurl = "http://10.0.0.9"\nhistory_turns = 3\n[box]\nname = "Jay"\n')
    with ScriptedModel(Answer(text="Ready.")) as model:
        assert shell("model", "set", model.url, "--no-key").code == 0
    text = _settings(shell)
    assert text.startswith("# mine\n") and "history_turns = 3" in text and 'name = "Jay"' in text
    assert model.url in text and "10.0.0.9" not in text


@pytest.mark.parametrize(
    ("answer", "key", "why"),
    [
        (Answer(text="Ready."), "sk-wrong", "does not accept the key"),
        (Answer(status=404), KEY, "has no Responses API at this address"),
        (Answer(status=500, error_message="the owl is out"), KEY, "the owl is out"),
        (Answer(text="Ready.", fault="broken_json"), KEY, "broken JSON"),
    ],
    ids=["wrong key", "no such API", "server error", "nonsense"],
)
def test_a_model_that_does_not_work_changes_nothing(shell: Shell, answer: Answer, key: str, why: str) -> None:
    shell("credential", "set", "OPENAI_API_KEY", stdin="sk-the-old-one\n")
    with ScriptedModel(answer, key=KEY) as model:
        ran = shell("model", "set", model.url, stdin=f"{key}\n")
    assert (ran.code, ran.out) == (1, "")
    assert why in ran.err and "nothing was changed; --force keeps it all the same" in ran.err
    assert key not in ran.err
    assert _settings(shell) == "" and _key_file(shell) == {"OPENAI_API_KEY": "sk-the-old-one"}


def test_force_keeps_a_model_that_is_switched_off_now(shell: Shell) -> None:
    ran = shell("model", "set", "http://127.0.0.1:9", "--no-key", "--force")
    assert ran.code == 0
    assert "no connection to 127.0.0.1:9" in ran.out and "127.0.0.1:9" in _settings(shell)


def test_a_url_that_is_none_is_told_before_any_key_is_asked_for(shell: Shell) -> None:
    ran = shell("model", "set", "ftp://somewhere")
    assert ran.code == 78
    assert "must start with http:// or https://" in ran.err and "hidden" not in ran.err + ran.out
    assert _settings(shell) == ""


def test_without_a_key_an_older_one_is_neither_sent_nor_kept(shell: Shell) -> None:
    shell("credential", "set", "OPENAI_API_KEY", stdin=f"{KEY}\n")
    with ScriptedModel(Answer(text="Ready.")) as model:
        assert shell("model", "set", model.url, "--no-key").code == 0
        shell("ask", "--text", "are you there, my friend")
        headers = [request.headers for request in model.requests]
    assert len(headers) == 2 and all("authorization" not in sent for sent in headers)
    assert _key_file(shell) == {}


def test_a_key_of_the_environment_that_goes_along_is_told(shell: Shell) -> None:
    shell.set_variable("OPENAI_API_KEY", KEY)
    with ScriptedModel(Answer(text="Ready.")) as model:
        ran = shell("model", "set", model.url, "--no-key")
    assert ran.code == 0
    assert "OPENAI_API_KEY is also given by environment, and that key is sent to" in ran.err and KEY not in ran.err


def test_show_without_a_model_says_how_to_give_one(shell: Shell) -> None:
    ran = shell("model", "show")
    assert (ran.code, ran.err) == (0, "")
    assert "no model is set; appliance model set URL gives the box one" in ran.out


def test_show_tells_that_a_model_is_away(shell: Shell) -> None:
    ran = shell("model", "show", "--set", "think.url=http://127.0.0.1:9")
    assert (ran.code, ran.out) == (1, "")
    assert "no connection to 127.0.0.1:9" in ran.err


def test_off_takes_the_model_away(shell: Shell) -> None:
    shell("model", "set", "http://127.0.0.1:9", "--no-key", "--force")
    ran = shell("model", "off")
    assert ran.code == 0 and "No model" in ran.out
    assert shell("model", "show", "--json").json["url"] == ""


def test_settings_that_are_not_toml_stay_as_they_are(shell: Shell) -> None:
    file = shell.write("config.toml", "[think\n")
    ran = shell("model", "off")
    assert ran.code == 78 and "is not valid TOML" in ran.err
    assert file.read_text() == "[think\n"


# ------------------------------------------------------------------------------------------------ credential


def test_secrets_go_in_and_only_their_names_come_out(shell: Shell) -> None:
    assert "there are none" in shell("credential", "list").out
    ran = shell("credential", "set", "RADIO", stdin="tune-5521-wolf\n")
    assert ran.code == 0 and ran.out.startswith("RADIO is kept.")
    listed = shell("credential", "list", "--json")
    assert listed.json == [{"name": "RADIO", "from": "file"}]
    assert "wolf" not in ran.out + ran.err + listed.out
    assert shell("credential", "remove", "RADIO").code == 0
    assert shell("credential", "list", "--json").json == []
    assert not any("wolf" in file.read_text() for file in shell.home.glob("credentials.json*"))


def test_a_secret_that_is_typed_is_not_shown(process: Process) -> None:
    screen, keyboard = pty.openpty()
    typing = subprocess.Popen(
        process.command("credential", "set", "RADIO"),
        env=process.environment,
        stdin=keyboard,
        stdout=keyboard,
        stderr=keyboard,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(keyboard)
    shown = b""
    while b"RADIO (hidden): " not in shown:
        shown += os.read(screen, 1000)
    os.write(screen, b"tune-5521-wolf\n")
    with contextlib.suppress(OSError):  # the end of a terminal
        while read := os.read(screen, 1000):
            shown += read
    os.close(screen)
    assert typing.wait(PATIENCE_SECONDS) == 0
    assert b"RADIO is kept." in shown and b"wolf" not in shown
    assert json.loads((process.home / "credentials.json").read_text()) == {"RADIO": "tune-5521-wolf"}


def test_the_key_of_the_environment_is_listed_by_name(shell: Shell) -> None:
    shell.set_variable("OPENAI_API_KEY", KEY)
    ran = shell("credential", "list")
    assert ran.out.split() == ["OPENAI_API_KEY", "environment"]


def test_a_secret_that_the_environment_overrides_is_told(shell: Shell) -> None:
    shell.set_variable("OPENAI_API_KEY", KEY)
    ran = shell("credential", "set", "OPENAI_API_KEY", stdin="sk-another\n")
    assert ran.code == 0
    assert "is also given by environment, and that one is used" in ran.err


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [("RADIO", "", "is empty"), ("RADIO", "a\tb", "holds a line end"), ("../RADIO", "x", "letters, digits")],
)
def test_a_secret_that_is_none_is_a_usage_error(shell: Shell, name: str, value: str, sentence: str) -> None:
    ran = shell("credential", "set", name, stdin=value)
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err and _key_file(shell) == {}


def test_removing_a_secret_that_is_not_there_fails_with_a_sentence(shell: Shell) -> None:
    ran = shell("credential", "remove", "RADIO")
    assert ran.code == 1 and "the home holds no RADIO" in ran.err


# ------------------------------------------------------------------------------- models that misbehave

#: What it does: its answer, what the box says (one of), what standard error says.
_BAD: dict[str, tuple[Answer, str, str]] = {
    "says nothing": (Answer(fault="silent"), "took too long|no answer in time", "did not begin to answer for 1 s"),
    "hangs up": (Answer(fault="hang_up"), "cannot reach|no connection", "the connection to 127.0.0.1"),
    "breaks its JSON": (Answer(text="One two.", fault="broken_json"), "broke off|cut off", "JSON"),
    "is cut": (Answer(text="One two.", fault="cut", fault_after=5), "broke off|cut off", "was cut"),
    "stalls": (Answer(text="One two.", fault="stall", fault_after=5), "took too long|no answer in time", "fell silent"),
    "is busy": (Answer(status=429, headers={"Retry-After": "60"}), "busy|too much to do", "answered 429"),
    "fails": (Answer(status=500, error_message="the owl is out"), "busy|too much to do", "the owl is out"),
    "wants a key": (Answer(status=401), "does not accept my key", "wants a key"),
    "fails in mid-stream": (
        Answer(text="One.", fault="error", error_message="owl fell"),
        "busy|too much to do",
        "owl fell",
    ),
    "answers with a page": (
        Answer(body="<html>", headers={"Content-Type": "text/html"}),
        "cut off|broke off",
        "text/html",
    ),
}


@pytest.mark.parametrize("what", _BAD)
def test_a_model_that_misbehaves_costs_one_sentence_and_the_next_question_is_answered(shell: Shell, what: str) -> None:
    bad, said, why = _BAD[what]
    # Whoever hangs up at once is asked once more.
    with ScriptedModel(*[bad] * (2 if what == "hangs up" else 1), Answer(text="Here I am again.")) as model:
        patience = ("--set", "think.first_token_seconds=1")
        words = ("talk", "--silent", "--json", "--set", f"think.url={model.url}", *patience)
        ran = shell(*words, stdin="tell me a story\nand another story\n")
        asked = model.requests[-1].body["input"]
    assert ran.code == 0
    first, second = (json.loads(line) for line in ran.out.splitlines())
    assert first["reason"] == "failed"
    assert any(words in first["said"] for words in said.split("|")), first
    assert why in ran.err and ran.err.count("\n") == 1
    assert (second["reason"], second["reply"]) == ("answered", "Here I am again.")
    # What the box said in its place is not told to the model as its own words.
    assert [item["role"] for item in asked] == ["user"] and "another" in json.dumps(asked)


def test_a_model_that_is_not_there_is_told_in_one_sentence_with_what_to_do(shell: Shell) -> None:
    ran = shell("ask", "--text", "tell me a story", "--set", "think.url=http://127.0.0.1:9")
    assert ran.code == 1
    assert "reach my model" in ran.out or "no connection to my model" in ran.out
    assert ran.err.startswith("appliance: no connection to 127.0.0.1:9") and ran.err.count("\n") == 1
    assert "appliance model show" in ran.err


def test_what_the_box_knows_itself_needs_no_model(shell: Shell) -> None:
    ran = shell("ask", "--text", "what time is it", "--set", "think.url=http://127.0.0.1:9")
    assert (ran.code, ran.err) == (0, "") and ran.out.startswith("It")


def test_the_key_is_in_no_output_even_when_the_server_sends_it_back(shell: Shell, tmp_path: Path) -> None:
    shell.set_variable("OPENAI_API_KEY", KEY)
    with ScriptedModel(Answer(status=400, error_message=f"I know your key: {KEY}")) as model:
        words = ("ask", "--text", "tell me a story", "--set", f"think.url={model.url}", "--debug")
        ran = shell(*words, "--trace", tmp_path / "trace.jsonl")
    assert ran.code == 1 and "I know your key: ***" in ran.err
    assert "HTTP Request" not in ran.err  # httpx would log whole addresses, which may hold a key too
    assert KEY not in ran.out + ran.err + (tmp_path / "trace.jsonl").read_text()
