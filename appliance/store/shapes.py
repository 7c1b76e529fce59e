"""What the store keeps, as values and Protocols; layers above import these, not SQLite."""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from appliance.ports import Json


class Documents(Protocol):
    """Small JSON values that last (timers, volume, notices said), by collection and key."""

    async def get(self, collection: str, key: str) -> Json:
        """The value, or None when there is none."""
        ...

    async def put(self, collection: str, key: str, value: Json) -> None:
        """Store ``value``; durable when this returns. Raises ``StoreError``."""
        ...

    async def delete(self, collection: str, key: str) -> None:
        """Remove it; nothing happens when there is none."""
        ...

    async def all(self, collection: str) -> dict[str, Json]:
        """Every key and value of a collection, in the order they were first put."""
        ...


@dataclass(frozen=True)
class TurnRecord:
    """What a finished turn leaves in the conversation.

    ``items`` are Responses API input items in order (user message, calls, outputs, reply). ``heard_text`` is
    the part of the reply that was really played; ``did`` are short sentences of what tools did.
    """

    turn_id: str
    user_text: str
    reply_text: str
    heard_text: str
    items: tuple[Mapping[str, Json], ...]
    did: tuple[str, ...] = ()
    at: str = ""


class ChatLog(Protocol):
    """The conversations."""

    async def current(self) -> str:
        """Id of the chat in use (made when there is none)."""
        ...

    async def append(self, chat: str, record: TurnRecord) -> None:
        """Add a turn; durable when this returns."""
        ...

    async def turns(self, chat: str, limit: int) -> list[TurnRecord]:
        """The last ``limit`` turns since the last new topic, oldest first."""
        ...

    async def new_topic(self, chat: str) -> None:
        """Later turns no longer see the earlier ones (which stay listed)."""
        ...

    async def forget_last(self, chat: str) -> bool:
        """Delete the last turn for good; False when there is none."""
        ...

    def is_private(self, chat: str = "") -> bool:
        """Whether that chat, or the one in use, is private, or may have been, not known any more. Any thread."""
        ...


@dataclass(frozen=True)
class ChatInfo:
    """A conversation as a list shows it; ``created_at`` is ISO wall time. A private one that is not open is locked."""

    chat: str
    name: str
    is_current: bool
    is_private: bool
    created_at: str
    turns: int
    is_open: bool = True


class ChatChangeKind(enum.StrEnum):
    """What happened to a chat."""

    RENAMED = "renamed"
    DELETED = "deleted"
    CLEARED = "cleared"
    #: It was public, and is private from now on.
    VAULTED = "vaulted"


@dataclass(frozen=True)
class ChatChange:
    """Something that happened to a chat; all of it is stored by then. ``old_name`` is that of a renamed one."""

    kind: ChatChangeKind
    chat: str
    name: str
    is_private: bool
    old_name: str = ""


#: Told about changes of chats, on the loop, and waited for. It must not raise.
ChatWatcher = Callable[[ChatChange], Awaitable[None]]
