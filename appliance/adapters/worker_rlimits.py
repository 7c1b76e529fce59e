"""Workers that are held by limits alone: the last resort, and no wall."""

from __future__ import annotations

import asyncio
import functools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from appliance.adapters.worker_link import (
    StreamLink,
    framed,
    start_message,
    unframed,
    worker_command,
)
from appliance.adapters.worker_program import descendants
from appliance.errors import SandboxError
from appliance.ports_sandbox import Shelter

_GAPS = (
    "programs run as the same user as the box, so they can read and change its files, and its keys are among them; "
    "only their time, memory, file sizes and number are limited. Install bubblewrap, or the box as a service, for more"
)
_EXAMINE_SECONDS = 15.0
#: A worker that was told to end does it within so long, or is made to.
_PATIENCE_SECONDS = 3.0
_KILL_SECONDS = 3.0


class LimitedWorkers:
    """A ``WorkerLauncher``."""

    @functools.cached_property
    def _shelter(self) -> Shelter | None:
        with tempfile.TemporaryDirectory() as folder:
            message = framed(start_message(Path(folder), cut_off=True))
            try:
                done = subprocess.run(
                    worker_command(),
                    input=message,
                    capture_output=True,
                    env={"TMPDIR": folder},
                    timeout=_EXAMINE_SECONDS,
                    check=False,
                )
                answer = unframed(done.stdout)
            except (OSError, ValueError, subprocess.SubprocessError):
                return None
        has_network = bool(answer.get("has_network", True))
        network = "they reach the network; " if has_network else ""
        return Shelter("rlimits", is_contained=False, has_network=has_network, gaps=network + _GAPS)

    def examine(self) -> Shelter | None:
        """Start one and look at its network. Blocks, for a thread; the first answer stands."""
        return self._shelter

    async def launch(self, folder: Path) -> StreamLink:
        """A worker in ``folder``. Raises ``SandboxError``."""
        scratch = await asyncio.to_thread(tempfile.mkdtemp, prefix="appliance-")
        try:
            link = await _start(folder, scratch)
        except BaseException:
            shutil.rmtree(scratch, ignore_errors=True)
            raise
        await link.start(folder, cut_off=True)
        return link


async def _start(folder: Path, scratch: str) -> StreamLink:
    try:
        process = await asyncio.create_subprocess_exec(
            *worker_command(),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={"TMPDIR": scratch},
            start_new_session=True,
        )
    except OSError as error:
        raise SandboxError(f"the sandbox cannot be started: {error.strerror}") from error
    if process.stdin is None or process.stdout is None:
        raise SandboxError("the sandbox has no streams")

    def hurt() -> None:
        # Its last work is to end what it has started.
        with suppress(ProcessLookupError):
            process.terminate()

    async def bury() -> None:
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await process.wait()
        except TimeoutError:
            await asyncio.to_thread(_kill_tree, process.pid)
            await process.wait()
        await asyncio.to_thread(shutil.rmtree, scratch, True)

    return StreamLink(process.stdout, process.stdin, hurt=hurt, bury=bury)


def _kill_tree(root: int) -> None:
    """End a worker that does not, and all below it, the worker last: it keeps its orphans."""
    deadline = time.monotonic() + _KILL_SECONDS
    while (below := descendants(root)) and time.monotonic() < deadline:
        _kill(below)
        time.sleep(0.01)
    _kill([root])


def _kill(pids: Iterable[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
