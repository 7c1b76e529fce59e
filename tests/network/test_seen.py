"""What passed the doors is counted, and written seldom."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from appliance.adapters.fakes.traffic_log import FakeTrafficLog
from appliance.clock import FakeClock
from appliance.errors import StoreError
from appliance.network.lane import Lane
from appliance.network.passage import Passage
from appliance.network.seen import Seen
from appliance.ports_think import Traffic, TrafficLog
from appliance.store.recovery import open_database
from appliance.store.traffic_log import StoredTraffic

MODEL = Passage("model", Lane.WAN, "api.example", 100, 2000)
TODAY = "2026-05-04"


async def test_the_same_host_is_counted_together_and_a_day_by_itself() -> None:
    clock = FakeClock()
    seen = Seen(FakeTrafficLog(), clock)
    seen.note(MODEL)
    seen.note(MODEL)
    seen.note(Passage("plugin:x", Lane.WAN, "api.example", 1, 2))
    await clock.advance(24 * 3600)
    seen.note(MODEL)
    rows = [Traffic(TODAY, "model", "wan", "api.example", 2, 200, 4000)]
    rows += [Traffic(TODAY, "plugin:x", "wan", "api.example", 1, 1, 2)]
    tomorrow = Traffic("2026-05-05", "model", "wan", "api.example", 1, 100, 2000)
    assert await seen.since(TODAY) == [*rows, tomorrow]
    assert await seen.today() == [tomorrow]


async def test_it_is_written_once_a_minute_at_most_and_not_when_nothing_came() -> None:
    clock, log = FakeClock(), FakeTrafficLog()
    seen = Seen(log, clock)
    running = asyncio.create_task(seen.run())
    for _ in range(10):
        seen.note(MODEL)
        await clock.advance(5.9)
    assert log.writes == 0
    await clock.advance(600)
    assert log.writes == 1
    assert (await seen.today())[0].requests == 10
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_what_could_not_be_written_is_not_lost() -> None:
    log = FakeTrafficLog()
    seen = Seen(log, FakeClock())
    seen.note(MODEL)
    log.is_broken = True
    await seen.flush()
    with pytest.raises(StoreError):
        await seen.today()
    log.is_broken = False
    seen.note(MODEL)
    await seen.flush()
    assert [row.requests for row in log.rows] == [2]


async def test_many_hosts_do_not_fill_the_memory() -> None:
    seen = Seen(FakeTrafficLog(), FakeClock())
    for number in range(2_000):
        seen.note(Passage("plugin:x", Lane.LAN, f"host-{number}", 1, 1))
    rows = await seen.today()
    assert len(rows) == 501
    assert sum(row.requests for row in rows) == 2_000


async def test_without_a_date_it_is_counted_as_such() -> None:
    seen = Seen(FakeTrafficLog(), FakeClock(trusted=False))
    seen.note(MODEL)
    assert [row.day for row in await seen.today()] == [""]


async def test_the_store_adds_up_and_forgets_what_is_old(tmp_path: Path) -> None:
    database = open_database(tmp_path / "box.db", FakeClock())
    log: TrafficLog = StoredTraffic(database)
    row = Traffic(TODAY, "model", "wan", "api.example", 2, 200, 4000)
    old = Traffic("2026-01-31", "model", "wan", "old.example", 1, 1, 1)
    await log.add([old, row])
    await log.add([row])
    assert await log.since("") == [Traffic(TODAY, "model", "wan", "api.example", 4, 400, 8000)]
    assert await log.since("2026-05-05") == []
    database.close()
