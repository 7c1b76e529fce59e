"""Hooks: functions of plugins that are told what happens, and may have a say in it.

``Hooks`` knows nothing of what the events mean: whoever is at such a moment fires it by name, and reads from the event
what the handlers have made of it. Handlers run one after another, lowest priority number first, each on a thread of
its plugin and inside a budget; one that fails or hangs is told in the log, and the others go on.
"""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from appliance.clock import Clock, within
from appliance.contracts.host import PluginHost
from appliance.contracts.kotoba.blame import describe
from appliance.contracts.plugin_call import Raised
from appliance.contracts.sapphire.imports import PluginImports

_LOG = logging.getLogger(__name__)

#: What every plugin hears of, in private chats too; other events only those that say they are aware of privacy.
_ALWAYS_TOLD = frozenset(
    {"chat_renamed", "chat_deleted", "chat_cleared", "plugins_ready", "provider_switched", "on_wake"}
)
#: What only those hear of, wherever it happens.
_AWARE_ONLY = frozenset({"chat_vaulted"})
#: Moments that this box does not have, and why: for the author who waits for them.
NOT_HERE = {
    **dict.fromkeys(
        ("pre_tts", "tts_stream_start", "tts_chunk_text", "tts_chunk_audio", "tts_stream_end"),
        "what is spoken passes through no plugin; change the answer in post_llm",
    ),
    "post_tts": "post_chat comes when the answer has been spoken",
    "provider_switched": "it has one voice and one ear",
    "tools_filter": "a toolset says which tools take part",
}


@dataclass
class HookEvent:
    """What handlers get; one object goes through all of them, and they may change it.

    Which fields mean something depends on the event; ``metadata`` has what is peculiar to it.
    """

    input: str = ""
    skip_llm: bool = False
    response: str | None = None
    ephemeral: bool = False
    context_parts: list[str] = field(default_factory=list)
    stop_propagation: bool = False
    config: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)
    function_name: str = ""
    arguments: dict[str, Any] | None = None
    result: Any = None
    tts_text: str = ""
    skip_tts: bool = False
    ghost_text: str = ""
    ghost_label: str = ""
    contributions: list[Any] = field(default_factory=list)
    chat_name: str = ""
    chat_private: bool = False
    surface: str = "chat"


Function = Callable[[HookEvent], object]


@dataclass(frozen=True)
class _Handler:
    plugin: str
    priority: int
    is_privacy_aware: bool
    function: Function


class Hooks:
    """The handlers of all plugins. On the loop."""

    def __init__(self, host: PluginHost, clock: Clock, *, budget_seconds: float = 10.0) -> None:
        self._host = host
        self._clock = clock
        self._budget_seconds = budget_seconds
        self._handlers: dict[str, list[_Handler]] = {}

    def add(self, event: str, function: Function, *, plugin: str, priority: int, is_privacy_aware: bool) -> None:
        """Call ``function`` at this event; behind those of the same priority that came before."""
        handlers = self._handlers.setdefault(event, [])
        handlers.append(_Handler(plugin, priority, is_privacy_aware, function))
        handlers.sort(key=lambda handler: handler.priority)

    def remove(self, plugin: str) -> None:
        """Take out every handler of a plugin."""
        for event, handlers in self._handlers.items():
            self._handlers[event] = [handler for handler in handlers if handler.plugin != plugin]

    def has(self, name: str, *, is_private: bool = False) -> bool:
        """Whether anybody would be told: a moment that costs time need not be made into an event for nobody."""
        return any(_is_told(name, handler, is_private) for handler in self._handlers.get(name, ()))

    async def fire(self, name: str, *, is_private: bool = False, **values: Any) -> HookEvent:
        """Tell every handler of ``name``; the event as they left it. ``values`` are fields of the event.

        ``is_private`` says that it happens in a private chat. Raises only cancellation.
        """
        event = HookEvent(chat_private=is_private, **values)
        for handler in tuple(self._handlers.get(name, ())):
            if not _is_told(name, handler, is_private) or self._host.quarantine.why_paused(handler.plugin):
                continue
            await self._call(name, handler, event)
            if event.stop_propagation:
                break
        return event

    async def _call(self, name: str, handler: _Handler, event: HookEvent) -> None:
        def contained() -> str:
            """What went wrong, in words: a stranger's exception is put into words on its own side."""
            try:
                returned = handler.function(event)
            except BaseException as error:
                return type(error).__name__ if event.chat_private else describe(error)
            if inspect.iscoroutine(returned):
                returned.close()
                return "a hook must be a plain def"
            return ""

        try:
            ran = await within(self._clock, self._budget_seconds, self._host.run_in_thread(handler.plugin, contained))
            problem = type(ran.error).__name__ if isinstance(ran, Raised) else ran.value
        except TimeoutError:
            problem = f"it took longer than {self._budget_seconds:g} s"
        if problem:
            _LOG.warning("the hook %s of plugin %s failed: %s", name, handler.plugin, problem)


def _is_told(name: str, handler: _Handler, is_private: bool) -> bool:
    if handler.is_privacy_aware or name in _ALWAYS_TOLD:
        return True
    return not is_private and name not in _AWARE_ONLY


def open_hook_file(imports: PluginImports, folder: Path, relative: str) -> ModuleType:
    """The module of a hook file, not to be imported by others. On the plugin's side; raises whatever it raises."""
    return imports.load_privately(folder, file_inside(folder, relative))


def file_inside(folder: Path, relative: str) -> Path:
    """A file of the plugin that its manifest names. Raises ``ValueError``."""
    path = Path(os.path.normpath(folder / relative))
    is_inside = path.is_relative_to(folder) and path.resolve().is_relative_to(folder.resolve())
    if not is_inside or path.suffix != ".py":
        raise ValueError("it must be a .py file inside the plugin's folder")
    if not path.is_file():
        raise ValueError("there is no such file, although plugin.json names it")
    return path


def function_of(module: ModuleType, event: str) -> Function | None:
    """The function for an event: the one of its name, else ``handle``; None when there is neither."""
    found = getattr(module, event, None) or getattr(module, "handle", None)
    return found if callable(found) else None
