"""Tasks of plugins that run at their time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from appliance.adapters.fakes.documents import FakeDocuments
from appliance.contracts.sapphire.cron import Cron
from appliance.contracts.sapphire.tasks import COLLECTION
from tests.contracts.gate import until
from tests.contracts.sapphire_rig import SapphireRig, tool_file

#: Counts its runs in the plugin's state.
HANDLER = """
def run(event):
    assert set(event) == {"system", "config", "task", "plugin_state"}
    state = event["plugin_state"]
    state.save("runs", [*state.get("runs", []), event["task"]["name"]])
    return "Done"
"""
#: In the shape of public timers: a tool that makes a task for later.
MAKER = tool_file(
    "probe",
    "from core.api_fastapi import get_system\n"
    "try:\n"
    "    scheduler = get_system().continuity_scheduler\n"
    "except Exception as error:\n"
    "    return f'Scheduler unreachable: {error}', False\n"
    "if arguments.get('delete'):\n"
    "    return str([scheduler.delete_task(task['id']) for task in scheduler.list_tasks()]), True\n"
    "if arguments.get('list'):\n"
    "    return str([(task['name'], task['next_run']) for task in scheduler.list_tasks()]), True\n"
    "made = scheduler.create_task({\n"
    "    'name': arguments.get('title', '(alarm) wake'), 'source': 'plugin:p', 'handler': 'run.py',\n"
    "    'schedule': '30 15 * * *', 'delete_after_run': True, 'initial_message': 'Wake up',\n"
    "    'plugin_dir': str(Path(__file__).parent.parent), **arguments})\n"
    "return made['id'], True",
    "from pathlib import Path",
)


async def plugin(box: SapphireRig, *tasks: dict[str, Any], **capabilities: Any) -> None:
    """A plugin with these tasks, and a tool that makes more."""
    schedule = [{"handler": "run.py", **task} for task in tasks]
    whole = {"tools": ["tools/probe.py"], "schedule": schedule, **capabilities}
    box.plugin("p", {"run.py": HANDLER, "tools/probe.py": MAKER}, capabilities=whole)
    await box.load()


@asynccontextmanager
async def living(box: SapphireRig) -> AsyncIterator[None]:
    """The box is a device inside the block."""
    life = asyncio.create_task(box.beside.live())
    try:
        yield
    finally:
        life.cancel()
        await asyncio.gather(life, return_exceptions=True)


def runs(box: SapphireRig) -> list[str]:
    value: list[str] = box.contract.states.of("p").get("runs", [])
    return value


async def pass_time(box: SapphireRig, minutes: float, *, expected: int) -> None:
    """Move the clock on, minute by minute; handlers run on real threads."""
    for _ in range(int(minutes)):
        await box.clock.advance(60)
        await until(lambda: not box.beside.tasks.is_running)
    assert len(runs(box)) == expected


async def test_a_task_of_the_manifest_runs_at_each_of_its_times(box: SapphireRig) -> None:
    # The clock of the tests begins at 15:07 UTC, in a house that lives by UTC.
    await plugin(box, {"name": "Digest", "cron": "*/10 * * * *"})
    async with living(box):
        await pass_time(box, 2, expected=0)
        await pass_time(box, 1, expected=1)
        await pass_time(box, 20, expected=3)
    assert runs(box) == ["Digest"] * 3


async def test_without_a_living_box_nothing_runs(box: SapphireRig) -> None:
    await plugin(box, {"name": "Digest", "cron": "* * * * *"})
    await pass_time(box, 5, expected=0)


async def test_a_task_that_is_off_or_out_of_luck_does_not_run(box: SapphireRig) -> None:
    await plugin(
        box,
        {"name": "off", "cron": "* * * * *", "enabled": False},
        {"name": "never", "cron": "* * * * *", "chance": 0},
        {"name": "always", "cron": "* * * * *", "chance": 100},
    )
    async with living(box):
        await pass_time(box, 2, expected=2)
    assert runs(box) == ["always", "always"]


@pytest.mark.parametrize(("time", "minutes"), [("15:10", 3), (16, 53), ("16", 53), (16.0, 53), ("soon", 43)])
async def test_settings_say_when_a_task_runs_and_whether(box: SapphireRig, time: Any, minutes: int) -> None:
    fields = [{"key": "at", "default": "15:20"}, {"key": "on", "type": "boolean", "default": False}]
    task = {"name": "Digest", "cron": "50 15 * * *", "time_setting": "at", "enabled_setting": "on"}
    await plugin(box, task, settings=fields)
    async with living(box):
        await box.contract.save_settings("p", {"on": True, "at": time})
        await pass_time(box, minutes - 1, expected=0)
        await pass_time(box, 1, expected=1)
        await box.contract.save_settings("p", {"on": False})
        await pass_time(box, 24 * 60, expected=1)


async def test_a_tool_makes_a_task_that_runs_once_and_is_gone(box: SapphireRig) -> None:
    await plugin(box)
    assert (await box.call()).text != ""
    assert (await box.call(list=True)).text == "[('(alarm) wake', '2026-05-04T15:30+00:00')]"
    async with living(box):
        await pass_time(box, 25, expected=1)
        await pass_time(box, 24 * 60, expected=1)
    assert (await box.call(list=True)).text == "[]"
    assert box.documents.collections[COLLECTION] == {}


async def test_a_task_that_a_plugin_made_is_there_after_a_restart(tmp_path: Path) -> None:
    documents = FakeDocuments()
    before = SapphireRig(tmp_path, documents=documents)
    await plugin(before)
    await before.call()
    await before.close()
    after = SapphireRig(tmp_path, documents=documents)
    await after.load()
    async with living(after):
        await pass_time(after, 25, expected=1)
    await after.close()


async def test_a_task_can_be_deleted(box: SapphireRig) -> None:
    await plugin(box)
    await box.call()
    assert (await box.call(delete=True)).text == "[True]"
    async with living(box):
        await pass_time(box, 30, expected=0)
    assert await box.beside.tasks.delete("nothing") is False


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"handler": "none.py"}, "there is no 'none.py' in p"),
        ({"handler": "../other/run.py"}, "there is no '../other/run.py' in p"),
        ({"handler": ""}, "has no handler: a prompt for a model at a time is not on this box"),
        ({"schedule": "soon"}, "'soon' is no time: it takes five fields"),
        ({"title": ""}, "a task needs a name"),
        ({"source": "plugin:other"}, "the source of a task is the plugin that makes it"),
    ],
)
async def test_a_task_that_cannot_run_is_refused_in_words(box: SapphireRig, fields: dict[str, Any], words: str) -> None:
    await plugin(box)
    assert words in (await box.call(**fields)).text
    assert box.beside.tasks.shown() == []


async def test_before_the_box_is_up_there_is_no_scheduler(box: SapphireRig) -> None:
    await plugin(box)
    box.doors.is_open = False
    assert (await box.call()).text == "Scheduler unreachable: 503: the box is not ready"


async def test_what_was_missed_is_not_made_up_for_but_a_short_delay_is(box: SapphireRig) -> None:
    await plugin(box, {"name": "Digest", "cron": "0 16 * * *"})
    async with living(box):
        await box.clock.advance(1)
        box.clock.set_wall(datetime(2026, 5, 4, 16, 4, tzinfo=UTC))
        await pass_time(box, 1, expected=1)
        box.clock.set_wall(datetime(2026, 5, 5, 16, 6, tzinfo=UTC))
        await pass_time(box, 30, expected=1)


async def test_a_clock_that_is_not_set_runs_nothing(box: SapphireRig) -> None:
    await plugin(box, {"name": "Digest", "cron": "* * * * *"})
    box.clock.set_wall(datetime(1970, 1, 1, tzinfo=UTC), trusted=False)
    async with living(box):
        await pass_time(box, 5, expected=0)
        box.clock.set_wall(datetime(2026, 5, 4, 15, 7, tzinfo=UTC))
        await pass_time(box, 2, expected=2)


async def test_a_task_that_fails_is_told_and_the_others_go_on(
    box: SapphireRig, caplog: pytest.LogCaptureFixture
) -> None:
    capabilities = {"schedule": [{"name": "broken", "cron": "* * * * *", "handler": "bad.py"}], "tools": []}
    box.plugin("bad", {"bad.py": "def run(event):\n    raise ValueError('no')\n"}, capabilities=capabilities)
    await plugin(box, {"name": "good", "cron": "* * * * *"})
    heard: list[dict[str, Any]] = []
    box.beside.events.subscribe("continuity_task_error", heard.append)
    async with living(box):
        await pass_time(box, 1, expected=1)
        await until(lambda: bool(heard))
    assert "the task broken of plugin bad failed: ValueError: no" in caplog.text
    assert heard[0]["data"] == {"task": "broken", "error": "ValueError: no"}


async def test_tasks_rest_while_their_plugin_is_switched_off(box: SapphireRig) -> None:
    await plugin(box, {"name": "declared", "cron": "* * * * *"})
    await box.call(schedule="* * * * *", delete_after_run=False)
    box.switch(disabled=("p",))
    await box.load()
    assert [task["name"] for task in box.beside.tasks.shown()] == ["(alarm) wake"]
    async with living(box):
        await pass_time(box, 3, expected=0)


async def test_a_manifest_with_a_wrong_time_is_told(box: SapphireRig) -> None:
    await plugin(box, {"name": "Digest", "cron": "whenever"})
    assert box.sentences == [
        "p: its task 'Digest' never runs: 'whenever' is no time: it takes five fields, such as '30 7 * * *' for half "
        "past seven"
    ]


# --------------------------------------------------------------------------------------------------- the times

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30 7 * * *", "2026-05-05 07:30"),
        ("*/15 * * * *", "2026-05-04 17:15"),
        ("0 9 * * mon-fri", "2026-05-05 09:00"),
        ("0 9 * * 0", "2026-05-10 09:00"),
        ("0 9 * * 7", "2026-05-10 09:00"),
        ("5,10 18-20/2 4 may *", "2026-05-04 18:05"),
        ("0 0 29 2 *", "2028-02-29 00:00"),
        # With both kinds of days either will do.
        ("0 0 13 * fri", "2026-05-08 00:00"),
    ],
)
def test_times_are_those_of_the_house(text: str, expected: str) -> None:
    now = datetime(2026, 5, 4, 15, 7, tzinfo=UTC)
    found = Cron.parse(text).after(now, BERLIN)
    assert found is not None
    assert found.astimezone(BERLIN).strftime("%Y-%m-%d %H:%M") == expected


def test_a_day_that_never_comes_is_never() -> None:
    assert Cron.parse("0 0 31 2 *").after(datetime(2026, 5, 4, tzinfo=UTC), BERLIN) is None


def test_an_hour_that_summer_time_leaves_out_comes_once_all_the_same() -> None:
    cron, moment, found = Cron.parse("30 2 * * *"), datetime(2026, 3, 27, 12, tzinfo=UTC), []
    for _ in range(3):
        due = cron.after(moment, BERLIN)
        assert due is not None
        found.append(due)
        moment = due
    hours = [round((later - earlier) / timedelta(hours=1)) for earlier, later in pairwise(found)]
    assert hours == [24, 23]


@pytest.mark.parametrize(
    "text", ["", "* * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "*/0 * * * *", "5-1 * * * *", "a * * * *"]
)
def test_what_is_no_time_is_said_in_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no (time|part of a time): "):
        Cron.parse(text)
