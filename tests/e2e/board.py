"""A board without hardware: the program runs as ever, on gpiozero's mock pins, and a test moves them from outside.

Run as a program this file is the board: it tells gpiozero to take mock pins, answers a socket that it was given, and
then does what ``appliance`` does.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

_SOCKET = "TEST_BOARD_SOCKET"
BUTTON, LAMP = "GPIO17", "GPIO27"


class Board:
    """The test's end: a finger on the button, and an eye on the lamp. Use it as a context manager."""

    def __init__(self) -> None:
        self._ours, self._theirs = socket.socketpair()
        self._answers = self._ours.makefile("r", encoding="utf-8")

    def __enter__(self) -> Board:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._answers.close()
        self._ours.close()
        self._theirs.close()

    @property
    def environment(self) -> Mapping[str, str]:
        """What the child has to know."""
        return {
            "GPIOZERO_PIN_FACTORY": "mock",
            _SOCKET: str(self._theirs.fileno()),
            "APPLIANCE_BUTTON_PIN": BUTTON,
            "APPLIANCE_BUTTON_LAMP_PIN": LAMP,
        }

    @property
    def descriptors(self) -> tuple[int, ...]:
        """What the child has to be given."""
        return (self._theirs.fileno(),)

    def press(self, seconds: float) -> float:
        """Connect the button's pin to ground for so long; when that began."""
        return float(self._ask({"press_seconds": seconds}))

    def lights(self, since: float = 0.0) -> list[tuple[float, float]]:
        """When the lamp went on, and for how many seconds, of the lights that are over."""
        changes = self._ask({"changes_of": LAMP})
        ons, offs = [at for at, is_on in changes if is_on], [at for at, is_on in changes if not is_on]
        return [(on, off - on) for on, off in zip(ons, offs, strict=False) if on >= since]

    def _ask(self, question: Mapping[str, object]) -> Any:
        self._ours.sendall(json.dumps(question).encode() + b"\n")
        return json.loads(self._answers.readline())


def main() -> int:
    """Be the board, then be the program."""
    from gpiozero import Device
    from gpiozero.pins.mock import MockPin

    from appliance.cli.main import main as appliance

    class TracedPin(MockPin):  # type: ignore[misc]
        """Remembers each change with its monotonic time, which all processes of a machine share."""

        def __init__(self, *parts: Any) -> None:
            self.changes: list[tuple[float, bool]] = []
            super().__init__(*parts)

        def _change_state(self, value: bool) -> bool:
            has_changed = bool(super()._change_state(value))
            if has_changed:
                self.changes.append((time.monotonic(), value))
            return has_changed

    Device.ensure_pin_factory()
    Device.pin_factory.pin_class = TracedPin
    threading.Thread(target=_answer, args=(Device.pin_factory,), daemon=True).start()
    return appliance()


def _answer(pins: Any) -> None:
    """Do what the test's end asks for, until it is gone."""
    connection = socket.socket(fileno=int(os.environ[_SOCKET]))
    for line in connection.makefile("r", encoding="utf-8"):
        question = json.loads(line)
        if "press_seconds" in question:
            answer: object = time.monotonic()
            pins.pin(BUTTON).drive_low()
            time.sleep(question["press_seconds"])
            pins.pin(BUTTON).drive_high()
        else:
            answer = pins.pin(question["changes_of"]).changes
        connection.sendall(json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    sys.exit(main())
