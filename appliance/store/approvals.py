"""Requests for a person's hand, each one row that moves from state to state and never back.

A move is one compare-and-set on one row: it happens when the row is still the one that was asked about, in the state
that the move starts from, and it is on the disk before anything follows from it.
"""

from __future__ import annotations

import enum
import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from appliance.clock import Clock
from appliance.errors import StoreError
from appliance.ports import Json
from appliance.store.canonical_json import canonical_json
from appliance.store.database import Connection, Database

#: Rows of requests that are over; older ones go. What was decided stays in the audit trail.
_KEPT_ROWS = 500


class ApprovalState(enum.StrEnum):
    """Where a request is."""

    CREATED = "created"
    ANNOUNCED = "announced"
    ARMED = "armed"
    APPROVED = "approved"
    #: Its one run has begun.
    CONSUMED = "consumed"
    DONE = "done"
    FAILED = "failed"
    DENIED = "denied"
    EXPIRED = "expired"
    #: Taken back, or it could not be asked.
    CANCELLED = "cancelled"
    #: Something that it depends on was changed after it was asked about.
    INVALIDATED = "invalidated"
    #: The program ended between the yes and the end of the run.
    UNKNOWN = "unknown"


#: Still to be decided.
OPEN_STATES = (ApprovalState.CREATED, ApprovalState.ANNOUNCED, ApprovalState.ARMED)
#: Allowed, and not known to have ended.
UNDER_WAY_STATES = (ApprovalState.APPROVED, ApprovalState.CONSUMED)
_LIVING_STATES = (*OPEN_STATES, *UNDER_WAY_STATES)


@dataclass(frozen=True)
class StoredApproval:
    """A row. ``record`` is None when its words are not kept (a private chat, or it is over)."""

    request_id: str
    state: ApprovalState
    digest: str
    record: Mapping[str, Json] | None
    tool: str
    boot: str
    created_at: str
    approver: str


def record_digest(record: Mapping[str, Json]) -> str:
    """SHA-256 of the record's one JSON text."""
    return hashlib.sha256(canonical_json(dict(record)).encode("ascii")).hexdigest()


class StoredApprovals:
    """The rows. Every method raises ``StoreError``; a move that comes too late is False, not an error."""

    def __init__(self, database: Database, clock: Clock, boot: str) -> None:
        self._database = database
        self._clock = clock
        self._boot = boot

    async def create(self, request_id: str, tool: str, chat: str, record: Mapping[str, Json]) -> None:
        """Write a new request down. Refused while the store is in memory only: nobody could trust that record."""
        if not self._database.is_lasting:
            raise StoreError("the request cannot be written down: the store is in memory only")
        text = canonical_json(dict(record))
        digest = record_digest(record)

        def work(connection: Connection) -> None:
            connection.execute(
                "INSERT INTO approvals (id, state, digest, record, tool, boot, created_at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    request_id,
                    ApprovalState.CREATED.value,
                    digest,
                    "" if _is_private(connection, chat) else text,
                    tool,
                    self._boot,
                    self._clock.now().isoformat(timespec="seconds"),
                ),
            )
            connection.execute(
                "DELETE FROM approvals WHERE position <= (SELECT max(position) FROM approvals) - ? "
                f"AND state NOT IN ({_marks(_LIVING_STATES)})",
                (_KEPT_ROWS, *map(str, _LIVING_STATES)),
            )

        await self._database.arun(work)

    async def move(
        self,
        request_id: str,
        digest: str,
        before: Collection[ApprovalState],
        after: ApprovalState,
        approver: str = "",
    ) -> bool:
        """Move a request that is still what it was, from one of the states ``before``; whether that was so."""
        is_over = after not in _LIVING_STATES

        def work(connection: Connection) -> bool:
            statement = (
                "UPDATE approvals SET state = ?, approver = CASE ? WHEN '' THEN approver ELSE ? END, "
                # Of a private chat no words were kept; a digest of few words tells them.
                "digest = CASE WHEN ? AND record = '' THEN '' ELSE digest END, "
                "record = CASE ? WHEN 1 THEN '' ELSE record END "
                f"WHERE id = ? AND digest = ? AND state IN ({_marks(before)}) RETURNING position"
            )
            over = int(is_over)
            values = (after.value, approver, approver, over, over, request_id, digest, *map(str, before))
            return len(connection.execute(statement, values).fetchall()) == 1

        return await self._database.arun(work)

    async def consume(self, request_id: str, digest: str) -> StoredApproval | None:
        """Begin its one run: the row, or None when it is not approved (any more) or not what was approved."""

        def work(connection: Connection) -> StoredApproval | None:
            statement = f"UPDATE approvals SET state = ? WHERE id = ? AND digest = ? AND state = ? RETURNING {_COLUMNS}"
            values = (ApprovalState.CONSUMED.value, request_id, digest, ApprovalState.APPROVED.value)
            rows = connection.execute(statement, values).fetchall()
            return _as_approval(rows[0]) if len(rows) == 1 else None

        return await self._database.arun(work)

    async def in_states(self, states: Collection[ApprovalState]) -> list[StoredApproval]:
        """The requests in one of these states, oldest first."""
        query = f"SELECT {_COLUMNS} FROM approvals WHERE state IN ({_marks(states)}) ORDER BY position"
        rows = await self._database.arun(lambda c: c.execute(query, tuple(map(str, states))).fetchall())
        return [_as_approval(row) for row in rows]


_COLUMNS = "id, state, digest, record, tool, boot, created_at, approver"


def _as_approval(row: tuple[str, ...]) -> StoredApproval:
    request_id, state, digest, record, tool, boot, created_at, approver = row
    words = json.loads(record) if record else None
    return StoredApproval(request_id, ApprovalState(state), digest, words, tool, boot, created_at, approver)


def _marks(values: Collection[object]) -> str:
    return ", ".join("?" * len(values))


def _is_private(connection: Connection, chat: str) -> bool:
    """A chat that is not there any more may have been a private one."""
    if not chat:
        return False
    row = connection.execute("SELECT is_private FROM chats WHERE id = ?", (chat,)).fetchone()
    return row is None or bool(row[0])
