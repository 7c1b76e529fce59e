"""An exchange that gives scripted answers; no network."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from appliance.errors import NetworkConnectError
from appliance.network.exchange import Incoming, Outgoing
from appliance.network.lane import Lane

#: One step of a body: bytes, an error to raise, or "silence": nothing more ever comes.
Step = bytes | Exception | None


@dataclass(frozen=True)
class FakeIncoming:
    """What one request gets; a None among the steps is endless silence.

    ``error`` is raised instead of the head; with ``is_mute`` there never is a head.
    """

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    steps: Sequence[Step] = ()
    reason: str = "OK"
    lane: Lane = Lane.LAN
    error: Exception | None = None
    is_mute: bool = False

    async def pieces(self) -> AsyncIterator[bytes]:
        """The steps."""
        for step in self.steps:
            if step is None:
                await asyncio.Event().wait()
            elif isinstance(step, Exception):
                raise step
            else:
                yield step


class FakeExchange:
    """Gives one answer per request, or asks ``answer`` for each; keeps the requests.

    Out of answers, nobody is there.
    """

    def __init__(self, *answers: FakeIncoming, answer: Callable[[Outgoing], FakeIncoming] | None = None) -> None:
        self.answers = list(answers)
        self.answer = answer
        self.sent: list[Outgoing] = []
        #: Answers that are open now.
        self.open_answers = 0
        self.is_closed = False

    @contextlib.asynccontextmanager
    async def open(self, outgoing: Outgoing) -> AsyncIterator[Incoming]:
        """Open the next answer of the script."""
        self.sent.append(outgoing)
        if self.answer is None and not self.answers:
            raise NetworkConnectError("nobody answers there")
        answer = self.answer(outgoing) if self.answer is not None else self.answers.pop(0)
        if answer.error is not None:
            raise answer.error
        self.open_answers += 1
        try:
            if answer.is_mute:
                await asyncio.Event().wait()
            yield answer
        finally:
            self.open_answers -= 1

    async def close(self) -> None:
        """Drop every connection."""
        self.is_closed = True
