"""Every kind of sandbox with real processes: what it runs, what it keeps in, and that nothing of it is left."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from appliance.adapters.fakes.worker_launcher import FakeWorkerLauncher
from appliance.adapters.worker_bubblewrap import BubblewrapWorkers
from appliance.adapters.worker_link import PROGRAM, framed
from appliance.adapters.worker_program import LARGEST_OUTPUT_BYTES
from appliance.adapters.worker_socket import SocketWorkers
from appliance.contracts.kotoba.path_security import PathSecurityError
from appliance.contracts.kotoba.sandbox.sandbox import Sandbox
from appliance.contracts.kotoba.sandbox.sandboxes import Sandboxes
from appliance.errors import SandboxError
from appliance.ports_sandbox import WorkerLauncher
from tests.contracts.gate import until
from tests.contracts.sandbox_rig import KINDS, Manager, Mark, bubblewrap, here, launcher_of, sandbox_in

#: Outside of a call a sandbox ends after each request; a session of one call keeps it open.
CALL = "call-1"


@pytest.fixture
async def manager(tmp_path: Path) -> AsyncIterator[Manager]:
    made = Manager(tmp_path / "worker.sock")
    await made.open()
    yield made
    await made.close()


@pytest.fixture(params=KINDS)
async def launcher(request: pytest.FixtureRequest, manager: Manager, tmp_path: Path) -> WorkerLauncher:
    secret = tmp_path / "secret"
    secret.write_text("key", encoding="utf-8")
    return launcher_of(request.param, manager, secret)


@pytest.fixture
async def sandboxes(launcher: WorkerLauncher) -> AsyncIterator[Sandboxes]:
    made = Sandboxes([launcher])
    assert await asyncio.to_thread(made.look) is not None
    yield made
    await made.close()


@pytest.fixture
def sandbox(sandboxes: Sandboxes, tmp_path: Path) -> Sandbox:
    return sandbox_in(sandboxes, tmp_path / "work")


# ------------------------------------------------------------------------------------------- what it does


async def test_a_command_tells_what_it_printed_and_how_it_ended(sandbox: Sandbox) -> None:
    result = await sandbox.run("echo out; echo err >&2; exit 3")
    assert (result.stdout, result.stderr, result.exit_code, result.ok) == ("out\n", "err\n", 3, False)
    assert (await sandbox.run("true")).ok


async def test_words_are_run_without_a_shell(sandbox: Sandbox) -> None:
    result = await sandbox.run(["echo", "$HOME; rm -rf *", "two  blanks"])
    assert result.stdout == "$HOME; rm -rf * two  blanks\n"
    missing = await sandbox.run(["no-such-program"])
    assert missing.exit_code == 127
    assert "no-such-program" in missing.stderr


async def test_files_are_where_commands_see_them(sandbox: Sandbox, tmp_path: Path) -> None:
    await sandbox.write("notes/a.txt", b"one\ntwo\n")
    assert (await sandbox.run("wc -l < a.txt", cwd="notes")).stdout.strip() == "2"
    await sandbox.run("printf three >> notes/a.txt")
    assert await sandbox.read("notes/a.txt") == b"one\ntwo\nthree"
    assert (tmp_path / "work/notes/a.txt").read_bytes() == b"one\ntwo\nthree"


async def test_code_runs_in_its_language(sandbox: Sandbox) -> None:
    await sandbox.write("helper.py", b"value = 42")
    result = await sandbox.run_code("import helper\nprint(helper.value)\nraise SystemExit(4)")
    assert (result.stdout, result.exit_code) == ("42\n", 4)
    assert (await sandbox.run_code("echo $0", lang="sh")).ok
    unknown = await sandbox.run_code("x", lang="cobol")
    assert unknown.exit_code == 127
    assert "cobol" in unknown.stderr


async def test_a_command_in_the_background_does_not_hold_up_the_answer(sandbox: Sandbox) -> None:
    async with asyncio.timeout(20):
        assert (await sandbox.run("sleep 1000 & echo started")).stdout == "started\n"


async def test_no_path_leads_out_of_the_folder(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text("mine", encoding="utf-8")
    await sandbox.start()
    (tmp_path / "work/link").symlink_to(tmp_path / "outside.txt")
    for path in ("../outside.txt", str(tmp_path / "outside.txt"), "link", "a/../../outside.txt"):
        with pytest.raises(PathSecurityError):
            await sandbox.read(path)
        with pytest.raises(PathSecurityError):
            await sandbox.write(path, b"theirs")
    with pytest.raises(PathSecurityError):
        await sandbox.run("true", cwd="..")
    assert (tmp_path / "outside.txt").read_text(encoding="utf-8") == "mine"


async def test_a_file_that_is_not_there_and_a_pipe_are_errors_in_words(sandbox: Sandbox) -> None:
    await sandbox.run("mkfifo pipe")
    with pytest.raises(OSError, match="No such file"):
        await sandbox.read("nothing.txt")
    with pytest.raises(OSError, match="is no file"):
        await sandbox.read("pipe")


# -------------------------------------------------------------------------------------- what it holds to


async def test_endless_output_is_cut_while_it_comes(sandbox: Sandbox) -> None:
    result = await sandbox.run("head -c 3000000 /dev/zero | tr '\\0' x; echo end >&2")
    assert result.ok
    assert (len(result.stdout), result.stderr) == (LARGEST_OUTPUT_BYTES, "end\n")


async def test_a_command_that_takes_too_long_is_killed_with_its_children(sandbox: Sandbox) -> None:
    mark = Mark()
    result = await sandbox.run(
        f"echo begun; {mark.sleep} & setsid {mark.sleep} & trap '' TERM; {mark.sleep}", timeout=1
    )
    assert (result.exit_code, result.stdout) == (124, "begun\n")
    assert "timed out after 1s" in result.stderr
    await until(lambda: not mark.living())


async def test_memory_files_and_processes_have_their_limits(sandbox: Sandbox) -> None:
    memory = await sandbox.run_code("x = 'x' * (3 << 30)")
    assert not memory.ok
    assert "MemoryError" in memory.stderr
    file = await sandbox.run("head -c 100000000 /dev/zero > large; stat -c %s large")
    assert int(file.stdout) <= 64 << 20
    mark = Mark()
    many = await sandbox.run(f"i=0; while [ $i -lt 400 ]; do {mark.sleep} & i=$((i+1)); done; true", timeout=20)
    # For the superuser the kernel has no such limit; the test then shows only that all of them end.
    assert os.getuid() == 0 or "fork" in many.stderr.lower()
    await until(lambda: not mark.living())


async def test_nothing_of_our_environment_is_in_it(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "do-not-tell")
    result = await sandbox.run("env")
    assert "do-not-tell" not in result.stdout
    assert f"HOME={sandbox.workdir}" in result.stdout


async def test_it_has_no_network_where_it_says_so(sandbox: Sandbox, launcher: WorkerLauncher) -> None:
    shelter = launcher.examine()
    assert shelter is not None
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
        reached = (await sandbox.run_code(code)).ok
    assert reached == shelter.has_network


async def test_what_lies_around_the_folder_is_out_of_reach_where_it_says_so(
    sandbox: Sandbox, launcher: WorkerLauncher, tmp_path: Path
) -> None:
    shelter = launcher.examine()
    assert shelter is not None
    result = await sandbox.run(["cat", str(tmp_path / "secret")])
    assert (result.stdout == "") == shelter.is_contained
    await sandbox.run(f"touch {tmp_path}/theirs")
    if shelter.is_contained:
        # Inside there is another /tmp.
        assert not await asyncio.to_thread((tmp_path / "theirs").exists)


async def test_in_bubblewrap_the_system_is_there_to_be_read_only(tmp_path: Path) -> None:
    sandboxes = Sandboxes([bubblewrap()])
    sandbox = sandbox_in(sandboxes, tmp_path / "work")
    for place in ("/usr/theirs", "/etc/theirs", "/theirs", "/worker.py"):
        assert "Read-only" in (await sandbox.run(["touch", place])).stderr
    assert (await sandbox.run("ls /home /var /run /boot 2>/dev/null")).stdout == ""
    # Only what belongs to the sandbox itself.
    assert int((await sandbox.run("ls -d /proc/[0-9]* | wc -l")).stdout) < 8
    await sandboxes.close()


async def test_no_program_gets_more_rights_than_it_was_given(sandbox: Sandbox) -> None:
    assert "NoNewPrivs:\t1" in (await sandbox.run("cat /proc/self/status")).stdout


# ------------------------------------------------------------------------------------------ how it ends


async def test_whoever_stops_waiting_ends_all_of_it(sandbox: Sandbox) -> None:
    mark = Mark()
    line = f"{mark.sleep} & setsid sh -c '{mark.sleep} & {mark.sleep}' & (trap '' TERM; {mark.sleep}) & {mark.sleep}"
    running = asyncio.create_task(sandbox.run(line, timeout=600))
    await until(lambda: len(mark.living()) == 5)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    await until(lambda: not mark.living())
    assert (await sandbox.run("echo again")).stdout == "again\n"


async def test_kill_ends_it_and_leaves_its_files(sandbox: Sandbox) -> None:
    mark = Mark()
    running = asyncio.create_task(sandbox.run(f"echo x > file; exec {mark.sleep}", timeout=600))
    await until(lambda: len(mark.living()) == 1)

    await sandbox.kill()

    assert not mark.living()
    assert (await running).exit_code == 137
    assert await sandbox.read("file") == b"x\n"


async def test_a_command_that_kills_its_own_worker_is_a_failed_command(
    sandbox: Sandbox, launcher: WorkerLauncher
) -> None:
    result = await sandbox.run("kill -9 $PPID; sleep 1", timeout=30)
    assert result.exit_code == 137
    assert "did not come to its end" in result.stderr
    assert (await sandbox.run("true")).ok


async def test_what_a_command_leaves_behind_goes_on_until_its_call_is_over(
    sandboxes: Sandboxes, tmp_path: Path
) -> None:
    mark, place = Mark(), sandboxes.place(tmp_path / "work")
    sandboxes.begin(CALL)
    request = {"do": "run", "command": f"{mark.sleep} & echo $!", "seconds": 20}
    await sandboxes.ask(place, CALL, request, 20)
    await sandboxes.ask(place, CALL, {"do": "run", "command": "true", "seconds": 20}, 20)
    assert len(mark.living()) == 1

    sandboxes.end(CALL)

    await until(lambda: not mark.living())
    with pytest.raises(SandboxError, match="over"):
        await sandboxes.ask(place, CALL, request, 20)


async def test_close_leaves_nothing(sandboxes: Sandboxes, tmp_path: Path) -> None:
    mark, place = Mark(), sandboxes.place(tmp_path / "work")
    sandboxes.begin(CALL)
    await sandboxes.ask(place, CALL, {"do": "run", "command": f"setsid {mark.sleep} &", "seconds": 20}, 20)
    await sandboxes.close()
    await until(lambda: not mark.living())


# -------------------------------------------------------------------------------------- which one there is


async def test_without_bubblewrap_and_manager_the_last_resort_is_named_with_its_gaps(tmp_path: Path) -> None:
    nowhere = tmp_path / "no-socket"
    sandboxes = Sandboxes(
        [
            SocketWorkers(nowhere, nowhere),
            BubblewrapWorkers("no-such-bwrap"),
            launcher_of("rlimits", Manager(nowhere), nowhere),
        ]
    )
    words = await asyncio.to_thread(sandboxes.in_words)
    assert words.startswith("rlimits; not protected: ")
    assert "its keys are among them" in words


def test_a_box_without_any_says_so() -> None:
    assert Sandboxes([FakeWorkerLauncher(None)]).in_words().startswith("none")


def test_each_kind_is_tried_once_and_only_until_one_fits() -> None:
    first, second, third = FakeWorkerLauncher(None), FakeWorkerLauncher(), FakeWorkerLauncher()
    sandboxes = Sandboxes([first, second, third])
    assert sandboxes.look() == sandboxes.look() == second.examine()
    assert (first.examined, third.examined) == (1, 0)


async def test_a_worker_of_the_manager_that_reaches_the_box_is_not_called_closed(
    manager: Manager, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("key", encoding="utf-8")
    open_one = await asyncio.to_thread(SocketWorkers(manager.path, secret).examine)
    closed_one = await asyncio.to_thread(SocketWorkers(manager.path, tmp_path / "not-there").examine)
    assert open_one is not None and closed_one is not None
    assert (open_one.is_contained, closed_one.is_contained) == (False, True)
    assert "read the files of the box" in open_one.gaps


# ------------------------------------------------------------------------------------- with a fake worker


async def test_a_worker_that_says_nothing_is_ended_when_the_caller_goes(tmp_path: Path) -> None:
    launcher = FakeWorkerLauncher()
    launcher.hangs = True
    sandboxes = Sandboxes([launcher])
    running = asyncio.create_task(sandbox_in(sandboxes, tmp_path).run("true"))
    await until(lambda: bool(launcher.links and launcher.links[0].asked))
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert launcher.links[0].is_killed


async def test_a_call_that_ends_while_its_sandbox_begins_runs_nothing(tmp_path: Path) -> None:
    launcher = FakeWorkerLauncher()
    launcher.door = asyncio.Event()
    sandboxes = Sandboxes([launcher])
    sandboxes.begin(CALL)
    asking = asyncio.create_task(sandboxes.ask(sandboxes.place(tmp_path), CALL, {"do": "run"}))
    await until(lambda: bool(launcher.folders))

    sandboxes.end(CALL)
    launcher.door.set()

    with pytest.raises(SandboxError, match="over"):
        await asking
    assert launcher.links[0].asked == []
    assert launcher.links[0].is_killed


async def test_too_much_at_once_is_refused(sandbox: Sandbox) -> None:
    with pytest.raises(SandboxError, match="too much"):
        await sandbox.write("large", b"x" * 12_000_000)
    assert (await sandbox.run("true")).ok


async def test_a_sandbox_that_does_not_start_is_a_failed_command_in_words(tmp_path: Path) -> None:
    launcher = FakeWorkerLauncher()
    launcher.is_broken = True
    result = await Sandbox(sandboxes := Sandboxes([launcher]), sandboxes.place(tmp_path), here).run("true")
    assert (result.ok, "does not start" in result.stderr) == (False, True)


async def test_two_commands_at_once_wait_for_each_other(sandbox: Sandbox) -> None:
    first, second = await asyncio.gather(sandbox.run("sleep 0.2; date +%s%N"), sandbox.run("date +%s%N"))
    assert int(first.stdout) < int(second.stdout)


def test_a_message_that_is_too_long_ends_the_worker(tmp_path: Path) -> None:
    start = framed({"do": "start", "folder": str(tmp_path)})
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(PROGRAM)],
        input=start + b"\xff\xff\xff\xff{}",
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    assert json.loads(done.stdout[4:]).keys() == {"has_network", "reaches"}


async def test_python_may_lie_below_the_folder_that_is_empty_inside(tmp_path: Path) -> None:
    """As in a checkout below /tmp: what is laid over it there comes first, and Python's folders on top."""
    words = BubblewrapWorkers()._command(tmp_path)
    assert words.index("--tmpfs") < words.index("--ro-bind")
