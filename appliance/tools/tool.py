"""A tool as the rest of the program sees it; nothing here knows which contract made it."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from appliance.events import Emotion, Outcome
from appliance.ports import CommitGate, Json


class Risk(enum.StrEnum):
    """How much a call can change the world."""

    READ = "read"
    WRITE = "write"
    EXEC = "exec"
    NETWORK = "network"

    @property
    def is_action(self) -> bool:
        """Whether a call is an action: it gets a step row and an audit row."""
        return self is not Risk.READ


@dataclass(frozen=True)
class VoiceLines:
    """What is said around a call; an empty line is silence, never a generic phrase."""

    announce: str = ""
    heartbeat: tuple[str, ...] = ()
    complete: str = ""
    fail: str = ""


@dataclass(frozen=True)
class Expressions:
    """The face while a call runs, and when it fails."""

    focus: Emotion = Emotion.THINKING
    fail: Emotion = Emotion.SAD


@dataclass(frozen=True)
class ToolImage:
    """A picture a tool returned; ``is_display_only`` ones are for the person, never for the model.

    ``handle`` names it in the store, "" while it is not there. One that ``was_there`` was stored before this call.
    """

    data: bytes
    media_type: str
    is_display_only: bool = False
    handle: str = ""
    was_there: bool = False


@dataclass(frozen=True)
class Tile:
    """One entry of a row of pictures for the person.

    Its picture is that of the ``handle``, else at ``thumb``; ``full`` is the large one, ``page`` where it comes from.
    """

    title: str = ""
    handle: str = ""
    thumb: str = ""
    full: str = ""
    page: str = ""


@dataclass(frozen=True)
class Gallery:
    """A numbered row of pictures for the person; a model gets none of it."""

    title: str = ""
    tiles: tuple[Tile, ...] = ()


@dataclass(frozen=True)
class ToolResult:
    """How a call ended. ``text`` is final: caps and failure notes are already in it.

    ``error`` is for the log and the audit row (redacted), never for the model. ``is_from_wan`` marks a text that came
    from outside the house: what a stranger wrote there may be meant for the model.
    """

    text: str
    outcome: Outcome = Outcome.OK
    images: tuple[ToolImage, ...] = ()
    error: str = ""
    is_from_wan: bool = False
    galleries: tuple[Gallery, ...] = ()


@dataclass(frozen=True)
class ToolCall:
    """One request of a brain: which tool, with which arguments (the model's JSON, parsed; {} when broken)."""

    call_id: str
    name: str
    arguments: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class CallContext:
    """What a call may know about the turn it runs in.

    ``channel`` is voice or text. ``waiting_for_person(True)`` tells the observers that the call is blocked on
    a human: heartbeats are deferred. ``user_texts`` holds the last utterances, newest first.
    """

    call_id: str
    turn_id: str
    chat: str
    channel: str
    gate: CommitGate
    user_text: str = ""
    user_texts: tuple[str, ...] = ()
    waiting_for_person: Callable[[bool], None] = lambda _waiting: None


class Tool(Protocol):
    """A capability offered to a brain; schema and availability are read once, at turn start."""

    @property
    def name(self) -> str:
        """Name the model calls it by, before it is made legal for the endpoint."""
        ...

    @property
    def origin(self) -> str:
        """Where it comes from: ``box``, or ``plugin:<name>``."""
        ...

    @property
    def risk(self) -> Risk:
        """Declared by a tool module, derived for a plugin tool."""
        ...

    @property
    def is_risk_declared(self) -> bool:
        """Whether the author wrote the risk down; False when it was derived from the code."""
        ...

    @property
    def toolset(self) -> str:
        """The selection it belongs to."""
        ...

    @property
    def expressions(self) -> Expressions:
        """Faces around the call."""
        ...

    @property
    def voice_lines(self) -> VoiceLines:
        """Lines around the call, soul overrides merged in."""
        ...

    @property
    def is_interactive(self) -> bool:
        """It blocks on a person: no compute budget, no heartbeats."""
        ...

    def schema(self) -> Mapping[str, Json]:
        """Responses API function form: type, name, description, parameters. May raise; then it is not offered."""
        ...

    def available(self) -> bool:
        """Whether to offer it now; gates offering, not running. Returns at once."""
        ...

    def budget_seconds(self, arguments: Mapping[str, Json], context: CallContext) -> float | None:
        """Seconds of compute for this call; None without a limit."""
        ...

    async def invoke(self, arguments: Mapping[str, Json], context: CallContext) -> ToolResult:
        """Run. A stranger's failure is a result, not an exception; only cancellation crosses."""
        ...

    def timed_out(self, seconds: float) -> ToolResult:
        """The result, in the words of its contract, when the budget ran out."""
        ...


class CallObserver(Protocol):
    """Told by the runner about a call's life; called on the loop, returns at once."""

    def started(self, call: ToolCall, tool: Tool, context: CallContext) -> None:
        """The call is about to run (after any approval)."""
        ...

    def waiting_for_person(self, call: ToolCall, is_waiting: bool) -> None:
        """The call is blocked on a human, or no longer."""
        ...

    def finished(self, call: ToolCall, tool: Tool, result: ToolResult) -> None:
        """The call ended; also after cancellation (outcome interrupted)."""
        ...


@dataclass(frozen=True)
class ApprovalRequest:
    """One call that asks for permission; ``arguments_json`` is canonical JSON and is what will run.

    ``is_risk_declared`` is False when no author wrote the risk down.
    """

    request_id: str
    call: ToolCall
    origin: str
    risk: Risk
    arguments_json: str
    chat: str
    turn_id: str
    channel: str
    is_risk_declared: bool = True


class Verdict(enum.StrEnum):
    """How the desk decided."""

    ALLOWED = "allowed"
    APPROVED = "approved"
    DECLINED = "declined"
    UNANSWERED = "unanswered"
    UNREACHABLE = "unreachable"
    DISMISSED = "dismissed"
    #: It was approved, and what it depends on was changed before it ran.
    INVALIDATED = "invalidated"


@dataclass(frozen=True)
class Decision:
    """The desk's answer. What runs is ``request``, not what the model says later.

    ``model_text`` tells the model why nothing ran, ``person_text`` tells the person; both "" when it may run.
    ``approver`` is for the audit row: policy, button, voice, owner:<uid>, grant:<number>, or default.
    ``took_seconds`` is how long a person was asked.
    """

    request: ApprovalRequest
    verdict: Verdict
    approver: str
    model_text: str = ""
    person_text: str = ""
    took_seconds: float = 0.0

    @property
    def may_run(self) -> bool:
        """Whether the call may run."""
        return self.verdict in (Verdict.ALLOWED, Verdict.APPROVED)


class Desk(Protocol):
    """The only door to "may this run?"; fails closed. No method raises anything but cancellation."""

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Allow, or ask, or refuse."""
        ...

    async def begin(self, decision: Decision) -> Decision:
        """The last look before the one run that a decision is good for: the same again, or a no.

        What runs is the request of the decision that this returns.
        """
        ...

    async def unrecorded(self, decision: Decision) -> Decision:
        """The no for a call that was allowed, and cannot be written into the audit trail."""
        ...

    async def ended(self, decision: Decision, result: ToolResult) -> str:
        """The call is over, also one that was stopped or never began; ``result`` is what the model gets.

        Gives back what belongs into the audit row besides how it ended, "" when that is nothing.
        """
        ...


class AuditTrail(Protocol):
    """Who did what, when, with whose permission; append only."""

    async def intend(self, request: ApprovalRequest, decision: Decision) -> int:
        """Write the row before the action runs; its sequence number. Raises ``StoreError``."""
        ...

    async def conclude(self, sequence: int, outcome: Outcome, error: str = "", note: str = "") -> None:
        """Write how it ended; ``note`` is what we have seen ourselves. Raises ``StoreError``."""
        ...
