"""Servo pulses from the board's own pulse generator, through the kernel (``/sys/class/pwm``): exact to the nanosecond.

The numbers of the generators change with the kernel, and one of them may turn the fan, so they are known by their
device.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

_PERIOD_NS = 20_000_000
#: Those on the pins of a Raspberry Pi 5, 4, 2 and 3, 0 and 1.
_KNOWN_CHIPS = ("1f00098000.pwm", "fe20c000.pwm", "3f20c000.pwm", "2020c000.pwm")
#: A new channel is root's until the system has given it to the group gpio, a moment later.
_RIGHTS_TRIES, _RIGHTS_SECONDS = 20, 0.05
_OVERLAY = (
    "add dtoverlay=pwm-2chan,pin=12,func=4,pin2=13,func2=4 to /boot/firmware/config.txt and restart the board "
    "(servos are then on GPIO12 and GPIO13)"
)


class SysFiles(Protocol):
    """Files that are switches. Every method raises ``OSError``."""

    def read(self, file: Path) -> str:
        """What it says, without white space."""
        ...

    def write(self, file: Path, text: str) -> None:
        """Set it."""
        ...


class KernelFiles:
    """The files of the kernel."""

    def read(self, file: Path) -> str:
        return file.read_text(encoding="ascii").strip()

    def write(self, file: Path, text: str) -> None:
        file.write_text(text, encoding="ascii")


class KernelServos:
    """``Pulses`` on ``channels`` (joint to channel) of the generator whose device is called ``chip``.

    "" takes the one on the pins of a Raspberry Pi.
    """

    def __init__(
        self,
        channels: Mapping[str, int],
        chip: str = "",
        *,
        folder: Path = Path("/sys/class/pwm"),
        files: SysFiles | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._channels = dict(channels)
        self._chip = chip
        self._folder = folder
        self._files: SysFiles = files or KernelFiles()
        self._pause = pause
        self._switches: dict[str, _Switch] = {}

    @property
    def joints(self) -> Sequence[str]:
        return tuple(self._channels)

    def open(self) -> None:
        folder = self._find()
        for joint, channel in self._channels.items():
            try:
                switch = _Switch(self._files, folder, channel, self._pause)
                # Kept at once: a channel that was taken is given back when the next one fails.
                self._switches[joint] = switch
                switch.take()
            except PermissionError as error:
                raise OSError(f"{folder} may not be written; add the user to the group gpio") from error
            except OSError as error:
                raise OSError(f"channel {channel} of {folder} cannot be used ({error.strerror or error})") from error

    def send(self, pulses_us: Mapping[str, float | None]) -> None:
        for joint, pulse_us in pulses_us.items():
            try:
                self._switches[joint].send(pulse_us)
            except OSError as error:
                raise OSError(f"the servo of {joint} cannot be set ({error.strerror or error})") from error

    def close(self) -> None:
        switches, self._switches = self._switches, {}
        for switch in switches.values():
            with contextlib.suppress(OSError):
                switch.give_back()

    def _find(self) -> Path:
        chips = {(entry / "device").resolve().name: entry for entry in sorted(self._folder.glob("pwmchip*"))}
        for name in (self._chip,) if self._chip else _KNOWN_CHIPS:
            if name in chips:
                return chips[name]
        others = f"; or set face.servo_chip to one of: {', '.join(chips)}" if chips else ""
        what = f"called {self._chip}" if self._chip else "for the pins of the board"
        raise OSError(f"there is no pulse generator {what}; {_OVERLAY}{others}")


class _Switch:
    """One channel. Pulses end in two steps: an empty one first, so that none is cut in the middle, then none."""

    def __init__(self, files: SysFiles, chip: Path, channel: int, pause: Callable[[float], None]) -> None:
        self._files = files
        self._pause = pause
        self._chip = chip
        self._channel = channel
        self._folder = chip / f"pwm{channel}"
        self._duty_ns = 0
        self._is_on = False

    def take(self) -> None:
        """Whatever it did for somebody else before ends here."""
        if not self._folder.exists():
            self._files.write(self._chip / "export", str(self._channel))
            for _ in range(_RIGHTS_TRIES):
                with contextlib.suppress(PermissionError):
                    self._set_up()
                    return
                self._pause(_RIGHTS_SECONDS)
        self._set_up()

    def send(self, pulse_us: float | None) -> None:
        duty_ns = 0 if pulse_us is None else round(pulse_us * 1000)
        was_empty = self._duty_ns == 0
        if duty_ns != self._duty_ns:
            self._write("duty_cycle", str(duty_ns))
            self._duty_ns = duty_ns
        if duty_ns and not self._is_on:
            # Only now: it would begin with the pulse of before.
            self._write("enable", "1")
            self._is_on = True
        elif not duty_ns and was_empty and self._is_on:
            self._write("enable", "0")
            self._is_on = False

    def give_back(self) -> None:
        if self._is_on:
            self._write("duty_cycle", "0")
            self._write("enable", "0")
        self._files.write(self._chip / "unexport", str(self._channel))

    def _set_up(self) -> None:
        if self._read("enable") == "1":
            self._write("duty_cycle", "0")
            self._write("enable", "0")
        elif self._read("duty_cycle") != "0":
            self._write("duty_cycle", "0")
        self._write("period", str(_PERIOD_NS))
        if self._read("polarity") != "normal":
            self._write("polarity", "normal")
        self._duty_ns, self._is_on = 0, False

    def _read(self, name: str) -> str:
        return self._files.read(self._folder / name)

    def _write(self, name: str, text: str) -> None:
        self._files.write(self._folder / name, text)
