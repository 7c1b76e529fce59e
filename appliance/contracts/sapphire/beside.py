"""What plugins do beside being called: hooks, tasks, daemons, what they tell each other, what they reach of the box."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from functools import partial
from pathlib import Path
from typing import Any

from appliance.clock import Clock
from appliance.contracts.host import PluginHost
from appliance.contracts.sapphire.capabilities import Capabilities, run_task
from appliance.contracts.sapphire.daemons import Daemons
from appliance.contracts.sapphire.discover import FoundPlugin
from appliance.contracts.sapphire.event_bus import EventBus, Events
from appliance.contracts.sapphire.hooks import HookEvent, Hooks
from appliance.contracts.sapphire.imports import PluginImports
from appliance.contracts.sapphire.plugin_loader import PluginLoader
from appliance.contracts.sapphire.plugin_tool import Around
from appliance.contracts.sapphire.plugin_work import Failed, PluginWork
from appliance.contracts.sapphire.routes import PluginRoutes
from appliance.contracts.sapphire.system import NotReadyError, System, SystemDoors
from appliance.contracts.sapphire.tasks import PluginTask, PluginTasks
from appliance.contracts.sapphire.turn_hooks import TurnHooks
from appliance.store.shapes import Documents
from appliance.tools.toolsets import Toolsets

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class BoxSide:
    """What the box gives for that. ``name_of`` and ``is_private`` are about a chat's id."""

    documents: Documents
    zone: tzinfo
    toolsets: Toolsets
    doors: SystemDoors
    name_of: Callable[[str], str]
    is_private: Callable[[str], bool]


class Beside:
    """One of each; ``join`` comes before any plugin."""

    def __init__(
        self,
        *,
        host: PluginHost,
        clock: Clock,
        box: BoxSide,
        around: Around,
        work: PluginWork,
        plugin_loader: PluginLoader,
        found: Mapping[str, FoundPlugin],
        is_loaded: Callable[[str], bool],
        complain: Callable[[str, str, str], None],
    ) -> None:
        self._box = box
        self._around = around
        self._work = work
        self._found = found
        self._complain = complain
        self._plugin_loader = plugin_loader
        self._imports: PluginImports | None = None
        #: Whoever is at a moment of which plugins may hear fires it here.
        self.hooks = Hooks(host, clock)
        self.events = EventBus(work)
        self.tasks = PluginTasks(box.documents, clock, box.zone, self._run_task, is_loaded=is_loaded)
        self.daemons = Daemons(work, plugin_loader)
        self._is_loaded = is_loaded
        self.routes = PluginRoutes(
            work,
            clock,
            self.loaded,
            self._settings_of,
            around.credentials,
            budget_seconds=around.budget_seconds,
        )
        self.system = System(host, box.doors, self.events, self.tasks, box.toolsets, self._folder_of)
        self.turn = TurnHooks(
            self.hooks,
            config=around.root.module,
            system=lambda: self.system if box.doors.is_ready() else None,
            name_of=box.name_of,
            is_private=box.is_private,
        )
        box.toolsets.changed = lambda name: self.events.publish(Events.TOOLSET_CHANGED, {"name": name})

    def join(self, imports: PluginImports) -> Capabilities:
        """What opens the capabilities of plugins whose files these imports load."""
        self._imports = imports
        self.routes.join(imports)
        return Capabilities(
            work=self._work,
            imports=imports,
            hooks=self.hooks,
            tasks=self.tasks,
            daemons=self.daemons,
            routes=self.routes,
            settings_of=self._settings_of,
            complain=self._complain,
        )

    @property
    def modules(self) -> dict[str, Mapping[str, Any]]:
        """Module -> name in it -> value, for ``PluginImports``."""
        events = self.events
        return {
            "core.hooks": {"HookEvent": HookEvent},
            "core.event_bus": {
                "Events": Events,
                "event_bus": events,
                "get_event_bus": lambda: events,
                "publish": events.publish,
                "subscribe": events.subscribe,
                "unsubscribe": events.unsubscribe,
            },
            "core.api_fastapi": {"get_system": self._get_system},
        }

    def loaded(self, name: str) -> FoundPlugin | None:
        """The plugin of that name, while it is loaded."""
        return self._found.get(name) if self._is_loaded(name) else None

    async def open(self) -> None:
        """Before the plugins are loaded."""
        self.events.open()
        await self.tasks.load()

    async def live(self) -> None:
        """The box is a device: start the daemons, and run tasks at their times, for ever."""
        await self.daemons.go_live()
        await self.tasks.run()

    async def close(self) -> None:
        """The box goes."""
        await self.turn.close()
        await self.daemons.close()
        await self.events.close()

    # ------------------------------------------------------------------------------------------------ private

    def _get_system(self) -> System:
        if not self._box.doors.is_ready():
            raise NotReadyError
        return self.system

    def _folder_of(self, name: str) -> Path | None:
        """By the name of the plugin, or of its folder."""
        for plugin in self._found.values():
            if name in (plugin.name, plugin.folder.name):
                return plugin.folder
        return None

    def _settings_of(self, plugin: FoundPlugin) -> dict[str, Any]:
        return self._around.settings.read(plugin.name, plugin.manifest.defaults)

    async def _run_task(self, task: PluginTask) -> str:
        plugin = self._found.get(task.plugin)
        if plugin is None or self._imports is None:
            return "its plugin is gone"
        event = {
            "system": self.system if self._box.doors.is_ready() else None,
            "config": self._around.root.module,
            "task": task.shown,
            "plugin_state": self._plugin_loader.get_plugin_state(plugin.name),
        }
        work = partial(run_task, self._imports, plugin.folder, task.handler, event)
        ran = await self._work.run(plugin.name, work, self._around.budget_seconds)
        if not isinstance(ran, Failed):
            _LOG.info("the task %s of plugin %s ran", task.name, task.plugin)
            return ""
        self.events.publish(Events.CONTINUITY_TASK_ERROR, {"task": task.name, "error": ran.why})
        return ran.why
