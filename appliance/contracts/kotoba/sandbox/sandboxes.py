"""All sandboxes of a box: which kind there is, one for each conversation, and their end with the call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from appliance.contracts.kotoba.sandbox.place import Place
from appliance.errors import SandboxError
from appliance.ports import Json
from appliance.ports_sandbox import Shelter, WorkerLauncher

#: Runs something on our loop for plugin code, which waits for it on its own.
AtHome = Callable[[Callable[[], Coroutine[Any, Any, Any]]], Awaitable[Any]]


class Sandboxes:
    """``launchers`` are tried in this order, best first.

    A worker lives as long as the calls that use it: what runs in it ends with the last of them, or with a stop.
    """

    def __init__(self, launchers: Sequence[WorkerLauncher] = ()) -> None:
        self._launchers = tuple(launchers)
        self._chosen: tuple[WorkerLauncher, Shelter] | None = None
        self._has_looked = False
        self._open_calls: set[str] = set()
        self._sessions: dict[tuple[str, Path], Place] = {}
        self._places: set[Place] = set()

    def look(self) -> Shelter | None:
        """The best kind of sandbox that there is; None when there is none. Blocks the first time. Any thread."""
        if not self._has_looked:
            examined = ((launcher, launcher.examine()) for launcher in self._launchers)
            self._chosen = next(((launcher, shelter) for launcher, shelter in examined if shelter), None)
            self._has_looked = True
        return self._chosen[1] if self._chosen is not None else None

    def in_words(self) -> str:
        """One line for the owner: which kind of sandbox there is, and what it does not protect from."""
        shelter = self.look()
        if shelter is None:
            return "none: plugins cannot run programs in a sandbox here"
        return f"{shelter.name}; not protected: {shelter.gaps}"

    # ------------------------------------------------------------------------------------ calls, on our loop

    def begin(self, call_id: str) -> None:
        """A call begins to run."""
        self._open_calls.add(call_id)

    def end(self, call_id: str) -> None:
        """A call is over, however it ended: begin to end every worker that nobody else uses."""
        self._open_calls.discard(call_id)
        for place in list(self._places):
            if call_id in place.users:
                place.users.discard(call_id)
                self._end_if_unused(place)

    async def close(self) -> None:
        """End every worker, and wait for that."""
        self._open_calls.clear()
        await asyncio.gather(*(place.close() for place in list(self._places)))

    # --------------------------------------------------------------------------------------- for one sandbox

    def place(self, folder: Path, session: str | None = None) -> Place:
        """The place of a conversation, the same each time; without one, a new place."""
        key = (session or "", folder)
        if session and key in self._sessions:
            return self._sessions[key]
        place = Place(folder, self._launcher)
        if session:
            self._sessions[key] = place
        return place

    async def open(self, place: Place, call_id: str) -> None:
        """Have a worker there. On our loop. Raises ``SandboxError``."""
        await self._used(place, call_id, place.open)

    async def ask(
        self, place: Place, call_id: str, request: Mapping[str, Json], seconds: float = 0.0
    ) -> Mapping[str, Json]:
        """Ask its worker for a call. On our loop. Raises ``SandboxError``, also for a call that is over."""

        async def work() -> Mapping[str, Json]:
            return await place.ask(request, seconds, lambda: self._is_open(call_id))

        answer: Mapping[str, Json] = await self._used(place, call_id, work)
        return answer

    async def _used(self, place: Place, call_id: str, work: Callable[[], Awaitable[Any]]) -> Any:
        if not self._is_open(call_id):
            raise SandboxError("the call that asks is over")
        self._places = {known for known in self._places if known.is_open} | {place}
        if call_id:
            place.users.add(call_id)
        try:
            return await work()
        finally:
            # The call may have ended while its worker was being started.
            place.users &= self._open_calls
            self._end_if_unused(place)

    def _is_open(self, call_id: str) -> bool:
        """Whether there may be work for that call; "" is work outside of any."""
        return not call_id or call_id in self._open_calls

    def _end_if_unused(self, place: Place) -> None:
        if not place.users:
            place.end()

    def _launcher(self) -> WorkerLauncher | None:
        return self._chosen[0] if self.look() is not None and self._chosen is not None else None
