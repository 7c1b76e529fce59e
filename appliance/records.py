"""Everything that lasts, opened together."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from functools import partial

from appliance.approve.after_restart import settle
from appliance.clock import Clock
from appliance.control import Caller, Handler
from appliance.errors import StoreError
from appliance.home import Home
from appliance.network.seen import Seen
from appliance.ports import Json
from appliance.ports_privacy import ChatCipher
from appliance.service_pictures import PictureService
from appliance.service_records import RecordService
from appliance.store.approvals import StoredApprovals
from appliance.store.audit_head import AuditHeadFile
from appliance.store.audit_log import AuditLog, this_boot
from appliance.store.ballast import Ballast
from appliance.store.chat_keys import ChatKeys
from appliance.store.chat_log import StoredChatLog
from appliance.store.chat_rows import forget_plugin
from appliance.store.chat_vault import ChatVault
from appliance.store.credentials import Credentials
from appliance.store.database import Database, StoreNote
from appliance.store.documents import StoredDocuments
from appliance.store.grants import StoredGrants
from appliance.store.images import StoredImages
from appliance.store.recovery import open_database
from appliance.store.traffic_log import StoredTraffic
from appliance.store.turn_log import TurnLog

_LOG = logging.getLogger(__name__)


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
    seen: Seen
    images: StoredImages
    #: None where nothing can be full.
    ballast: Ballast | None = None

    @property
    def notes(self) -> tuple[StoreNote, ...]:
        """What went wrong at opening; empty when all is well."""
        problem = self.credentials.problem
        return (*self.database.notes, *([StoreNote("store.credentials", problem)] if problem else []))

    @property
    def vault(self) -> ChatVault:
        """What makes chats private."""
        return ChatVault(self.database, self.chats)

    @property
    def service(self) -> RecordService:
        """What clients may ask of it."""
        return RecordService(self.chats, self.vault, self.turns, self.audit, self.seen)

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """Method name to handler, for clients of the records."""
        forget = {"chat.forget_plugin": self._forget_plugin}
        return {**self.service.handlers, **PictureService(self.images, self.chats).handlers, **forget}

    async def _forget_plugin(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """What the plugin ``{"name"}`` keeps for chats goes, also out of the file."""
        await self.database.arun(partial(forget_plugin, plugin=str(params.get("name") or "")))
        await self.database.purge()
        return {}


@contextlib.asynccontextmanager
async def open_records(
    home: Home, clock: Clock, credentials: Credentials, cipher: ChatCipher | None = None
) -> AsyncIterator[Records]:
    """The records of a home; the caller holds its lock. Without a cipher private chats stay locked.

    Raises ``StoreError``.
    """
    ballast = Ballast(home.folder / "ballast")
    opening = partial(open_database, home.database_file, clock, make_room=ballast.give_up)
    database = await asyncio.to_thread(opening)
    if home.trouble is not None:
        database.is_in_memory(StoreNote(home.trouble.key, home.trouble.text))
    elif not ballast.is_given_up:
        await asyncio.to_thread(ballast.reserve)
    try:
        keys = ChatKeys(cipher)
        chats = StoredChatLog(database, clock, keys)
        audit = AuditLog(database, clock, this_boot(), AuditHeadFile(home.folder / "audit.head"), keys)
        approvals = StoredApprovals(database, clock, this_boot())
        await settle(approvals, audit)
        await _finish_deletions(chats)
        seen = Seen(StoredTraffic(database), clock)
        yield Records(
            database,
            credentials,
            chats,
            TurnLog(database, clock, credentials.redact),
            audit,
            StoredDocuments(database),
            approvals,
            StoredGrants(database, clock),
            seen,
            StoredImages(database, clock, keys),
            ballast,
        )
        await seen.flush()
    finally:
        await asyncio.to_thread(database.close)


async def _finish_deletions(chats: StoredChatLog) -> None:
    """What a power cut left of a deletion goes now; a store that cannot be written says so itself."""
    try:
        await chats.finish_deletions()
    except StoreError as error:
        _LOG.error("the rest of a deleted chat cannot be removed: %s", error)
