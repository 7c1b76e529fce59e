"""Standing permissions: for what, until when, and for what never."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from appliance.adapters.fakes.tool import FakeTool
from appliance.approve.config import ApprovalConfig
from appliance.errors import RefusedError, StoreError, UsageError
from appliance.tools.tool import Risk
from tests.approve.rig import Scene


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    found = Scene(tmp_path, has_hand=False)
    yield found
    found.database.close()


async def runs(scene: Scene, arguments: dict[str, Any]) -> bool:
    before = len(scene.runs)
    await scene.start(arguments=arguments)
    return len(scene.runs) > before


async def test_a_permission_lets_exactly_these_arguments_run(scene: Scene) -> None:
    grant = await scene.office.grants.allow(scene.backup, {"target": "/home"}, days=None, uid=1000)
    assert await runs(scene, {"target": "/home"})
    assert not await runs(scene, {"target": "/"})
    assert not await runs(scene, {"target": "/home", "fast": True})
    granted, approved, intent, _result, *_ = await scene.entries()
    assert (granted.verdict, granted.approver, granted.tool) == ("granted", "owner:1000", "run_backup")
    assert granted.detail == f"grant:{grant.number} for these arguments"
    assert granted.arguments_preview == '{"target": "/home"}'
    assert (approved.approver, intent.approver) == (f"grant:{grant.number}", f"grant:{grant.number}")


async def test_any_arguments_are_none_in_which_a_shell_sees_more(scene: Scene) -> None:
    await scene.office.grants.allow(scene.backup, None, days=None, uid=0)
    assert await runs(scene, {"command": "rsync -a /home /mnt", "level": 3})
    for command in ("rsync -a a b; id", "rsync $(id) b", "rsync a > b", "rsync a\nid", "rsync *"):
        assert not await runs(scene, {"command": command})


@pytest.mark.parametrize("command", ["rm -rf /", "shutdown now", "mkfs.ext4 /dev/sda1", "ls\u202e"])
async def test_what_is_dangerous_is_never_covered(scene: Scene, command: str) -> None:
    await scene.office.grants.allow(scene.backup, None, days=None, uid=0)
    assert not await runs(scene, {"command": command})
    with pytest.raises(RefusedError, match="asked about every time"):
        await scene.office.grants.allow(scene.backup, {"command": command}, days=None, uid=0)


async def test_what_cannot_be_undone_is_never_covered(tmp_path: Path) -> None:
    scene = Scene(tmp_path, ApprovalConfig(two_step=("plugin:backup",)), has_hand=False)
    with pytest.raises(RefusedError, match="cannot be undone"):
        await scene.office.grants.allow(scene.backup, None, days=None, uid=0)
    scene.database.close()


async def test_a_turn_that_a_stranger_spoke_in_is_never_covered(scene: Scene) -> None:
    scene.add(FakeTool("web_search", risk=Risk.NETWORK, origin="plugin:web"))
    await scene.office.grants.allow(scene.backup, None, days=None, uid=0)
    assert await runs(scene, {})
    await scene.start("web_search")
    assert not await runs(scene, {})


async def test_a_changed_plugin_is_another_plugin(scene: Scene) -> None:
    await scene.office.grants.allow(scene.backup, None, days=None, uid=0)
    scene.plugin_digests["plugin:backup"] = "version 2"
    assert not await runs(scene, {})
    (state,) = await scene.office.grants.states()
    assert state.why_void == "the plugin was changed since"
    await scene.office.grants.allow(scene.backup, None, days=None, uid=0)
    assert await runs(scene, {})


async def test_a_plugin_whose_files_cannot_be_read_gets_no_permission(scene: Scene) -> None:
    scene.plugin_digests["plugin:backup"] = ""
    with pytest.raises(RefusedError, match="cannot be read"):
        await scene.office.grants.allow(scene.backup, None, days=None, uid=0)


async def test_a_permission_for_some_days_ends(scene: Scene) -> None:
    await scene.office.grants.allow(scene.backup, None, days=2, uid=0)
    assert await runs(scene, {})
    scene.clock.set_wall(scene.clock.now() + timedelta(days=2))
    assert not await runs(scene, {})
    (state,) = await scene.office.grants.states()
    assert state.why_void.startswith("expired at")


async def test_while_the_clock_is_not_set_nothing_with_an_end_counts(scene: Scene) -> None:
    await scene.office.grants.allow(scene.backup, None, days=2, uid=0)
    scene.clock.set_wall(scene.clock.now() - timedelta(days=20_000), trusted=False)
    assert not await runs(scene, {})
    with pytest.raises(RefusedError, match="clock is not set"):
        await scene.office.grants.allow(scene.backup, None, days=2, uid=0)


async def test_a_permission_is_for_the_plugin_it_was_given_for(scene: Scene) -> None:
    await scene.office.grants.allow(scene.backup, None, days=None, uid=0)
    scene.registry.remove_origin("plugin:backup")
    impostor = scene.add(FakeTool("run_backup", risk=Risk.EXEC, origin="plugin:impostor"))
    await scene.start()
    assert impostor.calls == []


async def test_it_can_be_taken_back_by_number_and_by_name(scene: Scene) -> None:
    first = await scene.office.grants.allow(scene.backup, {"a": 1}, days=None, uid=0)
    await scene.office.grants.allow(scene.backup, {"a": 2}, days=None, uid=0)
    assert await scene.office.grants.revoke(str(first.number), uid=1000) == [first]
    assert not await runs(scene, {"a": 1})
    assert await runs(scene, {"a": 2})
    await scene.office.grants.revoke("run_backup", uid=1000)
    assert not await runs(scene, {"a": 2})
    with pytest.raises(UsageError, match="appliance approval list"):
        await scene.office.grants.revoke("run_backup", uid=1000)
    verdicts = [entry.verdict for entry in await scene.entries() if entry.verdict in ("granted", "revoked")]
    assert verdicts == ["granted", "granted", "revoked", "revoked"]


async def test_a_number_is_never_given_twice(scene: Scene) -> None:
    first = await scene.office.grants.allow(scene.backup, None, days=None, uid=0)
    await scene.office.grants.revoke(str(first.number), uid=0)
    assert (await scene.office.grants.allow(scene.backup, None, days=None, uid=0)).number > first.number


async def test_a_permission_that_cannot_be_written_into_the_trail_is_none(scene: Scene) -> None:
    await scene.database.arun(lambda connection: connection.execute("DELETE FROM audit_head"))
    with pytest.raises(StoreError):
        await scene.office.grants.allow(scene.backup, None, days=None, uid=0)
    assert await scene.office.grants.states() == []
