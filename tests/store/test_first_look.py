"""Whether the microphone was closed, read before the store is open."""

from __future__ import annotations

from pathlib import Path

from appliance.clock import FakeClock
from appliance.device.settings import BoxSettings
from appliance.store.database import SqliteDatabase
from appliance.store.documents import StoredDocuments
from appliance.store.first_look import was_muted
from appliance.store.recovery import open_database


async def keep(database: SqliteDatabase, *, is_muted: bool) -> None:
    await BoxSettings(StoredDocuments(database)).keep("is_muted", is_muted)


def test_a_box_that_was_never_started_is_not_muted(tmp_path: Path) -> None:
    assert not was_muted(tmp_path / "appliance.db")
    assert list(tmp_path.iterdir()) == [], "looking leaves nothing behind"


async def test_it_knows_what_the_owner_said_last(tmp_path: Path) -> None:
    file = tmp_path / "appliance.db"
    for is_muted in (True, False, True):
        database = open_database(file, FakeClock())
        await keep(database, is_muted=is_muted)
        database.close()
        assert was_muted(file) is is_muted


async def test_it_knows_it_behind_a_power_cut_too(tmp_path: Path) -> None:
    there, cut = tmp_path / "there", tmp_path / "cut"
    there.mkdir()
    cut.mkdir()
    database = open_database(there / "appliance.db", FakeClock())
    await keep(database, is_muted=True)
    for part in there.iterdir():  # as they lie on the disk while it is open
        (cut / part.name).write_bytes(part.read_bytes())
    database.close()
    assert (cut / "appliance.db-wal").stat().st_size
    assert was_muted(cut / "appliance.db")


def test_in_doubt_the_microphone_stays_closed(tmp_path: Path) -> None:
    file = tmp_path / "appliance.db"
    file.write_bytes(b"no database at all" * 400)
    assert was_muted(file)
