"""Standing permissions of the owner, as rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from appliance.clock import Clock
from appliance.errors import StoreError
from appliance.store.database import Database


@dataclass(frozen=True)
class Grant:
    """Which calls may run without asking: a tool of a plugin in exactly this version.

    ``arguments_json`` is the canonical JSON of the only arguments that are meant; None for any. ``expires_at`` is
    ISO wall time, "" for never.
    """

    number: int
    origin: str
    tool: str
    plugin_digest: str
    arguments_json: str | None
    uid: int
    created_at: str
    expires_at: str

    def is_expired(self, now: datetime) -> bool:
        """Whether its time is over."""
        return bool(self.expires_at) and now >= datetime.fromisoformat(self.expires_at)


class StoredGrants:
    """The rows. Every method raises ``StoreError``."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(
        self, *, origin: str, tool: str, plugin_digest: str, arguments_json: str | None, uid: int, days: float | None
    ) -> Grant:
        """Write one down; durable when this returns."""
        if not self._database.is_lasting:
            raise StoreError("a standing permission cannot be kept: the store is in memory only")
        now = self._clock.now()
        created_at = now.isoformat(timespec="seconds")
        expires_at = None if days is None else (now + timedelta(days=days)).isoformat(timespec="seconds")
        statement = (
            "INSERT INTO grants (origin, tool, plugin_digest, arguments, uid, created_at, expires_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING number"
        )
        values = (origin, tool, plugin_digest, arguments_json, uid, created_at, expires_at)
        rows = await self._database.arun(lambda c: c.execute(statement, values).fetchall())
        return Grant(rows[0][0], origin, tool, plugin_digest, arguments_json, uid, created_at, expires_at or "")

    async def remove(self, number: int) -> bool:
        """Take one back; False when there is none of that number."""
        statement = "DELETE FROM grants WHERE number = ? RETURNING number"
        rows = await self._database.arun(lambda c: c.execute(statement, (number,)).fetchall())
        return bool(rows)

    async def all(self) -> list[Grant]:
        """Every grant, oldest first, the ones that are over too."""
        query = (
            "SELECT number, origin, tool, plugin_digest, arguments, uid, created_at, coalesce(expires_at, '') "
            "FROM grants ORDER BY number"
        )
        return [Grant(*row) for row in await self._database.arun(lambda c: c.execute(query).fetchall())]
