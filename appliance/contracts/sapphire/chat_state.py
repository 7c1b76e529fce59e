"""What a plugin keeps for one chat, as plugins see it; ``store/chat_rows.py`` keeps it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from appliance.errors import NoChatError, StoreError
from appliance.store.chat_rows import ChatRows

T = TypeVar("T")


class PluginChatState:
    """As plugins see it. Any thread; what was written lasts when the method returns.

    A chat goes by its name. In a private chat that is locked, reads find nothing and writes raise ``RuntimeError``;
    writing for a chat that is not there raises ``ValueError``. Values are JSON: anything else raises ``TypeError``,
    and nothing has changed then.
    """

    def __init__(self, plugin: str, rows: ChatRows) -> None:
        self._plugin = plugin
        self._rows = rows

    def put(self, chat: str, key: str, value: Any) -> None:
        """Keep one value under the key, in place of the one before."""
        self._write(lambda: self._rows.put(self._plugin, chat, key, value))

    def get(self, chat: str, key: str, default: Any = None) -> Any:
        """The value that was put there, or ``default``."""
        return self._read(lambda: self._rows.get(self._plugin, chat, key, default))

    def append(self, chat: str, key: str, value: Any) -> int:
        """Add a row behind the others; its number, from 1. Costs the same however many there are."""
        return self._write(lambda: self._rows.append(self._plugin, chat, key, [value]))[0]

    def append_many(self, chat: str, key: str, values: Iterable[Any]) -> list[int]:
        """Add several rows in one transaction, all or none; their numbers."""
        return self._write(lambda: self._rows.append(self._plugin, chat, key, list(values)))

    def read_all(self, chat: str, key: str) -> list[Any]:
        """Every row of the key, in order."""
        return self._read(lambda: self._rows.read_all(self._plugin, chat, key))

    def replace(self, chat: str, key: str, rows: Iterable[Any]) -> None:
        """Put these rows in the place of all that the key has, numbered anew from 1."""
        self._write(lambda: self._rows.replace(self._plugin, chat, key, list(rows)))

    def delete(self, chat: str, key: str | None = None) -> None:
        """Delete a key; without one, everything that this plugin keeps for the chat."""
        self._write(lambda: self._rows.delete(self._plugin, chat, key))

    def keys(self, chat: str) -> list[str]:
        """The keys in use, sorted."""
        return self._read(lambda: self._rows.keys(self._plugin, chat))

    def get_all_chats(self, key: str) -> dict[str, Any]:
        """What was put under the key in every chat that can be seen now, by name of the chat."""
        return self._read(lambda: self._rows.slots(self._plugin, key))

    def meta(self, chat: str, key: str) -> dict[str, Any] | None:
        """``{"rows", "updated_at"}`` of a key, or None when nothing is there."""
        return self._read(lambda: self._rows.meta(self._plugin, chat, key))

    @staticmethod
    def _read(work: Callable[[], T]) -> T:
        try:
            return work()
        except StoreError as error:
            raise RuntimeError(str(error)) from error

    @staticmethod
    def _write(work: Callable[[], T]) -> T:
        try:
            return work()
        except NoChatError as error:
            raise ValueError(str(error)) from error
        except StoreError as error:
            raise RuntimeError(str(error)) from error
        except (ValueError, RecursionError) as error:
            raise TypeError(f"what is kept for a chat is JSON only: {error}") from error


class PluginChatStates:
    """One view of the rows for each plugin. Any thread."""

    def __init__(self, rows: ChatRows) -> None:
        self._rows = rows

    def of(self, name: str) -> PluginChatState:
        """That of the plugin. Raises ``ValueError`` for what is no name."""
        if not isinstance(name, str) or not name:
            raise ValueError(f"{name!r} cannot be the name of a plugin")
        return PluginChatState(name, self._rows)
