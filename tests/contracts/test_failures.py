"""A tool that fails again and again by its own fault rests for a while."""

from __future__ import annotations

import pytest

from appliance.clock import FakeClock
from appliance.contracts.failures import FAILURES, REST_SECONDS, WITHIN_SECONDS, ToolFailures, is_own_fault
from appliance.contracts.plugin_call import LoopLostError
from appliance.errors import NetworkProxyError
from appliance.events import Outcome
from tests.contracts.rig import PING, Rig, tool_source
from tests.contracts.sapphire_rig import SapphireRig


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


async def test_three_failures_within_ten_minutes_pause_it_for_a_quarter_of_an_hour(clock: FakeClock) -> None:
    told: list[tuple[str, str]] = []
    failures = ToolFailures(clock, lambda *who: told.append(who))
    for _ in range(FAILURES):
        assert failures.why_paused("sea", "tide") is None
        failures.add("sea", "tide")
        await clock.advance(10.0)

    assert "appliance plugin on sea lets it run at once" in str(failures.why_paused("sea", "tide"))
    assert failures.why_paused("sea", "ebb") is None, "the other tools of its plugin go on"
    assert failures.remarks("sea") == [f"tide: {failures.why_paused('sea', 'tide')}"]
    assert told == [("sea", "tide")]

    await clock.advance(REST_SECONDS)
    assert failures.why_paused("sea", "tide") is None
    failures.add("sea", "tide")
    assert failures.why_paused("sea", "tide") is None, "it begins anew"


async def test_failures_far_apart_do_not_add_up(clock: FakeClock) -> None:
    failures = ToolFailures(clock)
    for _ in range(10):
        failures.add("sea", "tide")
        await clock.advance(WITHIN_SECONDS / 2)
    assert failures.why_paused("sea", "tide") is None


async def test_its_owner_may_forgive_it(clock: FakeClock) -> None:
    failures = ToolFailures(clock)
    for plugin in ("sea", "land") * FAILURES:
        failures.add(plugin, "tide")
    failures.forgive("sea")
    assert failures.why_paused("sea", "tide") is None
    assert failures.why_paused("land", "tide")


def test_an_absent_network_is_no_fault_of_a_tool() -> None:
    class ConnectTimeout(Exception):
        """As the one of a well-known package."""

    ConnectTimeout.__module__ = "httpx"
    for error in (ConnectionRefusedError(), TimeoutError(), NetworkProxyError(), ConnectTimeout(), LoopLostError()):
        assert not is_own_fault(error), error
    for fault in (ValueError(), FileNotFoundError(), SystemExit(), KeyError("x"), MemoryError()):
        assert is_own_fault(fault), fault


async def test_a_module_that_raises_rests_and_is_neither_offered_nor_run(rig: Rig) -> None:
    rig.write("other/ping.py", PING)
    await rig.load_tool("bad", "raise ValueError('no')")
    for _ in range(FAILURES):
        assert (await rig.call("bad")).outcome is Outcome.FAILED

    assert rig.offered() == ["ping"]
    assert rig.rested == ["bad"]
    result = await rig.call("bad")
    assert result.outcome is Outcome.REFUSED
    assert "it has failed 3 times within 10 minutes" in result.text
    assert "bad: it has failed" in rig.host.remarks("test")[0]

    await rig.clock.advance(REST_SECONDS)
    assert sorted(rig.offered()) == ["bad", "ping"]


async def test_a_module_that_never_comes_back_in_time_rests(rig: Rig) -> None:
    await rig.load_tool("slow", "import asyncio\nawait asyncio.Event().wait()", "TIMEOUT = 5")
    for _ in range(FAILURES):
        call = rig.start("slow")
        await rig.clock.advance(40.0)
        assert "timed out" in (await call).text
    assert rig.offered() == []


@pytest.mark.parametrize(
    "body",
    [
        "raise ConnectionError('network is unreachable')",
        "from kotoba.core.loop import note_tool_failure\nnote_tool_failure('no such city')\nreturn 'no such city'",
        "return None",
        "return 'the network is unreachable'",
    ],
)
async def test_a_module_that_says_what_went_wrong_goes_on(rig: Rig, body: str) -> None:
    await rig.load_tool("honest", body)
    for _ in range(5):
        await rig.call("honest")
    assert rig.offered() == ["honest"]


async def test_a_plugin_tool_that_raises_rests_and_one_that_says_so_does_not(box: SapphireRig) -> None:
    await box.load_tool("raise KeyError('no')")
    for _ in range(FAILURES):
        await box.call()
    assert box.offered() == {}
    box.host.forgive("test")
    assert list(box.offered()) == ["probe"]

    await box.load_tool("return 'the network is unreachable', False")
    for _ in range(5):
        await box.call()
    assert list(box.offered()) == ["probe"]


async def test_loading_a_plugin_anew_forgives_its_tools(rig: Rig) -> None:
    rig.write("sea/tide.py", tool_source("tide", "raise ValueError"))
    await rig.load()
    for _ in range(FAILURES):
        await rig.call("tide")
    rig.host.forgive("sea")
    assert rig.offered() == ["tide"]
