"""Servo pulses from a PCA9685, a chip with 16 outputs on the two-wire bus."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Mapping, Sequence

from appliance.adapters.i2c_bus import I2cBus, read_surely, write_surely

_LOG = logging.getLogger(__name__)

_MODE1, _MODE2, _FIRST_OUTPUT, _ALL_OFF_HIGH, _PRESCALE = 0x00, 0x01, 0x06, 0xFD, 0xFE
#: MODE1: registers count up by themselves; oscillator off; and the bit that stands for outputs that were interrupted.
_AUTO_INCREMENT, _SLEEP, _RESTART = 0x20, 0x10, 0x80
#: MODE2: outputs drive both ways, as a servo's input needs it.
_TOTEM_POLE = 0x04
#: In the high byte of an output's end: no pulse at all.
_FULL_OFF = 0x10
_OSCILLATOR_HERTZ, _STEPS = 25_000_000, 4096
_DIVISOR = round(_OSCILLATOR_HERTZ / (_STEPS * 50))
_STEP_US = 1e6 * _DIVISOR / _OSCILLATOR_HERTZ
#: After waking the oscillator needs half a millisecond; pulses would be wrong before.
_WAKE_SECONDS = 0.001
#: A chip that lost its power for a moment comes back asleep: looked for before each change, and so often.
_CHECK_SECONDS = 1.0


class Pca9685:
    """``Pulses`` on ``outputs`` (joint to output, 0 to 15) of the chip."""

    def __init__(
        self,
        open_bus: Callable[[], I2cBus],
        outputs: Mapping[str, int],
        address: int = 0x40,
        *,
        now_seconds: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._open_bus = open_bus
        self._outputs = dict(outputs)
        self._address = address
        self._now_seconds = now_seconds
        self._pause = pause
        self._bus: I2cBus | None = None
        self._sent: dict[str, float | None] = {}
        self._checked_at = 0.0

    @property
    def joints(self) -> Sequence[str]:
        return tuple(self._outputs)

    def open(self) -> None:
        self._bus = self._open_bus()
        self._start(self._bus)

    def send(self, pulses_us: Mapping[str, float | None]) -> None:
        bus = self._bus
        if bus is None:
            raise OSError("the PCA9685 is not open")
        now = self._now_seconds()
        if self._changed(pulses_us) or now - self._checked_at >= _CHECK_SECONDS:
            self._check(bus, now)
        for joint in self._changed(pulses_us):
            self._write(bus, _FIRST_OUTPUT + 4 * self._outputs[joint], *_output(pulses_us[joint]))
            self._sent[joint] = pulses_us[joint]

    def close(self) -> None:
        bus, self._bus = self._bus, None
        if bus is not None:
            with contextlib.suppress(OSError):
                self._write(bus, _ALL_OFF_HIGH, _FULL_OFF)
            bus.close()

    def _start(self, bus: I2cBus) -> None:
        # The chip goes on with what it was told before our program, or the board, restarted: off first.
        self._write(bus, _ALL_OFF_HIGH, _FULL_OFF)
        self._write(bus, _MODE1, _AUTO_INCREMENT | _SLEEP)  # The divisor can be set only asleep.
        self._write(bus, _PRESCALE, _DIVISOR - 1)
        self._write(bus, _MODE2, _TOTEM_POLE)
        self._write(bus, _MODE1, _AUTO_INCREMENT)
        self._pause(_WAKE_SECONDS)
        self._sent.clear()
        self._checked_at = self._now_seconds()

    def _changed(self, pulses_us: Mapping[str, float | None]) -> list[str]:
        return [joint for joint, pulse in pulses_us.items() if joint not in self._sent or self._sent[joint] != pulse]

    def _check(self, bus: I2cBus, now: float) -> None:
        self._checked_at = now
        if read_surely(bus, self._address, _MODE1) & ~_RESTART != _AUTO_INCREMENT:
            _LOG.warning("the PCA9685 has restarted; do the servos have a supply of their own?")
            self._start(bus)

    def _write(self, bus: I2cBus, register: int, *values: int) -> None:
        write_surely(bus, self._address, bytes((register, *values)))


def _output(pulse_us: float | None) -> tuple[int, int, int, int]:
    """The four registers of an output: the steps at which its pulse begins and ends, low byte first."""
    if pulse_us is None:
        return (0, 0, 0, _FULL_OFF)
    end = min(_STEPS - 1, round(pulse_us / _STEP_US))
    return (0, 0, end & 0xFF, end >> 8)
