"""``appliance answer`` at a running device, over the real socket."""

from __future__ import annotations

import asyncio
import io
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from appliance.adapters.control_socket import ControlSocket
from appliance.cli.main import main
from appliance.service_answers import AnswerService
from tests.contracts.input_rig import ASK, InputRig


@dataclass
class Shell:
    """Somebody who types commands while a tool waits."""

    rig: InputRig
    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch

    async def run(self, *words: str, typed: str = "") -> tuple[int, str, str]:
        """Exit code, output, errors."""
        self.monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        code = await asyncio.to_thread(main, ["answer", *words])
        out, err = self.capsys.readouterr()
        return code, out, err


@pytest.fixture
async def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> AsyncIterator[Shell]:
    monkeypatch.setenv("APPLIANCE_HOME", str(tmp_path))
    rig = InputRig(tmp_path)
    await rig.load_tool("log_in", ASK)
    async with ControlSocket(tmp_path / "run" / "control.sock", AnswerService(rig.desk).handlers):
        yield Shell(rig, capsys, monkeypatch)
    await rig.host.close()


async def test_what_waits_is_shown_and_a_secret_given_without_being_shown(shell: Shell) -> None:
    assert await shell.run() == (0, "nothing waits for an answer\n", "")
    call = shell.rig.start("log_in", kind="secret", label="The door code")
    await shell.rig.is_asked()

    assert await shell.run() == (0, "1  test/log_in  The door code (a secret)\n", "")
    code, out, err = await shell.run("1", typed="swordfish\n")

    assert (code, out, err) == (0, "log_in has it\n", "")
    assert (await call).text == "approved swordfish"


async def test_giving_nothing_is_an_answer_too(shell: Shell) -> None:
    call = shell.rig.start("log_in", kind="secret")
    await shell.rig.is_asked()
    assert await shell.run("1", "--nothing") == (0, "log_in goes on without an answer\n", "")
    assert (await call).text.startswith("declined ")


async def test_a_number_that_nobody_waits_for_is_a_sentence(shell: Shell) -> None:
    code, out, err = await shell.run("7", typed="x\n")
    assert (code, out) == (2, "")
    assert "no question '7' waits for an answer; it may have expired" in err


def test_without_a_device_nothing_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("APPLIANCE_HOME", str(tmp_path))
    assert main(["answer"]) == 1
    assert "the device does not run" in capsys.readouterr().err
