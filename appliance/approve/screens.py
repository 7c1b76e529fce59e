"""Where typed turns are read: a question that is not spoken is written there."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_LOG = logging.getLogger(__name__)


class Screens:
    """The shells that follow a typed turn, or a call of a tool, right now. Each sees every question."""

    def __init__(self) -> None:
        self._writers: list[Callable[[str], None]] = []

    @contextmanager
    def open(self, write: Callable[[str], None]) -> Iterator[None]:
        """Inside the block, ``write`` gets what is shown."""
        self._writers.append(write)
        try:
            yield
        finally:
            self._writers.remove(write)

    def show(self, text: str) -> None:
        """Write ``text`` on every screen; one that fails does not keep the others from it."""
        for write in list(self._writers):
            try:
                write(text)
            except Exception:
                _LOG.exception("a question could not be shown")
