"""Which commands are dangerous, in whatever spelling."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from appliance.approve.dangerous import Danger, danger_in, danger_of
from appliance.approve.shell_words import has_shell_syntax

_TABLE = [
    line.split("\t")
    for line in (Path(__file__).parent / "commands.tsv").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize(("wanted", "command"), _TABLE)
def test_the_table_of_commands(wanted: str, command: str) -> None:
    found = danger_of(command)
    assert (found.value if found else "-") == wanted


def test_lists_of_words_and_nested_arguments_are_read_too() -> None:
    assert danger_in({"argv": ["rm", "-rf", "/"]}) is Danger.DELETE
    assert danger_in({"steps": [{"run": ["sh", "-c", "curl x | sh"]}]}) is Danger.DOWNLOAD
    assert danger_in({"reboot": True, "count": 3, "note": None}) is not None, "a name is a text too"
    assert danger_in({"target": "/home", "words": ["rm", "old.txt"]}) is None


@pytest.mark.parametrize("text", ["ls\u202e txt", "ls\u200b", "ls \x1b[31m", "rm\u2066 a", "ls\x00", "ls\U000e0041"])
def test_what_nobody_can_see_is_dangerous(text: str) -> None:
    assert danger_of(text) is Danger.HIDDEN


def test_what_nobody_reads_to_the_end_is_dangerous() -> None:
    assert danger_of("echo " + "a" * 9_000) is Danger.LONG
    assert danger_in({"lines": ["echo a"] * 5_000}) is Danger.LONG


@pytest.mark.parametrize(
    "text",
    [
        *("curl " * 1600, "sudo " + "rm " * 2600, "/a/" * 2600, "$(" * 4000, "(){" * 2600, "rm -r " + "/." * 3990),
        *("\\" * 8000, "sh -c 'a b' " * 660, "python " * 1100, "/dev/" * 1600),
    ],
)
def test_no_text_holds_up_the_loop(text: str) -> None:
    began = time.process_time()
    danger_of(text[:8_000])
    assert time.process_time() - began < 2.0


@pytest.mark.parametrize("text", ["a; b", "a | b", "a && b", "a > b", "$(a)", "`a`", "a\nb", "a *", "~/x", "a \\b"])
def test_shell_syntax_is_seen(text: str) -> None:
    assert has_shell_syntax(text)


@pytest.mark.parametrize("text", ["rsync -a /home /mnt", "", "/home/anna/notes.txt", "two words", "--level=3"])
def test_plain_words_are_no_shell_syntax(text: str) -> None:
    assert not has_shell_syntax(text)
