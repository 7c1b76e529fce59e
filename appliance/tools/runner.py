"""Runs one call: permission, record, budget, outcome. There is no other way to a tool."""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from appliance import events
from appliance.clock import Clock, within
from appliance.events import Event, Outcome
from appliance.ports import Json
from appliance.store.canonical_json import canonical_json
from appliance.tools import nothing_ran, steps
from appliance.tools.compute_clock import ComputeClock
from appliance.tools.current_chat import in_chat
from appliance.tools.redact import redacted
from appliance.tools.registry import ToolSelection
from appliance.tools.tool import (
    ApprovalRequest,
    AuditTrail,
    CallContext,
    CallObserver,
    Decision,
    Desk,
    Risk,
    Tool,
    ToolCall,
    ToolResult,
)

_LOG = logging.getLogger(__name__)

#: Origin of the tools that are part of this program; a plugin's begins with ``plugin:``.
OWN_ORIGIN = "box"

#: Stores the pictures of a result and says in its text how they are called.
KeepPictures = Callable[[ToolResult, CallContext], Awaitable[ToolResult]]

#: May change the arguments of a call before it is decided, or give its result instead.
PrepareCall = Callable[[ToolCall, Tool, CallContext], Awaitable[ToolCall | ToolResult]]
#: Told how a call ended, whatever that was; waited for.
TellEnd = Callable[[ToolCall, CallContext, ToolResult], Awaitable[None]]

#: For a tool that fails to say what its budget is.
_FALLBACK_BUDGET_SECONDS = 30.0

_INTERRUPTED = ToolResult("The call was stopped before it was done.", Outcome.INTERRUPTED, error="stopped")


