"""A box on a bad disk, as a program of its own, for it mounts disks and gives up rights; prints what came of it.

The home, the store and the whole box are the real ones; microphone, speaker, ears and voice are fakes.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from appliance.adapters.fakes.chat_cipher import FakeChatCipher
from appliance.adapters.sentence_matcher import HassilMatcher
from appliance.clock import FakeClock, settle
from appliance.errors import StoreError
from appliance.home import Home, shipped
from appliance.records import Records, open_records
from appliance.spare_home import usable_home
from appliance.store.audit_log import AuditEntry, AuditKind
from appliance.store.credentials import Credentials
from appliance.think.sentences import SENTENCE_LISTS, fixed_lists
from tests.assistant.rig import Rig

#: Nobody, on every Debian.
OTHER_USER = 65534
MARK = ("test", "mark")

Told = dict[str, Any]


class DiskRig(Rig):
    """A box on a real home with a real store; its world waits for the store's thread."""

    def __init__(self, home: Home, records: Records, matcher: HassilMatcher, clock: FakeClock) -> None:
        super().__init__(home.folder, matcher, clock=clock)
        self.home = home
        self.records = records

    def _records(self) -> Records:
        return self.records

    async def _step(self, seconds: float) -> None:
        await super()._step(seconds)
        with contextlib.suppress(StoreError):
            self.records.database.run(lambda _connection: None)
        await settle()


def make_matcher() -> HassilMatcher:
    """The sentences of the box, parsed."""
    matcher = HassilMatcher(shipped("soul") / "en" / "intents.yaml", fixed_lists(), SENTENCE_LISTS)
    matcher.load()
    return matcher


@contextlib.asynccontextmanager
async def living_box(home: Home, clock: FakeClock | None = None) -> AsyncIterator[DiskRig]:
    """The box that lives in this home, or beside it in memory, when it has said what it says at its start."""
    clock = clock or FakeClock()
    with usable_home(home) as usable:
        credentials = Credentials(usable.folder / "credentials.json", {}, clock)
        async with open_records(usable, clock, credentials, FakeChatCipher()) as records:
            rig = DiskRig(usable, records, make_matcher(), clock)
            await rig.start()
            try:
                await rig.runs(3.0)
                await rig.rests()
                yield rig
            finally:
                await rig.close()


async def look(rig: DiskRig) -> Told:
    """What the box said at its start, whether it answers by voice, and what it knows and tells."""
    began = list(rig.said)
    await rig.asks("Set a timer for one minute.")
    status = await rig.control.call("status")
    return {
        "said": " ".join(began),
        "answered": " ".join(rig.said[len(began) :]),
        "problems": " ".join(status["store problems"]),
        "timers": status["timers"],
        "mark": await rig.records.documents.get(*MARK),
        "lasts": rig.records.database.is_lasting,
        "socket": str(rig.home.control_socket),
    }


async def healthy(folder: Path) -> Told:
    """A first start, all well; something is kept."""
    async with living_box(Home(folder)) as rig:
        await rig.records.documents.put(*MARK, "kept")
        return await look(rig)


async def read_only(folder: Path) -> Told:
    """The disk was mounted for reading only before the second start."""
    mount_small_disk(folder)
    await healthy(folder)
    mount("-o", "remount,ro", str(folder))
    async with living_box(Home(folder)) as rig:
        told = await look(rig)
        told["client socket"] = str(Home(folder).control_socket)
    return told


async def missing(folder: Path) -> Told:
    """The service's home is on a disk that is not mounted."""
    os.environ["RUNTIME_DIRECTORY"] = str(folder.with_name("run"))
    async with living_box(Home(folder, is_service=True)) as rig:
        return await look(rig)


async def wrong_owner(folder: Path) -> Told:
    """The home belongs to somebody else; what is imported late was imported by the first box."""
    await healthy(folder)
    shut_out(folder)
    async with living_box(Home(folder)) as rig:
        return await look(rig)


async def stray_file(folder: Path) -> Told:
    """Root has run a command in the home of somebody else, and left a file of the store there."""
    await healthy(folder)
    leave_file_of_root(folder)
    async with living_box(Home(folder)) as rig:
        return await look(rig)


async def full(folder: Path) -> Told:
    """The disk fills up while the box lives; what was begun is still written down. Then there is room again."""
    mount_small_disk(folder)
    async with living_box(Home(folder)) as rig:
        before = (folder / "ballast").stat().st_size
        fill(folder / "filling")
        # More than what is left in the last block of the store's files.
        lines = [await rig.records.audit.write(AuditEntry(AuditKind.INTENT, tool=f"tool {n}")) for n in range(20)]
        await rig.until(lambda: rig.said)
        await rig.rests()
        told = {**await look(rig), "ballast": before, "lines": len(lines), "faults": await rig.records.audit.verify()}
        told["ballast when full"] = (folder / "ballast").exists()
        (folder / "filling").unlink()
        heard = len(rig.said)
        await rig.until(lambda: len(rig.said) > heard)
        await rig.rests()
        told["said later"] = " ".join(rig.said[heard:])
        told["ballast later"] = (folder / "ballast").stat().st_size
    async with living_box(Home(folder)) as rig:
        told["lines after restart"] = len(await rig.records.audit.lines())
    return told


async def full_at_start(folder: Path) -> Told:
    """The disk was full before the box was started, and the room for the worst moment is used up."""
    mount_small_disk(folder)
    await healthy(folder)
    fill(folder / "filling")
    (folder / "ballast").unlink()
    fill(folder / "more")
    async with living_box(Home(folder)) as rig:
        return await look(rig)


async def full_with_ballast(folder: Path) -> Told:
    """The disk was full before the box was started, and there is the room that is kept for that."""
    mount_small_disk(folder)
    await healthy(folder)
    fill(folder / "filling")
    async with living_box(Home(folder)) as rig:
        await rig.until(lambda: rig.said)
        await rig.rests()
        return await look(rig)


def shut_out(folder: Path) -> None:
    """Root becomes somebody else; another user locks the folder."""
    if os.geteuid() == 0:
        os.setuid(OTHER_USER)
    else:
        folder.chmod(0)


def leave_file_of_root(folder: Path) -> None:
    """The home is that of somebody else, whom this process becomes; one file in it is not."""
    log = folder / "appliance.db-wal"
    log.touch()
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, OTHER_USER, OTHER_USER)
        os.chown(log, 0, 0)
        log.chmod(0o600)
        os.setuid(OTHER_USER)
    else:
        log.chmod(0o400)


def mount_small_disk(folder: Path) -> None:
    """A disk of a few MB for the home."""
    folder.mkdir(parents=True, exist_ok=True)
    mount("-t", "tmpfs", "-o", "size=12m,mode=0700", "tmpfs", str(folder))


def mount(*words: str) -> None:
    """In the namespace of this process."""
    subprocess.run(["mount", *words], check=True)


def fill(file: Path) -> None:
    """Until nothing more goes onto the disk."""
    with contextlib.suppress(OSError), file.open("wb", buffering=0) as out:
        while True:
            out.write(bytes(4096))


_ALL = (healthy, read_only, missing, wrong_owner, stray_file, full, full_at_start, full_with_ballast)
STORIES = {story.__name__: story for story in _ALL}

if __name__ == "__main__":
    print(json.dumps(asyncio.run(STORIES[sys.argv[1]](Path(sys.argv[2])))))
