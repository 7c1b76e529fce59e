"""What a client may ask of the log of the running device."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping, Sequence
from datetime import datetime

from appliance.control import Caller, Handler
from appliance.errors import UsageError
from appliance.log_ring import LINES_KEPT, LogRing
from appliance.ports import Json
from appliance.ports_logs import LogLine

#: Lines in one event: many would not fit into one message, and a client has room for some hundred messages.
_LOT = 100


class LogService:
    """Serves what is kept in memory."""

    def __init__(self, ring: LogRing) -> None:
        self._ring = ring

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """Method name to handler."""
        return {"logs.tail": self.tail}

    async def tail(self, params: Mapping[str, Json], caller: Caller) -> Json:
        """Emits ``{"lines"}`` in lots, at most the last ``{"count"}``; with ``{"follow": true}`` for ever what comes.

        Only those of ``{"turn"}`` and ``{"plugin"}``, and since the ISO time ``{"since"}``, where given.
        """
        turn_id, plugin = str(params.get("turn") or ""), str(params.get("plugin") or "")
        since, count = _since(params.get("since")), _count(params.get("count", LINES_KEPT))

        def wanted(lines: Sequence[LogLine]) -> list[LogLine]:
            return [line for line in lines if line.is_wanted(turn_id, plugin) and _is_at_or_after(line, since)]

        is_first = True
        async for lines in self._ring.follow():
            chosen = wanted(lines)
            await _send(caller, chosen[-count:] if is_first else chosen)
            if not params.get("follow"):
                break
            is_first = False
        return {}


async def _send(caller: Caller, lines: Sequence[LogLine]) -> None:
    for start in range(0, len(lines), _LOT):
        caller.emit({"lines": [dataclasses.asdict(line) for line in lines[start : start + _LOT]]})
        await asyncio.sleep(0)  # lets what was emitted go out


def _since(value: Json) -> datetime | None:
    if not value:
        return None
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError as error:
        raise UsageError(f"since {value!r} is no ISO time, such as 2026-05-04T15:07") from error
    return moment.astimezone()


def _count(value: Json) -> int:
    if not isinstance(value, int) or value < 1:
        raise UsageError(f"a number of lines from 1 on is wanted, not {value!r}")
    return value


def _is_at_or_after(line: LogLine, since: datetime | None) -> bool:
    return since is None or datetime.fromisoformat(line.at) >= since
