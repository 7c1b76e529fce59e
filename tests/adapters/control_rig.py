"""The control socket with good clients, hostile ones and several at once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

from appliance.adapters.control_client import ControlClient
from appliance.control import Caller, Handler
from appliance.errors import (
    ConfigError,
    RefusedError,
    StoreError,
    UsageError,
)
from appliance.ports import Json


class Device:
    """Handlers as a device has them; ``started`` and ``ended`` tell about ``wait``, which lasts until ``go_on``."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.ended = asyncio.Event()
        self.go_on = asyncio.Event()
        self.callers: list[Caller] = []

    @property
    def handlers(self) -> Mapping[str, Handler]:
        names = ("echo", "count", "wait", "flood", "fail", "crash", "rubbish", "cancelled")
        return {name: getattr(self, name) for name in names}

    async def echo(self, params: Mapping[str, Json], caller: Caller) -> Json:
        self.callers.append(caller)
        return dict(params)

    async def count(self, params: Mapping[str, Json], caller: Caller) -> Json:
        for number in range(params["to"]):
            caller.emit({"number": number})
            await asyncio.sleep(0)
        return params["to"]

    async def wait(self, params: Mapping[str, Json], caller: Caller) -> Json:
        self.started.set()
        try:
            await self.go_on.wait()
            return "went on"
        finally:
            self.ended.set()

    async def flood(self, params: Mapping[str, Json], caller: Caller) -> Json:
        self.started.set()
        try:
            while True:
                caller.emit("x" * 10_000)
                await asyncio.sleep(0)
        finally:
            self.ended.set()

    async def fail(self, params: Mapping[str, Json], caller: Caller) -> Json:
        raise {2: UsageError, 3: RefusedError, 78: ConfigError}.get(params["code"], StoreError)("what to do")

    async def crash(self, params: Mapping[str, Json], caller: Caller) -> Json:
        raise ZeroDivisionError("a secret detail")

    async def rubbish(self, params: Mapping[str, Json], caller: Caller) -> Json:
        return object()

    async def cancelled(self, params: Mapping[str, Json], caller: Caller) -> Json:
        raise asyncio.CancelledError


class RawClient:
    """A client that sends whatever it likes."""

    def __init__(self, file: Path) -> None:
        self._file = file

    async def __aenter__(self) -> RawClient:
        self.reader, self.writer = await asyncio.open_unix_connection(str(self._file), limit=10_000_000)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.transport.abort()

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self) -> Json:
        return json.loads(await self.reader.readline())


async def assert_alive(file: Path) -> None:
    async with ControlClient(file) as client:
        assert await client.call("echo", {"alive": True}) == {"alive": True}
