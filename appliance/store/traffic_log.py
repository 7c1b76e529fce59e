"""Which hosts were asked, day by day."""

from __future__ import annotations

from collections.abc import Sequence

from appliance.ports_think import Traffic
from appliance.store.database import Connection, Database

#: Long enough to ask about last month.
_DAYS_KEPT = 90

_ADD = """
INSERT INTO traffic (day, who, lane, host, requests, bytes_out, bytes_in) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (day, who, lane, host) DO UPDATE SET
    requests = requests + excluded.requests,
    bytes_out = bytes_out + excluded.bytes_out,
    bytes_in = bytes_in + excluded.bytes_in"""

_FORGET = f"DELETE FROM traffic WHERE day != '' AND day < (SELECT date(max(day), '-{_DAYS_KEPT} days') FROM traffic)"


class StoredTraffic:
    """``TrafficLog`` in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, rows: Sequence[Traffic]) -> None:
        def work(connection: Connection) -> None:
            for row in rows:
                values = (row.day, row.who, row.lane, row.host, row.requests, row.bytes_out, row.bytes_in)
                connection.execute(_ADD, values)
            connection.execute(_FORGET)

        await self._database.arun(work)

    async def since(self, day: str) -> list[Traffic]:
        query = "SELECT day, who, lane, host, requests, bytes_out, bytes_in FROM traffic WHERE day >= ? ORDER BY day"
        rows = await self._database.arun(lambda connection: connection.execute(query, (day,)).fetchall())
        return [Traffic(*row) for row in rows]
