"""Scopes: which account a turn works with, as context variables that tools read."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

_PREFIX = "scope_"
#: A chat that has this for a scope has it switched off: the tool reads None.
_SWITCHED_OFF = "none"


class Scopes:
    """The scopes there are. ``rag`` and ``private`` always, others while their plugin is loaded. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: As plugins see it: key -> {"var", "default", "setting", "plugin_name"}.
        self.registry: dict[str, dict[str, Any]] = {}
        self._add("rag", None, None, "")
        self._add("private", False, "private_chat", "")

    def register(self, key: str, plugin: str, default: str = "default") -> str:
        """Offer a scope; "" when that went well, else half a sentence why not (the first of a name stays)."""
        if not key.isidentifier():
            return f"its scope {key!r} is not a name that Python can import"
        with self._lock:
            holder = self.registry.get(key)
            if holder is not None and holder["plugin_name"] != plugin:
                return f"its scope {key} exists already, from {holder['plugin_name'] or 'the box'}"
            if holder is None:
                self._add(key, default, f"{key}_scope", plugin)
        return ""

    def unregister(self, plugin: str) -> None:
        """Forget the scopes of a plugin."""
        with self._lock:
            for key in [key for key, entry in self.registry.items() if entry["plugin_name"] == plugin]:
                del self.registry[key]

    def variable(self, name: str) -> ContextVar[Any]:
        """The variable called ``scope_<key>``. Raises ``AttributeError`` when there is none."""
        entry = self.registry.get(name.removeprefix(_PREFIX)) if name.startswith(_PREFIX) else None
        if entry is None:
            offered = ", ".join(f"{_PREFIX}{key}" for key in sorted(self.registry))
            raise AttributeError(f"this box does not offer {name} in core.chat.function_manager; it has {offered}")
        variable: ContextVar[Any] = entry["var"]
        return variable

    def enter(self, chat: str, *, is_private: bool, accounts: Mapping[str, str]) -> None:
        """Set what holds for one call, in the context of that call. An account of "none" switches a scope off."""
        for key, entry in list(self.registry.items()):
            account = accounts.get(key)
            if account is not None:
                entry["var"].set(None if account == _SWITCHED_OFF else account or entry["default"])
        self.variable("scope_rag").set(f"__rag__:{chat}")
        self.variable("scope_private").set(is_private)

    def _add(self, key: str, default: Any, setting: str | None, plugin: str) -> None:
        variable: ContextVar[Any] = ContextVar(f"{_PREFIX}{key}", default=default)
        self.registry[key] = {"var": variable, "default": default, "setting": setting, "plugin_name": plugin}
