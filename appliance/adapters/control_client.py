"""The command line's end of the control socket."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from appliance.adapters.control_wire import ANSWER_LIMIT_BYTES, decode_answer, encode, error_from, short_path
from appliance.errors import ApplianceError, NotRunningError, RefusedError, UsageError
from appliance.ports import Json


class ControlClient:
    """``Control`` over the socket at ``file``, inside ``async with``; several calls may be open at once.

    Entering raises ``NotRunningError`` when no device answers there.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._numbers = itertools.count(1)
        self._open: dict[Json, _OpenCall] = {}
        self._end = ApplianceError("the device stopped before it had answered; start it again, its log says why")
        self._is_ended = False

    async def __aenter__(self) -> ControlClient:
        try:
            with short_path(self._file) as path:
                self._reader, self._writer = await asyncio.open_unix_connection(path, limit=ANSWER_LIMIT_BYTES)
        except PermissionError as error:
            raise RefusedError(f"this user may not use {self._file}; ask the appliance's owner") from error
        except OSError as error:
            raise NotRunningError(f"no device answers at {self._file}; start it with `appliance run`") from error
        self._reading = asyncio.create_task(self._read_answers())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._reading.cancel()
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()
        await asyncio.gather(self._reading, return_exceptions=True)

    async def call(
        self, method: str, params: Mapping[str, Json] | None = None, on_event: Callable[[Json], None] | None = None
    ) -> Json:
        """The result of ``method``; events on the way go to ``on_event``.

        Raises what the device raised, as the kind of ``ApplianceError`` with its exit code. A call that is given
        up goes on in the device until the connection is closed.
        """
        if self._is_ended:
            raise self._end
        number = next(self._numbers)
        call = _OpenCall(asyncio.get_running_loop().create_future(), on_event)
        self._open[number] = call
        try:
            with suppress(OSError):  # Then the reader has seen the end as well, and says it.
                self._writer.write(encode({"id": number, "method": method, "params": dict(params or {})}))
                await self._writer.drain()
            return await call.result
        finally:
            del self._open[number]

    async def _read_answers(self) -> None:
        try:
            while line := await self._reader.readline():
                self._take(decode_answer(line))
        except OSError:
            pass  # Killed in mid-call: it ends as if it had hung up.
        except (ValueError, UsageError):
            self._end = ApplianceError("the device's answer cannot be read; are its version and ours alike?")
        finally:
            self._is_ended = True
            for call in self._open.values():
                call.fail(self._end)

    def _take(self, answer: Mapping[str, Json]) -> None:
        call = self._open.get(answer.get("id"))
        if call is None:
            if answer.get("id") is None and "error" in answer:
                self._end = error_from(answer["error"])  # The device says why it hangs up.
        elif "event" in answer:
            call.tell(answer["event"])
        elif "error" in answer:
            call.fail(error_from(answer["error"]))
        elif not call.result.done():
            call.result.set_result(answer.get("result"))


@dataclass(frozen=True)
class _OpenCall:
    """A call that waits for its result."""

    result: asyncio.Future[Json]
    on_event: Callable[[Json], None] | None

    def tell(self, event: Json) -> None:
        """Whoever listens may fail (a closed terminal); that is this call's end, not the connection's."""
        try:
            if self.on_event is not None:
                self.on_event(event)
        except Exception as error:
            self.fail(error)

    def fail(self, error: Exception) -> None:
        if not self.result.done():
            self.result.set_exception(error)
