"""The shipped plugins that work with the machine: ``shell`` and ``files``, with real processes and real files."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from appliance.adapters.fakes.worker_launcher import FakeWorkerLauncher
from appliance.adapters.worker_rlimits import LimitedWorkers
from appliance.contracts.kotoba.context import Confirmation
from appliance.events import Outcome
from appliance.ports_sandbox import WorkerLauncher
from appliance.tools.tool import Risk, Verdict
from tests.contracts.gate import until
from tests.contracts.sandbox_rig import Mark, ToolRig, bubblewrap


class Person:
    """Answers what tools ask; ``asked`` are the actions."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answer = Verdict.APPROVED

    async def confirm(self, question: Confirmation) -> Verdict:
        self.asked.append(question.action)
        return self.answer


@pytest.fixture
def person() -> Person:
    return Person()


async def shipped_box(folder: Path, launcher: WorkerLauncher, person: Person) -> ToolRig:
    rig = ToolRig(folder, launcher, confirm=person.confirm, only_shipped=True)
    rig.workdir.mkdir()
    await rig.load()
    return rig


@pytest.fixture
async def closed(tmp_path: Path, person: Person) -> AsyncIterator[ToolRig]:
    """The shipped plugins in a box with a closed sandbox."""
    rig = await shipped_box(tmp_path, bubblewrap(), person)
    yield rig
    await rig.close()


@pytest.fixture
async def host(tmp_path: Path, person: Person) -> AsyncIterator[ToolRig]:
    """The same where programs run as the box itself."""
    rig = await shipped_box(tmp_path, LimitedWorkers(), person)
    yield rig
    await rig.close()


# ---------------------------------------------------------------------------------------------------- shell


async def test_a_program_runs_with_its_words_and_tells_what_it_printed(closed: ToolRig) -> None:
    (closed.workdir / "my list.txt").write_text("a\nb\n", encoding="utf-8")
    result = await closed.call("run_command", command=["wc", "-l", "my list.txt"])
    assert result.outcome is Outcome.OK
    assert result.text == "It ended with exit code 0.\nOutput:\n2 my list.txt"
    literal = await closed.call("run_command", "call-2", command=["echo", "$HOME; id"])
    assert literal.text.endswith("$HOME; id")


async def test_a_line_goes_through_the_shell_when_that_is_asked_for(closed: ToolRig) -> None:
    result = await closed.call("run_command", shell="printf 'b\\na\\n' | sort > out; cat out")
    assert result.text.endswith("Output:\na\nb")


async def test_a_command_that_fails_is_a_failed_call_that_says_why(closed: ToolRig) -> None:
    result = await closed.call("run_command", command=["ls", "nothing-here"])
    assert result.outcome is Outcome.FAILED
    assert "exit code 2" in result.text
    assert "nothing-here" in result.text


async def test_a_command_has_the_time_it_was_given(closed: ToolRig) -> None:
    mark = Mark()
    tool = closed.tool("run_command")
    assert tool.budget_seconds({"timeout": 100}, closed.context("text")) == 285
    result = await closed.call("run_command", command=mark.sleep.split(), timeout=1)
    assert result.outcome is Outcome.FAILED
    assert "timed out after 1s" in result.text
    await until(lambda: not mark.living())


async def test_long_output_keeps_its_beginning_and_its_end(closed: ToolRig) -> None:
    result = await closed.call("run_command", shell="seq 1 5000")
    assert "Output:\n1\n2\n" in result.text
    assert result.text.endswith("5000")
    assert "characters left out" in result.text
    assert len(result.text) < 8_000


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"command": ["ls"], "shell": "ls"},
        {"command": "ls -l"},
        {"command": ["ls", 1]},
        {"shell": ["ls"]},
        {"command": ["ls"], "timeout": "soon"},
    ],
)
async def test_arguments_that_make_no_sense_run_nothing(closed: ToolRig, arguments: dict[str, Any]) -> None:
    result = await closed.call("run_command", **arguments)
    assert result.outcome is Outcome.REFUSED
    assert result.text.startswith("I need")


