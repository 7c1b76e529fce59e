"""A desk that answers as it is told, and somebody at the button who does."""

from __future__ import annotations

import asyncio

from appliance.approve.desk import HandAnswer
from appliance.tools.tool import ApprovalRequest, Decision, Verdict


class FakeDesk:
    """A Desk. ``verdicts`` maps tool names to answers, others are allowed; ``requests`` is what was asked for.

    While ``open`` is cleared, deciding waits.
    """

    def __init__(self, verdicts: dict[str, Verdict] | None = None) -> None:
        self.verdicts = verdicts or {}
        self.requests: list[ApprovalRequest] = []
        self.open = asyncio.Event()
        self.open.set()

    async def decide(self, request: ApprovalRequest) -> Decision:
        self.requests.append(request)
        await self.open.wait()
        verdict = self.verdicts.get(request.call.name, Verdict.ALLOWED)
        if verdict in (Verdict.ALLOWED, Verdict.APPROVED):
            return Decision(request, verdict, "policy" if verdict is Verdict.ALLOWED else "button")
        texts = (f"{request.call.name} was not run: {verdict}", f"Not done: {verdict}.")
        return Decision(request, verdict, "default", *texts)


class FakeAsker:
    """An Asker: ``answer`` ends the question that is open; ``asked`` is what was asked about."""

    def __init__(self, *, is_usable: bool = True) -> None:
        self.is_usable = is_usable
        self.asked: list[ApprovalRequest] = []
        self._answers: asyncio.Queue[HandAnswer | Exception] = asyncio.Queue()

    def answer(self, verdict: Verdict, approver: str = "button") -> None:
        """Answer the open question, or the next one."""
        self._answers.put_nowait(HandAnswer(verdict, approver))

    def fail(self, error: Exception) -> None:
        """Let the open question, or the next one, break."""
        self._answers.put_nowait(error)

    async def ask(self, request: ApprovalRequest) -> HandAnswer:
        self.asked.append(request)
        answer = await self._answers.get()
        if isinstance(answer, Exception):
            raise answer
        return answer
