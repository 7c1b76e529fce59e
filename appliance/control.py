"""How a client speaks with the running device: requests in, events and a result out, all JSON values."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

Json = Any
"""A JSON value: None, bool, int, float, str, list or dict with string keys."""


@dataclass(frozen=True)
class Peer:
    """The process at the other end of the control socket, as the kernel tells it."""

    uid: int
    gid: int
    pid: int


@dataclass(frozen=True)
class Caller:
    """Who calls, and ``emit``: sends an event (a JSON value) before the result; never blocks, never raises.

    ``is_local`` callers are the command itself, in its own process; nobody who came through the socket is one.
    """

    peer: Peer
    emit: Callable[[Json], None]
    is_local: bool = False


#: Serves one method: parameters and caller in, the result (a JSON value) out. Cancelled when the caller goes away.
#: An ``ApplianceError`` reaches the caller as its sentence and exit code.
Handler = Callable[[Mapping[str, Json], Caller], Awaitable[Json]]


class Control(Protocol):
    """The running device, for the command line."""

    async def call(
        self, method: str, params: Mapping[str, Json] | None = None, on_event: Callable[[Json], None] | None = None
    ) -> Json:
        """The result of ``method``; events on the way go to ``on_event``. Raises ``ApplianceError``."""
        ...
