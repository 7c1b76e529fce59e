"""A day and a night in one box, in time that a test moves: something breaks every twenty minutes, and is mended."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

import pytest

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, Step, calls, says
from appliance.adapters.fakes.tool import FakeTool
from appliance.errors import BrainUnreachableError
from appliance.events import EndReason
from appliance.tools.tool import Outcome, ToolResult
from tests.assistant.conftest import MakeRig
from tests.assistant.rig import WAKE_WORD, Rig

DAY_SECONDS = 24 * 3600.0
FAULT_EVERY_SECONDS = 20 * 60.0
#: A person who was answered or told why not within this time does not speak to a dead box.
PATIENCE_SECONDS = 10.0
#: Behind so many rounds of faults everything that is kept on purpose is there.
WARM_UP_ROUNDS = 2

Story = Callable[[Rig], Awaitable[None]]


async def asks_and_hears(rig: Rig, *answers: Sequence[Step], question: str = "Is all well?") -> None:
    """Whatever is wrong, a word comes back in time."""
    assert rig.model is not None
    rig.model.answers[:] = answers or [says("All is well.")]
    heard = len(rig.said)
    await rig.hears(WAKE_WORD, question)
    await rig.until(lambda: len(rig.said) > heard, PATIENCE_SECONDS)
    await rig.rests()


async def microphone_lost(rig: Rig) -> None:
    rig.card.lose()
    await rig.runs(40.0)
    rig.card.come_back()
    openings = rig.card.openings
    await rig.until(lambda: rig.card.openings > openings, 60.0)
    await rig.runs(1.0)
    await rig.rests()


async def disk_full(rig: Rig) -> None:
    rig.disk.is_full = True
    await asks_and_hears(rig)
    rig.disk.is_full = False


async def transcriber_fails(rig: Rig) -> None:
    rig.ears.fail()
    heard = len(rig.said)
    await rig.hears(WAKE_WORD)
    await rig.hears_noise()
    await rig.until(lambda: len(rig.said) > heard, PATIENCE_SECONDS)
    await rig.rests()


async def model_away(rig: Rig) -> None:
    await asks_and_hears(rig, [BrainUnreachableError("refused")])


async def tool_fails(rig: Rig) -> None:
    await asks_and_hears(rig, calls(("tides", {})), says("Nobody knows."))


async def clock_jumps(rig: Rig) -> None:
    now = rig.clock.now()
    rig.clock.set_wall(now + timedelta(days=400))
    await asks_and_hears(rig)
    rig.clock.set_wall(now - timedelta(days=400))
    await asks_and_hears(rig)
    rig.clock.set_wall(now)


async def timer_rings(rig: Rig) -> None:
    await rig.sets_timer(90)
    await rig.runs(91.0)
    await rig.hears(WAKE_WORD, "Stop.")
    await rig.rests()


STORIES: tuple[Story, ...] = (
    microphone_lost,
    disk_full,
    transcriber_fails,
    model_away,
    tool_fails,
    clock_jumps,
    timer_rings,
)


async def test_in_a_day_of_faults_every_question_gets_a_word_and_nothing_piles_up(
    make_rig: MakeRig, caplog: pytest.LogCaptureFixture
) -> None:
    rig = await make_rig(model=FakeModelEndpoint())
    rig.adds(FakeTool("tides", ToolResult("The harbour is closed.", Outcome.FAILED)))
    rig.lives_long()
    sizes: list[tuple[int, int, int]] = []

    end = rig.clock.monotonic_seconds() + DAY_SECONDS
    while rig.clock.monotonic_seconds() < end:
        for story in STORIES:
            began = rig.clock.monotonic_seconds()
            await story(rig)
            await asks_and_hears(rig)
            assert rig.endings[-1] is EndReason.ANSWERED, story.__name__
            await rig.runs(began + FAULT_EVERY_SECONDS - rig.clock.monotonic_seconds())
        rig.forgets()
        caplog.clear()
        gc.collect()
        sizes.append((len(asyncio.all_tasks()), threading.active_count(), len(gc.get_objects())))

    tasks, threads, objects = zip(*sizes[WARM_UP_ROUNDS:], strict=True)
    assert max(tasks) == min(tasks)
    assert max(threads) == min(threads)
    assert objects[-1] <= objects[0] * 1.05
