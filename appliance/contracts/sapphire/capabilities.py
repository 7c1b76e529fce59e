"""What a plugin takes part in besides its tools: hooks, voice commands, tasks at their times, a daemon."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from appliance.contracts.kotoba.discover import Source
from appliance.contracts.sapphire import voice_commands
from appliance.contracts.sapphire.cron import Cron
from appliance.contracts.sapphire.daemons import Daemons
from appliance.contracts.sapphire.discover import FoundPlugin
from appliance.contracts.sapphire.hooks import NOT_HERE, Hooks, file_inside, function_of, open_hook_file
from appliance.contracts.sapphire.imports import PluginImports
from appliance.contracts.sapphire.manifest import ScheduledTask
from appliance.contracts.sapphire.plugin_work import Failed, PluginWork
from appliance.contracts.sapphire.routes import PluginRoutes, problems_of
from appliance.contracts.sapphire.tasks import PluginTask, PluginTasks, task_from
from appliance.store.running_notes import Doing

T = TypeVar("T")

#: (plugin, file, sentence for the author).
Complain = Callable[[str, str, str], None]

_HOUR = re.compile(r"(\d{1,2})(?::(\d{2})|\.0+)?")


class Capabilities:
    """Opens and closes them, plugin by plugin. What is broken costs itself alone. On the loop."""

    def __init__(
        self,
        *,
        work: PluginWork,
        imports: PluginImports,
        hooks: Hooks,
        tasks: PluginTasks,
        daemons: Daemons,
        routes: PluginRoutes,
        settings_of: Callable[[FoundPlugin], Mapping[str, Any]],
        complain: Complain,
    ) -> None:
        self._work = work
        self._imports = imports
        self._hooks = hooks
        self._tasks = tasks
        self._daemons = daemons
        self._routes = routes
        #: Reads the disk.
        self._settings_of = settings_of
        self._complain = complain

    async def open(self, plugin: FoundPlugin) -> None:
        """What comes before its tools."""
        await self._open_hooks(plugin)
        await self._open_voice_commands(plugin)
        for problem in problems_of(plugin):
            self._complain(plugin.name, "plugin.json", problem)

    async def start(self, plugin: FoundPlugin) -> None:
        """What comes behind its tools: a daemon shares their modules."""
        await self.follow_settings(plugin)
        entry = plugin.manifest.daemon.get("entry")
        if not entry:
            return
        module = await self._opened(plugin, str(entry), partial(_open_daemon, self._imports, plugin.folder, str(entry)))
        if module is not None:
            await self._daemons.add(plugin.name, module, lambda: self._settings_of(plugin))

    async def follow_settings(self, plugin: FoundPlugin) -> None:
        """Set its tasks to the times that its settings say."""
        settings = await asyncio.to_thread(self._settings_of, plugin) if plugin.manifest.schedule else {}
        tasks: list[PluginTask] = []
        for declared in plugin.manifest.schedule:
            try:
                tasks.append(task_at(declared, plugin.name, settings))
            except ValueError as error:
                self._complain(plugin.name, "plugin.json", f"its task {declared.name!r} never runs: {error}")
        self._tasks.declare(plugin.name, tasks)

    async def close(self, name: str) -> None:
        """The plugin goes."""
        self._hooks.remove(name)
        self._tasks.withdraw(name)
        self._routes.forget(name)
        await self._daemons.remove(name)

    # ------------------------------------------------------------------------------------------------ private

    async def _open_hooks(self, plugin: FoundPlugin) -> None:
        """One run of each file, whatever the number of its hooks."""
        opened: dict[str, ModuleType | None] = {}
        for event, file in plugin.manifest.hooks.items():
            if event in NOT_HERE:
                self._complain(plugin.name, file, f"its hook {event} is never called on this box: {NOT_HERE[event]}")
                continue
            if file not in opened:
                opened[file] = await self._opened(
                    plugin, file, partial(open_hook_file, self._imports, plugin.folder, file)
                )
            module = opened[file]
            function = function_of(module, event) if module is not None else None
            if function is not None:
                aware = plugin.manifest.is_privacy_aware
                self._hooks.add(event, function, plugin=plugin.name, priority=plugin.priority, is_privacy_aware=aware)
            elif module is not None:
                self._complain(
                    plugin.name, file, f"its hook {event} is not used: it has neither {event}() nor handle()"
                )

    async def _open_voice_commands(self, plugin: FoundPlugin) -> None:
        """One run of the file for each command: they share nothing."""
        is_shipped = plugin.source is Source.SHIPPED
        for command in plugin.manifest.voice_commands:
            problem = voice_commands.problem_of(command)
            if problem:
                self._complain(
                    plugin.name, "plugin.json", f"its voice command {command.triggers} is not used: {problem}"
                )
                continue
            file = command.handler
            module = await self._opened(plugin, file, partial(open_hook_file, self._imports, plugin.folder, file))
            function = function_of(module, "pre_chat") if module is not None else None
            if function is not None:
                self._hooks.add(
                    "pre_chat",
                    voice_commands.asked_when_said(command, function),
                    plugin=plugin.name,
                    priority=voice_commands.priority_of(command, plugin.priority, is_shipped=is_shipped),
                    is_privacy_aware=plugin.manifest.is_privacy_aware,
                )
            elif module is not None:
                self._complain(
                    plugin.name, file, "its voice command is not used: the file has neither pre_chat() nor handle()"
                )

    async def _opened(self, plugin: FoundPlugin, file: str, open_file: Callable[[], T]) -> T | None:
        opened = await self._work.run(plugin.name, open_file, doing=Doing.IMPORT)
        if isinstance(opened, Failed):
            self._complain(plugin.name, file, f"it is not used: {opened.why}")
            return None
        return opened


def task_at(declared: ScheduledTask, plugin: str, settings: Mapping[str, Any]) -> PluginTask:
    """A task of a manifest as the settings have it: they may say its time, and whether it runs.

    Raises ``ValueError``.
    """
    raw = dict(declared.raw)
    cron, is_enabled = declared.cron, declared.is_enabled
    time_setting, enabled_setting = raw.get("time_setting"), raw.get("enabled_setting")
    if isinstance(time_setting, str) and settings.get(time_setting) not in (None, ""):
        cron = _daily(settings[time_setting]) or cron
    if isinstance(enabled_setting, str):
        is_enabled = is_enabled and bool(settings.get(enabled_setting))
    Cron.parse(cron)
    whole = {**raw, "schedule": cron, "enabled": is_enabled, "initial_message": raw.get("description", "")}
    return task_from(whole, plugin, f"{plugin}:{declared.name}", is_declared=True)


def _daily(value: object) -> str:
    """``07:30``, ``9`` or 9.0 as cron; "" for what is no time of day."""
    found = _HOUR.fullmatch(str(value).strip())
    if found is None or int(found[1]) > 23 or int(found[2] or 0) > 59:
        return ""
    return f"{int(found[2] or 0)} {int(found[1])} * * *"


def _open_daemon(imports: PluginImports, folder: Path, entry: str) -> ModuleType:
    """The daemon's module, the same that a tool gets which imports it. On the plugin's side; raises what it raises."""
    module = imports.load_file(folder, file_inside(folder, entry))
    for name in ("start", "stop"):
        if not callable(getattr(module, name, None)):
            raise AttributeError(f"a daemon needs {name}()")
    return module


def run_task(imports: PluginImports, folder: Path, handler: str, event: Mapping[str, Any]) -> object:
    """Open a task's file and run it. On the plugin's side; raises what it raises."""
    module = open_hook_file(imports, folder, handler)
    return module.run(dict(event))
