"""The line to a worker program: JSON messages, each behind its length in four bytes, on a pair of streams."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from appliance.adapters import worker_program
from appliance.adapters.worker_program import LARGEST_MESSAGE_BYTES, LENGTH
from appliance.errors import SandboxError
from appliance.ports import Json

#: The file of the worker; it is started by its path.
PROGRAM = Path(worker_program.__file__)
#: What a worker may take to answer that it is there.
_START_SECONDS = 15.0


class StreamLink:
    """A ``WorkerLink``. ``hurt`` begins the end of whoever is at the other side, ``bury`` waits and makes sure."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        hurt: Callable[[], None],
        bury: Callable[[], Awaitable[None]],
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._hurt = hurt
        self._bury = bury
        self._end: asyncio.Task[None] | None = None

    async def start(self, folder: Path, **wishes: Json) -> dict[str, Json]:
        """Tell the worker where it works; what it says about its place. Raises ``SandboxError`` and ends it."""
        message = json.dumps(start_message(folder, **wishes)).encode()
        try:
            async with asyncio.timeout(_START_SECONDS):
                answer = json.loads(await self.ask(message))
        except (TimeoutError, ValueError) as error:
            self.kill()
            raise SandboxError("the sandbox does not start") from error
        except BaseException:
            self.kill()
            raise
        if "error" in answer:
            self.kill()
            raise SandboxError(f"the sandbox cannot work in {folder}: {answer.get('sentence')}")
        return dict(answer)

    async def ask(self, message: bytes) -> bytes:
        """Send a message and wait for its answer. Raises ``SandboxError`` when the worker has gone."""
        if self._end is not None:
            raise SandboxError("the sandbox has ended")
        if len(message) > LARGEST_MESSAGE_BYTES:
            raise SandboxError("that is too much for the sandbox at once")
        try:
            self._writer.write(LENGTH.pack(len(message)) + message)
            await self._writer.drain()
            (length,) = LENGTH.unpack(await self._reader.readexactly(LENGTH.size))
            if length > LARGEST_MESSAGE_BYTES:
                raise SandboxError("the sandbox answered too much")
            return await self._reader.readexactly(length)
        except (asyncio.IncompleteReadError, OSError) as error:
            raise SandboxError("the sandbox has ended by itself") from error

    def kill(self) -> None:
        """Begin to end it now; safe to call twice."""
        if self._end is None:
            self._hurt()
            self._end = asyncio.create_task(self._see_off(), name="see off a worker")

    async def ended(self) -> None:
        """Wait until nothing of it is left; after ``kill``."""
        if self._end is not None:
            await asyncio.shield(self._end)

    async def _see_off(self) -> None:
        try:
            await self._bury()
        finally:
            self._writer.close()


def start_message(folder: Path, **wishes: Json) -> dict[str, Json]:
    """The first message to every worker."""
    return {"do": "start", "folder": str(folder), "python": sys.executable, **wishes}


def framed(message: Mapping[str, Json]) -> bytes:
    """A message as it travels."""
    body = json.dumps(message).encode()
    return LENGTH.pack(len(body)) + body


def unframed(data: bytes) -> dict[str, Json]:
    """The first message in ``data``. Raises ``ValueError`` when there is none."""
    if len(data) < LENGTH.size:
        raise ValueError("no answer")
    (length,) = LENGTH.unpack(data[: LENGTH.size])
    return dict(json.loads(data[LENGTH.size : LENGTH.size + length]))


def worker_command(program: Path = PROGRAM) -> list[str]:
    """What starts a worker: alone, without anybody's packages, leaving nothing behind."""
    return [sys.executable, "-I", "-S", "-B", str(program)]
