"""The plug is pulled while the store works, more than a thousand times; any sector that was not flushed may be lost.

Each time the box's own code starts on what is left: nothing acknowledged may be missing, nothing unreadable.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from appliance.adapters.fakes.chat_cipher import FakeChatCipher
from appliance.clock import FakeClock
from appliance.store.approvals import ApprovalState, StoredApprovals, record_digest
from appliance.store.audit_head import AuditHeadFile
from appliance.store.audit_log import AuditEntry, AuditKind, AuditLog
from appliance.store.chat_keys import ChatKeys
from appliance.store.chat_log import StoredChatLog
from appliance.store.chat_rows import ChatRows
from appliance.store.chat_vault import ChatVault
from appliance.store.database import Connection, SqliteDatabase
from appliance.store.documents import StoredDocuments
from appliance.store.images import StoredImages
from appliance.store.recovery import Opener, open_database
from appliance.store.schema import MIGRATIONS
from appliance.store.shapes import TurnRecord
from tests.store.crash_disk import Disk, RecordedDisk, Step, cuts, fast_folder, lay_out
from tests.store.crash_sqlite import recorded_opener

CUTS = 1200
PASSPHRASE = "correct horse battery"

World = dict[str, list[Any]]

_QUERIES = {
    "documents": "SELECT collection, key, value FROM documents ORDER BY position",
    "chats": "SELECT id, name, is_private, is_current, hex(wrapped_key) FROM chats ORDER BY id",
    "turns": "SELECT turn_id, chat, user_text FROM turns ORDER BY position",
    "rows": "SELECT chat, key, sequence, value FROM chat_rows ORDER BY chat, key, sequence",
    "images": "SELECT id, hex(data) FROM images ORDER BY id",
    "approvals": "SELECT id, state, record FROM approvals ORDER BY position",
    "audit": "SELECT sequence, hash FROM audit ORDER BY sequence",
}


def world_of(connection: Connection) -> World:
    """Everything that is promised to last."""
    return {name: connection.execute(query).fetchall() for name, query in _QUERIES.items()}


@dataclass
class Told:
    """What was true when the box said that it is done: the contents, and what must be in no file any more."""

    world: World
    gone: list[bytes] = field(default_factory=list)


@dataclass
class Work:
    """A day of a box on a recorded disk."""

    disk: RecordedDisk
    opener: Opener
    told: list[Told] = field(default_factory=list)
    gone: list[bytes] = field(default_factory=list)

    @property
    def file(self) -> Path:
        return self.disk.root / "appliance.db"

    def open(self, migrations: Any = MIGRATIONS) -> SqliteDatabase:
        return open_database(self.file, FakeClock(), opener=self.opener, migrations=migrations)

    async def tell(self, database: SqliteDatabase, *gone: bytes) -> None:
        """What was asked for is acknowledged."""
        self.gone = [*self.gone, *gone]
        self.told.append(Told(await database.arun(world_of), self.gone))
        self.disk.acknowledge()

    async def go(self) -> None:
        """Do it all: an older version, a migration, some starts."""
        with closing(self.open(MIGRATIONS[:-1])) as old:
            for number in range(6):
                await StoredDocuments(old).put("before", f"key {number}", "x" * 300 * number)
                await self.tell(old)
        for start in range(3):
            with closing(self.open()) as database:
                await self._use(database, start)

    async def _use(self, database: SqliteDatabase, start: int) -> None:
        clock = FakeClock()
        keys = ChatKeys(FakeChatCipher())
        chats = StoredChatLog(database, clock, keys)
        audit = AuditLog(database, clock, "boot", AuditHeadFile(self.disk.root / "audit.head"), keys)
        await audit.begin()
        vault = ChatVault(database, chats)
        await vault.set_passphrase(PASSPHRASE, PASSPHRASE if start else "")
        await self.tell(database)
        await self._talk(database, chats, f"public-{start}")
        await self._ask(database, audit, StoredApprovals(database, clock, "boot"), start)
        documents = StoredDocuments(database)
        for number in range(4):
            await documents.put("timers", f"timer {number}", {"start": start, "text": "y" * 900})
            await self.tell(database)
        await documents.delete("timers", "timer 2")
        await self.tell(database)
        await self._be_private(database, chats, vault, start)
        await self._delete(database, chats, f"public-{start}", is_private=False)

    async def _talk(self, database: SqliteDatabase, chats: StoredChatLog, name: str) -> None:
        info = await chats.create(name)
        await self.tell(database)
        for number in range(5):
            words = f"{marker(name)} {number} " + "word " * (80 * number)
            await chats.append(info.chat, TurnRecord(f"{name}-{number}", words, "reply", "reply", ()))
            await self.tell(database)
        rows = ChatRows(database, chats.keys, FakeClock())
        await asyncio.to_thread(rows.append, "game", info.chat, "log", [marker(name), "z" * 3000])
        await self.tell(database)
        pictures = StoredImages(database, FakeClock(), chats.keys)
        await asyncio.to_thread(pictures.put, marker(name).encode() * 400, "image/png", chat=info.chat)
        await self.tell(database)

    async def _ask(self, database: SqliteDatabase, audit: AuditLog, approvals: StoredApprovals, start: int) -> None:
        for number in range(3):
            record = {"tool": "door", "number": number}
            request, digest = f"request-{start}-{number}", record_digest(record)
            await approvals.create(request, "door", "", record)
            await self.tell(database)
            await approvals.move(request, digest, (ApprovalState.CREATED,), ApprovalState.APPROVED, "button")
            await self.tell(database)
            intent = await audit.write(AuditEntry(AuditKind.INTENT, tool="door", request_id=request))
            await self.tell(database)
            assert await approvals.consume(request, digest)
            await self.tell(database)
            await audit.write(AuditEntry(AuditKind.RESULT, intent=intent, outcome="done"))
            await self.tell(database)

    async def _be_private(self, database: SqliteDatabase, chats: StoredChatLog, vault: ChatVault, start: int) -> None:
        await self._talk(database, chats, f"hidden-{start}")
        await vault.make_private(f"hidden-{start}")
        # From here on its words are in no file.
        await self.tell(database, marker(f"hidden-{start}").encode())
        await self._delete(database, chats, f"hidden-{start}", is_private=True)

    async def _delete(self, database: SqliteDatabase, chats: StoredChatLog, name: str, *, is_private: bool) -> None:
        query = "SELECT wrapped_key FROM chats WHERE name = ?"
        (key,) = await database.arun(lambda connection: connection.execute(query, (name,)).fetchone())
        await chats.delete(name)
        await self.tell(database, key if is_private else marker(name).encode())


def marker(chat: str) -> str:
    """A word that is said in that chat only."""
    return f"said-in-{chat}-only"


@pytest.fixture(scope="module")
def work() -> Iterator[Work]:
    """The day, recorded once."""
    with fast_folder() as root, fast_folder() as other:
        disk = RecordedDisk(root)
        opener, layer = recorded_opener(disk)
        done = Work(disk, opener)
        with closing(open_database(other / "empty.db", FakeClock())) as empty:
            done.told.append(Told(empty.run(world_of)))
        with disk.recording():
            asyncio.run(done.go())
        del layer
        yield done


def test_nothing_acknowledged_is_lost_and_nothing_is_unreadable_after_any_power_cut(work: Work) -> None:
    dice = random.Random(2026)
    steps = work.disk.steps
    moments = some_moments(steps, dice)
    faults: list[str] = []

    async def look() -> None:
        for number, (moment, disk) in enumerate(zip(moments, cuts(steps, moments), strict=True)):
            with fast_folder() as folder:
                lay_out(disk.after_a_cut(dice), folder)
                found = await faults_after_cut(folder, work.told, disk)
                faults.extend(f"cut {number} after step {moment}: {fault}" for fault in found)

    asyncio.run(look())
    acknowledged = len(work.told) - 1
    print(f"{CUTS} cuts in {len(steps)} steps with {acknowledged} acknowledgements: {len(faults)} faults")
    assert not faults, f"{len(faults)} faults, such as\n" + "\n".join(faults[:10])
    assert acknowledged > 100


def some_moments(steps: list[Step], dice: random.Random) -> list[int]:
    """Anywhere, and as often just after the box has said that it is done."""
    told = [number for number, step in enumerate(steps, start=1) if step.kind == "acknowledged"]
    anywhere = [dice.randrange(len(steps) + 1) for _ in range(CUTS // 2)]
    return sorted([*anywhere, *(min(dice.choice(told) + dice.randrange(3), len(steps)) for _ in range(CUTS // 2))])


async def faults_after_cut(folder: Path, told: list[Told], disk: Disk) -> list[str]:
    """What is wrong when the box starts on what a cut has left."""
    last, following = told[disk.acknowledged], told[min(disk.acknowledged + 1, len(told) - 1)]
    faults = faults_of_files(folder, last.gone)
    database = await asyncio.to_thread(open_database, folder / "appliance.db", FakeClock())
    try:
        faults += [note.text for note in database.notes]
        keys = ChatKeys(FakeChatCipher())
        audit = AuditLog(database, FakeClock(), "boot", AuditHeadFile(folder / "audit.head"), keys)
        await StoredChatLog(database, FakeClock(), keys).finish_deletions()
        world = await database.arun(world_of)
        if world not in (last.world, following.world):
            faults += differences(world, last.world)
        faults += [f"audit: {fault}" for fault in await audit.verify()]
    finally:
        await asyncio.to_thread(database.close)
    return faults


def faults_of_files(folder: Path, gone: list[bytes]) -> list[str]:
    """What is still in a file although it was deleted, and what is wrong with the copy from before the migration."""
    there = [
        f"{text.decode()[:60]} is still in {file.name}"
        for text in gone
        for file in folder.iterdir()
        if text in file.read_bytes()
    ]
    return [*there, *(fault for copy in folder.glob("*.schema-?") for fault in faults_of_copy(copy))]


def faults_of_copy(copy: Path) -> list[str]:
    """What is wrong with a copy from before the migration; a box that goes back to the older version starts on it."""
    with closing(open_database(copy, FakeClock(), migrations=MIGRATIONS[:-1])) as kept:
        count = kept.run(lambda c: c.execute("SELECT count(*) FROM documents").fetchone()[0])
        return [] if count == 6 and not kept.notes else [f"the copy has {count} documents {kept.notes}"]


def differences(found: World, expected: World) -> list[str]:
    """Where the store is not as it was told."""
    return [
        f"{name}: {len(found[name])} instead of {len(expected[name])}, missing "
        f"{[row for row in expected[name] if row not in found[name]]!r:.200}"
        for name in expected
        if found[name] != expected[name]
    ]


@pytest.mark.parametrize("statement", ["PRAGMA synchronous=NORMAL", "PRAGMA synchronous=OFF"])
def test_a_store_that_flushes_less_is_found_out(statement: str) -> None:
    """The simulation can fail: with less flushing it loses what was acknowledged."""
    with fast_folder() as root:
        disk = RecordedDisk(root)
        opener, layer = recorded_opener(disk)
        with disk.recording(), closing(open_database(root / "appliance.db", FakeClock(), opener=opener)) as database:
            set_pragma(database, statement)
            for number in range(40):
                database.run(lambda c, n=number: c.execute(_PUT, (str(n),)))  # type: ignore[misc]
                disk.acknowledge()
        del layer
        dice = random.Random(7)
        moments = sorted(dice.randrange(len(disk.steps) + 1) for _ in range(60))
        losses = sum(is_short(state.after_a_cut(dice), state.acknowledged) for state in cuts(disk.steps, moments))
        assert losses > 10


_PUT = "INSERT INTO documents (collection, key, value) VALUES ('test', ?, '1')"


def set_pragma(database: SqliteDatabase, statement: str) -> None:
    """A pragma cannot be changed inside a transaction."""

    def work(connection: Connection) -> None:
        connection.execute("COMMIT")
        connection.execute(statement)
        connection.execute("BEGIN")

    database.run(work)


def is_short(files: dict[str, bytes], acknowledged: int) -> bool:
    """Whether a state has fewer rows than were acknowledged."""
    with fast_folder() as folder:
        lay_out(files, folder)
        with closing(open_database(folder / "appliance.db", FakeClock())) as database:
            count: Callable[[Connection], int] = lambda c: c.execute("SELECT count(*) FROM documents").fetchone()[0]  # noqa: E731
            return database.run(count) < acknowledged
