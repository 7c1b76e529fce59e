"""What passed the doors, day by day: who asked which host how often, and how many bytes. Never a path or a query."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable

from appliance.clock import Clock
from appliance.errors import StoreError
from appliance.network.passage import Passage
from appliance.ports_think import Traffic, TrafficLog

_LOG = logging.getLogger(__name__)

#: Seldom, for the sake of the card.
_WRITE_SECONDS = 60.0
#: More different hosts than this before the next writing are counted together: a plugin shall not fill the memory.
_MOST_PENDING = 500
_OTHERS = "(other hosts)"

#: Day, asker, lane, host.
_Key = tuple[str, str, str, str]


class Seen:
    """Counts; ``note`` may be called from any thread, the rest belongs to the event loop."""

    def __init__(self, log: TrafficLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._lock = threading.Lock()
        self._pending = _Sums()

    def note(self, passage: Passage) -> None:
        """A request was sent."""
        key = (self._day(), passage.who, passage.lane.value, passage.host)
        with self._lock:
            if key not in self._pending and len(self._pending) >= _MOST_PENDING:
                key = (*key[:3], _OTHERS)
            self._pending.add([Traffic(*key, 1, passage.bytes_out, passage.bytes_in)])

    async def since(self, day: str) -> list[Traffic]:
        """Everything of ``day`` (ISO date) and later, what is not written yet included. Raises ``StoreError``."""
        kept = await self._log.since(day)
        with self._lock:
            return _Sums([*kept, *(row for row in self._pending.rows() if row.day >= day)]).rows()

    async def today(self) -> list[Traffic]:
        """Everything of today. Raises ``StoreError``."""
        today = self._day()
        return [row for row in await self.since(today) if row.day == today]

    async def run(self) -> None:
        """Write now and then; never ends by itself."""
        while True:
            await self._clock.sleep(_WRITE_SECONDS)
            await self.flush()

    async def flush(self) -> None:
        """Write what is new; when that fails it waits for the next time."""
        with self._lock:
            pending, self._pending = self._pending, _Sums()
        if not pending:
            return
        try:
            await self._log.add(pending.rows())
        except StoreError as error:
            _LOG.error("what passed the network cannot be written: %s", error)
            with self._lock:
                self._pending.add(pending.rows())

    def _day(self) -> str:
        return self._clock.now().date().isoformat() if self._clock.is_trusted() else ""


class _Sums:
    """Counts by key: requests, bytes out, bytes in."""

    def __init__(self, rows: Iterable[Traffic] = ()) -> None:
        self._counts: dict[_Key, tuple[int, int, int]] = {}
        self.add(rows)

    def __len__(self) -> int:
        return len(self._counts)

    def __contains__(self, key: _Key) -> bool:
        return key in self._counts

    def add(self, rows: Iterable[Traffic]) -> None:
        for row in rows:
            key = (row.day, row.who, row.lane, row.host)
            requests, bytes_out, bytes_in = self._counts.get(key, (0, 0, 0))
            self._counts[key] = (requests + row.requests, bytes_out + row.bytes_out, bytes_in + row.bytes_in)

    def rows(self) -> list[Traffic]:
        return [Traffic(*key, *counts) for key, counts in self._counts.items()]
