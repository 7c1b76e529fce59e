"""Buses of a face without a board: they remember what was written, and fail when told to."""

from __future__ import annotations

import errno
import struct
from pathlib import Path
from typing import Any

from appliance.adapters.face_board import settings_crc
from appliance.adapters.face_frames import PROTOCOL_VERSION, REPLY, Frame, FrameReader, Message
from appliance.ports_face import BoardSettings

#: What the tree of pulse generators is called in a Raspberry Pi 5.
PULSE_DEVICE = "1f00098000.pwm"


class _Fails:
    """Raises "I/O error" for the next ``fail_next`` times."""

    fail_next = 0

    def _check(self) -> None:
        if self.fail_next:
            self.fail_next -= 1
            raise OSError(errno.EIO, "Input/output error")


class FakeI2cBus(_Fails):
    """``I2cBus`` whose chips count their registers up. ``registers`` is by address and register."""

    def __init__(self) -> None:
        self.written: list[tuple[int, bytes]] = []
        self.registers: dict[tuple[int, int], int] = {}
        self.is_closed = False

    def write(self, address: int, data: bytes) -> None:
        self._check()
        self.written.append((address, data))
        for offset, value in enumerate(data[1:]):
            self.registers[address, data[0] + offset] = value

    def read(self, address: int, register: int) -> int:
        self._check()
        return self.registers.get((address, register), 0)

    def close(self) -> None:
        self.is_closed = True


class FakeSpiBus(_Fails):
    """``SpiBus``: ``written`` is every transfer."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.is_closed = False

    def write(self, data: bytes) -> None:
        self._check()
        self.written.append(data)

    def close(self) -> None:
        self.is_closed = True


class FakePulseFiles(_Fails):
    """``SysFiles`` over a tree in ``folder`` that refuses what the kernel refuses. ``written``: path, text."""

    def __init__(self, folder: Path, device: str = PULSE_DEVICE, number: int = 0, channels: int = 4) -> None:
        self.chip = folder / "class" / f"pwmchip{number}"
        self.written: list[tuple[str, str]] = []
        #: So many writes are refused until the system has given a new channel to our group.
        self.forbidden_next = 0
        self._channels = channels
        target = folder / "devices" / device
        target.mkdir(parents=True)
        self.chip.mkdir(parents=True)
        (self.chip / "device").symlink_to(target)

    def read(self, file: Path) -> str:
        self._check()
        return file.read_text(encoding="ascii").strip()

    def write(self, file: Path, text: str) -> None:
        self._check()
        self.written.append((str(file.relative_to(self.chip)), text))
        if file.name in ("export", "unexport"):
            self._export(int(text), is_there=file.name == "export")
            return
        if self.forbidden_next:
            self.forbidden_next -= 1
            raise PermissionError(errno.EACCES, "Permission denied")
        held = {name: self.read(file.parent / name) for name in _NEW_CHANNEL} | {file.name: text}
        is_wrong = int(held["duty_cycle"]) > int(held["period"]) or (file.name == "enable" and held["period"] == "0")
        if is_wrong:
            raise OSError(errno.EINVAL, "Invalid argument")
        if file.name == "polarity" and held["enable"] == "1":
            raise OSError(errno.EBUSY, "Device or resource busy")
        file.write_text(text + "\n", encoding="ascii")

    def of(self, channel: int) -> dict[str, str]:
        """What a channel is set to now."""
        return {name: (self.chip / f"pwm{channel}" / name).read_text().strip() for name in _NEW_CHANNEL}

    def _export(self, channel: int, *, is_there: bool) -> None:
        folder = self.chip / f"pwm{channel}"
        if channel >= self._channels:
            raise OSError(errno.ENODEV, "No such device")
        if folder.exists() == is_there:
            raise OSError(errno.EBUSY if is_there else errno.ENODEV, "Device or resource busy")
        if is_there:
            folder.mkdir()
        for name, text in _NEW_CHANNEL.items():
            (folder / name).write_text(f"{text}\n", encoding="ascii") if is_there else (folder / name).unlink()
        if not is_there:
            folder.rmdir()


class FakeBoardPort:
    """``face_link.Port`` of a board that does everything it is told at once."""

    def __init__(self) -> None:
        self._reader = FrameReader()
        self._answers = bytearray()

    @property
    def in_waiting(self) -> int:
        return len(self._answers)

    def read(self, size: int) -> bytes:
        taken, self._answers = bytes(self._answers[:size]), self._answers[size:]
        return taken

    def write(self, data: bytes) -> int:
        for frame in self._reader.feed(data):
            if frame.type == Message.HELLO:
                facts = struct.pack(
                    "<9BHHI", PROTOCOL_VERSION, 1, 0, 3, 5, 16, 14, 1, 0, 7, settings_crc(BoardSettings()), 0
                )
                self._answers += Frame(frame.type | REPLY, frame.seq, facts[:-4] + frame.payload[-4:]).packed()
            elif frame.seq:
                self._answers += Frame(frame.type | REPLY, frame.seq).packed()
        return len(data)

    def close(self) -> None:
        """Nothing is held."""


def fake_pins() -> Any:
    """A gpiozero factory whose pins remember their levels and duties."""
    from gpiozero.pins.mock import MockFactory, MockPWMPin

    return MockFactory(pin_class=MockPWMPin)


_NEW_CHANNEL = {"period": "0", "duty_cycle": "0", "enable": "0", "polarity": "normal"}
