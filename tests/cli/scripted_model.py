"""The scripted Responses API server on a thread of its own, for commands that run their own loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from tests.responses_server import Answer, ReceivedRequest, ResponsesServer


class ScriptedModel:
    """Serves ``answers`` inside ``with``; the last one is repeated."""

    def __init__(self, *answers: Answer, key: str = "") -> None:
        self.url = ""
        self._server = ResponsesServer(answers, key=key)
        self._is_up = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="scripted model")
        self._stop: Callable[[], object] = lambda: None

    @property
    def requests(self) -> list[ReceivedRequest]:
        """What it was asked until now."""
        return list(self._server.requests)

    def __enter__(self) -> ScriptedModel:
        self._thread.start()
        assert self._is_up.wait(20)
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop()
        self._thread.join()

    async def _serve(self) -> None:
        loop, stopped = asyncio.get_running_loop(), asyncio.Event()
        self._stop = lambda: loop.call_soon_threadsafe(stopped.set)
        async with self._server:
            self.url = self._server.url
            self._is_up.set()
            await stopped.wait()
