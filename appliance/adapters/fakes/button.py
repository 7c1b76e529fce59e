"""A button that a test presses and releases."""

from __future__ import annotations

from collections.abc import Callable

from appliance.clock import Clock
from appliance.errors import ButtonError


class FakeButton:
    """A ``Button``. Edges go to whoever listens, in time order, stamped by ``clock``; ``openings`` counts ``open``.

    ``is_present`` may be set to False, as if a wire fell off: it can be neither read nor opened then.
    """

    def __init__(self, clock: Clock | None = None, *, is_present: bool = True) -> None:
        self._clock = clock
        self.name = "the fake button"
        self.is_present = is_present
        self.is_pressed = False
        self.is_closed = False
        #: While set, changes are not told; only ``sample`` shows them.
        self.loses_edges = False
        self.openings = 0
        self._edges: list[Callable[[bool, float], None]] = []

    def press(self, at_seconds: float | None = None) -> None:
        """A finger comes down; nothing happens without a button."""
        self._change(True, at_seconds)

    def release(self, at_seconds: float | None = None) -> None:
        """The finger goes away."""
        self._change(False, at_seconds)

    def listen(self, edge: Callable[[bool, float], None]) -> None:
        """Call ``edge`` on every change from now on."""
        self._edges.append(edge)

    async def open(self) -> None:
        """Works while ``is_present``."""
        self.openings += 1
        if not self.is_present:
            raise ButtonError("the wire of the button has fallen off")
        self.is_closed = False

    def sample(self) -> bool:
        """The level, while ``is_present``."""
        if not self.is_present:
            raise ButtonError("the wire of the button has fallen off")
        return self.is_pressed

    def close(self) -> None:
        """Given back; it may be opened again."""
        self.is_closed = True

    def _change(self, is_pressed: bool, at_seconds: float | None) -> None:
        if not self.is_present or is_pressed == self.is_pressed:
            return
        self.is_pressed = is_pressed
        if self.loses_edges or self.is_closed:
            return
        if at_seconds is None:
            at_seconds = self._clock.monotonic_seconds() if self._clock is not None else 0.0
        for edge in list(self._edges):
            edge(is_pressed, at_seconds)
