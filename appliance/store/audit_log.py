"""The audit trail: append only, each line chained to the one before it.

Tamper-evident, not tamper-proof: who owns the files can write a whole new chain and the head beside it. A changed
line, a missing one, a cut end and a database that was replaced are found.
"""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import hashlib
import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.clock import Clock
from appliance.errors import StoreError
from appliance.store.audit_head import AuditHead, AuditHeadFile
from appliance.store.canonical_json import canonical_json
from appliance.store.chat_keys import ChatKeys
from appliance.store.database import Connection, Database

_LOG = logging.getLogger(__name__)

#: Lines stay small whatever a stranger puts into a field.
_LONGEST_FIELD = 300


class AuditKind(enum.StrEnum):
    """What a line tells."""

    INTENT = "intent"
    RESULT = "result"
    DECISION = "decision"
    #: Something about the trail itself; ``detail`` is the sentence.
    NOTE = "note"


@dataclass(frozen=True)
class AuditEntry:
    """What a line says; every text must be free of secrets.

    ``intent`` is the number of a result's intent line. ``took_seconds`` is how long the person took (decision) or
    the call ran (result; filled in from the intent).
    """

    kind: AuditKind
    intent: int | None = None
    call_id: str = ""
    request_id: str = ""
    tool: str = ""
    origin: str = ""
    risk: str = ""
    arguments_digest: str = ""
    arguments_preview: str = ""
    chat: str = ""
    turn_id: str = ""
    channel: str = ""
    verdict: str = ""
    approver: str = ""
    outcome: str = ""
    detail: str = ""
    error: str = ""
    took_seconds: float | None = None


@dataclass(frozen=True)
class AuditLine:
    """One line of the trail: wall time (ISO, may be wrong), seconds since boot, which boot, and what it says."""

    sequence: int
    at: str
    at_seconds: float
    boot: str
    entry: AuditEntry
    previous_hash: str
    hash: str


