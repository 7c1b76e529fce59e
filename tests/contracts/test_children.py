"""Stop means stop: whatever a stopped call has started, in whatever way, is gone soon after. Real processes."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import pty
import resource
import signal
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from appliance.contracts.children import LIMIT
from appliance.contracts.host import PluginHost
from appliance.contracts.plugin_call import Raised, Ran, Returned
from tests.contracts.gate import until
from tests.contracts.processes import CARELESS, Cradle, is_alive, state_of

pytestmark = CARELESS

GRACE_SECONDS = 0.2
#: It hears that it should end, and goes on.
STUBBORN = "trap '' TERM HUP INT; while :; do sleep 600 & wait; done"

#: Kept until the test is over: Python complains about one that nobody waits for.
BORN: list[subprocess.Popen[bytes]] = []


@pytest.fixture
def cradle(tmp_path: Path) -> Iterator[Cradle]:
    made = Cradle(tmp_path / "cradle")
    yield made
    made.end_all()
    while BORN:
        BORN.pop().wait()


@pytest.fixture
async def host() -> AsyncIterator[PluginHost]:
    made = PluginHost(grace_seconds=GRACE_SECONDS)
    yield made
    await made.close()


async def give_up(call: asyncio.Task[Any]) -> None:
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


async def stop_once_born(cradle: Cradle, call: asyncio.Task[Any], *names: str) -> None:
    await cradle.born(*names)
    await give_up(call)
    await cradle.gone(*names)


def shell(line: str, **options: Any) -> subprocess.Popen[bytes]:
    BORN.append(subprocess.Popen(["/bin/sh", "-c", line], **options))
    return BORN[-1]


# ------------------------------------------------------------------------------ every way to start a process


def wait_for_it(cradle: Cradle) -> None:
    subprocess.run(["/bin/sh", "-c", cradle.line("a")], check=False)


def leave_it(cradle: Cradle) -> None:
    shell(cradle.line("a"))
    threading.Event().wait(30)


def clear_its_environment(cradle: Cradle) -> None:
    shell(cradle.line("a"), env={}, start_new_session=True).wait()


def build_a_pipeline(cradle: Cradle) -> None:
    second = cradle.line("b", "exec cat")
    shell(f"( {cradle.line('x', ':')}; exec sleep 600 ) | ( exec sh -c '{second}' )").wait()


def ignore_the_signal(cradle: Cradle) -> None:
    shell(cradle.line("a", STUBBORN)).wait()


def make_a_daemon(cradle: Cradle) -> None:
    """Its parents are gone at once, and with them every trace of where it came from."""
    inner = cradle.line("a").replace("'", '"')
    shell(f"( env -i setsid sh -c '{inner}' & ) & exit 0", start_new_session=True).wait()
    threading.Event().wait(30)


def make_a_daemon_by_hand(cradle: Cradle) -> None:
    """The textbook's double fork, without a program of its own."""
    middle = os.fork()
    if middle == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 100)
            cradle.write("a")
            time.sleep(600)
        os._exit(0)
    os.waitpid(middle, 0)
    threading.Event().wait(30)


def let_it_stand_still(cradle: Cradle) -> None:
    shell(cradle.line("a", f"{STUBBORN.split(';')[0]}; kill -STOP $$; sleep 600")).wait()


def give_it_a_terminal(cradle: Cradle) -> None:
    pid, _terminal = pty.fork()
    if pid == 0:
        os.execv("/bin/sh", ["sh", "-c", cradle.line("a", STUBBORN)])
    os.waitpid(pid, 0)


def use_the_old_way(cradle: Cradle) -> None:
    os.system(cradle.line("a"))  # noqa: S605 - plugins do this


def use_the_lean_way(cradle: Cradle) -> None:
    pid = os.posix_spawn("/bin/sh", ["sh", "-c", cradle.line("a")], os.environ)
    os.waitpid(pid, 0)


def use_a_thread_of_its_own(cradle: Cradle) -> None:
    thread = threading.Thread(target=wait_for_it, args=(cradle,), daemon=True)
    thread.start()
    thread.join(30)


def use_a_pool(cradle: Cradle) -> None:
    with concurrent.futures.ThreadPoolExecutor() as pool:
        pool.submit(wait_for_it, cradle).result(30)


def prepare_the_child(cradle: Cradle) -> None:
    shell(cradle.line("a"), preexec_fn=os.setsid).wait()


WAYS: list[tuple[Callable[[Cradle], None], tuple[str, ...]]] = [
    (wait_for_it, ("a",)),
    (leave_it, ("a",)),
    (clear_its_environment, ("a",)),
    (build_a_pipeline, ("b",)),
    (ignore_the_signal, ("a",)),
    (make_a_daemon, ("a",)),
    (make_a_daemon_by_hand, ("a",)),
    (give_it_a_terminal, ("a",)),
    (use_the_old_way, ("a",)),
    (use_the_lean_way, ("a",)),
    (use_a_thread_of_its_own, ("a",)),
    (use_a_pool, ("a",)),
    (prepare_the_child, ("a",)),
]


