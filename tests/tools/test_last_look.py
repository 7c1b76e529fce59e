"""What the desk says right before a run, and what it hears afterwards."""

from __future__ import annotations

import asyncio

import pytest

from appliance.adapters.fakes.audit_trail import FakeAuditTrail
from appliance.adapters.fakes.desk import FakeDesk
from appliance.adapters.fakes.tool import FakeTool
from appliance.clock import FakeClock, settle
from appliance.events import Outcome
from appliance.tools.tool import ApprovalRequest, Decision, Risk, Verdict
from tests.tools.test_runner import Bench


async def test_what_the_last_look_refuses_does_not_run_and_its_record_is_closed() -> None:
    desk = FakeDesk()
    desk.changed_mind["shell"] = Verdict.INVALIDATED
    bench = Bench(FakeTool("shell", risk=Risk.EXEC), desk=desk)

    result = await bench.run()

    assert (result.outcome, bench.tool.calls, bench.observer.told) == (Outcome.REFUSED, [], [])
    assert [decision.verdict for decision in bench.told_person] == [Verdict.INVALIDATED]
    assert bench.audit.results[1][0] is Outcome.REFUSED
    assert desk.told == ["begun shell", "ended shell refused"]


@pytest.mark.parametrize("method", ["begin", "ended", "unrecorded"])
async def test_a_desk_that_breaks_later_lets_nothing_run_and_costs_no_result(method: str) -> None:
    class LateBreaker(FakeDesk):
        pass

    async def broken(_self: object, *_facts: object) -> None:
        raise RuntimeError("the desk is broken")

    setattr(LateBreaker, method, broken)
    bench = Bench(FakeTool(risk=Risk.EXEC), desk=LateBreaker())
    bench.audit.fails = method == "unrecorded"

    result = await bench.run()

    assert (result.outcome is Outcome.OK) is (method == "ended") is bool(bench.tool.calls)
    assert bench.audit.open_intents == []


async def test_the_desk_hears_of_every_end() -> None:
    desk = FakeDesk()
    clock = FakeClock()
    bench = Bench(FakeTool("slow", clock=clock, seconds=9.0, risk=Risk.EXEC), desk=desk, clock=clock)
    bench.turn.commit()
    call = bench.start()
    await settle()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert desk.told == ["begun slow", "ended slow interrupted"]


async def test_a_turn_that_is_stopped_while_the_intent_is_written_leaves_none_open() -> None:
    written = asyncio.Event()

    class SlowTrail(FakeAuditTrail):
        async def intend(self, request: ApprovalRequest, decision: Decision) -> int:
            await written.wait()
            return await super().intend(request, decision)

    bench = Bench(FakeTool(risk=Risk.EXEC), audit=SlowTrail())
    bench.turn.commit()
    call = bench.start()
    await settle()
    call.cancel()
    await settle()
    written.set()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert bench.tool.calls == []
    assert bench.audit.results == {1: (Outcome.INTERRUPTED, "stopped")}


@pytest.mark.parametrize(("origin", "is_declared"), [("box", True), ("plugin:fake", False)])
async def test_a_change_that_nobody_declared_goes_on_without_a_record(origin: str, is_declared: bool) -> None:
    """The box's own tools must work on a card that takes nothing; a derived risk may be none at all."""
    bench = Bench(FakeTool(risk=Risk.WRITE, origin=origin, is_risk_declared=is_declared))
    bench.audit.fails = True

    assert (await bench.run()).outcome is Outcome.OK
