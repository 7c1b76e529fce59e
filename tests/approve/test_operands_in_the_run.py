"""Between the last look and the moment in which a tool opens a file: the gap is small, and what happens in it shows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from appliance.adapters.fakes.tool import FakeTool
from appliance.store.approvals import ApprovalState
from appliance.store.audit_log import AuditEntry, AuditKind
from appliance.tools.tool import CallContext, Risk, ToolResult
from tests.approve.rig import Scene

COMMAND = {"command": "sh backup.sh"}


class ShellTool(FakeTool):
    """Does something with the files, as a tool does, and takes as long as the test wants."""

    def __init__(self, work: Callable[[], object]) -> None:
        super().__init__("run_line", risk=Risk.EXEC, origin="plugin:shell")
        self.may_end = asyncio.Event()
        self.may_end.set()
        self.began = asyncio.Event()
        self._work = work

    async def invoke(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        self._work()
        self.began.set()
        await self.may_end.wait()
        return ToolResult("done")


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    made = Scene(tmp_path)
    (made.workdir / "backup.sh").write_text("echo good\n", encoding="utf-8")
    yield made
    made.database.close()


async def approved(scene: Scene, tool: FakeTool) -> asyncio.Task[ToolResult]:
    scene.add(tool)
    call = await scene.asked(tool.name, COMMAND)
    scene.hand.press()  # type: ignore[union-attr]
    return call


async def result_line(scene: Scene) -> AuditEntry:
    return next(entry for entry in await scene.entries() if entry.kind is AuditKind.RESULT)


def swap_for_good(folder: Path) -> None:
    (folder / "backup.sh").write_text("echo evil\n", encoding="utf-8")


def swap_by_name(folder: Path) -> None:
    (folder / "evil.sh").write_text("echo evil\n", encoding="utf-8")
    (folder / "evil.sh").rename(folder / "backup.sh")


def take_away(folder: Path) -> None:
    (folder / "backup.sh").unlink()


def swap_and_put_back(folder: Path) -> None:
    (folder / "backup.sh").rename(folder / "kept.sh")
    (folder / "backup.sh").write_text("echo evil\n", encoding="utf-8")
    (folder / "kept.sh").replace(folder / "backup.sh")


def write_and_write_back(folder: Path) -> None:
    (folder / "backup.sh").write_text("echo evil\n", encoding="utf-8")
    (folder / "backup.sh").write_text("echo good\n", encoding="utf-8")


async def test_a_run_in_which_nothing_changed_is_noted_as_that(scene: Scene) -> None:
    await (await approved(scene, ShellTool((scene.workdir / "backup.sh").read_text)))
    assert (await result_line(scene)).detail == "executed"


@pytest.mark.parametrize("change", [swap_for_good, swap_by_name, take_away])
async def test_what_changed_during_the_run_stands_in_the_audit_row(
    scene: Scene, change: Callable[[Path], None]
) -> None:
    result = await (await approved(scene, ShellTool(lambda: change(scene.workdir))))
    line = await result_line(scene)
    assert line.detail == f"executed; operands changed during the run: {scene.workdir / 'backup.sh'}"
    assert (result.text, line.outcome, line.error) == ("done", "ok", ""), "who changed it is not known: no accusation"
    assert (await scene.row()).state is ApprovalState.DONE


@pytest.mark.parametrize("change", [swap_and_put_back, write_and_write_back])
async def test_what_was_put_back_before_the_end_shows_too(scene: Scene, change: Callable[[Path], None]) -> None:
    await (await approved(scene, ShellTool(lambda: change(scene.workdir))))
    detail = (await result_line(scene)).detail
    assert detail == f"executed; operands touched or put back during the run: {scene.workdir / 'backup.sh'}"


async def test_it_stands_there_for_a_run_that_was_stopped(scene: Scene) -> None:
    tool = ShellTool(lambda: swap_for_good(scene.workdir))
    tool.may_end.clear()
    call = await approved(scene, tool)
    await tool.began.wait()
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    assert (await result_line(scene)).detail.startswith("executed:interrupted; operands changed during the run: ")


async def test_the_last_look_comes_behind_everything_that_is_waited_for(scene: Scene) -> None:
    """A script that is changed while the beginning of the run is still being written down does not run."""
    tool = ShellTool(lambda: None)

    class Digests(dict[str, str]):
        """Looked up when a person is asked, and again at the last look."""

        looks = 0

        def get(self, key: str, default: Any = None) -> Any:
            self.looks += 1
            if self.looks == 2:
                assert not tool.began.is_set()
                swap_for_good(scene.workdir)
            return default

    scene.plugin_digests = digests = Digests()
    result = await (await approved(scene, tool))
    assert digests.looks == 2
    assert "changed before it ran" in result.text
    assert not tool.began.is_set()
    assert (await scene.row()).state is ApprovalState.INVALIDATED


async def test_the_run_is_written_down_before_the_last_look(scene: Scene) -> None:
    """Nothing has to reach the disk between the look and the run."""
    found: list[ApprovalState] = []

    class Digests(dict[str, str]):
        def get(self, key: str, default: Any = None) -> Any:
            rows = scene.database.run(lambda connection: connection.execute("SELECT state FROM approvals").fetchall())
            found.extend(ApprovalState(state) for (state,) in rows)
            return default

    scene.plugin_digests = Digests()
    await (await approved(scene, ShellTool(lambda: None)))
    assert found == [ApprovalState.CONSUMED]
