"""What a call depends on: the program, the files, and that a change of either shows."""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from appliance.approve import operands
from appliance.approve.operands import Operands, Surveyor, command_lines, program_of


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / "work").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "mybackup"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    return tmp_path / "home"


@pytest.fixture
def survey(home: Path) -> Callable[[dict[str, Any]], Operands]:
    return Surveyor(home, home / "work", search_path=str(home.parent / "bin")).survey


def names(found: Operands) -> set[str]:
    return {Path(path).name for path in found.files}


def test_a_command_names_its_program_and_every_file_among_its_words(
    home: Path, survey: Callable[..., Operands]
) -> None:
    for name in ("job.sh", "job.conf", "unrelated.txt"):
        (home / "work" / name).write_text(name, encoding="utf-8")
    outside = home.parent / "outside.sh"
    outside.write_text("x", encoding="utf-8")
    found = survey({"command": f"A=1 mybackup job.sh --config=job.conf {outside} missing.txt"})
    assert found.executable == str(home.parent / "bin" / "mybackup")
    assert names(found) == {"mybackup", "job.sh", "job.conf", "outside.sh"}
    assert all(digest.startswith("sha256 ") for digest in found.files.values())
    assert found.workdir == str(home / "work")


def test_other_arguments_name_only_files_of_the_house(home: Path, survey: Callable[..., Operands]) -> None:
    (home / "notes.txt").write_text("n", encoding="utf-8")
    (home / "work" / "a.txt").write_text("a", encoding="utf-8")
    (home.parent / "outside.txt").write_text("x", encoding="utf-8")
    arguments = {
        "path": "a.txt",
        "deep": [{"file": str(home / "notes.txt")}],
        "other": str(home.parent / "outside.txt"),
    }
    assert names(survey(arguments)) == {"a.txt", "notes.txt"}
    assert survey({"text": "mybackup the house"}).executable == ""


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "job.sh").write_text("evil", encoding="utf-8"),
        lambda folder: (folder / "job.sh").unlink(),
        lambda folder: (folder / "later.sh").write_text("new", encoding="utf-8"),
        lambda folder: (folder.parent.parent / "bin" / "mybackup").write_text("other", encoding="utf-8"),
        lambda folder: (folder.parent.parent / "bin" / "mybackup").unlink(),
    ],
    ids=["changed", "gone", "appeared", "program changed", "program gone"],
)
def test_every_change_shows(home: Path, survey: Callable[..., Operands], change: Callable[[Path], object]) -> None:
    (home / "work" / "job.sh").write_text("good", encoding="utf-8")
    arguments = {"command": "mybackup job.sh later.sh"}
    before = survey(arguments)
    assert survey(arguments) == before
    change(home / "work")
    assert survey(arguments) != before


def test_a_link_that_leads_elsewhere_now_shows(home: Path, survey: Callable[..., Operands]) -> None:
    for name in ("good", "evil"):
        (home / "work" / name).write_text("same", encoding="utf-8")
    link = home / "work" / "job.sh"
    link.symlink_to("good")
    before = survey({"path": "job.sh"})
    link.unlink()
    link.symlink_to("evil")
    assert survey({"path": "job.sh"}) != before


def test_a_file_that_is_written_while_it_is_read_is_never_the_same(
    home: Path, survey: Callable[..., Operands], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = home / "work" / "busy.log"
    log.write_bytes(bytes(100))
    os.utime(log, ns=(0, 0))
    ticks = itertools.count(1)

    def written_meanwhile(stream: BinaryIO, method: str) -> Any:
        digest = hashlib.new(method, stream.read())
        log.write_bytes(os.urandom(100))
        os.utime(log, ns=(0, next(ticks)))
        return digest

    monkeypatch.setattr(operands.hashlib, "file_digest", written_meanwhile)
    found = [survey({"path": "busy.log"}) for _ in range(3)]
    assert all("changed while it was read" in digest for each in found for digest in each.files.values())
    assert len({str(each.files) for each in found}) == 3


@pytest.mark.parametrize("age_seconds", [0.0, 0.5, 1.9])
def test_a_change_so_soon_after_another_that_the_file_system_gives_both_the_same_time_shows(
    home: Path, survey: Callable[..., Operands], monkeypatch: pytest.MonkeyPatch, age_seconds: float
) -> None:
    job = home / "work" / "job.sh"
    job.write_text("good", encoding="utf-8")
    same = operands._stamp(str(job))
    monkeypatch.setattr(operands, "_stamp", lambda _path: same)
    monkeypatch.setattr(operands.time, "time_ns", lambda: max(same[-2:]) + int(age_seconds * 1e9))
    asked_about = survey({"path": "job.sh"})
    job.write_text("evil", encoding="utf-8")
    assert survey({"path": "job.sh"}, asked_about) != asked_about


def test_a_pipe_in_the_place_of_a_file_does_not_hold_us_up(home: Path, survey: Callable[..., Operands]) -> None:
    os.mkfifo(home / "work" / "pipe")
    assert survey({"command": "cat pipe"}).files == {}


def test_a_large_file_is_known_by_its_place_and_time(home: Path, survey: Callable[..., Operands]) -> None:
    large = home / "work" / "large.img"
    with large.open("wb") as stream:
        stream.truncate(70_000_000)
    (digest,) = survey({"path": "large.img"}).files.values()
    assert digest.startswith("size 70000000")


def test_the_box_s_own_store_says_nothing_about_a_call(home: Path, survey: Callable[..., Operands]) -> None:
    (home / "appliance.db").write_text("x", encoding="utf-8")
    assert survey({"path": str(home / "appliance.db")}).files == {}


@pytest.mark.parametrize("text", ["\0", "a" * 5_000, "~nobody-here/x", "x\ny", ""])
def test_a_text_that_can_be_no_path_is_none(survey: Callable[..., Operands], text: str) -> None:
    assert survey({"command": text, "path": text}).files == {}


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ({"command": "ls -l 'a b'"}, [["ls", "-l", "a b"]]),
        ({"argv": ["ls", "a b"]}, [["ls", "a b"]]),
        ({"commands": ["ls", "pwd"]}, [["ls", "pwd"]]),
        ({"command": "it's broken"}, [["it's", "broken"]]),
        ({"steps": [{"cmd": "ls"}, {"cmd": "pwd"}]}, [["ls"], ["pwd"]]),
        ({"text": "ls", "n": 3, "command": 7}, []),
    ],
)
def test_command_lines_are_found_by_their_names(arguments: dict[str, Any], lines: list[list[str]]) -> None:
    assert list(command_lines(arguments)) == lines


@pytest.mark.parametrize(
    ("words", "program"), [(["A=1", "B=x", "ls"], "ls"), (["ls"], "ls"), ([], ""), (["./a=b"], "./a=b")]
)
def test_the_program_stands_behind_settings(words: list[str], program: str) -> None:
    assert program_of(words) == program
