"""Asks about one request at a time; the others wait, in order, and nobody is asked about them yet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from appliance.approve.asking import Asking, Case, HandAnswer, Room, Speaking
from appliance.approve.ears import Ears
from appliance.approve.hand import Hand
from appliance.approve.record import RequestRecord
from appliance.approve.requests import Requests
from appliance.catalogue import Catalogue
from appliance.clock import Clock
from appliance.errors import UsageError
from appliance.tools.tool import Verdict


class PersonAsker:
    """``Asker``. Without a ``hand`` only a shell can answer, and only typed requests wait for that.

    ``show`` writes a question where a typed turn is read. ``window_seconds`` is how long a person has, by channel.
    """

    def __init__(
        self,
        *,
        person: Speaking,
        requests: Requests,
        clock: Clock,
        catalogue: Catalogue,
        window_seconds: Mapping[str, float],
        hand: Hand | None = None,
        show: Callable[[str], None] = lambda _text: None,
        asks_over_ssh: bool = True,
    ) -> None:
        #: Whether a shell could reach us: for the device to set, while it answers on its control socket.
        self.is_shell_open = False
        #: Who hears a spoken no: for the device to set, when there is somebody who takes turns.
        self.ears: Ears | None = None
        self._room = Room(
            person,
            requests,
            clock,
            catalogue,
            hand,
            lambda: self.ears,
            show,
            lambda: self.is_shell_open,
            window_seconds,
        )
        self._asks_over_ssh = asks_over_ssh
        self._one_at_a_time = asyncio.Lock()
        self._cases: dict[str, Case] = {}
        #: Requests whose asking was cut off, and who had said no to them ("" nobody).
        self._cut: dict[str, str] = {}

    # -------------------------------------------------------------------------------------------- for the desk

    def can_ask(self, channel: str) -> bool:
        """Whether anybody could answer. A voice turn never leaves the person waiting for a shell in silence."""
        if self._room.hand is not None and self._room.hand.is_usable:
            return True
        return channel != "voice" and self._asks_over_ssh and self.is_shell_open

    async def ask(self, record: RequestRecord) -> HandAnswer:
        """Ask when it is this request's turn; twice, when it cannot be undone. The window begins with the question."""
        case = self._cases[record.request_id] = Case(record)
        try:
            async with self._one_at_a_time:
                answer = await self._ask(case)
                if record.is_two_step and answer.verdict is Verdict.APPROVED:
                    case.end_question("asked again")
                    answer = await self._ask(case, is_again=True)
            case.end_question(answer.verdict.value)
            return answer
        except asyncio.CancelledError:
            self._cut[record.request_id] = case.no_by
            raise
        finally:
            del self._cases[record.request_id]
            case.end_question("taken back")

    def last_word(self, record: RequestRecord) -> HandAnswer:
        """What counts when asking about a request was cancelled: a no that had just come, else it was taken back."""
        who = self._cut.pop(record.request_id, "")
        return HandAnswer(Verdict.DECLINED, who) if who else HandAnswer(Verdict.DISMISSED, "stop")

    async def _ask(self, case: Case, *, is_again: bool = False) -> HandAnswer:
        if case.no_by:
            return HandAnswer(Verdict.DECLINED, case.no_by)
        return await Asking(case, self._room, is_again=is_again).run()

    # ------------------------------------------------------------------------------------ answers from elsewhere

    @property
    def asked(self) -> RequestRecord | None:
        """The request that is asked about right now."""
        return next((case.record for case in self._cases.values() if case.is_asked), None)

    @property
    def pending(self) -> tuple[RequestRecord, ...]:
        """The request that is asked about, then those that wait, in order."""
        return tuple(case.record for case in self._cases.values())

    def deny(self, request_id: str, who: str) -> bool:
        """Somebody says no, by voice for example; False when the request is not pending. A no needs no authority."""
        case = self._cases.get(request_id)
        if case is None:
            return False
        case.say_no(who)
        return True

    async def approve(self, request_id: str, who: str) -> str:
        """Somebody whose authority was checked says yes from a shell; how the question ended.

        Raises ``UsageError`` when the request is not being asked about.
        """
        case = self._cases.get(request_id)
        if case is None:
            raise UsageError(f"no request {request_id!r} waits for an answer; it may have expired")
        if not case.is_asked:
            raise UsageError(f"request {request_id} is not asked about yet: the one before it comes first")
        ended = case.ended
        case.say_yes(who)
        return await asyncio.shield(ended)
