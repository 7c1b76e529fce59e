"""A turn: from the person's speech to the end of our answer. Its state, its deadline, its one end."""

from __future__ import annotations

import asyncio
import contextvars
import enum
import itertools
import uuid
from dataclasses import dataclass, field

from appliance.errors import TurnDroppedError
from appliance.events import EndReason

#: Follows into the tasks of a turn, and into the plugin code that it calls.
_CURRENT: contextvars.ContextVar[str] = contextvars.ContextVar("current_turn", default="")


def current_turn_id() -> str:
    """Id of the turn whose code runs here; "" outside a turn."""
    return _CURRENT.get()


class TurnState(enum.StrEnum):
    """Where a turn is."""

    LISTENING = "listening"
    THINKING = "thinking"
    RUNNING = "running"
    ASKING = "asking"
    SPEAKING = "speaking"
    ENDED = "ended"


@dataclass
class Turn:
    """One turn.

    It starts uncommitted: what was heard may still turn out to be half a sentence. Tools, sound and history
    wait in ``committed()``; ``drop()`` throws the turn away and none of them ever runs.
    """

    origin: str
    turn_id: str = field(default_factory=lambda: f"turn-{uuid.uuid4().hex[:10]}")
    state: TurnState = TurnState.LISTENING
    #: Why it is being cut off, from the moment somebody wanted that; the work may still be winding down.
    cut_by: EndReason | None = None
    end_reason: EndReason | None = None
    _gate: asyncio.Event = field(default_factory=asyncio.Event)
    _is_dropped: bool = False
    _calls: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def context(self) -> contextvars.Context:
        """Where its code runs, so that what is logged there is known to be of this turn."""
        context = contextvars.copy_context()
        context.run(_CURRENT.set, self.turn_id)
        return context

    @property
    def is_voice(self) -> bool:
        """Whether the answer is spoken."""
        return self.origin != "typed"

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.end_reason is not None

    def commit(self) -> None:
        """The person meant it."""
        if not self._is_dropped:
            self._gate.set()

    def drop(self) -> None:
        """Throw the turn away; a committed turn cannot be dropped any more."""
        if not self._gate.is_set():
            self._is_dropped = True
            self._gate.set()

    async def committed(self) -> None:
        """Wait until the turn is meant. Raises ``TurnDroppedError`` when it was thrown away."""
        await self._gate.wait()
        if self._is_dropped:
            raise TurnDroppedError(self.turn_id)

    def end(self, reason: EndReason) -> bool:
        """End it; True the first time only, so that ``TurnEnded`` is told once."""
        if self.is_over:
            return False
        self.end_reason = reason
        self.state = TurnState.ENDED
        self.drop()
        return True

    def next_call_id(self) -> str:
        """Id for a call of the offline brain (a model brings its own)."""
        return f"{self.turn_id}-call-{next(self._calls)}"
