"""The desk: the only door to "may this run?". It fails closed.

No text grants anything, neither a model's nor a voice's. What may run is what the policy lets run, what a hand on
the button approved, or what the owner allowed from a shell of their own. A yes is good for one run of exactly what
was asked about.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from appliance import events
from appliance.approve.asking import HandAnswer
from appliance.approve.authority import Authority
from appliance.approve.config import ApprovalConfig
from appliance.approve.dangerous import danger_of
from appliance.approve.grants import Grants
from appliance.approve.operands import Operands
from appliance.approve.policy import Ruling, is_two_step, rule
from appliance.approve.record import RequestRecord
from appliance.approve.request import sealed
from appliance.approve.requests import Requests
from appliance.approve.taint import Taint
from appliance.approve.wording import Refusals
from appliance.clock import Clock
from appliance.control import Caller
from appliance.errors import StoreError
from appliance.events import Event, Outcome
from appliance.store.canonical_json import canonical_json
from appliance.tools.tool import ApprovalRequest, Decision, Risk, ToolCall, ToolResult, Verdict

_LOG = logging.getLogger(__name__)


class Asker(Protocol):
    """Asks for a person's hand."""

    def can_ask(self, channel: str) -> bool:
        """Whether anybody could answer a request of this channel now."""
        ...

    async def ask(self, record: RequestRecord) -> HandAnswer:
        """Ask about exactly this and wait for the end; ALLOWED is not an asker's to say, and is a fault."""
        ...

    def last_word(self, record: RequestRecord) -> HandAnswer:
        """What counts when ``ask`` was cancelled: a no that came at the same moment, else that it was taken back."""
        ...


class DecisionRecord(Protocol):
    """Where decisions are written down."""

    async def decided(self, decision: Decision) -> None:
        """Durable when this returns. Raises ``StoreError``."""
        ...


@dataclass(frozen=True)
class ToolQuestion:
    """A tool asks, in the middle of its call ``call_id``, whether it may do ``action``; ``risk_kind`` is its word."""

    tool: str
    origin: str
    action: str
    call_id: str
    turn_id: str
    chat: str
    channel: str
    risk_kind: str = Risk.EXEC.value
    force_ask: bool = False


@dataclass(frozen=True)
class DeskParts:
    """What the desk works with. ``tell_person`` gets a no to a tool's own question; the runner tells the others."""

    clock: Clock
    refusals: Refusals
    record: DecisionRecord
    requests: Requests
    grants: Grants
    asker: Asker
    authority: Authority
    publish: Callable[[Event], None] = lambda _event: None
    tell_person: Callable[[Decision], None] = lambda _decision: None


