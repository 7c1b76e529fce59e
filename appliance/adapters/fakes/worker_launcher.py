"""Workers that run nothing, and answer as they are told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

from appliance.errors import SandboxError
from appliance.ports import Json
from appliance.ports_sandbox import Shelter

SHELTER = Shelter("fake", is_contained=True, has_network=False, gaps="it runs nothing")


class FakeWorkerLink:
    """A ``WorkerLink``. ``asked`` is what it got."""

    def __init__(self, launcher: FakeWorkerLauncher) -> None:
        self._launcher = launcher
        self.asked: list[Mapping[str, Json]] = []
        self.is_killed = False

    async def ask(self, message: bytes) -> bytes:
        """The next answer; while the launcher ``hangs``, none."""
        self.asked.append(json.loads(message))
        if self._launcher.hangs:
            await asyncio.Event().wait()
        if self._launcher.is_broken or self.is_killed:
            raise SandboxError("the sandbox has ended by itself")
        usual = {"exit_code": 0, "stdout": "", "stderr": ""}
        return json.dumps(self._launcher.answers.pop(0) if self._launcher.answers else usual).encode()

    def kill(self) -> None:
        """Noted."""
        self.is_killed = True

    async def ended(self) -> None:
        """At once."""


class FakeWorkerLauncher:
    """A ``WorkerLauncher``; ``links`` are the workers that it has started, ``answers`` what they say next."""

    def __init__(self, shelter: Shelter | None = SHELTER) -> None:
        self._shelter = shelter
        self.links: list[FakeWorkerLink] = []
        self.folders: list[Path] = []
        self.answers: list[Mapping[str, Json]] = []
        self.hangs = False
        #: When there is one, workers start when it opens.
        self.door: asyncio.Event | None = None
        self.is_broken = False
        self.examined = 0

    def examine(self) -> Shelter | None:
        """Counted."""
        self.examined += 1
        return self._shelter

    async def launch(self, folder: Path) -> FakeWorkerLink:
        """A new one."""
        if self.is_broken:
            raise SandboxError("the fake sandbox does not start")
        self.folders.append(folder)
        if self.door is not None:
            await self.door.wait()
        self.links.append(FakeWorkerLink(self))
        return self.links[-1]
