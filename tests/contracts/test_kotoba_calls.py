"""How a tool module is called: with what, where, and for how long."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

import pytest

from appliance.contracts.kotoba.results import TIMED_OUT
from appliance.events import Outcome
from appliance.tools.tool import ToolResult
from tests.contracts.gate import Gate, until
from tests.contracts.rig import PING, Rig, tool_source

STARTED = ("import threading", "STARTED = threading.Event()")
HANG = "import asyncio\nSTARTED.set()\nawait asyncio.sleep(3600)"


async def start_and_hang(rig: Rig, *attributes: str, **arguments: Any) -> asyncio.Task[ToolResult]:
    """A call of a tool that never ends by itself; its code is on."""
    tool = await rig.load_tool("hang", HANG, *STARTED, *attributes)
    call = rig.start("hang", **arguments)
    await asyncio.to_thread(tool.module.STARTED.wait, 10)
    return call


# --------------------------------------------------------------------------------- what the model is told


@pytest.mark.contract("K-002")
async def test_the_smallest_tool_costs_no_warning(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    rig.write("pong/ping.py", PING)
    await rig.load()
    await rig.call("ping")
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.contract("K-003", "K-013")
async def test_the_model_reads_the_description_as_it_is_written_and_nothing_else_of_the_module(rig: Rig) -> None:
    schema = {
        "type": "function",
        "name": "tides",
        "description": "  Höhe der Flut.\n\nUse it for *tides* only!  ",
        "parameters": {"type": "object", "properties": {"day": {"type": "string", "enum": ["today"]}}},
    }
    source = (
        '"""A docstring about secrets."""\n'
        f"SCHEMA = {schema!r}\n"
        'DESCRIPTION = "not this"\nRISK = "write"\nANNOUNCE = "nor this"\n'
        'async def execute(args, ctx):\n    """Nor this."""\n    return "high"\n'
    )
    rig.write("p/tides.py", source)
    await rig.load()
    assert rig.registry.select().schemas == (schema,)


@pytest.mark.contract("K-041")
async def test_a_tool_may_list_the_tools_of_some_risks_only(rig: Rig) -> None:
    for risk in ("read", "write", "exec", "network"):
        rig.write(f"p/{risk}.py", tool_source(f"a_{risk}", "return 'ran'", f'RISK = "{risk}"'))
    rig.write("p/away.py", tool_source("away", "return 'ran'", "def check(): return False"))
    body = (
        "from kotoba.tools import schemas_for\n"
        "lists = [schemas_for(), schemas_for(allow_risk={'read', 'write'}), schemas_for(allow_risk=())]\n"
        "return str([[schema['name'] for schema in found] for found in lists])"
    )
    rig.write("q/lister.py", tool_source("lister", body))
    await rig.load()

    listed = (await rig.call("lister")).text

    everything = ["a_exec", "a_network", "a_read", "a_write", "lister"]
    assert listed == str([everything, ["a_read", "a_write", "lister"], []])


# --------------------------------------------------------------------------------------- how it is called


@pytest.mark.contract("K-014")
async def test_execute_gets_two_positional_arguments(rig: Rig) -> None:
    rig.write(
        "p/a.py",
        'SCHEMA = {"name": "a", "description": ""}\n'
        "async def execute(*given, **named):\n"
        "    return str([type(value).__name__ for value in given] + list(named))\n",
    )
    await rig.load()
    assert (await rig.call("a", x=1)).text == "['dict', 'ToolContext']"


@pytest.mark.contract("K-014", "K-094")
async def test_the_context_is_of_the_class_that_authors_can_import(rig: Rig) -> None:
    await rig.load_tool("a", "from kotoba.tools import ToolContext\nreturn str(type(ctx) is ToolContext)")
    assert (await rig.call("a")).text == "True"


@pytest.mark.contract("K-015")
async def test_each_call_is_a_task_of_its_own(rig: Rig) -> None:
    body = "import asyncio\nTASKS.append(asyncio.current_task())\nreturn str(len(set(TASKS)))"
    tool = await rig.load_tool("a", body, "TASKS = []")
    assert [(await rig.call("a", f"call-{number}")).text for number in range(3)] == ["1", "2", "3"]
    assert all(isinstance(task, asyncio.Task) for task in tool.module.TASKS)
    await until(lambda: all(task.done() for task in tool.module.TASKS))


@pytest.mark.contract("K-021")
async def test_a_call_without_arguments_suits_a_tool_that_guards_against_none(rig: Rig) -> None:
    await rig.load_tool("a", "return (args or {}).get('count', 'five')")
    assert (await rig.call("a")).text == "five"


@pytest.mark.contract("K-111")
async def test_a_failure_that_one_call_notes_is_not_that_of_a_call_beside_it(rig: Rig, gate: Gate) -> None:
    waits = "import asyncio\nfrom tests.contracts.gate import GATES\nawait asyncio.to_thread(GATES[0].block)"
    rig.write("p/waits.py", tool_source("waits", f"{waits}\nreturn 'fine'"))
    fails = "from kotoba.core.loop import note_tool_failure\nnote_tool_failure('502')\nreturn 'down'"
    rig.write("p/fails.py", tool_source("fails", fails))
    await rig.load()
    waiting = rig.start("waits", "call-1")
    await gate.reached()

    failed = await rig.call("fails", "call-2")
    gate.open()

    assert (failed.outcome, (await waiting).outcome) == (Outcome.FAILED, Outcome.OK)


# ------------------------------------------------------------------------------------------- for how long


@pytest.mark.parametrize(
    ("attributes", "arguments", "seconds"),
    [
        pytest.param((), {}, 30, marks=pytest.mark.contract("K-081")),
        pytest.param(("TIMEOUT = 45",), {}, 45, marks=pytest.mark.contract("K-082")),
        (("TIMEOUT = 5",), {}, 5),
        pytest.param((), {"timeout": 500}, 30, marks=pytest.mark.contract("K-083")),
        pytest.param(("ARG_TIMEOUT = True",), {"timeout": 20}, 85, marks=pytest.mark.contract("K-084")),
        pytest.param(
            ("ARG_TIMEOUT = True", "MAX_TIMEOUT = 70"), {"timeout": 20}, 70, marks=pytest.mark.contract("K-085")
        ),
        pytest.param(("ARG_TIMEOUT = True",), {"timeout": 9999}, 600, marks=pytest.mark.contract("K-086")),
        pytest.param(("MAX_TIMEOUT = 5",), {"timeout": 2}, 30, marks=pytest.mark.contract("K-087")),
        pytest.param(('RISK = "exec"',), {}, 65, marks=pytest.mark.contract("K-036")),
        pytest.param(('RISK = "exec"', "TIMEOUT = 90"), {}, 90, marks=pytest.mark.contract("K-038")),
        pytest.param(('RISK = "write"', "TIMEOUT = 5"), {}, 5, marks=pytest.mark.contract("K-039")),
        pytest.param(('RISK = "network"', "TIMEOUT = 5"), {}, 5, marks=pytest.mark.contract("K-039")),
    ],
)
async def test_a_call_has_its_seconds_and_not_one_more(
    rig: Rig, attributes: Sequence[str], arguments: dict[str, object], seconds: float
) -> None:
    call = await start_and_hang(rig, *attributes, **arguments)

    await rig.clock.advance(seconds - 0.1)
    assert not call.done()
    await rig.clock.advance(0.1)
    await until(call.done)

    assert (await call).text.startswith(TIMED_OUT)


@pytest.mark.contract("K-088")
async def test_an_interactive_call_outlasts_two_minutes_of_typing(rig: Rig, gate: Gate) -> None:
    waits = "import asyncio\nfrom tests.contracts.gate import GATES\nawait asyncio.to_thread(GATES[0].block)"
    await rig.load_tool("ask", f"{waits}\nreturn 'typed'", "INTERACTIVE = True", "TIMEOUT = 5")
    call = rig.start("ask")
    await gate.reached()

    await rig.clock.advance(120.0)
    assert not call.done()
    gate.open()

    assert (await call).text == "typed"


@pytest.mark.contract("K-090")
async def test_what_the_provider_runs_is_offered_in_the_providers_own_shape(rig: Rig) -> None:
    rig.write("p/search.py", 'SCHEMA = {"type": "web_search"}\nBUILT_IN = True\n')
    await rig.load()
    assert rig.registry.select().schemas == ({"type": "web_search"},)
    assert rig.sentences == []


async def test_a_stopped_call_is_told_to_stop(rig: Rig) -> None:
    body = f"try:\n    {HANG.replace(chr(10), chr(10) + '    ')}\nfinally:\n    ENDED.set()"
    tool = await rig.load_tool("hang", body, *STARTED, "ENDED = threading.Event()")
    call = rig.start("hang")
    await asyncio.to_thread(tool.module.STARTED.wait, 10)

    call.cancel()

    await until(tool.module.ENDED.is_set)
    with pytest.raises(asyncio.CancelledError):
        await call
    assert rig.observer.told == ["started hang", "finished hang interrupted"]