@pytest.mark.parametrize(("way", "names"), WAYS, ids=lambda value: getattr(value, "__name__", ""))
async def test_whatever_way_a_call_starts_a_process_it_is_gone_when_the_call_is_stopped(
    host: PluginHost, cradle: Cradle, way: Callable[[Cradle], None], names: tuple[str, ...]
) -> None:
    call = asyncio.create_task(host.run_in_thread("p", lambda: way(cradle)))
    await stop_once_born(cradle, call, *names)


async def test_one_that_stands_still_is_gone_too(host: PluginHost, cradle: Cradle) -> None:
    call = asyncio.create_task(host.run_in_thread("p", lambda: let_it_stand_still(cradle)))
    await cradle.born("a")
    await until(lambda: state_of(cradle.pid("a")) == "T")
    await stop_once_born(cradle, call, "a")


@pytest.mark.parametrize("name", ["spawn", "fork", "forkserver"])
async def test_a_worker_process_of_python_is_gone_when_the_call_is_stopped(
    host: PluginHost, cradle: Cradle, name: str
) -> None:
    def work() -> None:
        import multiprocessing

        worker = multiprocessing.get_context(name).Process(  # type: ignore[attr-defined]
            target=subprocess.call, args=(["/bin/sh", "-c", cradle.line("a", STUBBORN)],)
        )
        worker.start()
        cradle.write("worker", worker.pid)
        worker.join()

    call = asyncio.create_task(host.run_in_thread("p", work))
    await stop_once_born(cradle, call, "a", "worker")


async def test_a_process_of_a_tool_on_the_plugin_loop_is_gone_when_it_is_stopped(
    host: PluginHost, cradle: Cradle
) -> None:
    ends: list[int | None] = []

    async def work() -> None:
        process = await asyncio.create_subprocess_exec("/bin/sh", "-c", cradle.line("a"))
        cradle.write("waits", process.pid)
        try:
            await process.wait()
        finally:
            ends.append(await process.wait())

    await stop_once_born(cradle, asyncio.create_task(host.run("p", work)), "a", "waits")

    await until(lambda: bool(ends))
    assert ends == [-signal.SIGTERM]  # It is told the truth: nobody took the word of its child.


async def test_a_call_that_blocks_the_plugin_loop_by_waiting_for_a_process_is_freed(
    host: PluginHost, cradle: Cradle
) -> None:
    async def work() -> None:
        wait_for_it(cradle)

    await stop_once_born(cradle, asyncio.create_task(host.run("p", work)), "a")

    assert await host.run_in_thread("q", lambda: "next") == Returned("next")
    await until(lambda: host.quarantine.abandoned("p") == 0)
    assert host.loops_replaced == 0


# ------------------------------------------------------------------------------------------------- at once


async def test_what_is_started_in_the_moment_of_the_stop_is_gone_too(host: PluginHost, cradle: Cradle) -> None:
    """A tool that goes on starting processes, and takes no exception for an answer."""
    refused = threading.Event()

    def work() -> None:
        for number in range(100_000):
            try:
                shell(f"sleep 600 & {cradle.line(str(number))}", start_new_session=True)
            except BaseException:
                refused.set()
                return

    call = asyncio.create_task(host.run_in_thread("p", work))
    await cradle.born("0", "3")
    mark = resource.prlimit(cradle.pid("0"), LIMIT)[0]
    await give_up(call)

    await until(refused.is_set)
    await until(lambda: not host._clearing)
    assert [pid for pid in processes_with(mark) if is_alive(pid)] == []


async def test_a_call_that_was_given_up_cannot_even_fork(host: PluginHost, cradle: Cradle) -> None:
    may_go_on, ends = threading.Event(), []

    def work() -> None:
        wait_for_it(cradle)

    def stubborn() -> None:
        with suppress(BaseException):
            work()
        while not may_go_on.is_set():
            with suppress(BaseException):
                may_go_on.wait(0.05)
        pid = os.fork()
        if pid == 0:
            cradle.write("b")
            time.sleep(600)
        ends.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

    call = asyncio.create_task(host.run_in_thread("p", stubborn))
    await stop_once_born(cradle, call, "a")
    await until(lambda: not host._clearing)
    may_go_on.set()

    await until(lambda: bool(ends))
    assert ends == [128 + signal.SIGKILL]
    assert not (cradle.folder / "b").exists()


async def test_a_tool_may_still_tidy_up_behind_itself(cradle: Cradle) -> None:
    host = PluginHost(grace_seconds=10.0)

    async def work() -> None:
        try:
            process = await asyncio.create_subprocess_exec("/bin/sh", "-c", cradle.line("a"))
            await process.wait()
        finally:
            tidy = await asyncio.create_subprocess_exec("/bin/sh", "-c", cradle.line("tidied", ":"))
            await tidy.wait()

    call = asyncio.create_task(host.run("p", work))
    await stop_once_born(cradle, call, "a")

    await cradle.born("tidied")
    await host.close()


