"""``core.api_fastapi.get_system()``: what of the original host's inside this box has, for plugins that reach for it.

Every method may be called from any thread of a plugin, and waits there for our loop. What is not here is an
``AttributeError`` that says so: plugins look with ``hasattr`` first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from appliance.contracts.host import PluginHost
from appliance.contracts.plugin_call import current_plugin
from appliance.contracts.sapphire.event_bus import EventBus, Events
from appliance.contracts.sapphire.tasks import PluginTasks
from appliance.tools.current_chat import current_turn
from appliance.tools.toolsets import Toolsets

T = TypeVar("T")


class NotReadyError(Exception):
    """The box is not up yet. Carries the status and detail of a web server's answer, which plugins show."""

    status_code = 503
    detail = "the box is not ready"

    def __init__(self) -> None:
        super().__init__(f"{self.status_code}: {self.detail}")


@dataclass(frozen=True)
class SystemDoors:
    """What the box lets plugins do. All on our loop; ``is_ready`` in any thread."""

    is_ready: Callable[[], bool]
    speak: Callable[[str], object]
    stop_speaking: Callable[[], object]
    #: Ends the turn that is on.
    stop_turn: Callable[[], object]
    chat_name: Callable[[], Coroutine[Any, Any, str]]
    #: Empties the chat in use; its name.
    clear_chat: Callable[[], Coroutine[Any, Any, str]]


class _Part:
    """Says what it does not have."""

    _called = "the system"

    def __getattr__(self, name: str) -> Any:
        offered = ", ".join(entry for entry in dir(self) if not entry.startswith("_"))
        raise AttributeError(f"{self._called}.{name} is not on this box; there is {offered}")


class Speech(_Part):
    """``system.tts``."""

    _called = "system.tts"

    def __init__(self, host: PluginHost, doors: SystemDoors, events: EventBus) -> None:
        self._host = host
        self._doors = doors
        self._events = events

    def speak(self, text: str) -> None:
        """Say it when nothing else is said; returns at once."""
        self._host.from_thread(lambda: _soon(lambda: self._doors.speak(str(text))))

    def stop(self) -> None:
        """Be silent."""
        self._host.from_thread(lambda: _soon(self._doors.stop_speaking))
        self._events.publish(Events.TTS_STOPPED)


class TaskScheduler(_Part):
    """``system.continuity_scheduler``."""

    _called = "system.continuity_scheduler"

    def __init__(self, host: PluginHost, tasks: PluginTasks, folder_of: Callable[[str], Path | None]) -> None:
        self._host = host
        self._tasks = tasks
        self._folder_of = folder_of

    def list_tasks(self) -> list[dict[str, Any]]:
        """Every task of every plugin."""
        return self._host.from_thread(lambda: _soon(self._tasks.shown))

    def create_task(self, task: Mapping[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
        """A task ``{name, schedule, handler, source, delete_after_run…}``; raises ``ValueError`` with a sentence."""
        raw = {**(task or {}), **fields}
        plugin, folder = self._owner(raw)
        handler = _inside(folder, raw)
        return self._host.from_thread(lambda: self._tasks.create({**raw, "handler": handler}, plugin))

    def delete_task(self, task_id: str) -> bool:
        """False when there is none."""
        return self._host.from_thread(lambda: self._tasks.delete(str(task_id)))

    def _owner(self, raw: Mapping[str, Any]) -> tuple[str, Path]:
        """The plugin whose code the task runs: the one that asks, and no other."""
        named = str(raw.get("source") or "").removeprefix("plugin:")
        plugin = current_plugin() or named
        folder = self._folder_of(plugin) if plugin else None
        if folder is None or (named and named not in (plugin, folder.name)):
            raise ValueError(f"the source of a task is the plugin that makes it, as plugin:NAME, and not {named!r}")
        return plugin, folder


def _inside(folder: Path, raw: Mapping[str, Any]) -> str:
    """The handler's file, as seen from the plugin's folder. Raises ``ValueError``."""
    handler = str(raw.get("handler") or "")
    if not handler:
        return ""
    for place in (folder, Path(str(raw.get("plugin_dir") or folder))):
        file = Path(os.path.normpath(place / handler))
        if file.is_relative_to(folder) and file.is_file():
            return str(file.relative_to(folder))
    raise ValueError(f"the handler of a task is a file of its plugin, and there is no {handler!r} in {folder.name}")


class SessionManager(_Part):
    """``system.llm_chat.session_manager``."""

    _called = "system.llm_chat.session_manager"

    def __init__(self, host: PluginHost, doors: SystemDoors) -> None:
        self._host = host
        self._doors = doors

    def get_active_chat_name(self) -> str:
        """Name of the chat in use."""
        return self._host.from_thread(self._doors.chat_name)

    def clear(self) -> str:
        """Empty the chat in use."""
        return self._host.from_thread(self._doors.clear_chat)


class FunctionManager(_Part):
    """``system.llm_chat.function_manager``."""

    _called = "system.llm_chat.function_manager"

    def __init__(self, host: PluginHost, toolsets: Toolsets, events: EventBus) -> None:
        self._host = host
        self._toolsets = toolsets
        self._events = events

    def get_current_toolset_info(self) -> dict[str, Any]:
        """``{"name", "function_count", "functions"}`` of the toolset in use."""
        return self._host.from_thread(lambda: _soon(self._info))

    def get_enabled_function_names(self) -> list[str]:
        """The tools in use."""
        return list(self.get_current_toolset_info()["functions"])

    def update_enabled_functions(self, names: list[str]) -> None:
        """Use a toolset (one name), or these tools."""
        self._host.from_thread(lambda: self._toolsets.use([str(name) for name in names]))

    def _info(self) -> dict[str, Any]:
        tools = self._toolsets.tools_in_use()
        return {"name": self._toolsets.in_use, "function_count": len(tools), "functions": list(tools)}


class Chat(_Part):
    """``system.llm_chat``."""

    _called = "system.llm_chat"

    def __init__(self, session_manager: SessionManager, function_manager: FunctionManager) -> None:
        self.session_manager = session_manager
        self.function_manager = function_manager


class System(_Part):
    """The object that ``get_system()`` gives."""

    def __init__(
        self,
        host: PluginHost,
        doors: SystemDoors,
        events: EventBus,
        tasks: PluginTasks,
        toolsets: Toolsets,
        folder_of: Callable[[str], Path | None],
    ) -> None:
        self._host = host
        self._doors = doors
        self.tts = Speech(host, doors, events)
        self.continuity_scheduler = TaskScheduler(host, tasks, folder_of)
        self.llm_chat = Chat(SessionManager(host, doors), FunctionManager(host, toolsets, events))

    def cancel_generation(self) -> None:
        """End the answer that is being given. Of the turn that asks for it there is none yet: that one goes on."""
        if not current_turn():
            self._host.from_thread(lambda: _soon(self._doors.stop_turn))


async def _soon(work: Callable[[], T]) -> T:
    return work()
