"""Daemons of plugins: modules with ``start(plugin_loader, settings)`` and ``stop()`` that work beside all turns.

They run while the box is a device, not for a single command. A daemon's module is that of its file, so a tool of the
plugin that imports it shares its state.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from appliance.contracts.sapphire.plugin_work import Failed, PluginWork
from appliance.store.running_notes import Doing

_LOG = logging.getLogger(__name__)

#: A daemon that waits for its own thread gives it some seconds.
_STOP_SECONDS = 10.0


@dataclass
class _Daemon:
    module: ModuleType
    settings: Callable[[], Mapping[str, Any]]
    is_running: bool = False


class Daemons:
    """The daemons of all plugins. On the loop."""

    def __init__(self, work: PluginWork, plugin_loader: object) -> None:
        self._work = work
        self._plugin_loader = plugin_loader
        self._daemons: dict[str, _Daemon] = {}
        self._is_live = False

    async def add(self, plugin: str, module: ModuleType, settings: Callable[[], Mapping[str, Any]]) -> None:
        """A plugin has one; it starts now when the box is a device already. ``settings`` reads the disk."""
        await self.remove(plugin)
        self._daemons[plugin] = _Daemon(module, settings)
        if self._is_live:
            await self._start(plugin)

    async def go_live(self) -> None:
        """The box is a device: start all."""
        self._is_live = True
        for plugin in list(self._daemons):
            await self._start(plugin)

    async def remove(self, plugin: str) -> None:
        """Stop the plugin's daemon, and forget it."""
        daemon = self._daemons.pop(plugin, None)
        if daemon is not None and daemon.is_running:
            stopped = await self._work.run(plugin, partial(_called, daemon.module, "stop"), _STOP_SECONDS)
            if isinstance(stopped, Failed):
                _LOG.warning("the daemon of plugin %s did not stop: %s", plugin, stopped.why)

    async def close(self) -> None:
        """Stop all, last first."""
        self._is_live = False
        for plugin in reversed(list(self._daemons)):
            await self.remove(plugin)

    @property
    def running(self) -> tuple[str, ...]:
        """Names of the plugins whose daemon runs."""
        return tuple(plugin for plugin, daemon in self._daemons.items() if daemon.is_running)

    async def _start(self, plugin: str) -> None:
        daemon = self._daemons[plugin]
        if daemon.is_running:
            return
        # What has begun is stopped, also when its beginning failed or took too long.
        daemon.is_running = True
        started = await self._work.run(
            plugin,
            lambda: _called(daemon.module, "start", self._plugin_loader, dict(daemon.settings())),
            doing=Doing.START,
        )
        if isinstance(started, Failed):
            _LOG.warning("the daemon of plugin %s did not start: %s", plugin, started.why)
            await self.remove(plugin)


def _called(module: ModuleType, name: str, *arguments: Any) -> None:
    returned = getattr(module, name)(*arguments)
    if inspect.iscoroutine(returned):
        returned.close()
        raise TypeError(f"its {name} is an async def; it must be a plain def")
