"""Sandboxes for tests: every kind that there is, with real processes, and a look at which of those still live."""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from appliance.adapters.worker_bubblewrap import BubblewrapWorkers
from appliance.adapters.worker_link import PROGRAM
from appliance.adapters.worker_rlimits import LimitedWorkers
from appliance.adapters.worker_socket import SocketWorkers
from appliance.contracts.kotoba.context import Confirm, deny
from appliance.contracts.kotoba.contract import KotobaContract
from appliance.contracts.kotoba.discover import PluginRoot, Source
from appliance.contracts.kotoba.module_tool import Surroundings
from appliance.contracts.kotoba.sandbox.sandbox import Sandbox
from appliance.contracts.kotoba.sandbox.sandboxes import Sandboxes
from appliance.contracts.switch import PluginSwitch
from appliance.home import shipped
from appliance.ports_sandbox import WorkerLauncher
from tests.contracts.rig import Rig

KINDS = ("bubblewrap", "rlimits", "systemd")


class Manager:
    """Does what the service manager does for ``worker.socket``: a worker for each connection, on its two streams."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._server: asyncio.Server | None = None
        self._workers: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        self._server = await asyncio.start_unix_server(self._serve, str(self.path))

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        await asyncio.gather(*self._workers)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._workers.add(task := asyncio.ensure_future(self._work(reader, writer)))
        await task

    async def _work(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pipe = asyncio.subprocess.PIPE
        command = [sys.executable, "-I", "-S", str(PROGRAM)]
        worker = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
        given, answers = worker.stdin, worker.stdout
        assert given is not None and answers is not None

        async def pass_on() -> None:
            while piece := await answers.read(65536):
                writer.write(piece)
            writer.close()

        out = asyncio.create_task(pass_on())
        with suppress(OSError):
            while piece := await reader.read(65536):
                given.write(piece)
        given.close()
        await worker.wait()
        await out


def launcher_of(kind: str, manager: Manager, secret: Path) -> WorkerLauncher:
    """The real launcher of this kind."""
    kinds: dict[str, Callable[[], WorkerLauncher]] = {
        "bubblewrap": bubblewrap,
        "rlimits": LimitedWorkers,
        "systemd": lambda: SocketWorkers(manager.path, secret),
    }
    return kinds[kind]()


def bubblewrap() -> BubblewrapWorkers:
    """The real one; a system that lets nobody make namespaces cannot show what it does."""
    launcher = BubblewrapWorkers()
    if launcher.examine() is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("needs bubblewrap, and a system that lets it work")
    return launcher


async def here(work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """An ``AtHome`` for tests without a plugin host."""
    return await work()


def sandbox_in(sandboxes: Sandboxes, folder: Path) -> Sandbox:
    """A sandbox outside of any call."""
    return Sandbox(sandboxes, sandboxes.place(folder), here)


class Mark:
    """A number of seconds that no other process sleeps for."""

    def __init__(self) -> None:
        self.seconds = 10_000_000 + secrets.randbelow(10_000_000)
        self.sleep = f"sleep {self.seconds}"

    def living(self) -> list[int]:
        """Processes that sleep so long, seen from outside."""
        found = []
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                if entry.name.isdigit() and (entry / "cmdline").read_bytes() == b"sleep\0%d\0" % self.seconds:
                    found.append(int(entry.name))
        return found


class ToolRig(Rig):
    """A box with nothing but tool modules, and sandboxes for them."""

    def __init__(
        self, folder: Path, launcher: WorkerLauncher, *, confirm: Confirm = deny, only_shipped: bool = False
    ) -> None:
        super().__init__(folder)
        self.sandboxes = Sandboxes([launcher])
        self.workdir = folder / "workdir"
        root = PluginRoot(shipped("plugins"), Source.SHIPPED) if only_shipped else PluginRoot(self.home, Source.OWNER)
        self.contract = KotobaContract(
            host=self.host,
            clock=self.clock,
            roots=[root],
            switch=PluginSwitch(self.switch_file),
            surroundings=Surroundings(workdir=self.workdir, confirm=confirm, sandboxes=self.sandboxes),
            entry_points=lambda: (),
        )

    async def close(self) -> None:
        await self.sandboxes.close()
        await self.host.close()
