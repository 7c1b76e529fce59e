"""``face monitor``, ``calibrate``, ``flash`` and ``park`` with the firmware that ships, on a simulated chip."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.adapters.face_frames import REPLY, Message
from appliance.adapters.fakes.face import FakeFace
from appliance.adapters.fakes.face_board import FakeWorkbench
from appliance.adapters.serial_port import serial_port
from appliance.cli.face_board import parked, watch
from appliance.ports_face import JOINTS, BoardSettings, JointSettings
from tests.cli.shell import Process, Shell
from tests.firmware.rig import Board, Firmware, running_board

#: What stands in for avrdude: it writes down how it was called.
_AVRDUDE = """#!/bin/sh
printf '%s\\n' "$@" > "$(dirname "$0")/argv"
echo "avrdude: the signature is wrong" >&2
exit {code}
"""


@pytest.fixture
def board(face_firmware: Firmware, tmp_path: Path) -> Iterator[Board]:
    """A board that was just switched on; its port is ``board.tty``."""
    with running_board(face_firmware, tmp_path) as board:
        yield board


def fake_programs(shell: Shell, folder: Path, *, avrdude_code: int | None = 0, has_compiler: bool = False) -> Path:
    """A PATH with these programs only; where avrdude writes down its arguments."""
    folder.mkdir()
    if avrdude_code is not None:
        (folder / "avrdude").write_text(_AVRDUDE.format(code=avrdude_code))
        (folder / "avrdude").chmod(0o755)
    shell.set_variable("PATH", f"{folder}:{os.environ['PATH']}" if has_compiler else str(folder))
    for program in ("sh", "dirname"):
        found = next(Path(place) / program for place in ("/bin", "/usr/bin") if (Path(place) / program).exists())
        (folder / program).symlink_to(found)
    return folder / "argv"


# ------------------------------------------------------------------------------------------------------ monitor


def test_monitor_greets_the_board_tells_what_it_says_and_parks_it_at_the_end(board: Board, process: Process) -> None:
    words = process.command("face", "monitor", "--port", board.tty, "--trace")
    with subprocess.Popen(words, env=process.environment, stdout=subprocess.PIPE, text=True) as monitor:
        lines = read_until(monitor, "health")
        board.command("button 1")
        board.run(200)
        board.command("button 0")
        lines += read_until(monitor, "event")
        monitor.send_signal(signal.SIGINT)
        assert monitor.wait(timeout=30) == 0
    told = "".join(lines)
    assert f"board  {board.tty}: firmware 1.0, 5 servos, 16 lights, a button, 14 moods; started by power" in told
    assert "frame  -> PING" in told and "frame  <- HELLO answered firmware 1.0" in told
    assert lines[-1] == "event  its button: talk\n"
    assert board.trace().sent_of(Message.PARK | REPLY)


def read_until(process: subprocess.Popen[str], start: str) -> list[str]:
    """Its lines up to one that begins so. Raises ``AssertionError`` when it ends before."""
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith(start):
            return lines
    raise AssertionError(f"it ended: {lines}")


def test_monitor_tells_each_second_how_the_board_is_and_what_happened_meanwhile() -> None:
    board, told = FakeWorkbench(), list[tuple[str, str]]()
    board.events = ["its button: mute"]
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 15:
            board.fail_next = "the face has restarted (its program hung)"

    with pytest.raises(OSError, match="restarted"):
        watch(board, lambda name, _fact, words: told.append((name, words)), sleep)
    assert [name for name, _ in told] == ["board", "health", "event", "health"]
    assert told[1][1] == "up 1 s, awake, 4.98 V, 1 damaged frames, 2 dropped bytes"


# ---------------------------------------------------------------------------------------------------- calibrate


def test_values_are_kept_on_the_board_and_in_the_home_and_the_head_is_parked(board: Board, shell: Shell) -> None:
    words = ["--joint", "lid", "--neutral", "1480", "--min", "1100", "--max", "1900", "--reverse", "--degrees-us", "9"]
    assert shell("face", "calibrate", "--port", board.tty, *words).code == 0
    kept = BoardSettings(lid=JointSettings(1480, 9.0, 1100, 1900, is_reversed=True))
    assert BoardSettings.read(json.loads((shell.home / "face.json").read_text())) == kept
    (shell.home / "face.json").unlink()
    board.command("power")
    shown = shell("face", "calibrate", "--show", "--port", board.tty, "--json").json
    assert BoardSettings.read(shown) == kept
    assert len(board.trace().sent_of(Message.PARK | REPLY)) == 2


def test_a_joint_is_moved_by_what_is_typed_and_what_was_found_is_kept(board: Board, shell: Shell) -> None:
    typed = "neck 1400 + n 700 < < < < < < 1\n s"
    ran = shell("face", "calibrate", "--port", board.tty, stdin=typed)
    assert ran.code == 0, ran.err
    assert "neck       1410 us   middle 1410" in ran.out and "neck       1000 us" in ran.out
    pulses = board.trace().pulses_of(JOINTS.index("neck"))
    assert {round(pulse.us, -1) for pulse in pulses} >= {1400, 1410, 1000}
    neck = json.loads((shell.home / "face.json").read_text())["neck"]
    assert (neck["neutral_us"], neck["min_us"]) == (1410, 700)
    assert board.trace().sent_of(Message.PARK | REPLY)


def test_what_is_not_kept_is_told(board: Board, shell: Shell) -> None:
    ran = shell("face", "calibrate", "--port", board.tty, stdin="lid n q")
    assert ran.code == 1 and "nothing was kept" in ran.err
    assert not (shell.home / "face.json").exists()


# -------------------------------------------------------------------------------------------------------- flash


def test_the_firmware_is_built_written_and_greeted(board: Board, shell: Shell, tmp_path: Path) -> None:
    argv = fake_programs(shell, tmp_path / "bin", has_compiler=True)
    ran = shell("face", "flash", "--port", board.tty)
    assert ran.code == 0, ran.err
    image = shell.home / "cache" / "firmware" / "face.hex"
    assert argv.read_text().split() == (
        f"-q -p atmega328p -c arduino -P {board.tty} -b 115200 -D -U flash:w:{image}:i".split()
    )
    assert image.read_text().startswith(":")
    assert f"{board.tty}: firmware 1.0, 5 servos" in ran.out


def test_a_programmer_of_its_own_is_used_as_avrdude_names_it(board: Board, shell: Shell, tmp_path: Path) -> None:
    argv = fake_programs(shell, tmp_path / "bin", has_compiler=True)
    ran = shell("face", "flash", "--port", board.tty, "--programmer", "usbasp", "--build", "--json")
    assert ran.json["firmware"] == "1.0"
    assert argv.read_text().split()[:6] == ["-q", "-p", "atmega328p", "-c", "usbasp", "-U"]


@pytest.mark.parametrize(
    ("avrdude_code", "has_image", "sentence"),
    [
        (None, True, "avrdude is not installed; install it with: sudo apt install avrdude"),
        (0, False, "the firmware cannot be built here; install: sudo apt install make gcc-avr avr-libc"),
        (1, True, "writing it failed. avrdude says: avrdude: the signature is wrong"),
    ],
    ids=["no avrdude", "no compiler", "avrdude fails"],
)
def test_what_is_missing_or_fails_is_told_with_what_to_do(
    board: Board, shell: Shell, tmp_path: Path, avrdude_code: int | None, has_image: bool, sentence: str
) -> None:
    fake_programs(shell, tmp_path / "bin", avrdude_code=avrdude_code)
    if has_image:
        shell.write("cache/firmware/face.hex", ":00000001FF\n")
    ran = shell("face", "flash", "--port", board.tty)
    assert ran.code == 1 and sentence in ran.err


def test_a_port_that_somebody_else_has_is_left_alone(board: Board, shell: Shell, tmp_path: Path) -> None:
    argv = fake_programs(shell, tmp_path / "bin", has_compiler=True)
    port = serial_port(str(board.tty))
    try:
        ran = shell("face", "flash", "--port", board.tty)
    finally:
        port.close()
    assert (ran.code, ran.out) == (1, "") and f"{board.tty} is in use by another program" in ran.err
    assert not argv.exists()


# --------------------------------------------------------------------------------------------------------- park


def test_park_puts_a_head_to_rest_that_nobody_drives(board: Board, shell: Shell) -> None:
    ran = shell("face", "park", "--set", "face.backends=serial", "--set", f"face.serial_port={board.tty}")
    assert (ran.code, ran.out) == (0, "serial: parked\n")
    trace = board.trace()
    assert trace.sent_of(Message.PARK | REPLY) and not trace.pulses, "it was not moved for nothing"


def test_park_without_the_board_says_so_and_is_no_failure(shell: Shell) -> None:
    ran = shell("face", "park", "--set", "face.backends=serial", "--set", "face.serial_port=/dev/nowhere")
    assert (ran.code, ran.out) == (0, "serial: not parked: /dev/nowhere is not there\n")


def test_park_without_any_face_says_so(shell: Shell) -> None:
    ran = shell("face", "park")
    assert ran.code == 0 and "no face is configured" in ran.out


def test_a_face_that_hangs_or_fails_does_not_keep_the_others_from_parking() -> None:
    good, broken = FakeFace("good"), FakeFace("broken")
    broken.fail_next = 1
    assert parked([broken, good], 10.0) == {"broken": "the face is unplugged", "good": ""}
    assert good.is_parked and good.is_closed and broken.is_closed
