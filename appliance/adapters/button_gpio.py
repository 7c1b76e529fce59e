"""Button and lamp on the pins of a board, through gpiozero.

Raw levels only: gpiozero's own bounce time swallows events, and its held and pressed events come in an order and on
threads that are of no use for approving anything. It would also take the next best backend in silence, so the backend
is made here and passed to it; only who names one in GPIOZERO_PIN_FACTORY, as gpiozero wants it, gets that.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from appliance.adapters.gpio_factory import lgpio_factory, named_factory
from appliance.clock import Clock
from appliance.errors import ButtonError

_LOG = logging.getLogger(__name__)

Pull = Literal["up", "down", "none"]
Level = Literal["low", "high"]

_GPIOZERO_PULL = {"up": True, "down": False, "none": None}


class GpioPins:
    """The pins of the board, opened when the first is needed. Closing gives back the devices, then the backend.

    ``pin_factory`` is a gpiozero factory that stays its owner's; without one it is that of GPIOZERO_PIN_FACTORY, else
    lgpio. lgpio leaves a named pipe in ``work_folder``, which must be writable.
    """

    def __init__(self, work_folder: Path, pin_factory: Any = None) -> None:
        self._work_folder = work_folder
        self._given_factory = pin_factory
        self._factory: Any = None
        self._is_factory_ours = False
        self._devices: list[Any] = []

    def input(self, pin: str, pull: Pull) -> Any:
        """A gpiozero input that is active when the pin is low with ``pull`` up, else when it is high.

        Raises ``ButtonError``.
        """
        factory = self._open()
        from gpiozero import DigitalInputDevice

        pull_up = _GPIOZERO_PULL[pull]
        active_state = True if pull_up is None else None
        return self._device(
            pin, lambda: DigitalInputDevice(pin, pull_up=pull_up, active_state=active_state, pin_factory=factory)
        )

    def output(self, pin: str) -> Any:
        """A gpiozero output, low. Raises ``ButtonError``."""
        factory = self._open()
        from gpiozero import DigitalOutputDevice

        return self._device(pin, lambda: DigitalOutputDevice(pin, initial_value=False, pin_factory=factory))

    def close(self) -> None:
        """Give everything back; safe to call twice, also when the board is gone."""
        devices, self._devices = self._devices, []
        for device in devices:
            _close(device)
        factory, self._factory = self._factory, None
        if factory is not None and self._is_factory_ours:
            _close(factory)

    def _device(self, pin: str, make: Callable[[], Any]) -> Any:
        try:
            device = make()
        except Exception as error:
            # gpiozero's own errors, those of lgpio and of the system have no common base.
            raise ButtonError(
                f"pin {pin} cannot be used: {error}. The section [button] of the settings names it"
            ) from error
        self._devices.append(device)
        return device

    def _open(self) -> Any:
        if self._factory is None:
            given = self._given_factory
            try:
                given = named_factory() if given is None else given
                self._factory = lgpio_factory(self._work_folder) if given is None else given
            except OSError as error:
                raise ButtonError(str(error)) from error
            self._is_factory_ours = given is None
        return self._factory


class GpioButton:
    """A ``Button`` between a pin and ground (``pull`` up, pressed is low) or wired in another way."""

    def __init__(self, pins: GpioPins, pin: str, clock: Clock, *, pull: Pull = "up", pressed_is: Level = "low") -> None:
        self.name = f"the button on {pin}"
        self._pins = pins
        self._pin = pin
        self._clock = clock
        self._pull = pull
        #: Whether gpiozero's "active" is our "pressed".
        self._is_straight = (pull == "up") == (pressed_is == "low")
        self._edge: Callable[[bool, float], None] = lambda _is_pressed, _at_seconds: None
        self._device: Any = None

    @property
    def is_present(self) -> bool:
        return self._device is not None

    def listen(self, edge: Callable[[bool, float], None]) -> None:
        self._edge = edge

    async def open(self) -> None:
        # Importing and opening take a moment on a small board.
        await asyncio.to_thread(self._open)

    def sample(self) -> bool:
        if self._device is None:
            raise ButtonError("the button is not open")
        try:
            return bool(self._device.is_active) == self._is_straight
        except Exception as error:
            raise ButtonError(f"pin {self._pin} of the button cannot be read any more: {error}") from error

    def close(self) -> None:
        self._device = None
        self._pins.close()

    def _open(self) -> None:
        self.close()
        device = self._pins.input(self._pin, self._pull)
        device.when_activated = lambda: self._tell(self._is_straight)
        device.when_deactivated = lambda: self._tell(not self._is_straight)
        self._device = device

    def _tell(self, is_pressed: bool) -> None:
        """On a thread of the backend."""
        self._edge(is_pressed, self._clock.monotonic_seconds())


class GpioLamp:
    """A ``ButtonLamp`` that is lit when its pin is high. Closing the button's pins takes it along; it comes back."""

    def __init__(self, pins: GpioPins, pin: str) -> None:
        self._pins = pins
        self._pin = pin
        self._device: Any = None

    def show(self, is_on: bool) -> None:
        if self._device is None or self._device.closed:
            self._device = self._pins.output(self._pin)
        try:
            self._device.value = is_on
        except Exception as error:
            raise ButtonError(f"pin {self._pin} of the button's lamp cannot be set: {error}") from error

    def close(self) -> None:
        if self._device is not None:
            _close(self._device)
            self._device = None


def _close(thing: Any) -> None:
    """A device of a board that is gone can be let go of, but not be closed in good order."""
    try:
        thing.close()
    except Exception as error:
        _LOG.debug("closing %r: %s", type(thing).__name__, error)