async def test_in_a_closed_sandbox_only_what_is_dangerous_is_asked_about(closed: ToolRig, person: Person) -> None:
    await closed.call("run_command", command=["touch", "a"])
    assert person.asked == []
    await closed.call("run_command", "call-2", shell="rm -rf ~")
    assert person.asked == ["rm -rf ~"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": ["ls", "-l"]},
        {"command": ["cat", "a.txt", "sub/b.txt"]},
        {"command": ["grep", "-rn", "word; rm", "."]},
        {"command": ["find", ".", "-name", "*.txt"]},
        {"command": ["tail", "-n", "3", "a.txt"]},
        {"shell": "head -n 3 a.txt"},
    ],
)
async def test_on_the_machine_itself_a_look_around_needs_no_permission(
    host: ToolRig, person: Person, arguments: dict[str, Any]
) -> None:
    (host.workdir / "sub").mkdir()
    for name in ("a.txt", "sub/b.txt"):
        (host.workdir / name).write_text("x", encoding="utf-8")
    await host.call("run_command", **arguments)
    assert person.asked == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": ["touch", "a"]},
        {"command": ["cat", "/etc/hostname"]},
        {"command": ["cat", "../home"]},
        {"command": ["cat", "link"]},
        {"command": ["grep", "--file=/etc/hostname", "x"]},
        {"command": ["grep", "-f/etc/hostname", "x"]},
        {"command": ["grep", "-R", "x", "."]},
        {"command": ["cat", "~/x"]},
        {"command": ["find", ".", "-delete"]},
        {"command": ["find", ".", "-exec", "rm", "{}", "+"]},
        {"command": ["sort", "-o", "a.txt", "a.txt"]},
        {"command": ["sort", "--compress-prog=sh", "a.txt"]},
        {"command": ["tail", "-qf", "a.txt"]},
        {"command": ["wc", "--files0-from=names"]},
        {"command": ["./ls"]},
        {"shell": "echo x && touch y"},
        {"shell": "cat $HOME/x"},
        {"shell": "cat {a,b}"},
        {"shell": "ls > out"},
        {"shell": "echo 'unfinished"},
    ],
)
async def test_on_the_machine_itself_everything_else_is_asked_about(
    host: ToolRig, person: Person, arguments: dict[str, Any]
) -> None:
    (host.workdir / "link").symlink_to("/etc/hostname")
    person.answer = Verdict.DECLINED
    result = await host.call("run_command", **arguments)
    assert len(person.asked) == 1
    assert result.outcome is Outcome.REFUSED
    assert "said NO" in result.text
    assert [entry.name for entry in host.workdir.iterdir()] == ["link"]


async def test_without_a_sandbox_it_is_not_offered_and_runs_nothing(tmp_path: Path, person: Person) -> None:
    rig = await shipped_box(tmp_path, FakeWorkerLauncher(None), person)
    assert "run_command" not in rig.offered()
    result = await rig.call("run_command", command=["true"])
    assert result.outcome is Outcome.FAILED
    assert "no sandbox" in result.text
    await rig.close()


async def test_stop_ends_what_runs(closed: ToolRig) -> None:
    mark = Mark()
    call = closed.start("run_command", command=mark.sleep.split(), timeout=400)
    await until(lambda: len(mark.living()) == 1)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    await until(lambda: not mark.living())


async def test_the_author_says_what_it_can_do(closed: ToolRig) -> None:
    risks = {name: closed.tool(name).risk for name in closed.names}
    assert risks["run_command"] is Risk.EXEC
    assert {risks[name] for name in ("workspace_write", "note_add", "note_delete")} == {Risk.WRITE}
    assert {risks[name] for name in ("workspace_read", "workspace_search", "note_read", "note_list")} == {Risk.READ}


# ---------------------------------------------------------------------------------------------------- files


