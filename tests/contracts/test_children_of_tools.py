"""How a tool's call ends decides what becomes of the processes that it started. Real processes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.contracts.kotoba.context import Confirmation
from appliance.events import Outcome
from appliance.tools.tool import ToolResult, Verdict
from tests.contracts.processes import CARELESS, Cradle
from tests.contracts.rig import Rig

pytestmark = CARELESS

#: Starts a process, waits until it lives, and goes on.
START = """
import asyncio, pathlib, subprocess
child = subprocess.Popen(["/bin/sh", "-c", {line!r}], start_new_session=True)
BORN.append(child)
while not pathlib.Path({file!r}).exists():
    await asyncio.sleep(0.005)
"""


@pytest.fixture
def cradle(tmp_path: Path) -> Iterator[Cradle]:
    made = Cradle(tmp_path / "cradle")
    yield made
    made.end_all()


async def load(rig: Rig, cradle: Cradle, ending: str, *attributes: str) -> None:
    """A tool that starts the process ``a`` and ends like this."""
    body = START.format(line=cradle.line("a"), file=str(cradle.folder / "a"))
    await rig.load_tool("starter", f"{body}{ending}", "BORN = []", *attributes)


async def test_a_tool_that_says_it_is_done_may_leave_its_process(rig: Rig, cradle: Cradle) -> None:
    await load(rig, cradle, 'return "The music is on."')

    assert (await rig.call("starter")).outcome is Outcome.OK

    await rig.host.close()
    assert cradle.living() == ["a"]


async def test_after_the_budget_nothing_of_it_is_left(rig: Rig, cradle: Cradle) -> None:
    await load(rig, cradle, "await asyncio.sleep(3600)", "TIMEOUT = 20")
    call = rig.start("starter")
    await cradle.born("a")

    await rig.clock.advance(20)

    assert (await call).text.startswith("The tool timed out.")
    await cradle.gone("a")


async def test_after_a_stop_nothing_of_it_is_left(rig: Rig, cradle: Cradle) -> None:
    await load(rig, cradle, "child.wait()")  # It blocks the plugin loop, as careless tools do.
    call = rig.start("starter")
    await cradle.born("a")

    call.cancel()
    await asyncio.gather(call, return_exceptions=True)

    assert rig.observer.told[-1] == "finished starter interrupted"
    await cradle.gone("a")


@pytest.mark.parametrize("verdict", [Verdict.DECLINED, Verdict.UNANSWERED, Verdict.UNREACHABLE])
async def test_after_a_no_in_its_middle_nothing_of_it_is_left(tmp_path: Path, cradle: Cradle, verdict: Verdict) -> None:
    async def answer(_question: Confirmation) -> Verdict:
        return verdict

    rig = Rig(tmp_path, confirm=answer)
    await load(rig, cradle, 'return "done" if await ctx.approval.confirm("format the disk") else "You said no."')

    result = await rig.call("starter")

    assert (result.outcome, result.text) == (Outcome.REFUSED, "You said no.")
    await cradle.gone("a")
    await rig.host.close()


@pytest.mark.parametrize("ending", ["raise OSError('no such host')", "return ''"])
async def test_after_a_failure_nothing_of_it_is_left(rig: Rig, cradle: Cradle, ending: str) -> None:
    await load(rig, cradle, ending)

    result: ToolResult = await rig.call("starter")

    assert result.outcome is Outcome.FAILED
    await cradle.gone("a")


async def test_a_module_that_breaks_while_it_is_loaded_leaves_nothing(rig: Rig, cradle: Cradle) -> None:
    line, file = cradle.line("a"), str(cradle.folder / "a")
    source = (
        f"import pathlib, subprocess, time\nBORN = subprocess.Popen(['/bin/sh', '-c', {line!r}])\n"
        f"while not pathlib.Path({file!r}).exists():\n    time.sleep(0.005)\nraise ValueError(BORN)\n"
    )
    rig.write("broken/tool.py", source)

    report = await rig.load()

    assert report.tools == ()
    await cradle.gone("a")
