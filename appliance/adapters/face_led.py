"""One RGB lamp on three pins of the board (gpiozero)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from appliance.adapters.face_colours import lamp
from appliance.ports import FacePart, FaceState

#: lgpio's pulses have whole percents, the rest is cut off: 0.29 becomes 28 without a little more.
_STEPS, _A_LITTLE = 100, 1e-6


class LedFace:
    """``FaceBackend``. ``pins`` are red, green and blue; a common anode lights what is low.

    ``open_pins`` gives a gpiozero factory, which stays open: closing one closes the button's pins with it. The patterns
    come with the poses, so no thread of gpiozero runs.
    """

    def __init__(
        self,
        pins: tuple[str, str, str],
        open_pins: Callable[[], Any],
        *,
        is_common_anode: bool = False,
        brightness_cap: float = 1.0,
    ) -> None:
        self._pins = pins
        self._open_pins = open_pins
        self._is_common_anode = is_common_anode
        self._cap = brightness_cap
        self._factory: Any = None
        self._led: Any = None
        self._shown: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        return "led"

    @property
    def parts(self) -> frozenset[FacePart]:
        return frozenset({FacePart.LIGHT})

    @property
    def poses_per_second(self) -> float:
        return 50.0  # More often than poses come, so that none waits.

    def apply(self, state: FaceState) -> None:
        self._show(_steps([float(part) for part in lamp(state.rgb, state.brightness, self._cap)]))

    def park(self) -> None:
        if self._led is not None:
            self._show((0.0, 0.0, 0.0))

    def close(self) -> None:
        led, self._led, self._shown = self._led, None, ()
        if led is not None:
            # Of a board that is gone a lamp cannot be closed in good order.
            with contextlib.suppress(Exception):
                led.close()

    def _show(self, duty: tuple[float, ...]) -> None:
        if duty == self._shown:
            return
        if self._factory is None:
            self._factory = self._open_pins()
        try:
            if self._led is None:
                self._led = self._open()
            more = -_A_LITTLE if self._is_common_anode else _A_LITTLE
            self._led.value = tuple(min(1.0, max(0.0, part + more)) if part else 0.0 for part in duty)
        except Exception as error:
            # gpiozero's own errors, those of lgpio and of the system have no common base.
            self.close()
            raise OSError(f"the lamp on {', '.join(self._pins)}: {error}; face.led_pins names its pins") from error
        self._shown = duty

    def _open(self) -> Any:
        from gpiozero import RGBLED

        return RGBLED(*self._pins, active_high=not self._is_common_anode, pwm=True, pin_factory=self._factory)


def _steps(shares: list[float]) -> tuple[float, ...]:
    """Whole percents; what is lit at all shows at least its strongest colour: dark means that nobody drives it."""
    percents = [round(share * _STEPS) for share in shares]
    if max(shares) > 0 and not any(percents):
        percents[shares.index(max(shares))] = 1
    return tuple(percent / _STEPS for percent in percents)
