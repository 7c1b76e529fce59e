"""A button that a test presses and releases."""

from __future__ import annotations

from collections.abc import Callable


class FakeButton:
    """A ``Button``. ``is_present`` may be changed (a wire falls off); edges go to whoever listens, in time order."""

    def __init__(self, *, is_present: bool = True) -> None:
        self.is_present = is_present
        self.is_pressed = False
        self.is_closed = False
        self._edges: list[Callable[[bool, float], None]] = []

    def press(self, at_seconds: float = 0.0) -> None:
        """A finger comes down; nothing happens without a button."""
        self._change(True, at_seconds)

    def release(self, at_seconds: float = 0.0) -> None:
        """The finger goes away."""
        self._change(False, at_seconds)

    def listen(self, edge: Callable[[bool, float], None]) -> None:
        """Call ``edge`` on every change from now on."""
        self._edges.append(edge)

    def close(self) -> None:
        """No more edges."""
        self.is_closed = True
        self._edges.clear()

    def _change(self, is_pressed: bool, at_seconds: float) -> None:
        if not self.is_present or is_pressed == self.is_pressed:
            return
        self.is_pressed = is_pressed
        for edge in list(self._edges):
            edge(is_pressed, at_seconds)
