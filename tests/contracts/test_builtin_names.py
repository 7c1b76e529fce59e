"""A plugin that replaces what belongs to Python itself, or leaves something behind, changes nothing for the others."""

from __future__ import annotations

import builtins
import concurrent.futures.thread
import threading

import pytest

from appliance.contracts.builtin_names import BuiltinNames
from tests.contracts.gate import Gate, until
from tests.contracts.rig import PING, Rig, tool_source

#: Names that nothing of the test itself needs.
PATCH = "import builtins\nbuiltins.oct = lambda _thing: 42\n"


@pytest.fixture
def names() -> BuiltinNames:
    return BuiltinNames()


def test_what_was_replaced_or_removed_is_put_back(names: BuiltinNames, monkeypatch: pytest.MonkeyPatch) -> None:
    own = oct
    monkeypatch.setattr(builtins, "oct", lambda _thing: 42)
    monkeypatch.delattr(builtins, "bin")
    assert set(names.restore()) == {"oct", "bin"}
    assert builtins.oct is own and bin(2) == "0b10"
    assert names.restore() == []


def test_what_pretends_to_be_equal_is_found_and_what_was_added_stays(
    names: BuiltinNames, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Equal:
        def __eq__(self, _other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    monkeypatch.setattr(builtins, "print", Equal())
    monkeypatch.setattr(builtins, "_", str.upper, raising=False)
    assert names.restore() == ["print"]
    assert vars(builtins)["_"]("a") == "A"


@pytest.mark.parametrize("ending", ["", "raise ValueError('broken')\n"])
async def test_after_loading_everything_is_as_before(rig: Rig, ending: str) -> None:
    own = oct
    rig.write("bad/a.py", PATCH + ending + tool_source("a", "return str(oct(8))"))
    await rig.load()
    assert builtins.oct is own
    assert rig.host.remarks("bad") == ["it replaced what belongs to Python itself, which was put back: oct"]
    rig.host.forgive("bad")
    assert rig.host.remarks("bad") == []


@pytest.mark.parametrize("ending", ["return 'done'", "raise ValueError", "import sys; sys.exit(1)"])
async def test_after_each_call_everything_is_as_before(rig: Rig, ending: str) -> None:
    own = oct
    await rig.load_tool("bad", PATCH + "del builtins.bin\n" + ending)
    for number in range(2):
        await rig.call("bad", f"call-{number}")
        assert builtins.oct is own
        assert bin(2) == "0b10"
    assert rig.host.remarks("test") == ["it replaced what belongs to Python itself, which was put back: bin, oct"]


async def test_after_a_check_and_after_a_call_that_was_given_up_too(rig: Rig, gate: Gate) -> None:
    own = oct
    block = f"{PATCH}from tests.contracts.gate import GATES\nGATES[0].block()\nreturn 'late'"
    await rig.load_tool("bad", block, "def check():\n    import builtins\n    builtins.oct = None\n    return True")
    assert builtins.oct is own

    call = rig.start("bad")
    await gate.reached()
    await rig.clock.advance(30.0)
    await call

    assert builtins.oct is own


async def test_a_thread_that_is_left_behind_is_named_until_it_ends_and_does_not_hold_the_program(
    rig: Rig, gate: Gate
) -> None:
    body = (
        "import threading\nfrom tests.contracts.gate import GATES\n"
        "threading.Thread(target=GATES[0].block, name='spinner', daemon=False).start()\nreturn 'left'"
    )
    rig.write("other/ping.py", PING)
    await rig.load_tool("leaver", body)

    assert (await rig.call("leaver")).text == "left"
    await gate.reached()

    (thread,) = [thread for thread in threading.enumerate() if thread.name == "spinner"]
    assert thread.daemon
    assert rig.host.remarks("test") == ["a thread that it started runs on behind its calls: spinner"]
    assert rig.host.remarks("other") == []
    gate.open()
    await until(lambda: not rig.host.remarks("test"))


async def test_the_threads_of_a_call_that_is_still_on_are_not_left_behind(rig: Rig, gate: Gate) -> None:
    body = (
        "import asyncio, threading\nfrom tests.contracts.gate import GATES\n"
        "threading.Thread(target=GATES[0].block).start()\nawait asyncio.to_thread(GATES[0].block)\nreturn 'done'"
    )
    await rig.load_tool("busy", body)
    call = rig.start("busy")
    await gate.reached()
    await gate.reached()
    assert rig.host.remarks("test") == []
    gate.open()
    assert (await call).text == "done"


async def test_calls_that_never_came_back_are_counted_for_the_owner(rig: Rig, gate: Gate) -> None:
    await rig.load_tool("block", "from tests.contracts.gate import GATES\nGATES[0].block()\nreturn 'late'")
    call = rig.start("block")
    await gate.reached()
    await rig.clock.advance(30.0)
    await call
    await until(lambda: bool(rig.host.remarks("test")))
    assert rig.host.remarks("test") == ["calls of it never came back and still run: 1, and at 4 it is paused"]
    gate.open()
    await until(lambda: not rig.host.remarks("test"))


async def test_a_pool_that_is_left_behind_does_not_hold_the_program(rig: Rig, gate: Gate) -> None:
    body = "from tests.contracts.gate import GATES\nPOOL.submit(GATES[0].block)\nreturn 'left'"
    attributes = "from concurrent.futures import ThreadPoolExecutor", "POOL = ThreadPoolExecutor(1, 'plugin pool')"
    await rig.load_tool("pool", body, *attributes)
    await rig.call("pool")
    await gate.reached()
    (thread,) = [thread for thread in threading.enumerate() if thread.name.startswith("plugin pool")]

    await rig.host.close()

    assert thread.is_alive()
    assert thread not in concurrent.futures.thread._threads_queues
