"""One folder with at most one worker in it, on our side."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from appliance.errors import SandboxError
from appliance.ports import Json
from appliance.ports_sandbox import WorkerLauncher, WorkerLink

_LOG = logging.getLogger(__name__)

#: On top of what a command may take: a worker that says nothing for so long is ended.
_ANSWER_SECONDS = 15.0


class Place:
    """Starts its worker when it is first needed; ``users`` are the calls that work here. For our loop."""

    def __init__(self, folder: Path, launcher: Callable[[], WorkerLauncher | None]) -> None:
        self.folder = folder
        self.users: set[str] = set()
        self._launcher = launcher
        self._link: WorkerLink | None = None
        self._line = asyncio.Lock()
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def is_open(self) -> bool:
        """Whether anything is, or may soon be, in it."""
        return bool(self._link or self._ending or self._line.locked())

    async def open(self) -> None:
        """Have a worker. Raises ``SandboxError``."""
        async with self._line:
            await self._worker()

    async def ask(
        self, request: Mapping[str, Json], seconds: float = 0.0, is_wanted: Callable[[], bool] = lambda: True
    ) -> Mapping[str, Json]:
        """The worker's answer to a request that may take so long. Raises ``SandboxError``.

        Whoever stops waiting ends the worker, with everything that runs in it. ``is_wanted`` is asked when the
        request's turn has come.
        """
        async with self._line:
            link = await self._worker()
            if not is_wanted():
                raise SandboxError("the call that asks is over")
            try:
                async with asyncio.timeout(seconds + _ANSWER_SECONDS):
                    answer = json.loads(await link.ask(json.dumps(request).encode()))
            except BaseException as error:
                self.end()
                if isinstance(error, TimeoutError | ValueError):
                    raise SandboxError("the sandbox does not answer") from error
                raise
        return answer if isinstance(answer, dict) else {}

    def end(self) -> None:
        """Begin to end the worker, if there is one; the next request gets another."""
        link, self._link = self._link, None
        if link is not None:
            link.kill()
            task = asyncio.create_task(link.ended(), name=f"end of the sandbox in {self.folder}")
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """End the worker and wait until nothing of it is left."""
        self.end()
        await asyncio.gather(*self._ending, return_exceptions=True)

    async def _worker(self) -> WorkerLink:
        if self._link is None:
            launcher = self._launcher()
            if launcher is None:
                raise SandboxError("there is no sandbox on this box")
            await asyncio.to_thread(self.folder.mkdir, mode=0o700, parents=True, exist_ok=True)
            self._link = await launcher.launch(self.folder)
        return self._link
