"""The audit trail: append only, each line chained to the one before it.

Tamper-evident, not tamper-proof: who owns the file can write a whole new chain. A changed line, a missing one and a
cut end are found.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.clock import Clock
from appliance.errors import StoreError
from appliance.store.canonical_json import canonical_json
from appliance.store.database import Connection, Database

#: Lines stay small whatever a stranger puts into a field.
_LONGEST_FIELD = 300


class AuditKind(enum.StrEnum):
    """What a line tells."""

    INTENT = "intent"
    RESULT = "result"
    DECISION = "decision"


@dataclass(frozen=True)
class AuditEntry:
    """What a line says; every text must be free of secrets. ``intent`` is the number of a result's intent line."""

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
    """Writes and reads the trail. Every method raises ``StoreError``."""

    def __init__(self, database: Database, clock: Clock, boot: str) -> None:
        self._database = database
        self._clock = clock
        self._boot = boot

    async def write(self, entry: AuditEntry) -> int:
        """Append a line; its number. Durable when this returns.

        Refused while the store is in memory only: a trail that does not last is none. A result takes over from
        its intent which call it was.
        """
        if not self._database.is_lasting:
            raise StoreError("the audit trail cannot be written: the store is in memory only")
        return await self._database.arun(lambda connection: self._append(connection, entry))

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
        return await self._database.arun(_faults)

    def _append(self, connection: Connection, entry: AuditEntry) -> int:
        if entry.kind is AuditKind.RESULT:
            entry = _with_call_of_intent(connection, entry)
        entry = _cut(_without_private_words(connection, entry))
        count, previous = connection.execute("SELECT count, hash FROM audit_head").fetchone()
        sequence = count + 1
        line = canonical_json(
            {
                **dataclasses.asdict(entry),
                "sequence": sequence,
                "at": self._clock.now().isoformat(timespec="milliseconds"),
                "at_seconds": round(self._clock.monotonic_seconds(), 3),
                "boot": self._boot,
                "previous_hash": previous,
            }
        )
        digest = _digest(line)
        connection.execute("INSERT INTO audit (sequence, line, hash) VALUES (?, ?, ?)", (sequence, line, digest))
        connection.execute("UPDATE audit_head SET count = ?, hash = ?", (sequence, digest))
        return int(sequence)


def this_boot() -> str:
    """The kernel's id of this boot, so that monotonic seconds can be compared; "" where there is none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _with_call_of_intent(connection: Connection, entry: AuditEntry) -> AuditEntry:
    row = connection.execute("SELECT line FROM audit WHERE sequence = ?", (entry.intent,)).fetchone()
    intent = _parsed(row[0], "").entry if row else None
    if intent is None or intent.kind is not AuditKind.INTENT:
        raise StoreError(f"audit line {entry.intent} is no intent: its result cannot be written")
    taken = ("call_id", "request_id", "tool", "origin", "risk", "chat", "turn_id", "channel")
    return dataclasses.replace(entry, **{name: getattr(intent, name) for name in taken})


def _without_private_words(connection: Connection, entry: AuditEntry) -> AuditEntry:
    """Of a private chat the trail keeps what was done, never with which words (a digest of few words tells them).

    A chat that is not there any more may have been a private one.
    """
    row = connection.execute("SELECT is_private FROM chats WHERE id = ?", (entry.chat,)).fetchone()
    if not entry.chat or (row is not None and not row[0]):
        return entry
    return dataclasses.replace(entry, arguments_digest="", arguments_preview="", error="")


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
        expected, previous = sequence + 1, digest
    head = connection.execute("SELECT count, hash FROM audit_head").fetchone()
    return faults + _faults_of_end(head, expected - 1, previous)


def _follows(line: bytes, sequence: int, previous: str) -> bool:
    try:
        fields = json.loads(line)
        return bool(fields["sequence"] == sequence and fields["previous_hash"] == previous)
    except (ValueError, KeyError, TypeError):
        return False


def _faults_of_end(head: Any, last: int, last_hash: str) -> list[str]:
    if head is None:
        return ["the record of how long the trail is was removed"]
    count, head_hash = head
    if count > last:
        return [f"the end was cut off: {count} lines were written, the last one here is {last}"]
    if count < last:
        return [f"{last} lines are here, but only {count} were written by this program"]
    if head_hash != last_hash:
        return ["the last line is not the one that was written"]
    return []
