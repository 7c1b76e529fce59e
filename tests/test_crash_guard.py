"""What is known of a process that crashed, and which ends are good ones."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest

from appliance.clock import FakeClock
from appliance.crash_guard import guarded, plugins_on_stack
from appliance.errors import ConfigError
from appliance.home import Home
from appliance.store.running_notes import Doing

STACK = """Fatal Python error: Segmentation fault

Current thread 0x00007f5f6b7fe6c0 (most recent call first):
  File "/usr/lib/python3.11/ctypes/__init__.py", line 519 in string_at
  File "{home}/plugins/sea/site-packages/depth/chart.py", line 3 in read
  File "{home}/plugins/sea/tide.py", line 12 in execute
  File "{home}/plugins/alarm.py", line 2 in go

Thread 0x00007f5f6c0006c0 (most recent call first):
  File "{home}/plugins/innocent/wait.py", line 5 in wait

Extension modules: numpy.core (total: 1)
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path)
    made.make()
    return made


def test_the_plugin_is_read_off_the_stack_of_the_thread_that_crashed(home: Home) -> None:
    text = STACK.format(home=home.folder)
    assert plugins_on_stack(text, [home.plugins_folder]) == ["sea", "alarm"]
    assert plugins_on_stack("Fatal Python error: Aborted", [home.plugins_folder]) == []


def test_a_plugin_is_known_by_the_name_in_its_manifest(home: Home) -> None:
    (home.plugins_folder / "sea").mkdir()
    (home.plugins_folder / "sea" / "plugin.json").write_text('{"name": "sea_and_land"}')
    assert plugins_on_stack(STACK.format(home=home.folder), [home.plugins_folder])[0] == "sea_and_land"


@pytest.mark.parametrize("end", [None, ConfigError("a wrong word"), asyncio.CancelledError(), KeyboardInterrupt()])
async def test_an_end_that_is_explained_leaves_nothing(home: Home, end: BaseException | None) -> None:
    with pytest.raises(type(end)) if end is not None else contextlib.nullcontext():
        async with guarded(home, FakeClock(), is_device=False, growth_mb=0) as guard:
            guard.ready()
            guard.starts.notes.enter("sea", Doing.IMPORT)
            if end is not None:
                raise end
    assert guard.starts.notes.left() is None


async def test_an_end_that_nobody_foresaw_is_judged_by_the_next_start(home: Home) -> None:
    with pytest.raises(ZeroDivisionError):
        async with guarded(home, FakeClock(), is_device=False, growth_mb=0) as guard:
            guard.starts.notes.enter("sea", Doing.IMPORT)
            raise ZeroDivisionError
    async with guarded(home, FakeClock(), is_device=False, growth_mb=0) as guard:
        assert guard.starts.why_quarantined("sea")


async def test_a_start_is_good_after_a_minute(home: Home) -> None:
    clock = FakeClock()
    async with guarded(home, clock, is_device=False, growth_mb=0) as guard:
        for seconds, phase in ((0.0, "starting"), (0.0, "ready"), (59.0, "ready"), (1.0, "settled")):
            await clock.advance(seconds)
            guard.each_time()
            left = guard.starts.notes.left()
            assert left is not None and left.phase == phase
            if phase == "starting":
                guard.ready()
