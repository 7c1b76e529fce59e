"""The table of modules that plugins of this contract may import."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from appliance.contracts.sapphire.chat_state import PluginChatState
from appliance.contracts.sapphire.credentials import PluginCredentials
from appliance.contracts.sapphire.plugin_loader import PluginLoader
from appliance.contracts.sapphire.scopes import Scopes
from appliance.contracts.sapphire.state import PluginState


def offered_modules(
    plugin_loader: PluginLoader,
    credentials: PluginCredentials,
    scopes: Scopes,
) -> dict[str, Mapping[str, Any]]:
    """Module -> name in it -> value; ``__getattr__`` answers for names that come and go."""
    return {
        "core.plugin_loader": {
            "plugin_loader": plugin_loader,
            "PluginState": PluginState,
            "PluginChatState": PluginChatState,
        },
        "core.credentials_manager": {"credentials": credentials},
        "core.chat.function_manager": {
            "SCOPE_REGISTRY": scopes.registry,
            "__getattr__": scopes.variable,
        },
    }
