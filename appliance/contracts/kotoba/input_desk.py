"""Asks the person for the words that a tool wants: aloud, or at a shell.

A secret is never said in a room, so it is always typed; in a typed turn everything is. Whoever answers from a shell
only gives words to the tool that asked: nothing is allowed by it.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from appliance.approve.question import spoken, spoken_name
from appliance.catalogue import Catalogue
from appliance.clock import Clock, within
from appliance.contracts.kotoba.inputs import InputAnswer, InputQuestion
from appliance.errors import UsageError
from appliance.ports import Answer, Playback, Priority
from appliance.tools.tool import Verdict

_LONGEST_LABEL = 160


@dataclass(frozen=True)
class Voices:
    """How the box speaks with people: aloud, and where typed turns are read. ``ask`` is the Person port's."""

    say: Callable[[str, Priority], Playback]
    ask: Callable[[str, float], Awaitable[Answer]]
    show: Callable[[str], None]


@dataclass(frozen=True)
class WaitingInput:
    """A question that waits for a shell; ``number`` names it, short enough to be said."""

    number: str
    question: InputQuestion
    answer: asyncio.Future[str]


class InputDesk:
    """One question at a time is asked; used on our loop.

    ``window_seconds``, by channel, is the longest wait. ``hide`` masks a secret from now on. ``is_shell_open`` tells
    whether a shell could reach us at all.
    """

    def __init__(
        self,
        voices: Voices,
        *,
        clock: Clock,
        catalogue: Catalogue,
        window_seconds: Mapping[str, float],
        is_shell_open: Callable[[], bool],
        hide: Callable[[str], None],
    ) -> None:
        self._voices = voices
        self._clock = clock
        self._catalogue = catalogue
        self._window_seconds = window_seconds
        self._is_shell_open = is_shell_open
        self._hide = hide
        self._one_at_a_time = asyncio.Lock()
        self._numbers = itertools.count(1)
        self._waiting: dict[str, WaitingInput] = {}

    async def ask(self, question: InputQuestion) -> InputAnswer:
        """An ``AskInput``."""
        async with self._one_at_a_time:
            if question.call.channel == "voice" and not question.is_secret:
                return await self._ask_aloud(question)
            return await self._ask_at_a_shell(question)

    @property
    def waiting(self) -> tuple[WaitingInput, ...]:
        """The questions that wait for a shell."""
        return tuple(self._waiting.values())

    def give(self, number: str, text: str) -> None:
        """The answer from a shell, "" to give nothing. Raises ``UsageError`` when no such question waits."""
        waiting = self._waiting.pop(number, None)
        if waiting is None or waiting.answer.done():
            raise UsageError(f"no question {number!r} waits for an answer; it may have expired")
        if waiting.question.is_secret:
            self._hide(text)
        waiting.answer.set_result(text)

    # ------------------------------------------------------------------------------------------------- private

    async def _ask_aloud(self, question: InputQuestion) -> InputAnswer:
        tool, label = _in_words(question)
        sentence = self._catalogue.say("input.aloud", tool=tool, label=label)
        answer = await self._voices.ask(sentence, min(question.seconds, self._window_seconds["voice"]))
        if answer.ending != "answered":
            return InputAnswer(Verdict(answer.ending))
        return InputAnswer(Verdict.APPROVED, answer.text)

    async def _ask_at_a_shell(self, question: InputQuestion) -> InputAnswer:
        if not self._is_shell_open():
            return InputAnswer(Verdict.UNREACHABLE)
        number = str(next(self._numbers))
        waiting = WaitingInput(number, question, asyncio.get_running_loop().create_future())
        self._waiting[number] = waiting
        playback = self._tell(waiting)
        try:
            longest = self._window_seconds["text"]
            text = await within(self._clock, min(question.seconds, longest), waiting.answer)
        except TimeoutError:
            return InputAnswer(Verdict.UNANSWERED)
        finally:
            self._waiting.pop(number, None)
            if playback is not None:
                playback.withdraw()
        return InputAnswer(Verdict.APPROVED if text else Verdict.DECLINED, text)

    def _tell(self, waiting: WaitingInput) -> Playback | None:
        tool, label = _in_words(waiting.question)
        if waiting.question.is_secret:
            sentence = self._catalogue.say("input.secret", tool=tool, label=label, number=waiting.number)
        else:
            sentence = self._catalogue.say("input.typed", tool=tool, label=label, number=waiting.number)
        if waiting.question.call.channel == "voice":
            return self._voices.say(sentence, Priority.APPROVAL)
        self._voices.show(f"{sentence}\n")
        return None


def _in_words(question: InputQuestion) -> tuple[str, str]:
    """Tool and label: a stranger's words, safe to stand inside a sentence of ours."""
    return spoken_name(question.tool), spoken(question.label, _LONGEST_LABEL) or "?"
