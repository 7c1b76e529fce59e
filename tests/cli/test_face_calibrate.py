"""``face calibrate``: what a person finds by moving a joint is what is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from appliance.adapters.fakes.face_board import FakeWorkbench
from appliance.cli.face_calibrate import Calibration, calibrate
from appliance.cli.typed_keys import split
from appliance.ports_face import BoardSettings, JointSettings
from tests.cli.shell import Shell


def work_on(board: FakeWorkbench, *words: str) -> tuple[Calibration, list[str]]:
    """The person types these; what they were told."""
    said: list[str] = []
    work = Calibration(board, board.settings())
    calibrate(work, words, said.append)
    return work, said


def test_no_joint_moves_before_it_is_told_to() -> None:
    board = FakeWorkbench()
    _, said = work_on(board, "\t", "lid", "r", "n")
    assert board.moves == []
    assert said[0].startswith("brow_left  1500 us") and said[-1].startswith("lid        1500 us")


def test_keys_and_numbers_move_the_joint_and_the_pulse_that_it_got_is_shown() -> None:
    board = FakeWorkbench()
    _, said = work_on(board, "3", "+", "]", "-", "[", "1480")
    assert board.moves == [("lid", pulse) for pulse in (1510, 1560, 1550, 1500, 1480)]
    assert said[-1].startswith("lid        1480 us")


def test_a_joint_stops_at_its_limit_until_more_is_allowed() -> None:
    board = FakeWorkbench()
    work, said = work_on(board, "neck", "1990", "+", "+", ">", "+")
    assert board.moves[-2:] == [("neck", 2010), ("neck", 2010)]
    assert "2000 us" in said[4] and "this is its limit" in said[4]
    assert said[-1].startswith("neck       2010 us") and work.settings.neck.max_us == 2050


def test_middle_limits_and_direction_are_where_the_joint_is() -> None:
    board = FakeWorkbench()
    words = ["lid", "1480", "n", "1100", "a", "1900", "z", "r", "h", "d9.5", "s"]
    work, _ = work_on(board, *words)
    assert work.is_kept
    assert work.settings == BoardSettings(lid=JointSettings(1480, 9.5, 1100, 1900, is_reversed=True, holds=True))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["1900", "n", "1600", "z"], "neutral_us must lie between"),
        (["300"], "500 to 2500"),
        (["9999"], "500 to 2500"),
        (["d0"], "above 0 and at most 50"),
        (["dx"], "d needs a number, as d9.5"),
        (["what"], "the next joint"),
    ],
)
def test_what_cannot_be_is_told_and_changes_nothing(words: list[str], sentence: str) -> None:
    board = FakeWorkbench()
    work, said = work_on(board, *words)
    assert sentence in said[-1]
    assert work.settings.brow_left.max_us == 2000 and not work.is_kept


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("+-\t", ["+", "-", "\t", ""]),
        ("14", ["14"]),
        ("1480\n+", ["1480", "+", ""]),
        ("1490\x7f\x7f80\nn", ["1480", "n", ""]),
        ("d9.5\rs", ["d9.5", "s", ""]),
    ],
)
def test_keys_work_at_once_and_numbers_wait_for_enter(typed: str, words: list[str]) -> None:
    assert split(typed, is_terminal=True) == words


def test_a_pipe_gives_words() -> None:
    assert split("lid 1480 n\ns", is_terminal=False) == ["lid", "1480", "n", "s"]


# --------------------------------------------------------------- servos without a microcontroller: no board to ask


def test_values_are_set_without_a_board_when_none_is_configured(shell: Shell) -> None:
    words = ["--joint", "lid", "--neutral", "1480", "--min", "1100", "--max", "1900", "--reverse", "--degrees-us", "9"]
    ran = shell("face", "calibrate", *words)
    assert ran.code == 0 and "lid         1480    1100    1900     9            turned     let go" in ran.out
    kept = BoardSettings.read(json.loads((shell.home / "face.json").read_text()))
    assert kept == BoardSettings(lid=JointSettings(1480, 9.0, 1100, 1900, is_reversed=True))
    assert shell("face", "calibrate", "--joint", "neck", "--holds", "--brightness", "30").code == 0
    shown = shell("face", "calibrate", "--show", "--json").json
    assert shown["lid"]["neutral_us"] == 1480 and shown["neck"]["holds"] and shown["brightness_cap"] == 30


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--joint", "lid", "--neutral", "400"],
            "neutral_us must be 500 to 2500 microseconds, not 400; nothing was changed",
        ),
        (
            ["--joint", "lid", "--min", "1600"],
            "neutral_us must lie between min_us and max_us: 1500 is not in 1600 to 2000",
        ),
        (["--joint", "lid", "--degrees-us", "0"], "us_per_degree must be above 0"),
        (["--brightness", "300"], "brightness_cap must be 0 to 255, not 300"),
        (["--joint", "lid"], "--joint needs a value"),
        (["--neutral", "1500"], "a value needs a --joint"),
        (["--joint", "ear", "--neutral", "1500"], "invalid choice: 'ear'"),
    ],
)
def test_values_that_no_servo_bears_are_refused_in_words(shell: Shell, words: list[str], sentence: str) -> None:
    ran = shell("face", "calibrate", *words)
    assert (ran.code, ran.out) == (2, "") and sentence in ran.err
    assert not (shell.home / "face.json").exists()


@pytest.mark.parametrize("text", ['{"lid": {"min_us": 100}}', "{", "[]"])
def test_settings_that_were_spoiled_by_hand_are_told_with_the_file(shell: Shell, text: str) -> None:
    shell.write("face.json", text)
    ran = shell("face", "calibrate", "--show")
    assert ran.code == 78 and str(Path(shell.home) / "face.json") in ran.err
