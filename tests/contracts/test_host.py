"""The bridge to plugin code: whatever a plugin does, our loop is free and the next call works.

Real threads, so a little real time: the host's grace is short here, and what blocks waits for an event of the test.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

import pytest

from appliance.adapters.fakes.tool import FakeTool
from appliance.clock import settle
from appliance.contracts.host import PluginHost
from appliance.contracts.plugin_call import LoopLostError, Raised, Ran, Returned
from appliance.contracts.quarantine import ABANDONED_LIMIT, Quarantine
from tests.contracts.gate import Gate, until

GRACE_SECONDS = 0.2
VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="")


@pytest.fixture
def paused() -> list[str]:
    """Plugins that the host paused."""
    return []


@pytest.fixture
async def host(paused: list[str]) -> AsyncIterator[PluginHost]:
    made = PluginHost(Quarantine(paused.append), grace_seconds=GRACE_SECONDS)
    yield made
    await made.close()


async def give_up(call: asyncio.Task[Ran[str]]) -> None:
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


async def hello() -> str:
    return "hello"


def blocking(gate: Gate) -> Callable[[], Awaitable[str]]:
    async def block() -> str:
        gate.block()
        return "late"

    return block


async def test_plugin_code_runs_on_a_thread_and_a_loop_of_its_own(host: PluginHost) -> None:
    async def where() -> tuple[str, bool, asyncio.AbstractEventLoop]:
        return threading.current_thread().name, threading.current_thread().daemon, asyncio.get_running_loop()

    ran = await host.run("p", where)

    assert isinstance(ran, Returned)
    name, is_daemon, loop = ran.value
    assert name.startswith("plugin-loop")
    assert is_daemon
    assert loop is not asyncio.get_running_loop()


async def test_context_variables_are_copied_into_plugin_code_and_not_back(host: PluginHost) -> None:
    VARIABLE.set("ours")

    async def change() -> str:
        seen = VARIABLE.get()
        VARIABLE.set("theirs")
        return seen

    assert await host.run("p", change) == Returned("ours")
    assert await host.run_in_thread("p", VARIABLE.get) == Returned("ours")
    assert VARIABLE.get() == "ours"


@pytest.mark.parametrize(
    "error", [ValueError("x"), SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError("stray"), GeneratorExit()]
)
async def test_whatever_is_raised_comes_back_as_data(host: PluginHost, error: BaseException) -> None:
    async def fail() -> str:
        raise error

    def fail_plainly() -> str:
        raise error

    assert await host.run("p", fail) == Raised(error)
    assert await host.run_in_thread("p", fail_plainly) == Raised(error)
    assert await host.run("p", hello) == Returned("hello")


async def test_an_exit_in_a_task_that_a_plugin_left_behind_ends_nothing(host: PluginHost) -> None:
    async def leave_one_behind() -> str:
        async def quit_later() -> None:
            sys.exit(1)

        task = asyncio.ensure_future(quit_later())
        with suppress(SystemExit):
            await asyncio.wait({task})
            task.result()
        return "gone"

    assert await host.run("p", leave_one_behind) == Returned("gone")
    assert await host.run("p", hello) == Returned("hello")


async def test_a_plugin_that_stops_the_loop_does_not_stop_it(host: PluginHost) -> None:
    async def stop() -> str:
        asyncio.get_running_loop().stop()
        return "stopped"

    assert await host.run("p", stop) == Returned("stopped")
    assert await host.run("p", hello) == Returned("hello")


@pytest.mark.contract("K-126")
async def test_cancelling_reaches_the_plugin_and_is_not_waited_for(host: PluginHost) -> None:
    started, cleaned_up = threading.Event(), threading.Event()

    async def hang() -> str:
        try:
            started.set()
            await asyncio.sleep(3600)
        finally:
            cleaned_up.set()
        return "never"

    call = asyncio.create_task(host.run("p", hang))
    await until(started.is_set)
    await give_up(call)

    await until(cleaned_up.is_set)
    assert await host.run("p", hello) == Returned("hello")
    assert host.loops_replaced == 0
    assert host.quarantine.abandoned("p") == 0


async def test_a_call_that_blocks_the_loop_is_left_behind_and_the_next_one_works(host: PluginHost, gate: Gate) -> None:
    call = asyncio.create_task(host.run("stuck", blocking(gate)))
    await gate.reached()
    await give_up(call)

    assert await host.run("other", hello) == Returned("hello")

    assert host.loops_replaced == 1
    assert host.quarantine.abandoned("stuck") == 1
    assert host.quarantine.abandoned("other") == 0
    gate.open()
    await until(lambda: host.quarantine.abandoned("stuck") == 0)


async def test_a_call_may_block_the_loop_within_its_budget(host: PluginHost, gate: Gate) -> None:
    first = asyncio.create_task(host.run("slow", blocking(gate)))
    await gate.reached()
    second = asyncio.create_task(host.run("other", hello))

    await asyncio.sleep(GRACE_SECONDS * 4)
    assert host.loops_replaced == 0
    gate.open()

    assert await first == Returned("late")
    assert await second == Returned("hello")


async def test_work_left_behind_by_a_finished_call_is_blamed_and_not_the_next_caller(
    host: PluginHost, gate: Gate
) -> None:
    async def leave_a_trap() -> str:
        async def trap() -> None:
            gate.block()

        asyncio.get_running_loop().trap = asyncio.ensure_future(trap())  # type: ignore[attr-defined]
        return "done"

    assert await host.run("trapper", leave_a_trap) == Returned("done")
    await gate.reached()

    assert await host.run("innocent", hello) == Returned("hello")

    assert host.quarantine.abandoned("trapper") == 1
    assert host.quarantine.abandoned("innocent") == 0


async def test_an_innocent_call_on_a_lost_loop_fails_and_does_not_hang(host: PluginHost, gate: Gate) -> None:
    started = threading.Event()

    async def wait() -> str:
        started.set()
        await asyncio.sleep(3600)
        return "never"

    innocent = asyncio.create_task(host.run("innocent", wait))
    await until(started.is_set)
    guilty = asyncio.create_task(host.run("guilty", blocking(gate)))
    await gate.reached()
    await give_up(guilty)

    ran = await innocent

    assert isinstance(ran, Raised)
    assert isinstance(ran.error, LoopLostError)
    assert host.quarantine.abandoned("innocent") == 0


async def test_a_call_that_was_given_up_before_its_turn_never_runs(host: PluginHost, gate: Gate) -> None:
    ran: list[str] = []

    async def late() -> str:
        ran.append("late")
        return "late"

    first = asyncio.create_task(host.run("slow", blocking(gate)))
    await gate.reached()
    second = asyncio.create_task(host.run("other", late))
    await settle()
    await give_up(second)
    gate.open()

    assert await first == Returned("late")
    assert await host.run("other", hello) == Returned("hello")
    assert ran == []


async def test_code_that_ignores_its_cancellation_counts_as_left_behind(host: PluginHost) -> None:
    started, ended = threading.Event(), threading.Event()

    async def stubborn() -> str:
        started.set()
        while not ended.is_set():
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)
        return "at last"

    call = asyncio.create_task(host.run("stubborn", stubborn))
    await until(started.is_set)
    await give_up(call)

    await until(lambda: host.quarantine.abandoned("stubborn") == 1)
    assert host.loops_replaced == 0
    ended.set()
    await until(lambda: host.quarantine.abandoned("stubborn") == 0)


async def test_a_hanging_helper_thread_counts_as_left_behind_and_blocks_no_other(host: PluginHost, gate: Gate) -> None:
    async def hang_in_a_thread() -> str:
        await asyncio.to_thread(gate.block)
        return "never"

    call = asyncio.create_task(host.run("threads", hang_in_a_thread))
    await gate.reached()
    await give_up(call)

    await until(lambda: host.quarantine.abandoned("threads") == 1)

    async def use_a_thread() -> str:
        return await asyncio.to_thread(str, 7)

    assert await host.run("other", use_a_thread) == Returned("7")


async def test_a_thread_that_hangs_is_left_behind_and_counted_while_it_lives(host: PluginHost, gate: Gate) -> None:
    def hang() -> str:
        gate.block()
        return "late"

    call = asyncio.create_task(host.run_in_thread("stuck", hang))
    await gate.reached()
    await give_up(call)

    assert host.quarantine.abandoned("stuck") == 1
    assert await host.run_in_thread("stuck", lambda: "next") == Returned("next")
    gate.open()
    await until(lambda: host.quarantine.abandoned("stuck") == 0)


async def test_code_that_spins_is_broken_into_and_leaves_the_processor_alone(host: PluginHost) -> None:
    started = threading.Event()

    async def spin() -> str:
        spin_plainly()
        return "never"

    def spin_plainly() -> str:
        started.set()
        while True:
            pass

    for call in (host.run("spin", spin), host.run_in_thread("spin", spin_plainly)):
        started.clear()
        task = asyncio.create_task(call)
        await until(started.is_set)
        await give_up(task)
        assert await host.run("other", hello) == Returned("hello")
        await until(lambda: host.quarantine.abandoned("spin") == 0)

    assert host.quarantine.why_paused("spin") is None


async def test_after_four_hanging_calls_the_plugin_is_paused_and_the_person_hears_why(
    host: PluginHost, paused: list[str], gate: Gate
) -> None:
    for count in range(ABANDONED_LIMIT):
        assert host.quarantine.why_paused("stuck") is None, count
        call = asyncio.create_task(host.run("stuck", blocking(gate)))
        await gate.reached()
        await give_up(call)
        await until(lambda count=count: host.quarantine.abandoned("stuck") == count + 1)  # type: ignore[misc]

    assert paused == ["stuck"]
    tool = FakeTool(origin="plugin:stuck")
    assert "paused until the box restarts" in (host.why_withheld(tool) or "")
    assert host.why_withheld(FakeTool(origin="plugin:other")) is None
    gate.open()
    await until(lambda: host.quarantine.abandoned("stuck") == 0)
    assert "stuck" in host.quarantine.paused, "it stays paused: it has shown what it does"


async def test_prints_of_a_plugin_go_to_the_log_and_not_to_the_terminal(
    host: PluginHost, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)

    async def chatty() -> str:
        print("hello", "log")
        sys.stdout.write("half a line, ")
        await asyncio.to_thread(print, "and the rest")
        return "ok"

    assert await host.run("chatty", chatty) == Returned("ok")
    print("from us")

    assert capsys.readouterr().out == "from us\n"
    logged = [record.message for record in caplog.records if record.name == "plugin.chatty"]
    assert logged == ["hello log", "half a line, and the rest"]


async def test_the_terminal_comes_back_when_the_host_closes() -> None:
    before = sys.stdout
    host = PluginHost(grace_seconds=GRACE_SECONDS)
    await host.run("p", hello)
    assert sys.stdout is not before

    await host.close()

    assert sys.stdout is before


async def test_plugin_code_can_await_something_on_our_loop(host: PluginHost) -> None:
    home = asyncio.get_running_loop()

    async def which_loop() -> bool:
        return asyncio.get_running_loop() is home

    assert await host.run("p", lambda: host.at_home(which_loop)) == Returned(True)


async def test_closing_ends_what_hangs_and_does_not_wait_for_what_is_blocked(gate: Gate) -> None:
    host = PluginHost(grace_seconds=GRACE_SECONDS)
    call = asyncio.create_task(host.run("stuck", blocking(gate)))
    await gate.reached()

    await asyncio.wait_for(host.close(), 5)

    ran = await call
    assert isinstance(ran, Raised)
    assert isinstance(ran.error, LoopLostError)
