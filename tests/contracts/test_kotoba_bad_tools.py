"""Tools that do everything wrong: each call ends in a clear text, and the next call works."""

from __future__ import annotations

import asyncio
import logging

import pytest

from appliance.contracts.failures import WITHIN_SECONDS
from appliance.contracts.kotoba.results import ERRORED, FAILURE_NOTE, RETURNED_NOTHING, TIMED_OUT
from appliance.events import Outcome
from tests.contracts.gate import Gate
from tests.contracts.rig import PING, Rig, schema_line


async def ping_works(rig: Rig) -> bool:
    return (await rig.call("ping")).text == "pong"


@pytest.mark.contract("K-023", "K-123", "K-124", "K-134")
@pytest.mark.parametrize(
    ("body", "text", "error"),
    [
        ("raise ValueError('the diagnosis')", ERRORED, "ValueError: the diagnosis"),
        ("raise TimeoutError", ERRORED, "TimeoutError"),
        ("import sys; sys.exit(3)", ERRORED, "it called sys.exit"),
        ("raise KeyboardInterrupt", ERRORED, "KeyboardInterrupt"),
        ("import asyncio; raise asyncio.CancelledError('mine')", ERRORED, "CancelledError: mine"),
        ("import asyncio; asyncio.current_task().cancel(); await asyncio.sleep(0)", ERRORED, "CancelledError"),
        ("return None", RETURNED_NOTHING, "returned nothing"),
        ("return '  \\n '", RETURNED_NOTHING, "returned nothing"),
        ("return 0", RETURNED_NOTHING, "returned nothing"),
        ("return {}", RETURNED_NOTHING, "returned nothing"),
        (
            "class Odd:\n    def __str__(self): raise OSError('no text')\nreturn Odd()",
            ERRORED,
            "OSError: no text",
        ),
        (
            "class Odd(Exception):\n    def __str__(self): raise OSError('no text')\nraise Odd",
            ERRORED,
            "its text cannot be read",
        ),
    ],
)
async def test_whatever_a_tool_raises_or_returns_the_model_gets_a_text(
    rig: Rig, body: str, text: str, error: str
) -> None:
    rig.write("other/ping.py", PING)
    await rig.load_tool("bad", body)

    result = await rig.call("bad")

    assert result.text == f"{text} {FAILURE_NOTE}"
    assert result.outcome is Outcome.FAILED
    assert error in result.error
    assert rig.observer.told == ["started bad", "finished bad failed"]
    assert await ping_works(rig)


@pytest.mark.contract("K-126")
async def test_a_tool_that_waits_for_ever_times_out(rig: Rig) -> None:
    rig.write("other/ping.py", PING)
    await rig.load_tool("hang", "import asyncio\nGATE.set()\nawait asyncio.sleep(3600)", "import threading", GATE_LINE)
    call = rig.start("hang")
    await asyncio.to_thread(rig.tool("hang")._module.GATE.wait, 10)

    await rig.clock.advance(30.0)
    result = await call

    assert result.text == f"{TIMED_OUT} {FAILURE_NOTE}"
    assert result.outcome is Outcome.FAILED
    assert await ping_works(rig)
    assert rig.host.loops_replaced == 0


GATE_LINE = "GATE = threading.Event()"
BLOCK = "from tests.contracts.gate import GATES\nGATES[0].block()\nreturn 'late'"


async def test_a_tool_that_blocks_its_thread_times_out_and_the_next_call_works(rig: Rig, gate: Gate) -> None:
    rig.write("other/ping.py", PING)
    await rig.load_tool("block", BLOCK)
    call = rig.start("block")
    await gate.reached()

    await rig.clock.advance(30.0)
    result = await call

    assert result.text == f"{TIMED_OUT} {FAILURE_NOTE}"
    assert await ping_works(rig)
    assert rig.host.loops_replaced == 1
    assert rig.host.quarantine.abandoned("test") == 1


async def test_a_tool_that_blocks_every_time_is_paused_and_the_model_is_told(rig: Rig, gate: Gate) -> None:
    rig.write("other/ping.py", PING)
    await rig.load_tool("block", BLOCK)
    for _ in range(4):
        call = rig.start("block")
        await gate.reached()
        await rig.clock.advance(30.0)
        await call
        assert await ping_works(rig)
        # Else the tool rests before its plugin is paused.
        await rig.clock.advance(WITHIN_SECONDS)

    assert rig.paused == ["test"]
    assert rig.offered() == ["ping"]
    result = await rig.call("block")
    assert result.outcome is Outcome.REFUSED
    assert "paused until the box restarts" in result.text


async def test_stopping_a_blocking_interactive_call_frees_the_box(rig: Rig, gate: Gate) -> None:
    rig.write("other/ping.py", PING)
    await rig.load_tool("ask", BLOCK, "INTERACTIVE = True")
    call = rig.start("ask")
    await gate.reached()

    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert rig.observer.told == ["started ask", "finished ask interrupted"]
    assert await ping_works(rig)


@pytest.mark.contract("K-025", "K-026", "K-135")
async def test_five_megabytes_are_cut_and_the_model_is_told_so(rig: Rig) -> None:
    await rig.load_tool("huge", "return 'x' * 5_000_000")

    result = await rig.call("huge")

    assert result.outcome is Outcome.OK
    assert result.text.startswith("x" * 16_000 + "\n\n[…truncated: 4984000 more characters.")
    assert len(result.text) < 16_200


