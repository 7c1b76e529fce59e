"""Workers inside ``bwrap``: no network, a root of their own with little in it, their processes out of sight."""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from appliance.adapters.worker_link import PROGRAM, StreamLink, worker_command
from appliance.errors import SandboxError
from appliance.ports_sandbox import Shelter

_LOG = logging.getLogger(__name__)

_GAPS = (
    "programs may fill the disk through the working folder, and a fault in the kernel's namespaces would let them out"
)
_EXAMINE_SECONDS = 15.0
_SCRATCH_BYTES = 64 << 20
#: Where the worker's file lies inside.
_PROGRAM_INSIDE = Path("/worker.py")
#: What programs need besides themselves; nothing in it is the owner's.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
_SETTINGS = (
    *("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "timezone", "mime.types"),
    *("passwd", "group", "nsswitch.conf", "host.conf", "hosts", "ssl/certs", "ca-certificates"),
)


class BubblewrapWorkers:
    """A ``WorkerLauncher``. ``bwrap`` is the command."""

    def __init__(self, bwrap: str = "bwrap") -> None:
        self._bwrap = bwrap

    @functools.cached_property
    def _shelter(self) -> Shelter | None:
        if shutil.which(self._bwrap) is None:
            return None
        with tempfile.TemporaryDirectory() as folder:
            command = [*self._command(Path(folder)), sys.executable, "-I", "-S", "-c", "pass"]
            try:
                done = subprocess.run(command, capture_output=True, timeout=_EXAMINE_SECONDS, check=False)
            except (OSError, subprocess.SubprocessError) as error:
                _LOG.info("bubblewrap cannot be used: %s", error)
                return None
        if done.returncode:
            _LOG.info("bubblewrap cannot be used: %s", done.stderr.decode(errors="replace").strip())
            return None
        return Shelter("bubblewrap", is_contained=True, has_network=False, gaps=_GAPS)

    def examine(self) -> Shelter | None:
        """Run nothing inside it. Blocks, for a thread; the first answer stands."""
        return self._shelter

    async def launch(self, folder: Path) -> StreamLink:
        """A worker that sees ``folder`` and the system's programs, and nothing else. Raises ``SandboxError``."""
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command(folder),
                *worker_command(_PROGRAM_INSIDE),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxError(f"bubblewrap cannot be started: {error.strerror}") from error
        if process.stdin is None or process.stdout is None:
            raise SandboxError("the sandbox has no streams")

        def hurt() -> None:
            # With it goes the first process inside, and with that the kernel ends all the others.
            with suppress(ProcessLookupError):
                process.kill()

        async def bury() -> None:
            await process.wait()

        link = StreamLink(process.stdout, process.stdin, hurt=hurt, bury=bury)
        await link.start(folder)
        return link

    def _command(self, folder: Path) -> list[str]:
        """Up to the words of what runs inside."""
        return [
            *(self._bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"),
            # First, because Python itself may lie below it.
            *("--proc", "/proc", "--dev", "/dev", "--size", str(_SCRATCH_BYTES), "--tmpfs", "/tmp"),
            *_system_binds(),
            *("--ro-bind", str(PROGRAM), str(_PROGRAM_INSIDE)),
            *("--bind", str(folder), str(folder), "--remount-ro", "/", "--chdir", str(folder), "--"),
        ]


def _system_binds() -> Iterator[str]:
    for place in map(Path, _SYSTEM):
        if place.is_symlink():
            yield from ("--symlink", str(place.readlink()), str(place))
        elif place.is_dir():
            yield from ("--ro-bind", str(place), str(place))
    for name in _SETTINGS:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    for prefix in sorted({os.path.realpath(sys.base_prefix), os.path.realpath(sys.prefix), sys.prefix}):
        if not prefix.startswith("/usr"):
            yield from ("--ro-bind", prefix, prefix)
