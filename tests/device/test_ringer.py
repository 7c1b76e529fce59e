"""What ringing sounds like, and every way in which it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import numpy as np
import pytest

from appliance.audio import AudioChunk, level_dbfs
from appliance.clock import settle
from appliance.device.entry import Due, Kind, RingEnding
from appliance.device.ringer import RingAnswer, Ringer, RingPorts
from appliance.device.schedule import COLLECTION
from appliance.device.tone import Tone, burst
from appliance.errors import AudioError, SoundCardLostError, StoreError
from tests.device.house import House

Live = Callable[[House], Awaitable[None]]
Spawn = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]


@pytest.fixture
def house() -> House:
    return House()


def _rings(house: House) -> int:
    """How many things ring."""
    return len(house.ringer.ringing)


async def test_a_timer_rings_says_what_it_is_and_listens(house: House, live: Live) -> None:
    await live(house)
    await house.schedule.add_countdown(Kind.TIMER, 60, name="pasta")
    await house.clock.advance(60 + 8)
    assert house.heard == ["Your pasta timer is done."]
    assert house.gaps >= 1
    assert [due.entry.name for due in house.ringer.ringing] == ["pasta"]


async def test_stop_in_the_gap_ends_it_for_good(house: House, live: Live) -> None:
    await live(house)
    house.answers = [None, RingAnswer(RingEnding.STOPPED)]
    await house.schedule.add_countdown(Kind.TIMER, 60)
    await house.clock.advance(900)
    assert house.gaps == 2
    assert _rings(house) == 0
    assert house.documents.collections[COLLECTION] == {}
    assert await house.schedule.take_missed() == ()


async def test_snooze_in_the_gap_rings_again_nine_minutes_later(house: House, live: Live) -> None:
    await live(house)
    house.answers = [RingAnswer(RingEnding.SNOOZED, 540.0)]
    await house.schedule.add_countdown(Kind.TIMER, 60)
    await house.clock.advance(75)
    assert _rings(house) == 0 and house.gaps == 1
    house.answers = [RingAnswer(RingEnding.STOPPED)]
    await house.clock.advance(560)
    assert house.gaps == 2
    assert len(house.heard) == 2


async def test_after_ten_minutes_it_gives_up_and_is_told_later(house: House, live: Live) -> None:
    await live(house)
    await house.schedule.add_countdown(Kind.TIMER, 60, name="pasta")
    await house.clock.advance(60 + 595)
    assert _rings(house) == 1
    await house.clock.advance(20)
    assert _rings(house) == 0
    gaps = house.gaps
    await house.clock.advance(3600)
    assert house.gaps == gaps, "it is silent from then on"
    assert [entry.name for entry in await house.schedule.take_missed()] == ["pasta"]


async def test_the_button_silences_it_in_mid_burst(house: House, live: Live) -> None:
    await live(house)
    await house.schedule.add_countdown(Kind.TIMER, 60)
    await house.clock.advance(60.1)
    assert house.ringer.stop()
    await settle()
    assert house.heard == [] and house.gaps == 0
    assert house.documents.collections[COLLECTION] == {}
    assert not house.ringer.stop(), "nothing rings any more"


async def test_a_tool_in_the_gap_ends_it_and_all_is_stored_by_then(house: House, live: Live) -> None:
    await live(house)
    await house.schedule.add_countdown(Kind.TIMER, 60, name="tea")
    await house.clock.advance(66)
    ended = await house.ringer.end(RingAnswer(RingEnding.SNOOZED, 300.0))
    assert [due.entry.name for due in ended] == ["tea"]
    assert [row["length_seconds"] for row in house.documents.collections[COLLECTION].values()] == [300.0]
    gaps = house.gaps
    await house.clock.advance(200)
    assert house.gaps == gaps
    await house.clock.advance(110)
    assert house.gaps > gaps, "snoozed, it rings again"


async def test_two_timers_ring_as_one(house: House, live: Live) -> None:
    await live(house)
    await house.schedule.add_countdown(Kind.TIMER, 60, name="pasta")
    await house.schedule.add_countdown(Kind.TIMER, 60, name="tea")
    house.answers = [RingAnswer(RingEnding.STOPPED)]
    await house.clock.advance(70)
    assert house.heard == ["Your pasta timer is done. Time is up for your tea timer."]
    assert house.documents.collections[COLLECTION] == {}


async def test_one_that_joins_is_named_too_and_has_its_whole_time(house: House, live: Live) -> None:
    await live(house)
    await house.schedule.add_countdown(Kind.TIMER, 60, name="pasta")
    await house.schedule.add_countdown(Kind.TIMER, 500, name="tea")
    await house.clock.advance(510)
    assert "pasta" in house.heard[-1] and "tea" in house.heard[-1]
    await house.clock.advance(560)
    assert _rings(house) == 2
    await house.clock.advance(60)
    assert _rings(house) == 0


async def test_what_comes_due_while_another_is_stopped_still_rings(house: House, live: Live) -> None:
    await live(house)
    await house.schedule.add_countdown(Kind.TIMER, 60, name="pasta")
    await house.schedule.add_countdown(Kind.TIMER, 61, name="tea")
    await house.clock.advance(60.5)
    house.ringer.stop()
    await house.clock.advance(8)
    assert [due.entry.name for due in house.ringer.ringing] == ["tea"]
    assert house.heard[-1] in ("Your tea timer is done.", "Time is up for your tea timer.")


async def test_two_that_come_due_at_once_are_stopped_before_a_sound(house: House, live: Live) -> None:
    await live(house)
    for name in ("pasta", "tea"):
        house.ringer.add(Due(await house.schedule.add_countdown(Kind.TIMER, 3600, name=name)))
    assert house.ringer.stop()
    house.ringer.add(Due(await house.schedule.add_countdown(Kind.TIMER, 3600, name="egg")))
    await house.clock.advance(8)
    assert [due.entry.name for due in house.ringer.ringing] == ["egg"]
    assert house.heard == ["Your egg timer is done."]
    assert [entry.name for entry in house.schedule.waiting] == ["egg"], "the others are closed"


async def test_when_storing_fails_all_that_rang_has_ended(house: House, live: Live) -> None:
    await live(house)
    for _ in range(2):
        await house.schedule.add_countdown(Kind.TIMER, 60)
    await house.clock.advance(62)
    house.documents.fail_writes = True
    with pytest.raises(StoreError):
        await house.ringer.end(RingAnswer(RingEnding.STOPPED))
    await house.clock.advance(600)
    assert _rings(house) == 0 and house.schedule.waiting == ()


async def test_a_reminder_is_said_three_times_and_then_kept(house: House, live: Live) -> None:
    await live(house)
    await house.schedule.add_countdown(Kind.REMINDER, 60, text="call mom")
    await house.clock.advance(60 + 120)
    assert len(house.heard) == 3
    assert all("call mom" in said for said in house.heard)
    assert house.gaps == 3
    assert [entry.text for entry in await house.schedule.take_missed()] == ["call mom"]


async def test_a_reminder_that_is_answered_is_said_once(house: House, live: Live) -> None:
    await live(house)
    house.answers = [RingAnswer(RingEnding.STOPPED)]
    await house.schedule.add_countdown(Kind.REMINDER, 60, text="call mom")
    await house.clock.advance(300)
    assert len(house.heard) == 1


async def test_what_is_far_too_late_is_told_and_does_not_ring(house: House, live: Live) -> None:
    await house.schedule.add_countdown(Kind.TIMER, 60, name="pasta")
    house.power_cut(2 * 3600)
    await live(house)
    await house.clock.advance(60)
    assert house.told == ["Your pasta timer was due at three oh eight in the afternoon, while I was off."]
    assert house.heard == [] and house.gaps == 0
    assert house.documents.collections[COLLECTION] == {}


async def test_an_alarm_goes_on_when_speaker_and_ear_fail(spawn: Spawn) -> None:
    house = House()
    plays = 0

    async def play(chunk: AudioChunk) -> None:
        nonlocal plays
        plays += 1
        raise SoundCardLostError("the speaker is gone")

    async def gap(seconds: float) -> RingAnswer | None:
        raise AudioError("the microphone is gone")

    ports = RingPorts(play, house._say, gap, lambda _key, _text: None, house.words.ring, house.schedule.finish)
    ringer = Ringer(ports, house.clock, ring_seconds=60)
    spawn(house.schedule.run(ringer.add))
    spawn(ringer.run())
    await house.schedule.add_countdown(Kind.TIMER, 10)
    await house.clock.advance(50)
    assert 3 <= plays <= 12, "it tries again, but does not spin"
    await house.clock.advance(60)
    assert ringer.ringing == ()


async def test_a_disk_that_fails_does_not_keep_it_ringing(house: House, live: Live) -> None:
    await live(house)
    await house.schedule.add_countdown(Kind.TIMER, 60)
    house.answers = [RingAnswer(RingEnding.STOPPED)]
    house.documents.fail_writes = True
    await house.clock.advance(600)
    assert _rings(house) == 0 and house.gaps == 1


@pytest.mark.parametrize("tone", Tone)
def test_a_burst_is_clean_and_grows_with_loudness(tone: Tone) -> None:
    quiet, full = burst(tone, 0.25, 22_050), burst(tone, 1.0, 22_050)
    assert 0.8 < full.duration_seconds < 2.0
    peak = int(np.max(np.abs(full.samples.astype(np.int32))))
    assert 15_000 < peak <= 16_384
    assert abs(int(full.samples[0])) < 200 and abs(int(full.samples[-1])) < 200, "no click at either end"
    assert level_dbfs(full.samples) - level_dbfs(quiet.samples) == pytest.approx(12.0, abs=0.5)


def test_the_tones_differ() -> None:
    sounds = [burst(tone, 1.0, 16_000).samples.tobytes() for tone in Tone]
    assert len(set(sounds)) == len(sounds)
