"""The journal of the appliance's unit, through journalctl: it knows where the journal is and who may read it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any

from appliance.errors import JournalError
from appliance.ports_logs import LogLine

#: syslog's priorities, by number.
_LEVELS = ("CRITICAL", "CRITICAL", "CRITICAL", "ERROR", "WARNING", "INFO", "INFO", "DEBUG")
_LONGEST_LINE_BYTES = 1 << 20
#: What it says, and goes on, when it shows only a part or nothing.
_NO_RIGHTS = ("insufficient permissions", "not seeing messages")


class SystemdJournal:
    """Meets ``Journal``; ``program`` is what stands in for journalctl in a test."""

    def __init__(self, unit: str = "appliance", program: Sequence[str] = ("journalctl",)) -> None:
        self._unit = unit
        self._program = tuple(program)

    async def lines(self, *, count: int, since: datetime | None, follow: bool) -> AsyncIterator[LogLine]:
        """See ``Journal``."""
        if follow:
            async for _ in self.lines(count=1, since=None, follow=False):
                pass  # Who may not read it would wait for ever, and not be told.
        words = ["--unit", self._unit, "--output", "json", "--no-pager", "--lines", str(count)]
        if since is not None:
            words += ["--since", since.astimezone().strftime("%Y-%m-%d %H:%M:%S")]
        reading = await self._start([*words, "--follow"] if follow else words)
        try:
            assert reading.stdout is not None
            async for raw in reading.stdout:
                line = _read(raw)
                if line is not None:
                    yield line
            await self._check_end(reading)
        finally:
            if reading.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    reading.terminate()
                await reading.wait()

    async def _start(self, words: Sequence[str]) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                *self._program,
                *words,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=_LONGEST_LINE_BYTES,
            )
        except OSError as error:
            raise JournalError(f"the journal cannot be read: {self._program[0]}: {error.strerror}") from error

    async def _check_end(self, reading: asyncio.subprocess.Process) -> None:
        assert reading.stderr is not None
        said = (await reading.stderr.read()).decode(errors="replace").strip().splitlines()
        is_failed = await reading.wait() != 0
        if is_failed or any(hint in line for line in said for hint in _NO_RIGHTS):
            raise JournalError(
                f"the journal cannot be read: {said[0] if said else 'journalctl failed'}; try it with sudo, or add "
                "this user to the group systemd-journal"
            )


def _read(raw: bytes) -> LogLine | None:
    """One entry; None when it is none that we can show."""
    try:
        entry: dict[str, Any] = json.loads(raw)
        moment = datetime.fromtimestamp(int(entry["__REALTIME_TIMESTAMP"]) / 1e6, UTC).astimezone()
        message = entry.get("MESSAGE")
        text = bytes(message).decode(errors="replace") if isinstance(message, list) else str(message or "")
        level = _LEVELS[min(7, max(0, int(entry.get("PRIORITY", 6))))]
    except (ValueError, KeyError, TypeError):
        return None
    return LogLine.parse(moment.isoformat(timespec="milliseconds"), text, level)
