"""A model endpoint that can be asked ahead: for words that are heard but not yet surely meant.

A draft is a request that runs while the person may still go on speaking; what comes of it is kept back here. When the
very same request is made in earnest, its answer is the draft's; any other request ends the draft. Nothing else comes
out of a draft, so it can run no tool, make no sound and be in no history: whoever does these things sees only answers
to requests that were made in earnest.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Protocol

from appliance.ports_think import Completed, ModelEndpoint, ModelEvent, ModelRequest, TextDelta

#: So much of an answer is kept back; then the draft is not read on until it is wanted, and the server waits.
_MOST_EVENTS = 1_000


class DraftWatch(Protocol):
    """Follows a draft; nothing here may take long."""

    def text(self, delta: str) -> None:
        """A piece of text came, and nobody has asked in earnest until now."""
        ...

    def whole(self) -> None:
        """The answer is whole, and nobody has asked in earnest until now."""
        ...

    def over(self, *, is_used: bool) -> None:
        """It became the answer to a request in earnest, or was thrown away; once, last."""
        ...


class Draft:
    """One answer that nobody has asked for in earnest yet; made by ``DraftedEndpoint.begin``."""

    def __init__(self, request: ModelRequest, answer: AsyncIterator[ModelEvent], watch: DraftWatch) -> None:
        self.request = request
        #: What ended it before its end; None while it is well.
        self.error: Exception | None = None
        self._watch = watch
        self._is_taken = self._is_over = False
        self._events: asyncio.Queue[ModelEvent | None] = asyncio.Queue(_MOST_EVENTS)
        self.reading = asyncio.create_task(self._read(answer), name="draft")

    def take(self) -> AsyncGenerator[ModelEvent, None]:
        """The answer from its beginning, for the one who asks in earnest."""
        self._is_taken = True
        self._end(is_used=True)
        return self._taken()

    def drop(self) -> None:
        """Nobody wants it: close the connection."""
        self.reading.cancel()
        self._end(is_used=False)

    async def _read(self, answer: AsyncIterator[ModelEvent]) -> None:
        try:
            async for event in answer:
                if not self._is_taken:
                    self._tell(event)
                await self._events.put(event)
        except Exception as error:
            # Whoever takes the draft meets it; when nobody does, the request made in earnest fails the same way.
            self.error = error
        finally:
            await _close(answer)
        await self._events.put(None)

    async def _taken(self) -> AsyncGenerator[ModelEvent, None]:
        try:
            while (event := await self._events.get()) is not None:
                yield event
            if self.error is not None:
                raise self.error
        finally:
            self.reading.cancel()

    def _tell(self, event: ModelEvent) -> None:
        if isinstance(event, TextDelta):
            self._watch.text(event.text)
        elif isinstance(event, Completed):
            self._watch.whole()

    def _end(self, *, is_used: bool) -> None:
        if not self._is_over:
            self._is_over = True
            self._watch.over(is_used=is_used)


class DraftedEndpoint:
    """A ``ModelEndpoint`` in front of another one; at most one draft and one warming up at a time."""

    def __init__(self, endpoint: ModelEndpoint) -> None:
        self._endpoint = endpoint
        self._draft: Draft | None = None
        self._warming: asyncio.Task[None] | None = None
        #: Cancelled, and perhaps still closing their connections.
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def name(self) -> str:
        """Model and host, for people."""
        return self._endpoint.name

    @property
    def is_reasoning(self) -> bool:
        """See ``ModelEndpoint``."""
        return self._endpoint.is_reasoning

    def begin(self, request: ModelRequest, watch: DraftWatch) -> None:
        """Ask ahead, instead of the draft before."""
        self.drop()
        self._cool_down()
        self._draft = Draft(request, self._endpoint.respond(request), watch)
        self._follow(self._draft.reading)

    def drop(self) -> None:
        """End the draft, if there is one."""
        draft, self._draft = self._draft, None
        if draft is not None:
            draft.drop()

    async def respond(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """The answer, from the draft of this very request if there is one; a draft that failed was never asked."""
        self._cool_down()
        draft, self._draft = self._draft, None
        if draft is not None and draft.request == request and draft.error is None:
            answer: AsyncIterator[ModelEvent] = draft.take()
        else:
            if draft is not None:
                draft.drop()
            answer = self._endpoint.respond(request)
        try:
            async for event in answer:
                yield event
        finally:
            await _close(answer)

    async def warm_up(self, request: ModelRequest | None) -> None:
        """See ``ModelEndpoint``; it ends early, without a word, as soon as something is asked."""
        self._cool_down()
        warming = self._warming = asyncio.create_task(self._endpoint.warm_up(request), name="warm up the model")
        self._follow(warming)
        try:
            await asyncio.wait({warming})
        finally:
            warming.cancel()
        if not warming.cancelled():
            warming.result()

    async def close(self) -> None:
        """End what runs, and wait for it."""
        self.drop()
        self._cool_down()
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _cool_down(self) -> None:
        """End the warming up.

        A small server (llama.cpp with one slot) answers one request after the other, and would let what matters wait
        for what does not. What it has computed of the beginning it keeps, so nothing is lost.
        """
        if self._warming is not None:
            self._warming.cancel()

    def _follow(self, task: asyncio.Task[None]) -> None:
        """The loop itself holds no tasks."""
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


async def _close(answer: AsyncIterator[ModelEvent]) -> None:
    # Closing the iterator closes the connection; the port asks for an iterator only, which need not have ``aclose``.
    if isinstance(answer, AsyncGenerator):
        await answer.aclose()
