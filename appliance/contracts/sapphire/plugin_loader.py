"""``core.plugin_loader``: what a plugin may ask its host for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from appliance.contracts.sapphire.chat_state import PluginChatState, PluginChatStates
from appliance.contracts.sapphire.discover import FoundPlugin
from appliance.contracts.sapphire.settings import PluginSettings
from appliance.contracts.sapphire.state import PluginState, PluginStates

_LOG = logging.getLogger(__name__)


class PluginLoader:
    """The object that plugins import as ``plugin_loader``. Any thread."""

    def __init__(
        self,
        settings: PluginSettings,
        states: PluginStates,
        chat_states: PluginChatStates,
        found: Mapping[str, FoundPlugin],
        is_loaded: Callable[[str], bool],
    ) -> None:
        self._settings = settings
        self._states = states
        self._chat_states = chat_states
        self._found = found
        self._is_loaded = is_loaded

    def get_plugin_state(self, name: str) -> PluginState:
        """The key-value store of a plugin."""
        return self._states.of(name)

    def get_chat_state(self, name: str) -> PluginChatState:
        """What a plugin keeps for single chats."""
        return self._chat_states.of(name)

    def get_plugin_settings(self, name: str) -> dict[str, Any]:
        """Its settings: declared defaults with the stored values over them."""
        plugin = self._found.get(name)
        return self._settings.read(name, plugin.manifest.defaults if plugin is not None else {})

    def get_plugin_info(self, name: str) -> dict[str, Any] | None:
        """Its manifest and where it is; None for a plugin that is not here."""
        plugin = self._found.get(name)
        if plugin is None:
            return None
        return {
            "name": name,
            "manifest": dict(plugin.manifest.raw),
            "path": str(plugin.folder),
            "loaded": self._is_loaded(name),
            "band": "system" if plugin.priority < 100 else "user",
        }

    def register_reply_handler(self, name: str, handler: Callable[..., Any]) -> None:
        """Accepted, and never called: no task of this box waits for what a daemon hears."""

    def emit_daemon_event(self, source: str, data: Any = None) -> list[Any]:
        """What a daemon hears starts nothing here; told in the log, and an empty list."""
        _LOG.info("an event %s of a daemon starts nothing: tasks that wait for events are not on this box", source)
        return []

    def active_daemon_accounts(self, source: str) -> set[str]:
        """Accounts that tasks wait for: none."""
        return set()

    def get_enabled_daemon_task(self, source: str, account: str = "", payload: Any = None) -> None:
        """The task that waits for such an event: none."""

    def __getattr__(self, name: str) -> Any:
        offered = ", ".join(method for method in dir(type(self)) if not method.startswith("_"))
        raise AttributeError(f"the plugin_loader of this box does not offer {name}; it offers {offered}")
