"""Everything that lasts, opened together."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from appliance.approve.after_restart import settle
from appliance.clock import Clock
from appliance.home import Home
from appliance.service_records import RecordService
from appliance.store.approvals import StoredApprovals
from appliance.store.audit_head import AuditHeadFile
from appliance.store.audit_log import AuditLog, this_boot
from appliance.store.chat_log import StoredChatLog
from appliance.store.credentials import Credentials
from appliance.store.database import Database, StoreNote
from appliance.store.documents import StoredDocuments
from appliance.store.grants import StoredGrants
from appliance.store.recovery import open_database
from appliance.store.turn_log import TurnLog


@dataclass(frozen=True)
class Records:
    """The database with its views, and the secrets."""

    database: Database
    credentials: Credentials
    chats: StoredChatLog
    turns: TurnLog
    audit: AuditLog
    documents: StoredDocuments
    approvals: StoredApprovals
    grants: StoredGrants

    @property
    def notes(self) -> tuple[StoreNote, ...]:
        """What went wrong at opening; empty when all is well."""
        problem = self.credentials.problem
        return (*self.database.notes, *([StoreNote("store.credentials", problem)] if problem else []))

    @property
    def service(self) -> RecordService:
        """What clients may ask of it."""
        return RecordService(self.chats, self.turns, self.audit)


@contextlib.asynccontextmanager
async def open_records(home: Home, clock: Clock, credentials: Credentials) -> AsyncIterator[Records]:
    """The records of a home; the caller holds its lock. Raises ``StoreError``."""
    database = await asyncio.to_thread(open_database, home.database_file, clock)
    try:
        audit = AuditLog(database, clock, this_boot(), AuditHeadFile(home.folder / "audit.head"))
        approvals = StoredApprovals(database, clock, this_boot())
        await settle(approvals, audit)
        yield Records(
            database,
            credentials,
            StoredChatLog(database, clock),
            TurnLog(database, clock, credentials.redact),
            audit,
            StoredDocuments(database),
            approvals,
            StoredGrants(database, clock),
        )
    finally:
        await asyncio.to_thread(database.close)