class Runner:
    """Runs calls, one at a time per turn.

    Observers hear only of calls that really start, and then always of their end. ``tell_person`` gets every
    decision that is a no: its ``person_text`` is for the person. ``keep_pictures`` stores what a result shows.
    ``prepare`` and ``tell_end`` stand around the whole of a call: what is decided is what ``prepare`` makes of it.
    ``is_private`` knows of a chat's id whether that chat is private.
    """

    def __init__(
        self,
        *,
        desk: Desk,
        audit: AuditTrail,
        clock: Clock,
        observers: Iterable[CallObserver] = (),
        publish: Callable[[Event], None] = lambda _event: None,
        tell_person: Callable[[Decision], None] = lambda _decision: None,
        keep_pictures: KeepPictures | None = None,
        prepare: PrepareCall | None = None,
        tell_end: TellEnd | None = None,
        is_private: Callable[[str], bool] = lambda _chat: False,
    ) -> None:
        self._desk = desk
        self._audit = audit
        self._clock = clock
        self._observers = tuple(observers)
        self._publish = publish
        self._tell_person = tell_person
        self._keep_pictures = keep_pictures
        self._prepare = prepare
        self._tell_end = tell_end
        self._is_private = is_private
        self._concluding: set[asyncio.Task[None]] = set()

    async def run(self, call: ToolCall, context: CallContext, selection: ToolSelection) -> ToolResult:
        """How the call ended; a failure of any kind is a result.

        Waits for the turn's commit gate first. Raises only ``TurnDroppedError`` and cancellation.
        """
        await context.gate.committed()
        tool = selection.find(call.name)
        if tool is None:
            return nothing_ran.unknown(call.name)
        if tool.name in selection.withheld:
            return nothing_ran.withheld(tool.name, selection.withheld[tool.name])
        prepared = await self._prepare(call, tool, context) if self._prepare is not None else call
        if isinstance(prepared, ToolResult):
            return prepared
        result = await self._decide_and_run(prepared, tool, context)
        if self._tell_end is not None:
            await self._tell_end(prepared, context, result)
        return result

    async def _decide_and_run(self, call: ToolCall, tool: Tool, context: CallContext) -> ToolResult:
        try:
            request = _request(call, tool, context)
        except (ValueError, RecursionError) as error:
            return nothing_ran.not_json(tool.name, error)
        decision = await self._asked(self._desk.decide(request), request)
        if decision is None:
            return nothing_ran.not_asked(tool.name)
        if not decision.may_run:
            return self._refused(decision)
        return await self._run_decided(decision, tool, context)

    async def _asked(self, answering: Awaitable[Decision], request: ApprovalRequest) -> Decision | None:
        """The desk's answer; None when it broke its promise to give one, which is a no."""
        try:
            decision = await answering
        except Exception:
            _LOG.exception("the desk failed on %s", request.call.name)
            return None
        if decision.request.request_id != request.request_id:
            _LOG.error("the desk answered %s about %s", decision.request.request_id, request.request_id)
            return None
        return decision

    async def _run_decided(self, decision: Decision, tool: Tool, context: CallContext) -> ToolResult:
        """Run what the decision holds; whatever the model has said since does not count."""
        intending = asyncio.ensure_future(self._intend(decision))
        result = _INTERRUPTED
        try:
            row = await asyncio.shield(intending)
            if row is None and _must_be_recorded(decision.request):
                result = await self._refuse_unrecorded(decision)
            else:
                result = await self._run_after_last_look(decision, tool, context)
        finally:
            await self._conclude(decision, intending, result)
        return result

    async def _run_after_last_look(self, decision: Decision, tool: Tool, context: CallContext) -> ToolResult:
        last_look = await self._asked(self._desk.begin(decision), decision.request)
        if last_look is None:
            return nothing_ran.not_asked(tool.name)
        if not last_look.may_run:
            return self._refused(last_look)
        return await self._run(_Running(last_look.request, tool, context))

    async def _run(self, running: _Running) -> ToolResult:
        result = _INTERRUPTED
        self._started(running)
        try:
            result = await self._with_pictures_kept(await self._invoke(running), running.context)
        finally:
            self._finished(running, result)
        return result

    async def _with_pictures_kept(self, result: ToolResult, context: CallContext) -> ToolResult:
        """The call is done: what becomes of its pictures does not change how it went."""
        if self._keep_pictures is None or not result.images:
            return result
        try:
            return await self._keep_pictures(result, context)
        except Exception:
            _LOG.exception("the pictures of a call could not be kept")
            return replace(result, images=())

    def _refused(self, decision: Decision) -> ToolResult:
        """Tell the person why nothing runs; the result tells the model."""
        self._safely(self._tell_person, decision)
        self._tell(*steps.never_ran(decision, self._clock.monotonic_seconds()))
        return nothing_ran.not_allowed(decision)

    async def _refuse_unrecorded(self, decision: Decision) -> ToolResult:
        refused = await self._asked(self._desk.unrecorded(decision), decision.request)
        if refused is not None:
            self._safely(self._tell_person, refused)
            self._tell(*steps.never_ran(refused, self._clock.monotonic_seconds()))
        return nothing_ran.not_recorded(decision.request.call.name)

    async def _invoke(self, running: _Running) -> ToolResult:
        """Run inside the budget, which starts now and does not count the time a person takes."""
        clock = ComputeClock(self._clock)

        def wait_for_person(is_waiting: bool) -> None:
            clock.wait_for_person(is_waiting)
            for observer in self._observers:
                self._safely(observer.waiting_for_person, running.call, is_waiting)
            running.context.waiting_for_person(is_waiting)

        context = replace(running.context, call_id=running.call.call_id, waiting_for_person=wait_for_person)
        is_private = self._is_private(context.chat)
        work = _contained(running.tool, running.arguments, context, is_private=is_private)
        seconds = _budget_seconds(running.tool, running.arguments, context)
        if seconds is None:
            return await work
        try:
            return await within(clock, seconds, work)
        except TimeoutError:
            return running.tool.timed_out(seconds)

    # ------------------------------------------------------------------------------- record and observers

    async def _intend(self, decision: Decision) -> int | None:
        """Number of the row; None when it could not be written, and when the call is no action: nothing is lost."""
        if not decision.request.risk.is_action:
            return None
        try:
            return await self._audit.intend(decision.request, decision)
        except Exception as error:
            self._audit_failed(error)
            return None

    async def _conclude(self, decision: Decision, intending: asyncio.Future[int | None], result: ToolResult) -> None:
        """Tell the desk and the record how it ended, also when the turn is being cancelled around us."""

        async def write() -> None:
            note = ""
            try:
                note = await self._desk.ended(decision, result)
            except Exception:
                _LOG.exception("the desk failed on the end of %s", decision.request.call.name)
            # A turn that is stopped while the intent is being written leaves no intent without an end.
            row = await intending
            if row is None:
                return
            try:
                await self._audit.conclude(row, result.outcome, redacted(result.error), note)
            except Exception as error:
                self._audit_failed(error)

        task = asyncio.create_task(write())
        self._concluding.add(task)
        task.add_done_callback(self._concluding.discard)
        await asyncio.shield(task)

    def _audit_failed(self, error: Exception) -> None:
        _LOG.error("the audit trail failed: %s", error)
        self._tell(events.ErrorRaised("", self._clock.monotonic_seconds(), "audit", str(error)))

    def _started(self, running: _Running) -> None:
        for observer in self._observers:
            self._safely(observer.started, running.call, running.tool, running.context)
        turn_id, now = running.context.turn_id, self._clock.monotonic_seconds()
        self._tell(
            events.ToolStarted(turn_id, now, running.call.call_id, running.tool.name, running.tool.risk),
            *steps.started(running.request, now),
        )

    def _finished(self, running: _Running, result: ToolResult) -> None:
        why = "" if self._is_private(running.context.chat) else redacted(result.error)
        _LOG.info("%s: %s %s", running.tool.name, result.outcome, why)
        for observer in self._observers:
            self._safely(observer.finished, running.call, running.tool, result)
        turn_id, now = running.context.turn_id, self._clock.monotonic_seconds()
        self._tell(
            *steps.done(running.request, result, now),
            events.ToolFinished(turn_id, now, running.call.call_id, running.tool.name, result.outcome),
        )

    def _tell(self, *facts: Event) -> None:
        for event in facts:
            self._safely(self._publish, event)

    def _safely(self, tell: Callable[..., None], *facts: object) -> None:
        """Whoever watches may be broken; the call goes on."""
        try:
            tell(*facts)
        except Exception:
            _LOG.exception("an observer of tool calls failed")