class ApprovalDesk:
    """``Desk``. On the loop's thread; only cancellation crosses it."""

    def __init__(self, config: ApprovalConfig, parts: DeskParts, taint: Taint | None = None) -> None:
        self.taint = taint or Taint()
        self._config = config
        self._parts = parts
        self._owner_grants: dict[str, _OwnerGrant] = {}
        #: Decided, and not begun; with its record when a person was asked.
        self._ready: dict[str, RequestRecord | None] = {}
        #: Running, by turn and call; with the record when a person was asked.
        self._running: dict[tuple[str, str], _Running] = {}
        self._writing: set[asyncio.Task[Any]] = set()

    # ------------------------------------------------------------------------------------------ before the run

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Allow, or ask, or refuse. The decision's request is a copy read from the record: that is what runs."""
        decision = await self._contained(request, self._decide(request))
        self._tell(events.ApprovalDecided, request, decision.verdict.value)
        return decision

    async def begin(self, decision: Decision) -> Decision:
        """Once for each yes. What a person was asked about must still be what it was."""
        request = decision.request
        if request.request_id not in self._ready:
            _LOG.error("%s was to run on a decision that is used up, or not ours", request.call.name)
            return self._parts.refusals.fault(request)
        record = self._ready.pop(request.request_id)
        call = (request.turn_id, request.call.call_id)
        self._running[call] = _Running(decision, record)
        if record is None:
            return decision
        last_look = await self._contained(request, self._last_look(decision, record))
        if not last_look.may_run:
            self._running.pop(call, None)
            self._tell(events.ApprovalDecided, request, last_look.verdict.value)
        return last_look

    async def unrecorded(self, decision: Decision) -> Decision:
        """What was allowed does not run, and its request is taken back."""
        record = self._ready.pop(decision.request.request_id, None)
        if record is not None:
            await self._quietly(self._parts.requests.withdraw(record))
        return self._parts.refusals.unrecorded(decision.request)

    async def ended(self, decision: Decision, result: ToolResult) -> str:
        """Close its request, after a look at what it depended on; for the audit row, what changed during the run.

        A result from outside makes the rest of the turn suspicious.
        """
        request = decision.request
        waiting = self._ready.pop(request.request_id, None)
        if waiting is not None:
            await self._quietly(self._parts.requests.withdraw(waiting))
        running = self._running.pop((request.turn_id, request.call.call_id), None)
        if running is None:
            return ""
        self.taint.note(request, result)
        if running.record is None:
            return ""
        before = running.operands
        changes = await self._parts.requests.changes(running.record, before) if before is not None else ""
        await self._finish(running.record, is_done=result.outcome is Outcome.OK)
        return changes

    # --------------------------------------------------------------------------------------- in the middle of it

    async def confirm(self, question: ToolQuestion) -> Verdict:
        """The answer to a tool's own question. One press covers one call, if nothing dangerous hides in it.

        No setting answers it: whoever asks is asked. Only a question about reading is none, as the contract has it.
        """
        running = self._running.get((question.turn_id, question.call_id))
        if running is None:
            _LOG.warning("%s asks outside of a call; nobody is bothered", question.tool)
            return Verdict.UNREACHABLE
        danger = danger_of(question.action)
        is_automatic = danger is None and not question.force_ask
        if is_automatic and (running.decision.verdict is Verdict.APPROVED or question.risk_kind == Risk.READ):
            return Verdict.APPROVED
        request = _request_of(question)
        follows = self.taint.source(question.turn_id)
        ruling = Ruling(True, danger, follows, is_two_step(self._config, request))
        decision = await self._contained(request, self._ask(request, ruling, question.action))
        self._tell(events.ApprovalDecided, request, decision.verdict.value)
        if not decision.may_run:
            self._safely(self._parts.tell_person, decision)
            return decision.verdict
        record = self._ready.pop(request.request_id)
        if record is None or not await self._hand_over(record):
            return Verdict.UNREACHABLE
        return Verdict.APPROVED

    @contextmanager
    def owner_grant(self, call: ToolCall, caller: Caller) -> Iterator[None]:
        """Inside the block, the owner at a shell allows exactly this call, by the tool's own name, once.

        Raises ``RefusedError`` for whoever may not.
        """
        approver = self._parts.authority.check(caller)
        self._owner_grants[call.call_id] = _OwnerGrant(approver, call.name, canonical_json(dict(call.arguments)))
        try:
            yield
        finally:
            self._owner_grants.pop(call.call_id, None)

    # ------------------------------------------------------------------------------------------------- private

    async def _decide(self, request: ApprovalRequest) -> Decision:
        request = sealed(request)
        ruling = rule(self._config, request, self.taint.source(request.turn_id))
        if not ruling.asks:
            return self._ready_to_run(Decision(request, Verdict.ALLOWED, "policy"))
        approver = self._take_owner_grant(request)
        if not approver and ruling.is_grantable:
            grant = await self._parts.grants.covering(request)
            approver = f"grant:{grant.number}" if grant is not None else ""
        if not approver:
            return await self._ask(request, ruling)
        decision = Decision(request, Verdict.APPROVED, approver)
        # Not written down is not approved.
        await self._parts.record.decided(decision)
        return self._ready_to_run(decision)

    async def _ask(self, request: ApprovalRequest, ruling: Ruling, action: str = "") -> Decision:
        if not self._parts.asker.can_ask(request.channel):
            return await self._refuse(request, HandAnswer(Verdict.UNREACHABLE, "default"), 0.0)
        record = await self._parts.requests.open(request, ruling, action)
        self._tell(events.ApprovalRequested, request)
        began = self._parts.clock.monotonic_seconds()
        try:
            answer = await self._parts.asker.ask(record)
            sealed(record.request)
            if answer.verdict is Verdict.APPROVED:
                return await self._approve(record, answer, self._seconds_since(began))
        except asyncio.CancelledError:
            # The turn was stopped while somebody was asked, and the question with it.
            await self._see_off(record, self._parts.asker.last_word(record), self._seconds_since(began))
            raise
        except Exception:
            await self._quietly(self._parts.requests.withdraw(record))
            raise
        await self._quietly(self._parts.requests.decide(record, answer.verdict, answer.approver))
        return await self._refuse(request, answer, self._seconds_since(began))

    async def _approve(self, record: RequestRecord, answer: HandAnswer, took_seconds: float) -> Decision:
        """Written down in both places, or it is no yes."""
        if not await self._parts.requests.decide(record, Verdict.APPROVED, answer.approver):
            raise ValueError("the request was not in the store as it was asked about")
        decision = Decision(record.request, Verdict.APPROVED, answer.approver, took_seconds=took_seconds)
        await self._parts.record.decided(decision)
        return self._ready_to_run(decision, record)

    def _ready_to_run(self, decision: Decision, record: RequestRecord | None = None) -> Decision:
        self._ready[decision.request.request_id] = record
        return decision

    async def _last_look(self, decision: Decision, record: RequestRecord) -> Decision:
        operands = await self._parts.requests.consume(record)
        if operands is not None:
            call = (decision.request.turn_id, decision.request.call.call_id)
            self._running[call] = replace(self._running[call], operands=operands)
            return decision
        return await self._refuse(decision.request, HandAnswer(Verdict.INVALIDATED, "default"), 0.0)

    async def _hand_over(self, record: RequestRecord) -> bool:
        """The yes to a tool's own question is used up when the tool has it."""
        is_consumed = await self._quietly(self._parts.requests.consume(record))
        await self._finish(record, is_done=is_consumed)
        return is_consumed

    async def _finish(self, record: RequestRecord, *, is_done: bool) -> None:
        """A run that was stopped before it began is taken back."""
        if not await self._quietly(self._parts.requests.finish(record, is_done=is_done)):
            await self._quietly(self._parts.requests.withdraw(record))

    async def _refuse(self, request: ApprovalRequest, answer: HandAnswer, took_seconds: float) -> Decision:
        """A no; it is one whether or not it can be written down."""
        decision = self._parts.refusals.of(request, answer.verdict, answer.approver, took_seconds)
        await self._quietly(self._parts.record.decided(decision))
        return decision

    async def _see_off(self, record: RequestRecord, answer: HandAnswer, took_seconds: float) -> None:
        """Write down how a question ended whose turn is being cancelled around us."""

        async def write() -> None:
            if not await self._quietly(self._parts.requests.decide(record, answer.verdict, answer.approver)):
                await self._quietly(self._parts.requests.withdraw(record))
            await self._refuse(record.request, answer, took_seconds)

        self._tell(events.ApprovalDecided, record.request, answer.verdict.value)
        task = asyncio.create_task(write())
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)
        await asyncio.shield(task)

    async def _contained(self, request: ApprovalRequest, work: Coroutine[Any, Any, Decision]) -> Decision:
        """A fault of our own is a no."""
        try:
            return await work
        except StoreError as error:
            _LOG.error("%s: %s", request.call.name, error)
            return self._parts.refusals.unrecorded(request)
        except Exception:
            _LOG.exception("deciding on %s failed", request.call.name)
            decision = self._parts.refusals.fault(request)
            await self._quietly(self._parts.record.decided(decision))
            return decision

    async def _quietly(self, work: Coroutine[Any, Any, Any]) -> bool:
        """Do what changes no decision any more; whether it worked and its answer was not no or nothing."""
        try:
            return await work not in (False, None)
        except StoreError as error:
            _LOG.error("a request could not be closed in the store: %s", error)
            return False

    def _take_owner_grant(self, request: ApprovalRequest) -> str:
        """Who allowed exactly this, once; "" when nobody did."""
        grant = self._owner_grants.pop(request.call.call_id, None)
        is_meant = grant is not None and (grant.tool, grant.arguments_json) == (
            request.call.name,
            request.arguments_json,
        )
        return grant.approver if grant is not None and is_meant else ""

    def _seconds_since(self, began: float) -> float:
        return self._parts.clock.monotonic_seconds() - began

    def _tell(self, kind: Callable[..., Event], request: ApprovalRequest, *facts: str) -> None:
        now = self._parts.clock.monotonic_seconds()
        self._safely(self._parts.publish, kind(request.turn_id, now, request.request_id, request.call.name, *facts))

    def _safely(self, tell: Callable[[Any], None], fact: object) -> None:
        """Whoever is told may be broken; the decision stands."""
        try:
            tell(fact)
        except Exception:
            _LOG.exception("telling about a decision failed")


@dataclass(frozen=True)
class _OwnerGrant:
    """What the owner allowed, once."""

    approver: str
    tool: str
    arguments_json: str


@dataclass(frozen=True)
class _Running:
    """A call that runs, and what a person was asked about it."""

    decision: Decision
    record: RequestRecord | None
    #: What it depends on, as it was at the last look.
    operands: Operands | None = None


def _request_of(question: ToolQuestion) -> ApprovalRequest:
    arguments = {"action": question.action}
    risk = Risk(question.risk_kind) if question.risk_kind in list(Risk) else Risk.EXEC
    return ApprovalRequest(
        request_id=uuid.uuid4().hex[:8],
        call=ToolCall(question.call_id, question.tool, arguments),
        origin=question.origin,
        risk=risk,
        arguments_json=canonical_json(arguments),
        chat=question.chat,
        turn_id=question.turn_id,
        channel=question.channel,
    )
