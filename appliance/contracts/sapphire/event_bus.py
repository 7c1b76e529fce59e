"""``core.event_bus``: what plugins tell each other, and hear of the box."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from appliance.contracts.plugin_call import current_plugin
from appliance.contracts.sapphire.plugin_work import Failed, PluginWork

_LOG = logging.getLogger(__name__)

#: The box itself tells of these; the others are there for plugins.
_NAMES = (
    "TTS_STOPPED",
    "TOOLSET_CHANGED",
    "WORKSPACE_READY",
    "CONTINUITY_TASK_ERROR",
    "MIND_CHANGED",
    "PLUGIN_LOAD_ERROR",
    "PLUGIN_RELOADED",
)

Listener = Callable[[dict[str, Any]], object]


class _Known(type):
    def __getattr__(cls, name: str) -> str:
        raise AttributeError(f"this box has no event {name}; it has {', '.join(_NAMES)}")


class Events(metaclass=_Known):
    """Names of events."""


for _name in _NAMES:
    setattr(Events, _name, _name.lower())


class EventBus:
    """Passes events on, in order, each listener on a thread of its plugin. ``open`` on the loop; the rest anywhere."""

    def __init__(self, work: PluginWork) -> None:
        self._work = work
        self._loop: asyncio.AbstractEventLoop | None = None
        #: (event, plugin, listener); "*" hears everything.
        self._listeners: list[tuple[str, str, Listener]] = []
        self._telling: set[asyncio.Task[None]] = set()
        self._in_order = asyncio.Lock()

    def open(self) -> None:
        """Tell from now on."""
        self._loop = asyncio.get_running_loop()

    def publish(self, event: str, data: Any = None) -> None:
        """Tell everybody who listens, soon; returns at once."""
        listeners = [entry for entry in self._listeners if entry[0] in (event, "*")]
        if listeners and self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._tell, listeners, {"type": event, "data": data})

    def subscribe(self, event: str, listener: Listener) -> Callable[[], None]:
        """Call ``listener({"type", "data"})`` at each such event ("*": at all); call the result to end that."""
        if not isinstance(event, str) or not callable(listener):
            raise TypeError("subscribe takes the name of an event and a function")
        entry = (event, current_plugin(), listener)
        self._listeners = [*self._listeners, entry]
        return lambda: self._remove(lambda other: other is entry)

    def unsubscribe(self, event: str, listener: Listener) -> None:
        """End a subscription."""
        self._remove(lambda entry: entry[0] == event and entry[2] == listener)

    def forget(self, plugin: str) -> None:
        """A plugin goes."""
        self._remove(lambda entry: entry[1] == plugin)

    async def close(self) -> None:
        """Tell nothing more."""
        self._listeners = []
        for task in self._telling:
            task.cancel()
        await asyncio.gather(*self._telling, return_exceptions=True)

    def _remove(self, is_meant: Callable[[tuple[str, str, Listener]], bool]) -> None:
        self._listeners = [entry for entry in self._listeners if not is_meant(entry)]

    def _tell(self, listeners: list[tuple[str, str, Listener]], event: dict[str, Any]) -> None:
        task = asyncio.create_task(self._tell_all(listeners, event), name="event of a plugin")
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _tell_all(self, listeners: list[tuple[str, str, Listener]], event: dict[str, Any]) -> None:
        async with self._in_order:
            for _event, plugin, listener in listeners:
                told = await self._work.run(plugin, partial(listener, dict(event)))
                if isinstance(told, Failed):
                    _LOG.warning("plugin %s failed to hear of %s: %s", plugin, event["type"], told.why)