async def test_a_file_is_written_read_and_found(closed: ToolRig) -> None:
    written = await closed.call("workspace_write", path="recipes/soup.txt", text="Leeks\nand potatoes\n")
    assert written.text == "Written: recipes/soup.txt, 19 bytes in all."
    await closed.call("workspace_write", "call-2", path="recipes/soup.txt", text="Salt\n", how="append")
    assert (await closed.call("workspace_read", path="recipes/soup.txt")).text == "Leeks\nand potatoes\nSalt\n"
    found = await closed.call("workspace_search", words="POTATO")
    assert found.text == "recipes/soup.txt:2: and potatoes"
    assert (await closed.call("workspace_search", "call-3", words="soup")).text == "recipes/soup.txt"
    assert (await closed.call("workspace_read", "call-4", path=".")).text == "recipes/"


async def test_a_file_that_is_there_is_only_replaced_when_that_is_said(closed: ToolRig) -> None:
    await closed.call("workspace_write", path="a.txt", text="one")
    refused = await closed.call("workspace_write", "call-2", path="a.txt", text="two")
    assert refused.outcome is Outcome.REFUSED
    await closed.call("workspace_write", "call-3", path="a.txt", text="three", how="replace")
    assert (closed.workdir / "a.txt").read_text(encoding="utf-8") == "three"


@pytest.mark.contract("K-095", "K-096", "K-097", "K-098", "K-099")
@pytest.mark.parametrize(
    "path", ["../x.txt", "/etc/hostname", "link", "folder/x.txt", "a/../../x.txt", "~/x", "\0", ""]
)
async def test_no_path_leads_out_of_the_work_folder(closed: ToolRig, tmp_path: Path, path: str) -> None:
    (tmp_path / "x.txt").write_text("mine", encoding="utf-8")
    (closed.workdir / "link").symlink_to(tmp_path / "x.txt")
    (closed.workdir / "folder").symlink_to(tmp_path)
    for tool, arguments in (("workspace_read", {}), ("workspace_write", {"text": "theirs", "how": "replace"})):
        result = await closed.call(tool, f"call-{tool}", path=path, **arguments)
        assert result.outcome is Outcome.REFUSED, result.text
    assert (tmp_path / "x.txt").read_text(encoding="utf-8") == "mine"


async def test_a_search_neither_follows_links_nor_reads_what_is_no_text(closed: ToolRig, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.txt").write_text("needle", encoding="utf-8")
    (closed.workdir / "folder").symlink_to(tmp_path / "outside")
    (closed.workdir / "file.txt").symlink_to(tmp_path / "outside/secret.txt")
    (closed.workdir / "image.bin").write_bytes(b"\0needle")
    os.mkfifo(closed.workdir / "pipe")
    assert (await closed.call("workspace_search", words="needle")).text.startswith("Nothing with 'needle'")


async def test_a_search_stops_at_its_limits(closed: ToolRig) -> None:
    (closed.workdir / "many.txt").write_text("needle\n" * 500, encoding="utf-8")
    lines = (await closed.call("workspace_search", words="needle")).text.splitlines()
    assert len(lines) == 41
    assert lines[-1] == "[there may be more]"


async def test_long_files_come_in_pieces(closed: ToolRig) -> None:
    (closed.workdir / "long.txt").write_text("".join(f"line {n}\n" for n in range(1, 5001)), encoding="utf-8")
    first = (await closed.call("workspace_read", path="long.txt")).text
    assert len(first) < 13_000
    following = int(first.rpartition("first_line ")[2].rstrip("]"))
    second = await closed.call("workspace_read", "call-2", path="long.txt", first_line=following)
    assert second.text.startswith(f"line {following}\n")


@pytest.mark.parametrize(
    ("name", "content"), [("pipe", None), ("image.bin", b"\0\1\2"), ("large.txt", b"x" * 1_000_001)]
)
async def test_what_is_no_text_file_is_refused_in_words(closed: ToolRig, name: str, content: bytes | None) -> None:
    if content is None:
        os.mkfifo(closed.workdir / name)
    else:
        (closed.workdir / name).write_bytes(content)
    result = await closed.call("workspace_read", path=name)
    assert result.outcome is Outcome.REFUSED
    assert "errored" not in result.text


async def test_a_missing_file_is_a_failure_in_words(closed: ToolRig) -> None:
    result = await closed.call("workspace_read", path="nothing.txt")
    assert result.outcome is Outcome.FAILED
    assert result.text.startswith("That cannot be read: No such file")
