"""A desk that answers as it is told, and somebody to ask who does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from appliance.approve.asking import HandAnswer
from appliance.approve.record import RequestRecord
from appliance.tools.tool import ApprovalRequest, Decision, ToolResult, Verdict


class FakeDesk:
    """A Desk. ``verdicts`` maps tool names to answers, others are allowed; ``requests`` is what was asked for.

    While ``open`` is cleared, deciding waits. ``changed_mind`` is the last look at calls of these names; ``told`` is
    what the desk heard of them: begun, unrecorded, ended with an outcome. ``notes`` is what it notes about their runs.
    """

    def __init__(self, verdicts: dict[str, Verdict] | None = None) -> None:
        self.verdicts = verdicts or {}
        self.requests: list[ApprovalRequest] = []
        self.changed_mind: dict[str, Verdict] = {}
        self.told: list[str] = []
        self.notes: dict[str, str] = {}
        self.open = asyncio.Event()
        self.open.set()

    async def decide(self, request: ApprovalRequest) -> Decision:
        self.requests.append(request)
        await self.open.wait()
        return self._decision(request, self.verdicts.get(request.call.name, Verdict.ALLOWED))

    async def begin(self, decision: Decision) -> Decision:
        name = decision.request.call.name
        self.told.append(f"begun {name}")
        return self._decision(decision.request, self.changed_mind.get(name, decision.verdict))

    async def unrecorded(self, decision: Decision) -> Decision:
        self.told.append(f"unrecorded {decision.request.call.name}")
        return self._decision(decision.request, Verdict.UNREACHABLE)

    async def ended(self, decision: Decision, result: ToolResult) -> str:
        self.told.append(f"ended {decision.request.call.name} {result.outcome}")
        return self.notes.get(decision.request.call.name, "")

    def _decision(self, request: ApprovalRequest, verdict: Verdict) -> Decision:
        if verdict in (Verdict.ALLOWED, Verdict.APPROVED):
            return Decision(request, verdict, "policy" if verdict is Verdict.ALLOWED else "button")
        texts = (f"{request.call.name} was not run: {verdict}", f"Not done: {verdict}.")
        return Decision(request, verdict, "default", *texts)


class FakeAsker:
    """An Asker: ``answer`` ends the question that is open; ``asked`` is what was asked about.

    ``announce`` moves the request in a store, when there is one.
    """

    def __init__(self, *, is_usable: bool = True) -> None:
        self.is_usable = is_usable
        self.asked: list[RequestRecord] = []
        self.announce: Callable[[RequestRecord], Awaitable[bool]] | None = None
        self.last_words = HandAnswer(Verdict.DISMISSED, "stop")
        self._answers: asyncio.Queue[HandAnswer | Exception] = asyncio.Queue()

    def answer(self, verdict: Verdict, approver: str = "button") -> None:
        """Answer the open question, or the next one."""
        self._answers.put_nowait(HandAnswer(verdict, approver))

    def fail(self, error: Exception) -> None:
        """Let the open question, or the next one, break."""
        self._answers.put_nowait(error)

    def can_ask(self, channel: str) -> bool:
        return self.is_usable

    def last_word(self, record: RequestRecord) -> HandAnswer:
        return self.last_words

    async def ask(self, record: RequestRecord) -> HandAnswer:
        self.asked.append(record)
        if self.announce is not None:
            await self.announce(record)
        answer = await self._answers.get()
        if isinstance(answer, Exception):
            raise answer
        return answer