async def test_closing_ends_what_was_running(cradle: Cradle) -> None:
    host = PluginHost(grace_seconds=GRACE_SECONDS)

    async def work() -> None:
        process = await asyncio.create_subprocess_exec("/bin/sh", "-c", cradle.line("a", STUBBORN))
        await process.wait()

    on_loop = asyncio.create_task(host.run("p", work))
    in_thread = asyncio.create_task(host.run_in_thread("q", lambda: shell(cradle.line("b", STUBBORN)).wait()))
    await cradle.born("a", "b")

    await host.close()

    assert cradle.living() == []
    assert isinstance(await on_loop, Raised)
    await in_thread


# ------------------------------------------------------------------------------------------ and nothing else


async def test_a_call_that_came_to_a_good_end_may_leave_something_behind(host: PluginHost, cradle: Cradle) -> None:
    ran = await host.run_in_thread("p", lambda: shell(cradle.line("a")))
    await cradle.born("a")
    await host.close()
    assert isinstance(ran, Returned)
    assert cradle.living() == ["a"]


@pytest.mark.parametrize("ending", ["raises", "says so"])
async def test_a_call_that_came_to_a_bad_end_leaves_nothing(host: PluginHost, cradle: Cradle, ending: str) -> None:
    async def work() -> str:
        shell(cradle.line("a"))
        while not (cradle.folder / "a").exists():
            await asyncio.sleep(0.005)
        if ending == "raises":
            raise ValueError("it went wrong")
        return "it went wrong"

    ran: Ran[str] = await host.run("p", work, lambda text: text == "done")

    assert isinstance(ran, Raised) == (ending == "raises")
    await cradle.gone("a")


async def test_only_the_processes_of_the_stopped_call_are_ended(host: PluginHost, cradle: Cradle) -> None:
    ours = shell(cradle.line("ours"))
    left = await host.run_in_thread("earlier", lambda: shell(cradle.line("earlier")))
    other = asyncio.create_task(host.run_in_thread("other", lambda: shell(cradle.line("other")).wait()))
    stopped = asyncio.create_task(host.run_in_thread("p", lambda: shell(cradle.line("a", STUBBORN)).wait()))
    await cradle.born("ours", "earlier", "other")
    await stop_once_born(cradle, stopped, "a")
    await until(lambda: not host._clearing)

    assert sorted(cradle.living()) == ["earlier", "other", "ours"]

    os.kill(cradle.pid("other"), signal.SIGUSR1)
    assert await other == Returned(-signal.SIGUSR1)  # Its end was told to whoever waited for it.
    ours.kill()
    assert ours.wait() == -signal.SIGKILL
    assert isinstance(left, Returned)


async def test_each_process_carries_the_number_of_its_own_call_and_ours_carry_none(host: PluginHost) -> None:
    """Many births on many threads at once."""
    numbers: dict[str, set[str]] = {"p": set(), "q": set(), "ours": set()}

    def breed(name: str) -> None:
        for _ in range(20):
            found = subprocess.run(["/bin/cat", "/proc/self/limits"], capture_output=True, text=True, check=True)
            numbers[name] |= {line.split()[3] for line in found.stdout.splitlines() if "file locks" in line}

    calls = [host.run_in_thread(name, lambda name=name: breed(name)) for name in ("p", "q")]  # type: ignore[misc]
    await asyncio.gather(*calls, asyncio.to_thread(breed, "ours"))

    assert numbers["ours"] == {"unlimited"}
    assert len(numbers["p"]) == len(numbers["q"]) == 1
    assert len(numbers["p"] | numbers["q"] | numbers["ours"]) == 3


async def test_what_runs_on_our_loop_for_a_plugin_is_ours(host: PluginHost, cradle: Cradle) -> None:
    """Threads that our own pool starts meanwhile stay ours as well."""

    async def ours() -> None:
        await asyncio.to_thread(shell, cradle.line("ours"))

    async def work() -> None:
        await host.at_home(ours)
        shell(cradle.line("a"))
        await asyncio.sleep(3600)

    await stop_once_born(cradle, asyncio.create_task(host.run("p", work)), "a")
    await until(lambda: not host._clearing)
    await asyncio.to_thread(shell, cradle.line("ours_later"))
    await cradle.born("ours_later")

    assert sorted(cradle.living()) == ["ours", "ours_later"]


async def test_the_dead_are_collected_and_nobody_s_word_is_taken(host: PluginHost, cradle: Cradle) -> None:
    popens: list[subprocess.Popen[bytes]] = []

    def work() -> None:
        popens.append(shell(cradle.line("a")))
        threading.Event().wait(30)

    await stop_once_born(cradle, asyncio.create_task(host.run_in_thread("p", work)), "a")

    await until(lambda: state_of(cradle.pid("a")) == "")
    assert popens[0].returncode == -signal.SIGTERM


def processes_with(mark: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if str(mark) in (entry / "limits").read_text():
                    found.append(int(entry.name))
    return found
