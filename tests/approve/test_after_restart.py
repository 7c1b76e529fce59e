"""A restart in the middle: nothing runs, and the trail is whole and says what nobody knows."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from appliance.approve.after_restart import settle
from appliance.clock import FakeClock
from appliance.store.approvals import ApprovalState, StoredApprovals
from appliance.store.audit_head import AuditHeadFile
from appliance.store.audit_log import AuditEntry, AuditLog
from appliance.store.recovery import open_database

#: Presses the button, and is killed where it is told to.
_VICTIM = """
import asyncio, os, signal, sys
from pathlib import Path
from appliance.adapters.fakes.tool import FakeTool
from appliance.clock import FakeClock
from appliance.store.recovery import open_database
from appliance.tools.tool import Risk, ToolResult
from tests.approve.rig import Scene

folder, where = Path(sys.argv[1]), sys.argv[2]


def die():
    os.kill(os.getpid(), signal.SIGKILL)


class Marking(FakeTool):
    async def invoke(self, arguments, context):
        if where == "running":
            die()
        (folder / "ran").touch()
        return ToolResult("done")


async def main():
    scene = Scene(folder, database=open_database(folder / "appliance.db", FakeClock()))
    await scene.audit.begin()
    scene.registry.remove_origin("plugin:backup")
    scene.add(Marking("run_backup", risk=Risk.EXEC, origin="plugin:backup"))
    desk, trail = scene.office.desk, scene.trail
    if where == "asked":
        await scene.asked()
        die()
    real_decided, real_intend, real_begin = trail.decided, trail.intend, desk.begin

    async def decided(decision):
        if where == "approved":
            die()
        await real_decided(decision)
        if where == "decided":
            die()

    async def intend(request, decision):
        row = await real_intend(request, decision)
        if where == "intended":
            die()
        return row

    async def begin(decision):
        answer = await real_begin(decision)
        if where == "begun":
            die()
        return answer

    trail.decided, trail.intend, desk.begin = decided, intend, begin
    call = await scene.asked()
    scene.hand.press()
    await call


asyncio.run(main())
"""


def killed(folder: Path, where: str) -> int:
    """Exit code of a box that is killed there."""
    command = [sys.executable, "-c", _VICTIM, str(folder), where]
    return subprocess.run(command, cwd=Path(__file__).parents[2], check=False, timeout=60).returncode


class AfterRestart:
    """What the next start finds."""

    def __init__(self, folder: Path) -> None:
        self.database = open_database(folder / "appliance.db", FakeClock())
        self.audit = AuditLog(self.database, FakeClock(), "boot-2", AuditHeadFile(folder / "audit.head"))
        self.approvals = StoredApprovals(self.database, FakeClock(), "boot-2")

    def close(self) -> None:
        self.database.close()

    async def entries(self) -> list[AuditEntry]:
        return [line.entry for line in await self.audit.lines()]


@pytest.mark.parametrize(
    ("where", "found", "left", "says"),
    [
        ("asked", ApprovalState.ARMED, ApprovalState.CANCELLED, ["dismissed"]),
        ("approved", ApprovalState.APPROVED, ApprovalState.UNKNOWN, ["unknown: it had not started"]),
        ("decided", ApprovalState.APPROVED, ApprovalState.UNKNOWN, ["approved", "unknown: it had not started"]),
        (
            "intended",
            ApprovalState.APPROVED,
            ApprovalState.UNKNOWN,
            ["approved", "approved", "unknown", "unknown: it had not started"],
        ),
        (
            "begun",
            ApprovalState.CONSUMED,
            ApprovalState.UNKNOWN,
            ["approved", "approved", "unknown", "unknown: its end is unknown"],
        ),
        (
            "running",
            ApprovalState.CONSUMED,
            ApprovalState.UNKNOWN,
            ["approved", "approved", "unknown", "unknown: its end is unknown"],
        ),
    ],
)
async def test_killed_between_question_and_end(
    tmp_path: Path, where: str, found: ApprovalState, left: ApprovalState, says: list[str]
) -> None:
    assert await asyncio.to_thread(killed, tmp_path, where) == -signal.SIGKILL
    assert not (tmp_path / "ran").exists()
    with closing(AfterRestart(tmp_path)) as after:
        (row,) = await after.approvals.in_states(list(ApprovalState))
        assert row.state is found
        await settle(after.approvals, after.audit)
        (row,) = await after.approvals.in_states(list(ApprovalState))
        assert (row.state, row.record) == (left, None)
        assert await after.approvals.consume(row.request_id, row.digest) is None
        told = [
            f"{entry.verdict or entry.outcome}: {entry.detail}".removesuffix(": decision")
            for entry in await after.entries()
        ]
        assert len(told) == len(says)
        for line, wanted in zip(told, says, strict=True):
            assert all(part in line for part in wanted.split(": "))
        assert await after.audit.verify() == []
        # A second start has nothing left to say.
        await settle(after.approvals, after.audit)
        assert len(await after.entries()) == len(says)


async def test_a_start_on_a_disk_that_takes_nothing_goes_on(tmp_path: Path) -> None:
    with closing(AfterRestart(tmp_path)) as after:
        await after.approvals.create("r1", "run_backup", "", {"tool": "run_backup"})
        await after.database.arun(lambda connection: connection.execute("PRAGMA query_only = ON"))
        await settle(after.approvals, after.audit)
