"""A call's life: who allows it, who is told, how it ends."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from appliance.adapters.fakes.audit_trail import FakeAuditTrail
from appliance.adapters.fakes.call_observer import FakeCallObserver
from appliance.adapters.fakes.desk import FakeDesk
from appliance.adapters.fakes.tool import FakeTool
from appliance.clock import FakeClock, settle
from appliance.errors import TurnDroppedError
from appliance.events import Event, Outcome, Peeked, ToolFinished, ToolStarted
from appliance.tools.registry import Registry, Rule
from appliance.tools.runner import Runner
from appliance.tools.tool import (
    ApprovalRequest,
    CallContext,
    CallObserver,
    Decision,
    Desk,
    Risk,
    ToolCall,
    ToolResult,
    Verdict,
)
from appliance.turn import Turn


@dataclass
class Bench:
    """A runner with everything around it."""

    tool: FakeTool
    clock: FakeClock = field(default_factory=FakeClock)
    desk: Desk = field(default_factory=FakeDesk)
    audit: FakeAuditTrail = field(default_factory=FakeAuditTrail)
    observer: FakeCallObserver = field(default_factory=FakeCallObserver)
    more_observers: tuple[CallObserver, ...] = ()
    rules: tuple[Rule, ...] = ()
    told_person: list[Decision] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    turn: Turn = field(default_factory=lambda: Turn("voice"))

    def start(self, name: str = "", call_id: str = "call-1", **arguments: Any) -> asyncio.Task[ToolResult]:
        runner = Runner(
            desk=self.desk,
            audit=self.audit,
            clock=self.clock,
            observers=(*self.more_observers, self.observer),
            publish=self.events.append,
            tell_person=self.told_person.append,
        )
        registry = Registry(self.rules)
        registry.add(self.tool)
        call = ToolCall(call_id, name or self.tool.name, arguments)
        return asyncio.create_task(runner.run(call, self.context(), registry.select()))

    async def run(self, name: str = "", **arguments: Any) -> ToolResult:
        self.turn.commit()
        return await self.start(name, **arguments)

    def context(self) -> CallContext:
        return CallContext("", self.turn.turn_id, "chat-1", "voice", self.turn)


async def test_a_call_runs_and_everybody_hears_of_it() -> None:
    bench = Bench(FakeTool("dice", ToolResult("five")))

    result = await bench.run(sides=6)

    assert result == ToolResult("five")
    arguments, context = bench.tool.calls[0]
    assert arguments == {"sides": 6}
    assert context.call_id == "call-1"
    assert bench.observer.told == ["started dice", "finished dice ok"]
    assert [type(event) for event in bench.events] == [ToolStarted, Peeked, Peeked, ToolFinished]
    assert bench.events[-1] == ToolFinished(bench.turn.turn_id, 1000.0, "call-1", "dice", Outcome.OK)


async def test_nothing_runs_before_the_turn_is_meant() -> None:
    bench = Bench(FakeTool())
    call = bench.start()
    await settle()
    assert bench.tool.calls == []

    bench.turn.commit()

    assert (await call).outcome is Outcome.OK


async def test_a_dropped_turn_leaves_no_trace_of_a_call() -> None:
    bench = Bench(FakeTool(risk=Risk.WRITE))
    call = bench.start()
    bench.turn.drop()

    with pytest.raises(TurnDroppedError):
        await call

    assert (bench.tool.calls, bench.observer.told, bench.audit.intents) == ([], [], [])


async def test_a_tool_that_the_model_invented_fails_in_words() -> None:
    bench = Bench(FakeTool())

    result = await bench.run("make_coffee")

    assert result.outcome is Outcome.FAILED
    assert "make_coffee" in result.text
    assert "nothing ran" in result.text
    assert bench.observer.told == []


async def test_a_tool_withheld_by_a_rule_is_refused_at_the_door() -> None:
    bench = Bench(FakeTool("weather", risk=Risk.NETWORK), rules=(lambda tool: "this chat is private",))

    result = await bench.run("weather")

    assert result.outcome is Outcome.REFUSED
    for words in ("NOTHING ran", "not an obstacle", "Do not call it again", "this chat is private"):
        assert words in result.text
    assert (bench.tool.calls, bench.audit.intents) == ([], [])


@pytest.mark.contract("K-051")
async def test_a_tool_that_is_only_not_available_still_runs_by_name() -> None:
    bench = Bench(FakeTool())
    bench.tool.is_available = False

    assert (await bench.run()).outcome is Outcome.OK


async def test_a_no_of_the_desk_is_told_to_the_model_and_to_the_person() -> None:
    bench = Bench(FakeTool("shell", risk=Risk.EXEC), desk=FakeDesk({"shell": Verdict.UNREACHABLE}))

    result = await bench.run()

    assert result.outcome is Outcome.REFUSED
    assert result.text == "shell was not run: unreachable"
    assert [decision.person_text for decision in bench.told_person] == ["Not done: unreachable."]
    assert (bench.tool.calls, bench.audit.intents, bench.observer.told) == ([], [], [])


class BrokenDesk(FakeDesk):
    """Breaks the promise to answer, or answers about something else."""

    def __init__(self, answer: Decision | None = None) -> None:
        super().__init__()
        self.answer = answer

    async def decide(self, request: ApprovalRequest) -> Decision:
        if self.answer is None:
            raise RuntimeError("the desk is broken")
        return self.answer


async def test_without_an_answer_from_the_desk_nothing_runs() -> None:
    bench = Bench(FakeTool(), desk=BrokenDesk())

    result = await bench.run()

    assert result.outcome is Outcome.REFUSED
    assert bench.tool.calls == []


async def test_a_yes_to_another_request_lets_nothing_run() -> None:
    other = ApprovalRequest("other", ToolCall("x", "fake_tool"), "box", Risk.READ, "{}", "", "", "voice")
    bench = Bench(FakeTool(), desk=BrokenDesk(Decision(other, Verdict.ALLOWED, "policy")))

    result = await bench.run()

    assert result.outcome is Outcome.REFUSED
    assert bench.tool.calls == []


class LateWriter(FakeDesk):
    """Changes what the model asked for while it decides, as a shared dict would."""

    async def decide(self, request: ApprovalRequest) -> Decision:
        dict.clear(request.call.arguments)  # type: ignore[arg-type]
        return await super().decide(request)


async def test_what_runs_is_what_was_decided_on() -> None:
    bench = Bench(FakeTool(risk=Risk.WRITE), desk=LateWriter())

    await bench.run(path="a.txt")

    assert bench.tool.calls[0][0] == {"path": "a.txt"}


async def test_the_request_for_permission_is_canonical_and_names_the_tool() -> None:
    desk = FakeDesk()
    bench = Bench(FakeTool("files", risk=Risk.WRITE), desk=desk)

    await bench.run(z=1, a="ü")

    request = desk.requests[0]
    assert request.arguments_json == '{"a":"\\u00fc","z":1}'
    assert (request.call.name, request.origin, request.risk) == ("files", "plugin:fake", Risk.WRITE)
    assert (request.chat, request.turn_id, request.channel) == ("chat-1", bench.turn.turn_id, "voice")


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, {3: "three"}])
async def test_arguments_that_are_not_json_never_reach_desk_or_tool(value: object) -> None:
    desk = FakeDesk()
    bench = Bench(FakeTool(), desk=desk)

    result = await bench.run(value=value)

    assert result.outcome is Outcome.FAILED
    assert "not valid JSON" in result.text
    assert (desk.requests, bench.tool.calls) == ([], [])


async def test_arguments_nested_without_end_never_reach_desk_or_tool() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    bench = Bench(FakeTool())

    result = await bench.run(value=deep)

    assert result.outcome is Outcome.FAILED
    while deep:
        deep = deep[0]  # type: ignore[assignment]  # undone by hand: freeing it recurses


@pytest.mark.contract("K-030")
@pytest.mark.parametrize("risk", [Risk.WRITE, Risk.EXEC, Risk.NETWORK])
async def test_an_action_is_recorded_before_it_runs_and_when_it_ended(risk: Risk) -> None:
    bench = Bench(FakeTool(risk=risk, clock=(clock := FakeClock()), seconds=1.0), clock=clock)
    bench.turn.commit()
    call = bench.start()
    await settle()
    assert len(bench.audit.intents) == 1
    assert bench.audit.open_intents == [1]

    await clock.advance(1.0)
    await call

    assert bench.audit.results == {1: (Outcome.OK, "")}


async def test_a_failed_action_is_recorded_as_failed_without_the_secret_in_its_error() -> None:
    failed = ToolResult("no", Outcome.FAILED, error="HTTPError: 401 for https://me:pa55@x.org/?api_key=abcdef123456")
    bench = Bench(FakeTool(risk=Risk.NETWORK, results=failed))

    await bench.run()

    outcome, error = bench.audit.results[1]
    assert outcome is Outcome.FAILED
    assert "401" in error
    assert "pa55" not in error
    assert "abcdef123456" not in error


@pytest.mark.contract("K-030", "K-035")
async def test_a_read_call_is_not_recorded() -> None:
    bench = Bench(FakeTool(results=[ToolResult("a"), ToolResult("b", Outcome.FAILED)]))

    await bench.run()
    await bench.run()

    assert bench.audit.intents == []


@pytest.mark.parametrize("risk", [Risk.WRITE, Risk.EXEC, Risk.NETWORK])
async def test_an_action_that_cannot_be_recorded_does_not_happen(risk: Risk) -> None:
    bench = Bench(FakeTool(risk=risk))
    bench.audit.fails = True

    result = await bench.run()

    assert result.outcome is Outcome.REFUSED
    assert "audit trail" in result.text
    assert bench.tool.calls == []
    assert [decision.person_text for decision in bench.told_person] == ["Not done: unreachable."]
    assert [type(event).__name__ for event in bench.events] == ["ErrorRaised", "StepStarted", "StepDone"]


async def test_the_boxs_own_action_goes_on_when_nothing_can_be_recorded() -> None:
    bench = Bench(FakeTool("box_timer_set", risk=Risk.WRITE, origin="box"))
    bench.audit.fails = True

    assert (await bench.run()).outcome is Outcome.OK
    assert len(bench.tool.calls) == 1


async def test_a_read_call_goes_on_when_nothing_can_be_recorded() -> None:
    bench = Bench(FakeTool())
    bench.audit.fails = True

    assert (await bench.run()).outcome is Outcome.OK


async def test_a_result_stands_when_its_end_cannot_be_recorded() -> None:
    bench = Bench(FakeTool(risk=Risk.WRITE, clock=(clock := FakeClock()), seconds=1.0), clock=clock)
    bench.turn.commit()
    call = bench.start()
    await settle()
    bench.audit.fails = True

    await clock.advance(1.0)

    assert (await call).outcome is Outcome.OK


async def test_the_budget_begins_after_the_decision_and_ends_the_call() -> None:
    desk = FakeDesk()
    desk.open.clear()
    clock = FakeClock()
    bench = Bench(FakeTool(clock=clock, seconds=1000.0, budget=30.0), desk=desk, clock=clock)
    bench.turn.commit()
    call = bench.start()
    await clock.advance(100.0)
    desk.open.set()

    await clock.advance(29.9)
    assert not call.done()
    await clock.advance(0.1)

    assert (await call).text == "fake time-out after 30 s"
    assert bench.tool.cancelled == 1
    assert bench.observer.told == ["started fake_tool", "finished fake_tool failed"]


async def test_an_interactive_tool_has_no_budget() -> None:
    clock = FakeClock()
    bench = Bench(FakeTool(clock=clock, seconds=5000.0, is_interactive=True), clock=clock)
    bench.turn.commit()
    call = bench.start()

    await clock.advance(4999.0)
    assert not call.done()
    await clock.advance(1.0)

    assert (await call).outcome is Outcome.OK


class AskingTool(FakeTool):
    """Computes for 20 s, waits for a person for two minutes, computes for 20 s again."""

    async def invoke(self, arguments: object, context: CallContext) -> ToolResult:
        assert self._clock is not None
        await self._clock.sleep(20.0)
        context.waiting_for_person(True)
        await self._clock.sleep(120.0)
        context.waiting_for_person(False)
        await self._clock.sleep(self._seconds)
        return ToolResult("asked")


@pytest.mark.parametrize(("seconds", "text"), [(9.0, "asked"), (11.0, "fake time-out after 30 s")])
async def test_the_time_a_person_takes_is_not_counted(seconds: float, text: str) -> None:
    clock = FakeClock()
    bench = Bench(AskingTool(clock=clock, seconds=seconds, budget=30.0), clock=clock)
    bench.turn.commit()
    call = bench.start()

    await clock.advance(200.0)

    assert (await call).text == text
    assert bench.observer.told[1:3] == ["waiting", "going on"]


async def test_a_stopped_call_ends_as_interrupted_and_its_record_is_closed() -> None:
    clock = FakeClock()
    bench = Bench(FakeTool(clock=clock, seconds=60.0, risk=Risk.EXEC), clock=clock)
    bench.turn.commit()
    call = bench.start()
    await settle()

    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert bench.tool.cancelled == 1
    assert bench.observer.told == ["started fake_tool", "finished fake_tool interrupted"]
    assert bench.audit.results[1][0] is Outcome.INTERRUPTED


@pytest.mark.parametrize("error", [RuntimeError("boom"), TimeoutError("inner"), asyncio.CancelledError("stray")])
async def test_a_tool_that_raises_is_a_failed_call_and_the_next_one_works(error: BaseException) -> None:
    bench = Bench(FakeTool(results=[error, ToolResult("fine")]))

    result = await bench.run()

    assert result.outcome is Outcome.FAILED
    assert "boom" not in result.text
    assert type(error).__name__ in result.error
    assert bench.observer.told[-1] == "finished fake_tool failed"
    assert (await bench.run()).text == "fine"


async def test_a_broken_observer_breaks_no_call_and_hides_nothing_from_the_others() -> None:
    broken = FakeCallObserver(is_broken=True)
    bench = Bench(FakeTool(), more_observers=(broken,))

    assert (await bench.run()).outcome is Outcome.OK

    assert broken.told == bench.observer.told == ["started fake_tool", "finished fake_tool ok"]


async def test_a_tool_cannot_change_the_arguments_that_others_see() -> None:
    class Greedy(FakeTool):
        async def invoke(self, arguments: object, context: CallContext) -> ToolResult:
            arguments["list"].append("mine")  # type: ignore[index]
            return ToolResult(json.dumps(arguments))

    bench = Bench(Greedy())
    given: list[str] = []

    assert (await bench.run(list=given)).text == '{"list": ["mine"]}'
    assert given == []


async def test_a_tool_that_cannot_say_its_budget_gets_the_usual_one() -> None:
    class Unsure(FakeTool):
        def budget_seconds(self, arguments: object, context: object) -> float | None:
            raise ValueError("no idea")

    clock = FakeClock()
    bench = Bench(Unsure(clock=clock, seconds=1000.0), clock=clock)
    bench.turn.commit()
    call = bench.start()
    await clock.advance(30.0)

    assert (await call).outcome is Outcome.FAILED


async def test_the_model_may_call_a_tool_by_its_legal_name() -> None:
    bench = Bench(FakeTool("häuser.zählen"))

    result = await bench.run("h_user_z_hlen")

    assert result.outcome is Outcome.OK
    assert bench.observer.told[0] == "started häuser.zählen"
