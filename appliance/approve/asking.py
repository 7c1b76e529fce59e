"""One question about one request, from its first word to its end.

A no counts before a yes, and so does the end of the window. Silence is no answer, and is told as that. In a voice
turn a no may be spoken; a spoken yes is answered, once, and counts for nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from appliance.approve.button_rules import RequestEnding
from appliance.approve.ears import Ears, SpokenAnswer
from appliance.approve.hand import Hand, HandEnding, HandPress
from appliance.approve.question import is_named, spoken_question
from appliance.approve.record import RequestRecord
from appliance.approve.requests import Requests
from appliance.catalogue import Catalogue
from appliance.clock import Clock
from appliance.ports import Playback, Priority
from appliance.tools.tool import Verdict

_LOG = logging.getLogger(__name__)

#: How often the speaker is looked at while the question is said.
_LOOK_SECONDS = 0.1
#: A question that was cut off before it named the tool is said once more.
_MOST_ATTEMPTS = 2
#: A hand that stops everything ends the turn together with its no; the no needs so many rounds of the loop.
_ARRIVAL_ROUNDS = 5

_LAMP: Mapping[Verdict, RequestEnding] = {
    Verdict.DECLINED: RequestEnding.DENIED,
    Verdict.UNANSWERED: RequestEnding.EXPIRED,
}


@dataclass(frozen=True)
class HandAnswer:
    """How asking ended; ``approver`` is who ended it: button, voice, owner:<uid>, or default when nobody did."""

    verdict: Verdict
    approver: str


@dataclass
class Case:
    """A request that is asked about, or waits for that, with what was said from elsewhere than the button."""

    record: RequestRecord
    is_asked: bool = False
    #: Who said it; "" while nobody did.
    no_by: str = ""
    yes_by: str = ""
    news: asyncio.Event = field(default_factory=asyncio.Event)
    #: How one question ended, for whoever answered from elsewhere.
    ended: asyncio.Future[str] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def say_no(self, who: str) -> None:
        """It stays a no, whatever is said later."""
        self.no_by = self.no_by or who
        self.news.set()

    def say_yes(self, who: str) -> None:
        """For the question that is asked now."""
        self.yes_by = self.yes_by or who
        self.news.set()

    def end_question(self, how: str) -> None:
        """Tell whoever answered; the next question wants an answer of its own."""
        if not self.ended.done():
            self.ended.set_result(how)
        self.ended = asyncio.get_running_loop().create_future()
        self.is_asked, self.yes_by = False, ""
        self.news.clear()


class Speaking(Protocol):
    """What asking needs of the ``Person`` port."""

    def say(self, text: str, priority: Priority = Priority.REPLY) -> Playback:
        """Say ``text`` when it is this priority's turn; returns at once."""
        ...


@dataclass(frozen=True)
class Room:
    """What asking takes: a voice, a hand, ears, a screen for what is typed; ``window_seconds`` by channel."""

    person: Speaking
    requests: Requests
    clock: Clock
    catalogue: Catalogue
    hand: Hand | None
    ears: Callable[[], Ears | None]
    show: Callable[[str], None]
    is_shell_open: Callable[[], bool]
    window_seconds: Mapping[str, float]


