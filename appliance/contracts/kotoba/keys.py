"""``ctx.db``, as far as this box has one for tools: the keys of the plugin."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, NoReturn, Protocol

#: The original host writes it before the name of a key that a tool has asked for.
_PREFIX = "cred:"


class Secrets(Protocol):
    """Where the owner's secrets are; a name with ``plugin:`` before it belongs to that plugin."""

    def of_plugin(self, plugin: str) -> Mapping[str, str]:
        """The secrets of one plugin, without its name before theirs."""
        ...

    def set(self, name: str, value: str) -> None:
        """Keep one; blocks on the disk. Raises ``UsageError``, ``StoreError``."""
        ...


class PluginKeys:
    """Keys of one plugin: what ``appliance credential set`` keeps for it, and what it keeps itself."""

    def __init__(self, plugin: str, secrets: Secrets | None) -> None:
        self._plugin = plugin
        self._secrets = secrets

    async def get_key(self, name: str) -> str | None:
        """The key of that name; None when there is none."""
        return self._secrets.of_plugin(self._plugin).get(name.removeprefix(_PREFIX)) if self._secrets else None

    async def save_key(self, name: str, value: str) -> None:
        """Keep a key for this plugin. Raises ``UsageError`` for a name or value that cannot be kept, ``StoreError``."""
        if self._secrets is None:
            raise RuntimeError("there is no place for keys here")
        await asyncio.to_thread(self._secrets.set, f"{self._plugin}:{name.removeprefix(_PREFIX)}", value)

    def __getattr__(self, name: str) -> Any:
        return _missing(name)


def _missing(name: str) -> NoReturn:
    raise AttributeError(f"this box does not offer {name} in ctx.db; it offers there: get_key, save_key")
