"""Tasks of plugins that run at their time: those of a manifest, and those that a plugin makes while it runs.

The latter last over restarts. A time has no memory: what came due while the box was off, or while its clock was not
set, is not made up for; a task that is late by some minutes (the box was busy, or slept) still runs, once.
"""

from __future__ import annotations

import asyncio
import logging
import random
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from appliance.clock import Clock, within
from appliance.contracts.sapphire.cron import Cron
from appliance.errors import StoreError
from appliance.store.shapes import Documents

_LOG = logging.getLogger(__name__)

COLLECTION = "plugin_tasks"
#: A plugin that makes a task at each call must not fill the disk.
MOST_TASKS = 200
_USUAL_TIME = "0 9 * * *"
_LATEST = timedelta(minutes=5)
#: How soon a clock that was set is noticed.
_LOOK_AT_CLOCK_SECONDS = 30.0


@dataclass(frozen=True)
class PluginTask:
    """One task. ``raw`` is what its author wrote; ``chance_percent`` says how often it runs at its time."""

    task_id: str
    plugin: str
    name: str
    schedule: str
    handler: str
    is_enabled: bool = True
    chance_percent: int = 100
    is_once: bool = False
    #: Part of the manifest: there whenever the plugin is, and not stored.
    is_declared: bool = False
    raw: Mapping[str, Any] = field(default_factory=dict)

    @property
    def shown(self) -> dict[str, Any]:
        """As plugins see it."""
        return {
            **self.raw,
            "id": self.task_id,
            "name": self.name,
            "schedule": self.schedule,
            "handler": self.handler,
            "enabled": self.is_enabled,
            "chance": self.chance_percent,
            "delete_after_run": self.is_once,
            "source": f"plugin:{self.plugin}",
        }


def task_from(raw: Mapping[str, Any], plugin: str, task_id: str = "", *, is_declared: bool = False) -> PluginTask:
    """A task as it is declared, stored, or asked for. Raises ``ValueError`` with a sentence."""
    name, handler = raw.get("name"), raw.get("handler")
    schedule = raw.get("schedule") or raw.get("cron") or _USUAL_TIME
    chance = raw.get("chance", 100)
    if not isinstance(name, str) or not name.strip():
        raise ValueError("a task needs a name")
    if not isinstance(handler, str) or not handler.strip():
        raise ValueError(f"the task {name!r} has no handler: a prompt for a model at a time is not on this box")
    if not isinstance(schedule, str):
        raise ValueError(f"the task {name!r} has no time: it takes five fields, such as '30 7 * * *'")
    Cron.parse(schedule)
    return PluginTask(
        task_id=task_id or uuid.uuid4().hex[:12],
        plugin=plugin,
        name=name,
        schedule=schedule,
        handler=handler,
        is_enabled=bool(raw.get("enabled", True)),
        chance_percent=chance if isinstance(chance, int) and not isinstance(chance, bool) else 100,
        is_once=bool(raw.get("delete_after_run", False)),
        is_declared=is_declared,
        raw=dict(raw),
    )


#: Runs a task's handler; "" when that went well, else why not. Never raises but cancellation.
RunTask = Callable[[PluginTask], Awaitable[str]]


