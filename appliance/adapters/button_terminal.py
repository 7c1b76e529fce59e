"""The Enter key of a terminal as the button.

A key of a terminal has no way up: each Enter is a short press, and those of a key that is held down (the keyboard
repeats it) melt into one long press. A line with anything in it is the button held down: whoever types "no" must not
be taken for a yes.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from appliance.clock import Clock
from appliance.errors import ButtonError

#: Longer than the pause between two repeats of a held key (the Linux console: 92 ms), over a slow line too.
_PRESS_SECONDS = 0.2
#: Beyond the time at which holding denies, and below that at which it would shut down.
_HOLD_SECONDS = 1.5
_MOST_BYTES = 4096


class TerminalButton:
    """A ``Button`` on the file descriptor of a terminal that gives whole lines. Lives on the loop."""

    name = "Enter"

    def __init__(self, descriptor: int, clock: Clock) -> None:
        self._descriptor = descriptor
        self._clock = clock
        self._edge: Callable[[bool, float], None] = lambda _is_pressed, _at_seconds: None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pressed_until = float("-inf")

    @property
    def is_present(self) -> bool:
        return self._loop is not None

    def listen(self, edge: Callable[[bool, float], None]) -> None:
        self._edge = edge

    async def open(self) -> None:
        self.close()
        loop = asyncio.get_running_loop()
        try:
            loop.add_reader(self._descriptor, self._read)
        except (OSError, ValueError) as error:
            raise ButtonError(f"this terminal gives no keys: {error}") from error
        self._loop = loop

    def sample(self) -> bool:
        if self._loop is None:
            raise ButtonError("the terminal was closed, and its Enter key with it")
        return self._clock.monotonic_seconds() < self._pressed_until

    def close(self) -> None:
        if self._loop is not None:
            self._loop.remove_reader(self._descriptor)
        self._loop, self._pressed_until = None, float("-inf")

    def _read(self) -> None:
        try:
            lines = os.read(self._descriptor, _MOST_BYTES)
        except BlockingIOError:
            return
        except OSError:
            lines = b""
        if not lines:
            self.close()
            return
        now = self._clock.monotonic_seconds()
        is_new = now >= self._pressed_until
        self._pressed_until = max(self._pressed_until, now + (_HOLD_SECONDS if lines.strip() else _PRESS_SECONDS))
        if is_new:
            self._edge(True, now)
