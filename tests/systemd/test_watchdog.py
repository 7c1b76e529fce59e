"""When the service manager is told that we live, and when it is not."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from appliance.adapters.fakes.service_manager import FakeServiceManager
from appliance.clock import FakeClock
from appliance.watchdog import Watchdog, starting


class BusyClock(FakeClock):
    """Wakes whoever sleeps ``late_seconds`` too late, as a loop does that was busy with something else."""

    late_seconds = 0.0

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds + self.late_seconds)


@dataclass
class Scene:
    """A watchdog, and the box that it looks at."""

    clock: BusyClock
    manager: FakeServiceManager
    can_hear: bool = True
    has_sound: bool = True
    words: str = "idle"
    blocks: int = 0
    hanging_seconds: float = 0.0

    def arrived(self) -> int:
        self.blocks += self.has_sound
        return self.blocks

    async def pings_in(self, seconds: float) -> int:
        """How many pings the next seconds bring."""
        before = self.manager.pings
        await self.clock.advance(seconds)
        return self.manager.pings - before


@asynccontextmanager
async def watched(manager: FakeServiceManager | None = None) -> AsyncIterator[Scene]:
    scene = Scene(BusyClock(), manager or FakeServiceManager())
    watchdog = Watchdog(
        scene.manager,
        scene.clock,
        arrived=scene.arrived,
        can_hear=lambda: scene.can_hear,
        words=lambda: scene.words,
        hanging_seconds=lambda: scene.hanging_seconds,
    )
    task = asyncio.create_task(watchdog.run())
    yield scene
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_healthy_box_pings_in_every_third_of_the_managers_patience() -> None:
    async with watched() as scene:
        assert await scene.pings_in(1.0) == 1
        assert await scene.pings_in(60.0) == 6


async def test_a_manager_that_waits_for_no_pings_gets_words_only() -> None:
    async with watched(FakeServiceManager(ping_seconds=0.0)) as scene:
        scene.words = "thinking"
        assert await scene.pings_in(60.0) == 0
        assert scene.manager.told == ["status thinking"]


async def test_without_a_manager_there_is_nothing_to_do() -> None:
    async with watched(FakeServiceManager(is_there=False)) as scene:
        await scene.clock.advance(60.0)
        assert (scene.manager.told, scene.clock.sleeping) == ([], 0)


async def test_a_loop_that_is_always_late_is_silent_until_it_is_in_time() -> None:
    async with watched() as scene:
        await scene.clock.advance(1.0)
        scene.clock.late_seconds = 10.5
        await scene.clock.advance(1.0)  # The sleep that was begun in time.
        assert await scene.pings_in(60.0) == 0
        assert "late" in scene.manager.told[-1]
        scene.clock.late_seconds = 0.0
        assert await scene.pings_in(11.5 + 1.0) == 1  # The last late one, and the next.
        assert scene.manager.told[-2:] == ["status idle", "ping"]


async def test_a_loop_that_is_a_little_late_is_only_busy() -> None:
    async with watched() as scene:
        scene.clock.late_seconds = 8.0
        assert await scene.pings_in(90.0) >= 4


async def test_an_open_microphone_without_sound_is_a_hang(caplog: pytest.LogCaptureFixture) -> None:
    async with watched() as scene:
        await scene.clock.advance(9.0)
        scene.has_sound = False
        assert await scene.pings_in(4.0) == 1
        with caplog.at_level(logging.ERROR):
            assert await scene.pings_in(60.0) == 0
        assert scene.manager.told[-1] == "status hanging: the microphone is open and gives no sound"
        assert len(caplog.records) == 1
        scene.has_sound = True
        assert await scene.pings_in(2.0) == 1
        assert scene.manager.told[-2:] == ["status idle", "ping"]


async def test_a_microphone_that_is_muted_or_lost_may_be_silent_for_ever() -> None:
    async with watched() as scene:
        scene.can_hear = scene.has_sound = False
        assert await scene.pings_in(3600.0) == 360


async def test_a_microphone_has_its_time_to_begin_after_a_long_silence() -> None:
    async with watched() as scene:
        scene.can_hear = scene.has_sound = False
        await scene.clock.advance(3600.0)
        scene.can_hear = True
        await scene.clock.advance(4.0)
        scene.has_sound = True
        await scene.clock.advance(60.0)
        assert [words for words in scene.manager.told if "hanging" in words] == []


async def test_silence_is_not_held_against_a_loop_that_was_away_itself() -> None:
    async with watched() as scene:
        await scene.clock.advance(1.0)
        scene.has_sound, scene.clock.late_seconds = False, 20.0
        await scene.clock.advance(22.0)
        scene.has_sound, scene.clock.late_seconds = True, 0.0
        await scene.clock.advance(30.0)
        assert [words for words in scene.manager.told if "no sound" in words] == []


async def test_a_sound_system_that_stopped_answering_is_a_hang_after_a_minute() -> None:
    async with watched() as scene:
        await scene.pings_in(10.0)
        scene.can_hear = False
        scene.hanging_seconds = 50.0
        assert await scene.pings_in(30.0) > 0
        scene.hanging_seconds = 70.0
        await scene.pings_in(10.0)
        assert await scene.pings_in(30.0) == 0
        assert scene.manager.told[-1] == "status hanging: the sound system does not answer"


async def test_where_it_never_answered_since_the_start_starting_anew_would_help_nobody() -> None:
    async with watched() as scene:
        scene.can_hear = scene.has_sound = False
        scene.hanging_seconds = 600.0
        await scene.pings_in(10.0)
        assert await scene.pings_in(60.0) == 6


async def test_what_the_box_does_is_told_when_it_changes() -> None:
    async with watched() as scene:
        await scene.clock.advance(30.0)
        scene.words = "speaking"
        await scene.clock.advance(30.0)
        assert [words for words in scene.manager.told if words != "ping"] == ["status idle", "status speaking"]


async def test_more_time_to_start_is_asked_for_until_it_has_started() -> None:
    clock, manager = FakeClock(), FakeServiceManager()
    async with starting(manager, clock):
        await clock.advance(25.0)
    await clock.advance(60.0)
    assert manager.told == ["status starting", "extend 30", "extend 30", "extend 30"]


async def test_nobody_is_asked_where_nobody_waits() -> None:
    clock, manager = FakeClock(), FakeServiceManager(is_there=False)
    async with starting(manager, clock):
        await clock.advance(25.0)
    assert manager.told == []
