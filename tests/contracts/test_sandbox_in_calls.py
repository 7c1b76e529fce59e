"""``ctx.ensure_sandbox()`` in calls of tools: whose it is, what its exit codes mean, and its end with the call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from appliance.adapters.fakes.worker_launcher import SHELTER, FakeWorkerLauncher
from appliance.adapters.worker_rlimits import LimitedWorkers
from appliance.contracts.kotoba.context import ToolContext
from appliance.contracts.kotoba.results import FAILURE_NOTE
from appliance.events import Outcome
from appliance.ports_sandbox import Shelter, WorkerLauncher
from tests.contracts.gate import until
from tests.contracts.processes import CARELESS
from tests.contracts.rig import Rig
from tests.contracts.sandbox_rig import Mark, ToolRig, bubblewrap

pytestmark = CARELESS


@pytest.fixture(params=[bubblewrap, LimitedWorkers])
async def box(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ToolRig]:
    """A box with a real sandbox."""
    rig = ToolRig(tmp_path, request.param())
    yield rig
    await rig.close()


@pytest.fixture
def launcher() -> FakeWorkerLauncher:
    return FakeWorkerLauncher()


@pytest.fixture
async def pretend(tmp_path: Path, launcher: WorkerLauncher) -> AsyncIterator[ToolRig]:
    """A box whose sandbox runs nothing."""
    rig = ToolRig(tmp_path, launcher)
    yield rig
    await rig.close()


async def tell(rig: Rig, expression: str, *before: str) -> str:
    """What a tool finds."""
    await rig.load_tool("tell", "\n".join([*before, f"return repr({expression})"]))
    return (await rig.call("tell")).text


# ---------------------------------------------------------------------------------------------- whose it is


@pytest.mark.contract("K-141", "K-155")
async def test_a_tool_gets_a_sandbox_when_it_asks_and_runs_in_its_work_folder(box: ToolRig) -> None:
    body = (
        "first = ctx.sandbox\n"
        "sandbox = await ctx.ensure_sandbox()\n"
        "result = await sandbox.run('pwd; echo hello > greeting')\n"
        "return repr((first, ctx.sandbox is sandbox, result.stdout.strip() == str(ctx.workdir), result.ok,"
        " await ctx.read_text('greeting')))"
    )
    await box.load_tool("ask", body)
    assert (await box.call("ask")).text == "(None, True, True, True, 'hello\\n')"


@pytest.mark.contract("K-155")
async def test_without_a_backend_there_is_no_sandbox(tmp_path: Path) -> None:
    rig = ToolRig(tmp_path, FakeWorkerLauncher(None))
    names = "from kotoba.core.sandbox import backend_name, create_sandbox, sandbox_available_sync"
    found = await tell(
        rig,
        "(await ctx.ensure_sandbox(), ctx.sandbox, backend_name(), sandbox_available_sync(), create_sandbox('.'))",
        names,
    )
    assert found == "(None, None, 'none', False, None)"
    await rig.close()


@pytest.mark.contract("K-155")
async def test_a_sandbox_that_does_not_start_is_none_too(pretend: ToolRig, launcher: FakeWorkerLauncher) -> None:
    launcher.is_broken = True
    assert await tell(pretend, "await ctx.ensure_sandbox()") == "None"


@pytest.mark.contract("K-155")
async def test_a_conversation_keeps_its_sandbox_over_its_calls(pretend: ToolRig, launcher: FakeWorkerLauncher) -> None:
    await pretend.load_tool(
        "use", "sandbox = await ctx.ensure_sandbox()\nawait sandbox.run('true')\nreturn str(sandbox._place.folder)"
    )
    folders = {(await pretend.call("use", f"call-{number}")).text for number in range(3)}
    assert folders == {str(pretend.workdir)}
    # Each call has a worker of its own, and takes it along.
    assert [link.is_killed for link in launcher.links] == [True] * 3


@pytest.mark.contract("K-156", "K-154")
async def test_cleanup_ends_only_what_the_context_owns(pretend: ToolRig, launcher: FakeWorkerLauncher) -> None:
    body = (
        "from kotoba.tools import ToolContext\n"
        "await ctx.ensure_sandbox()\n"
        "await ctx.cleanup()\n"
        "kept = ctx.sandbox is not None\n"
        "own = ToolContext(db=None, workdir=ctx.workdir)\n"
        "await own.ensure_sandbox()\n"
        "child = own.child('helper')\n"
        "await child.cleanup()\n"
        "shared = child.sandbox is own.sandbox\n"
        "await own.cleanup()\n"
        "return repr((kept, shared, own.sandbox))"
    )
    await pretend.load_tool("clean", body)
    call = pretend.start("clean")
    assert (await call).text == "(True, True, None)"
    assert len(launcher.links) == 2


async def test_a_context_without_a_folder_has_none() -> None:
    assert await ToolContext().ensure_sandbox() is None


async def test_a_tool_may_make_a_sandbox_of_its_own(box: ToolRig, tmp_path: Path) -> None:
    other = tmp_path / "other"
    found = await tell(
        box,
        "((await sandbox.run('pwd')).stdout.strip(), (await sandbox.run_code('print(6 * 7)')).stdout)",
        "from kotoba.core.sandbox import create_sandbox",
        f"sandbox = create_sandbox({str(other)!r})",
    )
    assert found == repr((str(other), "42\n"))


@pytest.mark.parametrize(
    ("shelter", "name"),
    [(SHELTER, "fake"), (Shelter("rlimits", is_contained=False, has_network=True, gaps="all"), "local")],
)
async def test_running_on_the_machine_itself_is_called_local(tmp_path: Path, shelter: Shelter, name: str) -> None:
    rig = ToolRig(tmp_path, FakeWorkerLauncher(shelter))
    source = "from kotoba.core import sandbox\ndef check():\n    return sandbox.sandbox_available_sync()"
    await rig.load_tool("ask", "return sandbox.backend_name()", source)
    assert rig.offered() == ["ask"]
    assert (await rig.call("ask")).text == name
    await rig.close()


# ---------------------------------------------------------------------------------------------- exit codes


@pytest.mark.parametrize(
    ("lines", "outcome"),
    [
        (["true"], Outcome.OK),
        (["true", "exit 3", "true"], Outcome.FAILED),
        ([], Outcome.OK),
        (["sleep 60"], Outcome.FAILED),
    ],
)
async def test_a_command_that_failed_makes_a_failed_call(box: ToolRig, lines: list[str], outcome: Outcome) -> None:
    body = (
        "sandbox = await ctx.ensure_sandbox()\n"
        f"codes = [(await sandbox.run(line, timeout=1)).exit_code for line in {lines!r}]\n"
        "return f'codes {codes}'"
    )
    await box.load_tool("run", body, 'RISK = "write"')
    result = await box.call("run")
    assert result.outcome is outcome
    # The tool has told about it in its own words: the model is not told to try another way.
    assert FAILURE_NOTE not in result.text


async def test_the_exit_code_stands_in_the_record_and_a_refusal_is_stronger(
    pretend: ToolRig, launcher: FakeWorkerLauncher
) -> None:
    launcher.answers = [{"exit_code": code, "stdout": "", "stderr": ""} for code in (7, 9)]
    body = (
        "await (await ctx.ensure_sandbox()).run('x')\nif args.get('refuse'):\n    note_tool_refusal(ctx)\nreturn 'done'"
    )
    await pretend.load_tool("run", body, "from kotoba.core.loop import note_tool_refusal")
    failed = await pretend.call("run")
    assert (failed.outcome, failed.error) == (Outcome.FAILED, "a command ended with exit code 7")
    assert (await pretend.call("run", "call-2", refuse=True)).outcome is Outcome.REFUSED


# ------------------------------------------------------------------------------------------- how it ends


async def hang(box: ToolRig, mark: Mark, *attributes: str) -> asyncio.Task[object]:
    """A call that is in the middle of a command, with more of them behind it."""
    body = (
        "sandbox = await ctx.ensure_sandbox()\n"
        f"await sandbox.run('setsid {mark.sleep} & {mark.sleep} & true')\n"
        f"await sandbox.run('{mark.sleep}', timeout=600)\n"
        "return 'done'"
    )
    await box.load_tool("hang", body, *attributes)
    call: asyncio.Task[object] = asyncio.ensure_future(box.start("hang"))
    await until(lambda: len(mark.living()) == 3 or call.done())
    assert not call.done()
    return call


async def test_when_the_person_says_stop_nothing_is_left(box: ToolRig) -> None:
    mark = Mark()
    call = await hang(box, mark)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    await until(lambda: not mark.living())


async def test_when_the_budget_is_used_up_nothing_is_left(box: ToolRig) -> None:
    mark = Mark()
    call = await hang(box, mark, "TIMEOUT = 20")
    await box.clock.advance(20)
    await asyncio.gather(call)
    await until(lambda: not mark.living())


async def test_when_the_tool_is_done_nothing_is_left(box: ToolRig) -> None:
    mark = Mark()
    body = f"await (await ctx.ensure_sandbox()).run('setsid {mark.sleep} & {mark.sleep} &')\nreturn 'done'"
    await box.load_tool("leave", body)
    assert (await box.call("leave")).outcome is Outcome.OK
    await until(lambda: not mark.living())


async def test_when_the_box_is_switched_off_nothing_is_left(box: ToolRig) -> None:
    mark = Mark()
    call = await hang(box, mark)
    await box.close()
    await asyncio.gather(call, return_exceptions=True)
    await until(lambda: not mark.living())


async def test_a_tool_that_blocks_the_plugin_loop_loses_its_commands_all_the_same(box: ToolRig) -> None:
    mark = Mark()
    body = (
        "import threading\n"
        f"await (await ctx.ensure_sandbox()).run('{mark.sleep} &')\n"
        "threading.Event().wait(3)\n"
        "return 'done'"
    )
    await box.load_tool("block", body)
    call = box.start("block")
    await until(lambda: len(mark.living()) == 1)
    call.cancel()
    await until(lambda: not mark.living())
    await asyncio.gather(call, return_exceptions=True)


async def test_a_call_that_was_given_up_runs_nothing_more(pretend: ToolRig, launcher: FakeWorkerLauncher) -> None:
    body = (
        "sandbox = await ctx.ensure_sandbox()\n"
        "try:\n"
        "    await asyncio.sleep(3600)\n"
        "finally:\n"
        "    SEEN.append((await sandbox.run('true')).exit_code)\n"
    )
    tool = await pretend.load_tool("stubborn", body, "import asyncio", "SEEN = []")
    call = pretend.start("stubborn")
    await until(lambda: bool(launcher.links))
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    seen = tool._module.SEEN
    await until(lambda: bool(seen))
    assert seen == [137]
    assert [len(link.asked) for link in launcher.links] == [0]
