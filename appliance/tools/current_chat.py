"""In which chat the call runs whose code is running, for those who are asked from inside a tool."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class _Place:
    chat: str = ""
    turn_id: str = ""
    is_private: bool = False


#: Follows into the tasks of a call and the threads that the plugin host starts, not into those of a plugin's own.
_NOWHERE = _Place()
_CURRENT: ContextVar[_Place] = ContextVar("current_chat", default=_NOWHERE)


def current_chat() -> str:
    """Id of the chat of the call around us; "" outside a call, as in a thread that a plugin began by itself."""
    return _CURRENT.get().chat


def current_turn() -> str:
    """Id of the turn of the call around us; "" outside a turn."""
    return _CURRENT.get().turn_id


def is_private_call() -> bool:
    """Whether the call around us belongs to a private chat: nothing of it goes out, or into a log."""
    return _CURRENT.get().is_private


@contextmanager
def in_chat(chat: str, turn_id: str = "", *, is_private: bool = False) -> Iterator[None]:
    """What runs inside belongs to this chat, and to this turn."""
    token = _CURRENT.set(_Place(chat, turn_id, is_private))
    try:
        yield
    finally:
        _CURRENT.reset(token)
