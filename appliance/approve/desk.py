"""The desk: the only door to "may this run?". It fails closed.

No text grants anything, neither a model's nor a voice's. What may run is what the policy lets run, what a hand on
the button approved, or what the owner allowed from a shell of their own.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from appliance import events
from appliance.approve.config import ApprovalConfig
from appliance.approve.policy import needs_button
from appliance.approve.request import digest, sealed
from appliance.approve.wording import FAULT_MODEL_TEXT, FAULT_PERSON_KEY, MODEL_TEXTS, PERSON_KEYS
from appliance.catalogue import Catalogue
from appliance.clock import Clock
from appliance.errors import RefusedError
from appliance.events import Event
from appliance.store.canonical_json import canonical_json
from appliance.tools.tool import ApprovalRequest, Decision, ToolCall, Verdict

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class HandAnswer:
    """How asking ended; ``approver`` is who ended it: button, owner:<uid>, or default when nobody did."""

    verdict: Verdict
    approver: str


class Asker(Protocol):
    """Asks for a hand on the button. A box without a usable button has none."""

    @property
    def is_usable(self) -> bool:
        """Whether a press could reach us now."""
        ...

    async def ask(self, request: ApprovalRequest) -> HandAnswer:
        """Ask about exactly this request and wait for the end; ALLOWED is not an asker's to say, and is a fault."""
        ...


class DecisionRecord(Protocol):
    """Where decisions are written down."""

    async def decided(self, decision: Decision) -> None:
        """Durable when this returns. Raises ``StoreError``."""
        ...


class ApprovalDesk:
    """``Desk``. On the loop's thread; only cancellation crosses it."""

    def __init__(
        self,
        config: ApprovalConfig,
        catalogue: Catalogue,
        *,
        clock: Clock,
        record: DecisionRecord,
        publish: Callable[[Event], None] = lambda _event: None,
        asker: Asker | None = None,
    ) -> None:
        self._config = config
        self._catalogue = catalogue
        self._clock = clock
        self._record = record
        self._publish = publish
        self._asker = asker
        self._grants: dict[str, _Grant] = {}

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Allow, or ask, or refuse. The decision's request is a copy read from the record: that is what runs."""
        try:
            decision = await self._decide(request)
        except asyncio.CancelledError:
            # The turn was stopped while somebody was asked, and the question with it.
            self._tell(events.ApprovalDecided, request, Verdict.DISMISSED.value)
            raise
        except Exception:
            _LOG.exception("deciding on %s failed", request.call.name)
            decision = self._fault(request)
        self._tell(events.ApprovalDecided, request, decision.verdict.value)
        return decision

    @contextmanager
    def owner_grant(self, call: ToolCall, *, uid: int, service_uid: int | None) -> Iterator[None]:
        """Inside the block, the owner with user id ``uid`` allows exactly this call, by the tool's own name, once.

        Raises ``RefusedError`` for ``service_uid``, the user the device and thus every plugin runs as: what a plugin
        can do, a model can make it do. None when no plugin can run as ``uid``.
        """
        if uid == service_uid:
            raise RefusedError(
                "this user is the one the appliance itself runs as, and what runs as it cannot allow itself "
                "anything; run the command as root or as another user"
            )
        self._grants[call.call_id] = _Grant(uid, call.name, canonical_json(dict(call.arguments)))
        try:
            yield
        finally:
            self._grants.pop(call.call_id, None)

    async def _decide(self, request: ApprovalRequest) -> Decision:
        record = sealed(request)
        if not needs_button(self._config, record):
            return Decision(record, Verdict.ALLOWED, "policy")
        answer = self._take_grant(record) or await self._ask(record)
        if answer.verdict is not Verdict.APPROVED:
            decision = self._no(record, answer.verdict, answer.approver)
            await self._write_refusal(decision)
            return decision
        decision = Decision(record, Verdict.APPROVED, answer.approver)
        # Not written down is not approved: a failure here ends in a refusal.
        await self._record.decided(decision)
        return decision

    async def _ask(self, record: ApprovalRequest) -> HandAnswer:
        if self._asker is None or not self._asker.is_usable:
            return HandAnswer(Verdict.UNREACHABLE, "default")
        self._tell(events.ApprovalRequested, record)
        before = digest(record)
        answer = await self._asker.ask(record)
        if digest(record) != before:
            raise ValueError("the request was changed while it was asked about")
        return answer

    def _take_grant(self, record: ApprovalRequest) -> HandAnswer | None:
        grant = self._grants.pop(record.call.call_id, None)
        if grant is None or (grant.tool, grant.arguments_json) != (record.call.name, record.arguments_json):
            return None
        return HandAnswer(Verdict.APPROVED, f"owner:{grant.uid}")

    async def _write_refusal(self, decision: Decision) -> None:
        """It is a no whether or not it can be written down."""
        try:
            await self._record.decided(decision)
        except Exception:
            _LOG.exception("the refusal of %s could not be recorded", decision.request.call.name)

    def _no(self, request: ApprovalRequest, verdict: Verdict, approver: str) -> Decision:
        model_text = MODEL_TEXTS[verdict].format(tool=request.call.name)
        return Decision(request, verdict, approver, model_text, self._sentence(PERSON_KEYS[verdict]))

    def _fault(self, request: ApprovalRequest) -> Decision:
        model_text = FAULT_MODEL_TEXT.format(tool=request.call.name)
        return Decision(request, Verdict.UNREACHABLE, "default", model_text, self._sentence(FAULT_PERSON_KEY))

    def _sentence(self, key: str) -> str:
        """A language may lack a sentence; the answer is no all the same."""
        try:
            return self._catalogue.say(key)
        except (KeyError, IndexError):
            _LOG.exception("there is no sentence %s", key)
            return ""

    def _tell(self, kind: Callable[..., Event], request: ApprovalRequest, *facts: str) -> None:
        try:
            self._publish(
                kind(request.turn_id, self._clock.monotonic_seconds(), request.request_id, request.call.name, *facts)
            )
        except Exception:
            _LOG.exception("telling about a decision failed")


@dataclass(frozen=True)
class _Grant:
    """What the owner allowed, once."""

    uid: int
    tool: str
    arguments_json: str