class PluginTasks:
    """All tasks. On the loop. ``run`` makes them run; without it they only wait."""

    def __init__(
        self,
        documents: Documents,
        clock: Clock,
        zone: tzinfo,
        run_task: RunTask,
        *,
        is_loaded: Callable[[str], bool],
        dice: Callable[[], float] = random.random,
    ) -> None:
        self._documents = documents
        self._clock = clock
        self._zone = zone
        self._run_task = run_task
        self._is_loaded = is_loaded
        self._dice = dice
        self._tasks: dict[str, PluginTask] = {}
        #: Up to when each task's times have been looked at.
        self._seen: dict[str, datetime] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()
        self._was_read = False

    # ------------------------------------------------------------------------------------------ changing

    async def load(self) -> None:
        """Read what was stored; once. A row that is no task stays where it is."""
        if self._was_read:
            return
        self._was_read = True
        try:
            rows = await self._documents.all(COLLECTION)
        except StoreError as error:
            _LOG.error("the tasks of plugins cannot be read: %s", error)
            return
        for task_id, row in rows.items():
            try:
                self._take(task_from(row["task"], str(row["plugin"]), task_id))
            except (ValueError, TypeError, KeyError) as error:
                _LOG.warning("stored task %s is skipped: %s", task_id, error)

    def declare(self, plugin: str, tasks: list[PluginTask]) -> None:
        """The tasks of a plugin's manifest, in place of those of before."""
        self.withdraw(plugin)
        for task in tasks:
            self._take(task)

    def withdraw(self, plugin: str) -> None:
        """A plugin goes, and its manifest with it; what it made stays, and rests until the plugin is there again."""
        for task in [task for task in self._tasks.values() if task.plugin == plugin and task.is_declared]:
            self._drop(task.task_id)

    async def create(self, raw: Mapping[str, Any], plugin: str) -> dict[str, Any]:
        """A task of a plugin; it lasts when this returns. Raises ``ValueError``, ``StoreError``."""
        if len(self._tasks) >= MOST_TASKS:
            raise ValueError("there are too many tasks already")
        task = task_from(raw, plugin)
        await self._documents.put(COLLECTION, task.task_id, {"plugin": plugin, "task": dict(raw)})
        self._take(task)
        return task.shown

    async def delete(self, task_id: str) -> bool:
        """Take a task out; False when there is none. Raises ``StoreError``."""
        task = self._drop(task_id)
        if task is None:
            return False
        if not task.is_declared:
            await self._documents.delete(COLLECTION, task_id)
        return True

    def shown(self) -> list[dict[str, Any]]:
        """Every task as plugins see it, with the moment at which it is next due."""
        return [{**task.shown, "next_run": self._next_in_words(task)} for task in self._tasks.values()]

    @property
    def is_running(self) -> bool:
        """Whether a task runs at this moment."""
        return bool(self._running)

    # ------------------------------------------------------------------------------------------- running

    async def run(self) -> None:
        """Run what comes due, for ever."""
        try:
            while True:
                self._start_due()
                self._changed.clear()
                try:
                    await within(self._clock, self._seconds_to_wait(), self._changed.wait())
                except TimeoutError:
                    continue
        finally:
            for running in self._running.values():
                running.cancel()
            await asyncio.gather(*self._running.values(), return_exceptions=True)

    def _start_due(self) -> None:
        now = self._now()
        if not self._clock.is_trusted():
            self._seen = dict.fromkeys(self._tasks, now)
            return
        for task_id, task in list(self._tasks.items()):
            due = self._due(task)
            if due is None or due > now:
                continue
            self._seen[task_id] = now
            if self._may_run(task):
                self._running[task_id] = asyncio.create_task(self._run(task), name=f"task {task.name}")

    def _may_run(self, task: PluginTask) -> bool:
        is_wanted = task.is_enabled and self._is_loaded(task.plugin) and task.task_id not in self._running
        return is_wanted and (task.chance_percent >= 100 or self._dice() * 100 < task.chance_percent)

    async def _run(self, task: PluginTask) -> None:
        try:
            problem = await self._run_task(task)
            if problem:
                _LOG.warning("the task %s of plugin %s failed: %s", task.name, task.plugin, problem)
            if task.is_once:
                await self.delete(task.task_id)
        except StoreError as error:
            _LOG.warning("the task %s is done and cannot be deleted: %s", task.name, error)
        finally:
            self._running.pop(task.task_id, None)

    # ------------------------------------------------------------------------------------------- private

    def _take(self, task: PluginTask) -> None:
        self._tasks[task.task_id] = task
        self._seen[task.task_id] = self._now()
        self._changed.set()

    def _drop(self, task_id: str) -> PluginTask | None:
        self._seen.pop(task_id, None)
        self._changed.set()
        return self._tasks.pop(task_id, None)

    def _due(self, task: PluginTask) -> datetime | None:
        """When it is due, past or to come; what is too late to run is passed over."""
        now = self._now()
        # A clock that was set back counts from where it is now.
        since = min(self._seen[task.task_id], now)
        return Cron.parse(task.schedule).after(max(since, now - _LATEST), self._zone)

    def _seconds_to_wait(self) -> float:
        dues = [due for task in self._tasks.values() if task.is_enabled and (due := self._due(task)) is not None]
        soonest = min((due - self._now()).total_seconds() for due in dues) if dues else _LOOK_AT_CLOCK_SECONDS
        return max(0.0, min(soonest, _LOOK_AT_CLOCK_SECONDS)) if self._clock.is_trusted() else _LOOK_AT_CLOCK_SECONDS

    def _next_in_words(self, task: PluginTask) -> str | None:
        due = self._due(task)
        return due.astimezone(self._zone).isoformat(timespec="minutes") if due is not None else None

    def _now(self) -> datetime:
        return self._clock.now().astimezone(UTC)