@dataclass(frozen=True)
class _Running:
    """A call that may run."""

    request: ApprovalRequest
    tool: Tool
    context: CallContext

    @property
    def call(self) -> ToolCall:
        return self.request.call

    @property
    def arguments(self) -> dict[str, Json]:
        """A fresh copy each time, so that a tool that changes its arguments changes nothing else."""
        arguments: dict[str, Json] = json.loads(self.request.arguments_json)
        return arguments


def _must_be_recorded(request: ApprovalRequest) -> bool:
    """Whether a call may not happen without a trace.

    The box's own tools change nothing but the box: a timer must work on a card that has gone read-only. Of a plugin's
    calls only those pass that nobody called a change of anything.
    """
    if request.origin == OWN_ORIGIN or not request.risk.is_action:
        return False
    return request.risk is not Risk.WRITE or request.is_risk_declared


def _request(call: ToolCall, tool: Tool, context: CallContext) -> ApprovalRequest:
    """Raises ``ValueError`` or ``RecursionError`` for arguments that are not JSON."""
    return ApprovalRequest(
        request_id=uuid.uuid4().hex[:8],
        call=ToolCall(call.call_id, tool.name, call.arguments),
        origin=tool.origin,
        risk=tool.risk,
        arguments_json=canonical_json(dict(call.arguments)),
        chat=context.chat,
        turn_id=context.turn_id,
        channel=context.channel,
        is_risk_declared=tool.is_risk_declared,
    )


def _budget_seconds(tool: Tool, arguments: Mapping[str, Json], context: CallContext) -> float | None:
    if tool.is_interactive:
        return None
    try:
        return tool.budget_seconds(arguments, context)
    except Exception:
        _LOG.exception("%s cannot say what its budget is", tool.name)
        return _FALLBACK_BUDGET_SECONDS


async def _contained(
    tool: Tool, arguments: Mapping[str, Json], context: CallContext, *, is_private: bool
) -> ToolResult:
    """The tool's result, or a failed one when it broke its promise not to raise."""
    try:
        with in_chat(context.chat, context.turn_id, is_private=is_private):
            return await tool.invoke(arguments, context)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        _LOG.exception("%s raised a cancellation that nobody asked for", tool.name)
        return _broken("raised CancelledError")
    except Exception as error:
        _LOG.exception("%s raised", tool.name)
        return _broken(f"{type(error).__name__}: {error}")


def _broken(error: str) -> ToolResult:
    return ToolResult("The tool failed inside. Do not call it again in the same way.", Outcome.FAILED, error=error)
