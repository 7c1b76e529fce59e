"""A board for tests: the real firmware on a simulated chip, its wire on a pseudo-terminal, its pins in a trace.

``face_firmware`` in tests/conftest.py builds it once for a run; then::

    with running_board(face_firmware, tmp_path) as board:
        serial.Serial(str(board.tty), 57600)       # or anything else that opens a port
        board.command("noise 100 100 7")           # 1 % of the bytes dropped, 1 % damaged, both ways
        board.run(2500)                            # until so many milliseconds of the chip have passed
        board.trace().pulses

The chip runs at the pace of the wall clock, or slower on a busy machine, so tests assert on the chip's own time, which
is in the trace, and never on the wall's. All commands are listed at the head of firmware/sim/rig.c.
"""

from __future__ import annotations

import os
import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.firmware.pin_trace import Trace, parsed

FIRMWARE = Path(__file__).resolve().parents[2] / "firmware"
#: Longer than any command takes, on however busy a machine; a rig that is silent for so long is stuck.
_PATIENCE_SECONDS = 120.0


@dataclass(frozen=True)
class Firmware:
    """What was built: the image for the chip, and the program that runs it."""

    elf: Path
    rig: Path


def built(folder: Path) -> Firmware:
    """The firmware and the simulator, built into ``folder``."""
    subprocess.run(
        ["make", "--silent", "-C", str(FIRMWARE), f"BUILD={folder}", "all", "rig"], check=True, stdout=subprocess.PIPE
    )
    return Firmware(folder / "face.elf", folder / "rig")


class Board:
    """A board that runs; ``running_board`` makes one."""

    def __init__(self, process: subprocess.Popen[bytes], tty: Path, trace_file: Path) -> None:
        #: A serial port; the same name again after ``unplug`` and ``plug``.
        self.tty = tty
        self._process = process
        self._trace_file = trace_file
        self._answer()

    def command(self, line: str) -> None:
        """Have the rig do something, and wait until it is done; see the head of firmware/sim/rig.c."""
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()
        answer = self._answer()
        if answer != "ok":
            raise ValueError(f"the rig cannot do {line!r}")

    def run(self, milliseconds: int) -> None:
        """Wait until so much of the chip's time has passed."""
        self.command(f"wait {milliseconds}")

    def send(self, data: bytes) -> None:
        """Put bytes on the wire to the chip, past the port."""
        self.command(f"send {data.hex()}")

    def trace(self) -> Trace:
        """All that the pins and the wire did up to now."""
        self.command("flush")
        return parsed(self._trace_file.read_text(encoding="ascii"))

    def _answer(self) -> str:
        output = self._process.stdout
        assert output is not None
        # One line comes for one command, so nothing of it waits unseen in the reader's buffer.
        if not select.select([output], [], [], _PATIENCE_SECONDS)[0]:
            raise TimeoutError("the rig does not answer")
        line = output.readline().decode().strip()
        if not line:
            raise RuntimeError("the rig has ended; what it said is on standard error")
        return line


@contextmanager
def running_board(
    firmware: Firmware, folder: Path, *, is_stepped: bool = False, pace_percent: int = 100
) -> Iterator[Board]:
    """A board that has just been switched on; ``folder`` takes its port and its trace.

    ``pace_percent`` of the wall clock; for a host whose time-outs are shorter than usual it may be more than 100.
    ``is_stepped``: the chip's time stands still except in ``run``, and then passes as fast as this machine can. It is
    for tests that use ``send`` instead of the port; they are quick, and the same each time.
    """
    tty, trace_file = folder / "face-tty", folder / "trace.txt"
    process = subprocess.Popen(
        [str(firmware.rig), str(firmware.elf), str(tty), str(trace_file), "0" if is_stepped else str(pace_percent)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "LC_ALL": "C"},
    )
    try:
        yield Board(process, tty, trace_file)
    finally:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.close()  # The rig ends when nobody commands it any more.
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
