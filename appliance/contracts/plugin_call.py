"""One piece of plugin work on its way through the host, and how it ended."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from appliance.contracts.children import Children
from appliance.store.running_notes import Doing, RunningNotes

T = TypeVar("T")


@dataclass(frozen=True)
class Returned(Generic[T]):
    """The work came to its end."""

    value: T


@dataclass(frozen=True)
class Raised:
    """The work ended in an exception of any kind: ``SystemExit`` and a stray ``CancelledError`` too."""

    error: BaseException


Ran: TypeAlias = Returned[T] | Raised


class LoopLostError(Exception):
    """The plugin loop went away under this work, which is not to blame for it."""


@dataclass(eq=False)
class PluginCall:
    """Bookkeeping of one piece of plugin work; made on our loop, run on the plugin's side."""

    plugin: str
    #: Belongs to our loop.
    ended: asyncio.Future[Ran[Any]]
    doing: Doing = Doing.CALL
    #: Where it is noted while its code runs.
    notes: RunningNotes = field(default_factory=RunningNotes)
    #: A copy of the caller's context variables, in which the work runs.
    context: contextvars.Context = field(init=False)
    #: Another one, for what runs on our loop at the work's request.
    home_context: contextvars.Context = field(init=False)
    #: False once nobody waits for it: it has ended, it was cancelled, or its budget is used up.
    is_awaited: bool = True
    is_started: bool = False
    #: Threads that its ``asyncio.to_thread`` calls started.
    threads: list[threading.Thread] = field(default_factory=list)
    #: Processes that it started.
    children: Children = field(default_factory=Children)

    def __post_init__(self) -> None:
        self.context, self.home_context = contextvars.copy_context(), contextvars.copy_context()
        self.context.run(CURRENT_CALL.set, self)

    def noted(self) -> AbstractContextManager[None]:
        """Its code runs inside the block: should the process end there, it is known whose code that was."""
        return self.notes.during(self.plugin, self.doing)

    def finish(self, ran: Ran[Any]) -> None:
        """Say how it ended; any thread, the first time counts."""
        try:
            self.ended.get_loop().call_soon_threadsafe(self._finish_at_home, ran)
        except RuntimeError:
            # Our loop is closed: the program is ending and nobody waits.
            return

    def _finish_at_home(self, ran: Ran[Any]) -> None:
        if not self.ended.done():
            self.ended.set_result(ran)


#: The call whose code runs here; inherited by the tasks and ``to_thread`` threads that it starts.
CURRENT_CALL: contextvars.ContextVar[PluginCall] = contextvars.ContextVar("current_plugin_call")


def current_plugin() -> str:
    """Name of the plugin whose code runs here; "" outside plugin code."""
    call = CURRENT_CALL.get(None)
    return call.plugin if call is not None else ""