class AuditLog:
    """Writes and reads the trail. Every method raises ``StoreError``.

    ``head_file`` keeps count and head a second time, outside the database. ``keys`` are those of private chats.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        boot: str,
        head_file: AuditHeadFile | None = None,
        keys: ChatKeys | None = None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._boot = boot
        self._head_file = head_file
        self._keys = keys or ChatKeys()

    async def begin(self) -> None:
        """Take up the trail, once, before anything is written: says in the trail itself what is wrong with it.

        Intents without a result are from a time before a restart: their end is written as unknown.
        """
        if not self._database.is_lasting:
            return
        for fault in await self._faults_outside():
            _LOG.error("the audit trail: %s", fault)
            # The head that shows the fault is replaced only when the note about it is on the disk.
            await self.write(AuditEntry(AuditKind.NOTE, detail=fault))
        head = await self._database.arun(_head)
        if self._head_file is not None and head is not None:
            await asyncio.to_thread(self._head_file.begin, head)
        for sequence in await self.open_intents():
            await self.write(
                AuditEntry(AuditKind.RESULT, intent=sequence, outcome="unknown", detail="executed:unknown", error=_CUT)
            )

    async def write(self, entry: AuditEntry) -> int:
        """Append a line; its number. Durable when this returns.

        Refused while the store is in memory only: a trail that does not last is none. A result takes over from
        its intent which call it was, and there is one for each.
        """
        if not self._database.is_lasting:
            raise StoreError("the audit trail cannot be written: the store is in memory only")
        head = await self._database.arun(lambda connection: self._append(connection, entry))
        if self._head_file is not None:
            await asyncio.to_thread(self._head_file.advance, head)
        return head.count

    async def open_intents(self) -> list[int]:
        """Numbers of the intents that have no result."""
        query = "SELECT sequence FROM audit_open ORDER BY sequence"
        return [row[0] for row in await self._database.arun(lambda c: c.execute(query).fetchall())]

    async def lines(self, limit: int = 100) -> list[AuditLine]:
        """The last ``limit`` lines, oldest first."""
        query = "SELECT line, hash FROM audit ORDER BY sequence DESC LIMIT ?"
        rows = await self._database.arun(lambda connection: connection.execute(query, (limit,)).fetchall())
        try:
            return [_parsed(line, digest) for line, digest in reversed(rows)]
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError("a line of the audit trail cannot be read; see `appliance audit verify`") from error

    async def verify(self) -> list[str]:
        """What is wrong with the trail, a sentence each; empty when it is whole."""
        # First what is outside: it may only lag behind.
        return [*await self._faults_outside(), *await self._database.arun(_faults)]

    async def _faults_outside(self) -> list[str]:
        """Where the database does not agree with the head kept beside it."""
        if self._head_file is None:
            return []
        try:
            kept = await asyncio.to_thread(self._head_file.read)
        except StoreError as error:
            return [str(error)]
        return await self._database.arun(lambda connection: _disagreement(connection, kept))

    def _append(self, connection: Connection, entry: AuditEntry) -> AuditHead:
        if entry.kind is AuditKind.RESULT:
            entry = self._with_call_of_intent(connection, entry)
        entry = _cut(self._without_private_words(connection, entry))
        head = _head(connection)
        if head is None:
            raise StoreError("the audit trail cannot go on: how long it is was removed from the store")
        sequence = head.count + 1
        line = canonical_json(
            {
                **dataclasses.asdict(entry),
                "sequence": sequence,
                "at": self._clock.now().isoformat(timespec="milliseconds"),
                "at_seconds": round(self._clock.monotonic_seconds(), 3),
                "boot": self._boot,
                "previous_hash": head.hash,
            }
        )
        digest = _digest(line)
        connection.execute("INSERT INTO audit (sequence, line, hash) VALUES (?, ?, ?)", (sequence, line, digest))
        connection.execute("UPDATE audit_head SET count = ?, hash = ?", (sequence, digest))
        if entry.kind is AuditKind.INTENT:
            connection.execute("INSERT INTO audit_open (sequence) VALUES (?)", (sequence,))
        return AuditHead(sequence, digest)

    def _without_private_words(self, connection: Connection, entry: AuditEntry) -> AuditEntry:
        """Of a private chat the trail keeps what was done, never with which words.

        A digest of few words tells them: it is keyed with the chat's key, and says nothing when that is destroyed. A
        chat that is not there any more may have been a private one.
        """
        row = connection.execute("SELECT is_private FROM chats WHERE id = ?", (entry.chat,)).fetchone()
        if not entry.chat or (row is not None and not row[0]):
            return entry
        digest = self._keys.fingerprint(entry.chat, entry.arguments_digest) if entry.arguments_digest else ""
        return dataclasses.replace(entry, arguments_digest=digest, arguments_preview="", error="")

    def _with_call_of_intent(self, connection: Connection, entry: AuditEntry) -> AuditEntry:
        row = connection.execute("SELECT line FROM audit WHERE sequence = ?", (entry.intent,)).fetchone()
        intent = _parsed(row[0], "") if row else None
        if intent is None or intent.entry.kind is not AuditKind.INTENT:
            raise StoreError(f"audit line {entry.intent} is no intent: its result cannot be written")
        closed = "DELETE FROM audit_open WHERE sequence = ? RETURNING sequence"
        if not connection.execute(closed, (entry.intent,)).fetchall():
            raise StoreError(f"audit line {entry.intent} has its result already")
        taken = ("call_id", "request_id", "tool", "origin", "risk", "chat", "turn_id", "channel")
        entry = dataclasses.replace(entry, **{name: getattr(intent.entry, name) for name in taken})
        if intent.boot != self._boot or entry.outcome == "unknown":
            return entry
        return dataclasses.replace(entry, took_seconds=round(self._clock.monotonic_seconds() - intent.at_seconds, 3))


#: The error of a call whose end nobody saw.
_CUT = "the program ended before the end of this was written down"


def this_boot() -> str:
    """The kernel's id of this boot, so that monotonic seconds can be compared; "" where there is none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _cut(entry: AuditEntry) -> AuditEntry:
    cut: dict[str, Any] = {
        name: value[:_LONGEST_FIELD] for name, value in vars(entry).items() if isinstance(value, str) and name != "kind"
    }
    return dataclasses.replace(entry, **cut)


