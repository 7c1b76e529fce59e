"""What is left on the disk of a process that crashed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from appliance.crash_file import LARGEST_BYTES, MOST_FILES, crash_files, crashes_kept, new_crash_file, write_crash

_CRASH = """
import os, pathlib, signal, sys, threading, time
from appliance.crash_file import crashes_kept
def wait_in_a_plugin():
    time.sleep(3600)
def crash():
    os.kill(os.getpid(), getattr(signal, sys.argv[2]))
with crashes_kept(pathlib.Path(sys.argv[1])):
    threading.Thread(target=wait_in_a_plugin, daemon=True).start()
    secret = "sk-owl"
    crash()
"""


@pytest.mark.parametrize("number", ["SIGABRT", "SIGSEGV"])
def test_a_crash_leaves_the_stacks_of_all_threads(number: str, tmp_path: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", _CRASH, str(tmp_path / "crashes"), number], check=False)
    assert ran.returncode < 0
    (file,) = crash_files(tmp_path / "crashes")
    stacks = file.read_text()
    assert "in crash" in stacks and "in wait_in_a_plugin" in stacks
    assert "sk-owl" not in stacks
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_clean_end_leaves_nothing(tmp_path: Path) -> None:
    with crashes_kept(tmp_path):
        assert len(crash_files(tmp_path)) == 1
    assert crash_files(tmp_path) == []


def test_the_last_few_are_kept_in_their_order_whatever_the_clock_says(tmp_path: Path) -> None:
    for number in range(12):
        write_crash(tmp_path, f"crash {number}")
    kept = crash_files(tmp_path)
    assert [file.read_text() for file in kept] == [f"crash {number}" for number in range(12 - MOST_FILES, 12)]


def test_starts_without_a_crash_push_no_crash_out(tmp_path: Path) -> None:
    write_crash(tmp_path, "the crash")
    for _ in range(10):
        new_crash_file(tmp_path)  # The process was killed before it could clean up.
    with crashes_kept(tmp_path):
        assert [file.read_text() for file in crash_files(tmp_path)] == ["the crash", ""]


def test_the_file_of_a_process_that_lives_is_left_to_it(tmp_path: Path) -> None:
    with crashes_kept(tmp_path):
        (own,) = crash_files(tmp_path)
        for number in range(10):
            write_crash(tmp_path, f"crash {number}")
        assert own.exists()


def test_a_long_text_is_cut_and_other_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    for _ in range(MOST_FILES + 1):
        write_crash(tmp_path, "x" * 10_000_000)
    assert crash_files(tmp_path)[0].stat().st_size == LARGEST_BYTES
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_folder_that_cannot_be_written_to_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    with crashes_kept(tmp_path / "file"):
        pass
    write_crash(tmp_path / "file", "lost")
    assert len(caplog.records) == 2
    assert crash_files(tmp_path / "nowhere") == []
