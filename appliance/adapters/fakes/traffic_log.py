"""Traffic kept in memory; can fail."""

from __future__ import annotations

from collections.abc import Sequence

from appliance.errors import StoreError
from appliance.ports_think import Traffic


class FakeTrafficLog:
    """Keeps every row as it came; ``writes`` counts the calls. While ``is_broken`` nothing can be written or read."""

    def __init__(self, rows: Sequence[Traffic] = ()) -> None:
        self.rows = list(rows)
        self.writes = 0
        self.is_broken = False

    async def add(self, rows: Sequence[Traffic]) -> None:
        """Keep the rows."""
        self._check()
        self.writes += 1
        self.rows += rows

    async def since(self, day: str) -> list[Traffic]:
        """Rows of that day and later."""
        self._check()
        return [row for row in self.rows if row.day >= day]

    def _check(self) -> None:
        if self.is_broken:
            raise StoreError("the disk is full")
