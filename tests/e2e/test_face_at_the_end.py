"""However the box ends, the head comes to rest: the firmware that ships, driven by the whole program."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from appliance.adapters.face_frames import REPLY, Message
from appliance.config import load
from appliance.home import Home
from appliance.wiring import Sound, credentials_of, open_box
from tests.cli.shell import Process
from tests.e2e.device import PATIENCE_SECONDS, wait_until
from tests.firmware.pin_trace import Trace
from tests.firmware.rig import Board, Firmware, running_board


@pytest.fixture
def board(face_firmware: Firmware, tmp_path: Path) -> Iterator[Board]:
    """A board that was just switched on."""
    with running_board(face_firmware, tmp_path) as board:
        yield board


def home_with(board: Board, folder: Path) -> Path:
    """A home whose face is that board."""
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(f'[face]\nbackends = ["serial"]\nserial_port = "{board.tty}"\n')
    return folder


@contextmanager
def device_with(board: Board, folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], Process]]:
    """``appliance run`` in a process of its own, once it shows something on the board."""
    process = Process(folder, variables={"APPLIANCE_SPEAK_LINE_CACHE_MEGABYTES": "0"})
    home_with(board, process.home)
    with (folder / "output").open("w") as output:
        device = subprocess.Popen(
            process.command("run", "--stay"), env=process.environment, stdout=output, stderr=output
        )
    try:
        wait_until(lambda: board.trace().pulses, lambda: (folder / "output").read_text())
        yield device, process
    finally:
        device.kill()
        device.wait()


def is_at_rest(trace: Trace) -> bool:
    """Dark and without pulses since it was parked."""
    parked = trace.sent_of(Message.PARK | REPLY)
    late = [pulse for pulse in trace.pulses if pulse.at_ms > parked[-1].at_ms + 30]
    return not late and not any(map(any, trace.pixels[-1].colours))


def test_a_device_that_is_told_to_stop_parks_the_head(board: Board, tmp_path: Path) -> None:
    with device_with(board, tmp_path) as (device, _):
        device.send_signal(signal.SIGTERM)
        assert device.wait(timeout=PATIENCE_SECONDS) == 0
    board.run(200)
    assert is_at_rest(board.trace())


def test_a_device_that_is_killed_leaves_a_head_that_takes_care_of_itself_and_can_be_parked(
    board: Board, tmp_path: Path
) -> None:
    with device_with(board, tmp_path) as (device, process):
        refused = process("face", "park")
        assert refused.code == 1 and "the device is running and drives the face" in refused.err
        held = process("face", "flash", "--port", board.tty)
        assert held.code == 1 and "in use by another program: the device is running" in held.err
        device.kill()
        board.run(6500)
        trace = board.trace()
        (safe,) = trace.sent_of(Message.SAFE)
        last_heard_ms = max(wire.at_ms for wire in trace.got if wire.at_ms < safe.at_ms)
        assert safe.at_ms - last_heard_ms == pytest.approx(2000, abs=40)
        assert not [pulse for pulse in trace.pulses if pulse.at_ms > safe.at_ms + 3100]
        assert process("face", "park").out == "serial: parked\n"
    board.run(200)
    assert is_at_rest(board.trace())


async def test_a_box_that_breaks_parks_the_head(board: Board, tmp_path: Path) -> None:
    home = Home(home_with(board, tmp_path / "home"))
    config = load(home.config_file, {}, {})
    with pytest.raises(RuntimeError, match="something broke"), home.lock():
        async with open_box(home, config, credentials_of(home), Sound.NONE):
            wait_until(lambda: board.trace().pulses, lambda: "the face never moved")
            raise RuntimeError("something broke")
    board.run(200)
    assert is_at_rest(board.trace())
