"""Counts what plugins left hanging, and pauses a plugin that does it too often."""

from __future__ import annotations

import logging
from collections.abc import Callable

_LOG = logging.getLogger(__name__)

#: So many hung calls at once, and the plugin is paused: a thread cannot be killed, only left behind.
ABANDONED_LIMIT = 4


class Quarantine:
    """The abandoned work of every plugin. Used on our loop only.

    ``on_paused`` is told once per paused plugin, with its name.
    """

    def __init__(self, on_paused: Callable[[str], None] = lambda _plugin: None) -> None:
        self._on_paused = on_paused
        self._abandoned: dict[str, list[Callable[[], bool]]] = {}
        self._paused: dict[str, str] = {}

    def add(self, plugin: str, is_alive: Callable[[], bool]) -> None:
        """A piece of work did not end when it was told to; ``is_alive`` says whether it still hangs."""
        if not is_alive():
            return
        living = [still for still in self._abandoned.get(plugin, ()) if still()]
        self._abandoned[plugin] = [*living, is_alive]
        count = self.abandoned(plugin)
        _LOG.warning("plugin %s left work behind that does not end; %d pieces of it hang now", plugin, count)
        if count >= ABANDONED_LIMIT and plugin not in self._paused:
            self.pause(plugin, f"its plugin is paused until the box restarts: {count} of its calls never came back")

    def abandoned(self, plugin: str) -> int:
        """How many pieces of its work hang at this moment. Any thread."""
        return sum(is_alive() for is_alive in self._abandoned.get(plugin, ()))

    def pause(self, plugin: str, reason: str) -> None:
        """Run nothing of this plugin any more; ``reason`` is half a sentence for the person."""
        self._paused[plugin] = reason
        _LOG.error("plugin %s is paused: %s", plugin, reason)
        self._on_paused(plugin)

    def why_paused(self, plugin: str) -> str | None:
        """Why it does not run, in words; None when it may."""
        return self._paused.get(plugin)

    @property
    def paused(self) -> dict[str, str]:
        """Every paused plugin and why; when there is one, the service should restart once it is idle."""
        return dict(self._paused)