def _digest(line: str) -> str:
    return hashlib.sha256(line.encode("ascii")).hexdigest()


def _parsed(line: str, digest: str) -> AuditLine:
    """A line as a value; fields that a later version added are left out."""
    fields: dict[str, Any] = json.loads(line)
    known = {field.name: fields[field.name] for field in dataclasses.fields(AuditEntry) if field.name in fields}
    entry = AuditEntry(**{**known, "kind": AuditKind(fields["kind"])})
    place = (fields["sequence"], fields["at"], fields["at_seconds"], fields["boot"])
    return AuditLine(*place, entry, fields["previous_hash"], digest)


def _faults(connection: Connection) -> list[str]:
    faults: list[str] = []
    expected, previous = 1, ""
    # As bytes: whoever changed a line need not have left valid text.
    rows = connection.execute("SELECT sequence, CAST(line AS BLOB), hash FROM audit ORDER BY sequence")
    while (row := rows.fetchone()) is not None:
        sequence, line, digest = row
        if sequence != expected:
            faults.append(f"lines {expected} to {sequence - 1} are missing")
        elif not _follows(line, sequence, previous):
            faults.append(f"line {sequence} does not follow from the line before it")
        if hashlib.sha256(line).hexdigest() != digest:
            faults.append(f"line {sequence} was changed")
        if note := _note_in(line):
            faults.append(f"line {sequence} notes: {note}")
        expected, previous = sequence + 1, digest
    return faults + _faults_of_end(_head(connection), expected - 1, previous)


def _follows(line: bytes, sequence: int, previous: str) -> bool:
    try:
        fields = json.loads(line)
        return bool(fields["sequence"] == sequence and fields["previous_hash"] == previous)
    except (ValueError, KeyError, TypeError):
        return False


def _note_in(line: bytes) -> str:
    """What a line says about the trail itself; "" for any other line."""
    try:
        fields = json.loads(line)
        return str(fields["detail"]) if fields["kind"] == AuditKind.NOTE else ""
    except (ValueError, KeyError, TypeError):
        return ""


def _head(connection: Connection) -> AuditHead | None:
    row = connection.execute("SELECT count, hash FROM audit_head").fetchone()
    return None if row is None else AuditHead(*row)


def _faults_of_end(head: AuditHead | None, last: int, last_hash: str) -> list[str]:
    if head is None:
        return ["the record of how long the trail is was removed"]
    if head.count > last:
        return [f"the end was cut off: {head.count} lines were written, the last one here is {last}"]
    if head.count < last:
        return [f"{last} lines are here, but only {head.count} were written by this program"]
    if head.hash != last_hash:
        return ["the last line is not the one that was written"]
    return []


def _disagreement(connection: Connection, kept: AuditHead | None) -> list[str]:
    """Where the trail is not the one that the head outside was kept for; the trail may be longer."""
    count, *_ = connection.execute("SELECT coalesce(max(sequence), 0) FROM audit").fetchone()
    if kept is None:
        return ["the head of the trail, kept beside the database, was removed"] if count else []
    if kept.count > count:
        return [
            f"the database was replaced or cut: {kept.count} lines were written (the last with hash {kept.hash}), "
            f"and it holds {count}"
        ]
    row = connection.execute("SELECT hash FROM audit WHERE sequence = ?", (kept.count,)).fetchone()
    if kept.count and (row is None or row[0] != kept.hash):
        return [f"the database was replaced: its line {kept.count} is not the one that was written ({kept.hash})"]
    return []
