"""``appliance approval`` at a running device: over the real socket, with the user that the kernel names."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from appliance.adapters.control_socket import ControlSocket
from appliance.cli.main import main
from appliance.service_approval import ApprovalService
from tests.approve.rig import Scene

OTHER_UID = os.geteuid() + 1


@dataclass
class Shell:
    """Somebody who types commands while the device runs."""

    scene: Scene
    capsys: pytest.CaptureFixture[str]

    async def run(self, *words: str) -> tuple[int, str, str]:
        """Exit code, output, errors."""
        code = await asyncio.to_thread(main, ["approval", *words])
        out, err = self.capsys.readouterr()
        return code, out, err

    @property
    def request_id(self) -> str:
        asked = self.scene.office.asker.asked
        assert asked is not None
        return asked.request_id


@pytest.fixture
async def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> AsyncIterator[Shell]:
    """The device runs as another user than the one who types."""
    monkeypatch.setenv("APPLIANCE_HOME", str(tmp_path))
    scene = Scene(tmp_path, has_hand=False)
    scene.office.asker.is_shell_open = True
    object.__setattr__(scene.office.authority, "own_uid", OTHER_UID)
    handlers = ApprovalService(scene.office, scene.registry).handlers
    async with ControlSocket(tmp_path / "run" / "control.sock", handlers):
        yield Shell(scene, capsys)
    scene.database.close()


async def test_a_pending_request_is_shown_with_everything_and_approved(shell: Shell) -> None:
    assert await shell.run("pending") == (0, "nothing waits for an answer\n", "")
    (shell.scene.workdir / "job.sh").write_text("echo\n", encoding="utf-8")
    call = await shell.scene.asked(arguments={"command": "sh job.sh", "api_key": "sk-123"}, channel="text")
    code, out, _ = await shell.run("pending")
    assert code == 0
    assert out.startswith(f"{shell.request_id}  run_backup  (asked now)\n")
    for part in ("plugin:backup", "exec", "[hidden]", "job.sh: sha256 ", "bin/"):
        assert part in out
    assert "sk-123" not in out
    code, out, err = await shell.run("approve", shell.request_id)
    assert (code, out, err) == (0, "approved: it runs now\n", "")
    assert (await call).text == "done"
    assert (await shell.scene.entries())[0].approver == f"owner:{os.geteuid()}"


async def test_it_is_denied(shell: Shell) -> None:
    call = await shell.scene.asked(channel="text")
    assert await shell.run("deny", shell.request_id) == (0, "denied: it does not run\n", "")
    assert "said NO" in (await call).text
    assert shell.scene.runs == []


async def test_an_answer_to_nothing_is_a_sentence(shell: Shell) -> None:
    for word in ("approve", "deny"):
        code, out, err = await shell.run(word, "00000000")
        assert (code, out) == (2, "")
        assert "waits for an answer; it may have expired" in err


async def test_the_user_that_the_device_runs_as_may_say_no_and_never_yes(shell: Shell) -> None:
    object.__setattr__(shell.scene.office.authority, "own_uid", os.geteuid())
    call = await shell.scene.asked(channel="text")
    for words in (("approve", shell.request_id), ("allow", "run_backup", "--any-arguments")):
        code, out, err = await shell.run(*words)
        assert (code, out) == (3, "")
        assert "cannot allow itself anything" in err
    assert await shell.scene.office.grants.states() == []
    code, _, _ = await shell.run("deny", shell.request_id)
    assert code == 0
    await call
    assert shell.scene.runs == []


async def test_a_permission_is_given_listed_and_taken_back(shell: Shell) -> None:
    assert await shell.run("list") == (0, "nothing is allowed without asking\n", "")
    code, out, err = await shell.run("allow", "run_backup", "--arguments", '{"target": "/home"}', "--days", "2")
    assert (code, err) == (0, "")
    assert (
        out
        == f'allowed:\n1  run_backup  plugin:backup  until 2026-05-06 15:07  by {os.geteuid()}  {{"target":"/home"}}\n'
    )
    await shell.scene.start(arguments={"target": "/home"})
    assert len(shell.scene.runs) == 1
    shell.scene.plugin_digests["plugin:backup"] = "changed"
    _, out, _ = await shell.run("list")
    assert "void: the plugin was changed since" in out
    assert await shell.run("revoke", "1") == (0, "1 run_backup: it is asked about again\n", "")
    _, out, _ = await shell.run("--json", "list")
    assert json.loads(out) == []


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("allow", "run_backup", "--arguments", "rubbish"), 2, "--arguments is no JSON object"),
        (("allow", "run_backup", "--arguments", "[1]"), 2, "one JSON object"),
        (("allow", "run_backup", "--arguments", "null"), 2, "either these arguments are allowed, or any"),
        (("allow", "make_coffee", "--any-arguments"), 2, "there is no tool 'make_coffee'"),
        (("allow", "run_backup", "--any-arguments", "--days", "-1"), 2, "a number of days"),
        (("allow", "run_backup", "--any-arguments", "--days", "0"), 2, "a number of days"),
        (("allow", "run_backup", "--arguments", '{"command": "rm -rf /"}'), 3, "asked about every time (delete)"),
        (("revoke", "run_backup"), 2, "there is no standing permission"),
    ],
)
async def test_what_is_wrong_is_said_in_a_sentence(shell: Shell, words: tuple[str, ...], code: int, says: str) -> None:
    found, out, err = await shell.run(*words)
    assert (found, out) == (code, "")
    assert says in err
    assert await shell.scene.office.grants.states() == []


async def test_a_permission_for_any_arguments_must_be_asked_for(shell: Shell) -> None:
    code, _, _ = await shell.run("allow", "run_backup")
    assert code == 2
