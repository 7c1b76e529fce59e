"""The control socket without a socket: calls go straight to the handlers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping

from appliance.control import Caller, Handler, Peer
from appliance.errors import UsageError
from appliance.ports import Json


class FakeControl:
    """A Control on ``handlers``, called as ``peer`` (this process when none is given). ``calls`` is what was asked."""

    def __init__(self, handlers: Mapping[str, Handler], peer: Peer | None = None) -> None:
        self._handlers = handlers
        self._peer = peer or Peer(os.getuid(), os.getgid(), os.getpid())
        self.calls: list[tuple[str, Mapping[str, Json]]] = []

    async def call(
        self, method: str, params: Mapping[str, Json] | None = None, on_event: Callable[[Json], None] | None = None
    ) -> Json:
        self.calls.append((method, params or {}))
        handler = self._handlers.get(method)
        if handler is None:
            raise UsageError(f"the device knows no method {method!r}; is it an older version?")
        result = await handler(params or {}, Caller(self._peer, on_event or (lambda _event: None)))
        return json.loads(json.dumps(result, allow_nan=False))  # What cannot travel must not pass here either.