class Asking:
    """One question. ``is_again`` is the second one about something that cannot be undone."""

    def __init__(self, case: Case, room: Room, *, is_again: bool = False) -> None:
        self._case = case
        self._record = case.record
        self._room = room
        self._is_again = is_again
        #: Each question is a request of its own to the hand: a press answers one.
        self._hand_id = f"{case.record.request_id}/2" if is_again else case.record.request_id
        self._hand = room.hand if room.hand is not None and room.hand.is_usable else None
        self._ears = room.ears()
        self._is_voice = case.record.request.channel == "voice"
        #: What is on its way through the speaker; the question is always there, the word about the button perhaps.
        self._playbacks: list[Playback] = []
        self._has_told_of_button = False
        self._armed_at: float | None = None
        self._deadline = 0.0
        self._announcing: asyncio.Task[bool] | None = None
        self._pressing: asyncio.Task[HandPress] | None = None

    async def run(self) -> HandAnswer:
        """Ask and wait. Raises ``StoreError``, and ``ValueError`` when somebody broke a promise: both mean no.

        When it is cancelled, a no that came at the same moment is left in the case.
        """
        if not await self._room.requests.announce(self._record):
            raise ValueError("the request is not in the store as it was")
        tasks: set[asyncio.Task[Any]] = set()
        answer = HandAnswer(Verdict.DISMISSED, "stop")
        self._case.is_asked = True
        try:
            with self._ears.asking(self._record.request.turn_id) if self._ears else contextlib.nullcontext():
                self._begin(tasks)
                while (found := self._answer()) is None:
                    await asyncio.wait({task for task in tasks if not task.done()}, return_when=asyncio.FIRST_COMPLETED)
                answer = found
        except asyncio.CancelledError:
            for _ in range(_ARRIVAL_ROUNDS):
                await asyncio.sleep(0)
            answer = self._no() or answer
            if answer.verdict is Verdict.DECLINED:
                self._case.say_no(answer.approver)
            raise
        finally:
            await self._end(tasks, answer)
        return answer

    def _begin(self, tasks: set[asyncio.Task[Any]]) -> None:
        windows = self._room.window_seconds
        window = windows.get(self._record.request.channel, min(windows.values()))
        self._deadline = self._now() + window
        tasks.add(asyncio.create_task(self._room.clock.sleep(window), name="window"))
        tasks.add(asyncio.create_task(self._case.news.wait(), name="answer from elsewhere"))
        if self._hand is not None:
            self._hand.begin(self._hand_id)
            self._pressing = asyncio.create_task(self._hand.answer(self._hand_id), name="hand")
            tasks.add(self._pressing)
        self._announcing = asyncio.create_task(self._announce(), name="question")
        tasks.add(self._announcing)
        if self._ears is not None and self._is_voice:
            tasks.add(asyncio.create_task(self._listen(self._ears, self._announcing), name="spoken answer"))

    async def _end(self, tasks: set[asyncio.Task[Any]], answer: HandAnswer) -> None:
        if self._hand is not None:
            self._hand.end(self._hand_id, _LAMP.get(answer.verdict, RequestEnding.TAKEN_BACK))
        for playback in self._playbacks:
            playback.withdraw()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _answer(self) -> HandAnswer | None:
        """The end, if there is one by now; of several at once, the first of these."""
        no = self._no()
        if no is not None:
            return no
        if self._now() >= self._deadline:
            return HandAnswer(Verdict.UNANSWERED, "default")
        if self._announcing is not None and self._announcing.done() and not self._announcing.result():
            # It could not be said, so nobody knows what a press would approve.
            return HandAnswer(Verdict.UNREACHABLE, "default")
        if self._pressing is not None and self._pressing.done():
            return self._judge(self._pressing.result())
        return HandAnswer(Verdict.APPROVED, self._case.yes_by) if self._case.yes_by else None

    def _no(self) -> HandAnswer | None:
        if self._case.no_by:
            return HandAnswer(Verdict.DECLINED, self._case.no_by)
        task = self._pressing
        if task is None or not task.done() or task.cancelled() or task.exception() is not None:
            return None
        return HandAnswer(Verdict.DECLINED, "button") if task.result().ending is HandEnding.DENIED else None

    def _judge(self, press: HandPress) -> HandAnswer:
        if press.ending is not HandEnding.APPROVED:
            return HandAnswer(Verdict.UNREACHABLE, "default")
        if self._armed_at is None or not self._armed_at < press.pressed_at_seconds < press.released_at_seconds:
            raise ValueError(f"a press that did not begin after arming: {press}, armed at {self._armed_at}")
        return HandAnswer(Verdict.APPROVED, "button")

    # -------------------------------------------------------------------------------------------- the question

    async def _announce(self) -> bool:
        """Say or show the question and arm the hand; False when it could not be said."""
        question = spoken_question(
            self._room.catalogue,
            self._record,
            is_again=self._is_again,
            has_button=self._hand is not None,
            hears_no=self._is_voice and self._ears is not None and self._ears.can_hear,
        )
        if self._is_voice:
            if not await self._say(question):
                return False
        else:
            if self._room.is_shell_open():
                question += " " + self._room.catalogue.say("ask.over_ssh", id=self._record.request_id)
            self._room.show(f"{question}\n")
        if not await self._room.requests.arm(self._record):
            raise ValueError("the request is not in the store as it was")
        self._armed_at = self._now()
        if self._hand is not None:
            self._hand.arm(self._hand_id)
        return True

    async def _say(self, question: str) -> bool:
        """Until the tool's name was heard; whatever cuts us off once (an alarm), the question is said again."""
        for _ in range(_MOST_ATTEMPTS):
            playback = self._room.person.say(question, Priority.APPROVAL)
            self._playbacks.append(playback)
            finished = asyncio.ensure_future(playback.finished())
            try:
                while not finished.done() and not is_named(self._record.tool, playback.named_so_far):
                    await self._look(finished)
                if is_named(self._record.tool, playback.named_so_far):
                    return True
            finally:
                finished.cancel()
        return False

    async def _look(self, finished: asyncio.Future[str]) -> None:
        pause = asyncio.ensure_future(self._room.clock.sleep(_LOOK_SECONDS))
        first: set[asyncio.Future[Any]] = {finished, pause}
        try:
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
        finally:
            pause.cancel()

    # --------------------------------------------------------------------------------------- spoken answers

    async def _listen(self, ears: Ears, announcing: asyncio.Task[bool]) -> None:
        """Hear what people say to it. Whatever breaks here, the button still answers."""
        await asyncio.wait({announcing})
        try:
            await ears.listen(self._record.request.turn_id, partial(self._hear, ears))
        except Exception:
            _LOG.exception("nobody can be heard while %s is asked about", self._record.tool)

    def _hear(self, ears: Ears, answer: SpokenAnswer) -> None:
        if answer is SpokenAnswer.YES:
            self._tell_of_button()
            return
        self._case.say_no("voice")
        if answer is SpokenAnswer.STOP:
            ears.stop()

    def _tell_of_button(self) -> None:
        """Once for each question: who goes on saying yes has heard it, and others may only be talking."""
        if not self._has_told_of_button:
            self._has_told_of_button = True
            text = self._room.catalogue.say("ask.needs_button")
            self._playbacks.append(self._room.person.say(text, Priority.APPROVAL))

    def _now(self) -> float:
        return self._room.clock.monotonic_seconds()
