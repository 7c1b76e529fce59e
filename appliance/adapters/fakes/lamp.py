"""A lamp that remembers when it was lit."""

from __future__ import annotations

from appliance.clock import Clock
from appliance.errors import ButtonError


class FakeLamp:
    """A ``ButtonLamp``. ``changes`` is (seconds, lit), a line for each change; while ``is_broken`` it raises."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.is_on = False
        self.is_broken = False
        self.is_closed = False
        self.changes: list[tuple[float, bool]] = []

    def lit_seconds(self, since: float) -> list[float]:
        """How long each light lasted that ended, of those that began at ``since`` or later."""
        ends = [at for at, is_on in self.changes if not is_on]
        begins = [at for at, is_on in self.changes if is_on]
        return [round(end - begin, 3) for begin, end in zip(begins, ends, strict=False) if begin >= since]

    def show(self, is_on: bool) -> None:
        """Noted when it is a change."""
        if self.is_broken:
            raise ButtonError("the lamp is broken")
        if is_on != self.is_on:
            self.is_on = is_on
            self.changes.append((self._clock.monotonic_seconds(), is_on))

    def close(self) -> None:
        """Dark."""
        self.is_on, self.is_closed = False, True