async def test_a_plain_def_is_a_failed_call_not_a_dead_turn(rig: Rig) -> None:
    """Architecture 4.3, against K-016, K-017 and K-131."""
    rig.write("test/plain.py", schema_line("plain") + "def execute(args, ctx):\n    return 'value'\n")
    await rig.load()

    result = await rig.call("plain")

    assert result.text == f"{ERRORED} {FAILURE_NOTE}"
    assert "plain def" in result.error
    assert any("plain def" in sentence for sentence in rig.sentences)


async def test_a_plain_def_that_returns_a_coroutine_works(rig: Rig) -> None:
    """A decorator often makes one; the contract awaits whatever it is given."""
    rig.write(
        "test/wrapped.py",
        schema_line("wrapped")
        + "async def really(args):\n    return 'value'\ndef execute(args, ctx):\n    return really(args)\n",
    )
    await rig.load()

    assert (await rig.call("wrapped")).text == "value"


async def test_a_module_without_execute_loads_and_its_calls_fail(rig: Rig) -> None:
    """Architecture 4.3, against K-133."""
    rig.write("test/lacking.py", schema_line("lacking"))
    await rig.load()
    assert rig.offered() == ["lacking"]

    result = await rig.call("lacking")

    assert result.outcome is Outcome.FAILED
    assert "AttributeError" in result.error
    assert any("no execute" in sentence for sentence in rig.sentences)


@pytest.mark.contract("K-130")
async def test_a_stray_cancellation_names_itself_in_the_log(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    await rig.load_tool("stray", "import asyncio\nraise asyncio.CancelledError('out of nowhere')")

    await rig.call("stray")

    records = [record for record in caplog.records if record.name == "kotoba"]
    assert [record.levelno for record in records] == [logging.ERROR]
    for words in ("stray", "out of nowhere", "raise asyncio.CancelledError"):
        assert words in records[0].message


@pytest.mark.contract("K-130")
async def test_a_cancellation_that_was_asked_for_is_not_logged(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    await rig.load_tool("hang", "import asyncio\nGATE.set()\nawait asyncio.sleep(3600)", "import threading", GATE_LINE)
    call = rig.start("hang")
    await asyncio.to_thread(rig.tool("hang")._module.GATE.wait, 10)
    await rig.clock.advance(30.0)
    await call
    await rig.host.close()

    assert [record for record in caplog.records if record.name == "kotoba"] == []


async def test_the_text_of_an_exception_reaches_the_log_but_not_the_model(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    """Architecture 4.3, against K-024 and K-125."""
    await rig.load_tool("bad", "raise ValueError('no town Keyton, token=abc123456')")

    result = await rig.call("bad")

    assert "Keyton" not in result.text
    assert "no town Keyton" in caplog.text
    assert "abc123456" not in caplog.text


@pytest.mark.parametrize(
    ("attributes", "remark"),
    [
        (['TIMEOUT = "abc"'], "TIMEOUT 'abc'"),
        (['MAX_TIMEOUT = "1e999"'], "MAX_TIMEOUT"),
        (['HEARTBEAT = "one long line"'], "HEARTBEAT is a text"),
        (["HEARTBEAT = 7"], "HEARTBEAT is not a list"),
        (["ANNOUNCE = ['a']"], "ANNOUNCE is not a text"),
        (["EXPRESSIONS = 'happy'"], "EXPRESSIONS is not a dict"),
        (["EXPRESSIONS = {'focus': 'cross', 'fail': ['sad']}"], "EXPRESSIONS focus 'cross'"),
        (['RISK = "harmless"'], "RISK 'harmless'"),
    ],
)
async def test_a_wrong_attribute_costs_a_remark_and_not_the_tool(rig: Rig, attributes: list[str], remark: str) -> None:
    await rig.load_tool("odd", "return 'fine'", *attributes)

    assert rig.offered() == ["odd"]
    assert any(remark in sentence for sentence in rig.sentences)
    assert (await rig.call("odd")).text == "fine"


@pytest.mark.parametrize(
    "schema",
    [
        '{"name": "odd", "parameters": [1, 2]}',
        '{"name": "odd", "parameters": {"a": {1, 2}}}',
        '{"name": "odd", "description": 5}',
        '{"name": "odd", "description": "half an emoji \\ud83d"}',
        '{"name": "odd", "type": "web_search"}',
        '{"name": "odd", "parameters": {"minimum": float("nan")}}',
        '{"name": "odd", ("a", "b"): 1}',
    ],
)
async def test_a_schema_that_would_spoil_the_request_is_not_offered_and_the_reason_is_told(
    rig: Rig, schema: str
) -> None:
    rig.write("other/ping.py", PING)
    rig.write("test/odd.py", f"SCHEMA = {schema}\nasync def execute(args, ctx):\n    return 'ran'\n")
    await rig.load()

    assert rig.offered() == ["ping"]
    assert "SCHEMA" in rig.registry.select().why_not["odd"]
    assert any("the model never sees odd" in sentence for sentence in rig.sentences)
    assert (await rig.call("odd")).text == "ran"


@pytest.mark.parametrize("name", ["5", "0", "None", '""', "['list']"])
async def test_a_name_of_a_wrong_type_still_makes_a_tool(rig: Rig, name: str) -> None:
    rig.write("test/odd.py", f'SCHEMA = {{"name": {name}}}\nasync def execute(args, ctx):\n    return "ran"\n')
    await rig.load()

    assert (await rig.call(rig.names[0])).text == "ran"
