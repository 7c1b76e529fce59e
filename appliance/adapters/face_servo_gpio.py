"""Servo pulses made in software (gpiozero), for boards where nothing better is free.

Pulses come in steps of 200 microseconds with lgpio, about 20 degrees of a servo, and tremble when the board is busy;
so this is used only when the owner says so.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from appliance.ports_face import LONGEST_PULSE_US, SHORTEST_PULSE_US

_MIDDLE_US = (SHORTEST_PULSE_US + LONGEST_PULSE_US) / 2
_HALF_US = (LONGEST_PULSE_US - SHORTEST_PULSE_US) / 2


class GpioServos:
    """``Pulses`` on ``pins`` (joint to pin). ``open_pins`` gives a gpiozero factory, which stays open."""

    def __init__(self, pins: Mapping[str, str], open_pins: Callable[[], Any]) -> None:
        self._pins = dict(pins)
        self._open_pins = open_pins
        self._factory: Any = None
        self._servos: dict[str, Any] = {}

    @property
    def joints(self) -> Sequence[str]:
        return tuple(self._pins)

    def open(self) -> None:
        if self._factory is None:
            self._factory = self._open_pins()
        from gpiozero import Servo

        for joint, pin in self._pins.items():
            try:
                self._servos[joint] = Servo(
                    pin,
                    initial_value=None,
                    min_pulse_width=SHORTEST_PULSE_US / 1e6,
                    max_pulse_width=LONGEST_PULSE_US / 1e6,
                    pin_factory=self._factory,
                )
            except Exception as error:
                # gpiozero's own errors, those of lgpio and of the system have no common base.
                raise OSError(f"pin {pin} cannot drive a servo: {error}; face.servo_joints names the pins") from error

    def send(self, pulses_us: Mapping[str, float | None]) -> None:
        for joint, pulse_us in pulses_us.items():
            value = None if pulse_us is None else (pulse_us - _MIDDLE_US) / _HALF_US
            try:
                if self._servos[joint].value != value:
                    self._servos[joint].value = value
            except Exception as error:
                raise OSError(f"pin {self._pins[joint]} of a servo cannot be set: {error}") from error

    def close(self) -> None:
        servos, self._servos = self._servos, {}
        for servo in servos.values():
            # Of a board that is gone a servo cannot be closed in good order.
            with contextlib.suppress(Exception):
                servo.close()
