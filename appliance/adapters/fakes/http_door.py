"""An HTTP door that opens on scripted answers; no network."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field

from appliance.errors import NetworkError
from appliance.ports import Json
from appliance.ports_think import HttpStream

#: One step of a body: a line, an error to raise, or something to wait for.
Step = str | Exception | asyncio.Event


@dataclass(frozen=True)
class FakeAnswer:
    """What one request gets. ``error`` is raised, and ``opens_after`` awaited, instead of or before the head."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    lines: Sequence[Step] = ()
    error: Exception | None = None
    opens_after: asyncio.Event | None = None


@dataclass(frozen=True)
class SentRequest:
    """What went through the door."""

    method: str
    url: str
    headers: Mapping[str, str]
    json: Json
    connect_seconds: float
    read_seconds: float


class FakeHttpDoor:
    """Gives one scripted answer per request; keeps the requests. Out of answers, nobody is there."""

    def __init__(self, *answers: FakeAnswer) -> None:
        self.answers = list(answers)
        self.requests: list[SentRequest] = []
        #: Answers that are open now.
        self.open_streams = 0
        self.is_closed = False

    @contextlib.asynccontextmanager
    async def stream(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: Json = None,
        connect_seconds: float = 10.0,
        read_seconds: float = 60.0,
        follow_redirects: bool = False,
    ) -> AsyncIterator[HttpStream]:
        """Open the next answer of the script; a redirect is an answer like any other."""
        self.requests.append(SentRequest(method, url, dict(headers or {}), json, connect_seconds, read_seconds))
        if not self.answers:
            raise NetworkError("nobody answers there")
        answer = self.answers.pop(0)
        if answer.opens_after is not None:
            await answer.opens_after.wait()
        if answer.error is not None:
            raise answer.error
        self.open_streams += 1
        try:
            yield _FakeStream(answer)
        finally:
            self.open_streams -= 1

    async def close(self) -> None:
        """Drop every connection."""
        self.is_closed = True


class _FakeStream:
    def __init__(self, answer: FakeAnswer) -> None:
        self._answer = answer

    @property
    def status(self) -> int:
        return self._answer.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self._answer.headers

    async def lines(self) -> AsyncIterator[str]:
        for step in self._answer.lines:
            if isinstance(step, asyncio.Event):
                await step.wait()
            elif isinstance(step, Exception):
                raise step
            else:
                yield step

    async def read(self, limit_bytes: int = 1_000_000) -> bytes:
        body = "\n".join([line async for line in self.lines()])
        return body.encode()[:limit_bytes]
