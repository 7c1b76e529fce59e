"""The brain without a model: a sentence, a tool, and what the tool says.

It also answers first for what must never wait for a model (stop, cancel, volume, mute), and for what is said while
something rings. A tool that lacks something asks for it; the next words then fill the gap.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from appliance.catalogue import Catalogue
from appliance.clock import Clock
from appliance.events import Outcome
from appliance.ports import Json
from appliance.think.brain import BrainAnswer, Hands, Question
from appliance.think.items import assistant_message, call_output
from appliance.think.sentences import Match, Sentences
from appliance.think.spoken_duration import parse_duration
from appliance.think.spoken_time import parse_when
from appliance.tools.tool import ToolCall, ToolResult

#: How long a question of ours waits for the words that fill it.
_OPEN_SECONDS = 60.0
#: Tools whose answers count as something that was done.
_DOING = frozenset(
    (
        *("box_timer_set", "box_timer_add", "box_timer_cancel", "box_alarm_set", "box_reminder_set", "box_snooze"),
        *("box_volume", "box_speech_rate", "box_mute"),
    )
)


@dataclass(frozen=True)
class _OpenQuestion:
    """What the box asked back: the call that waits for ``match.ask``, and until when."""

    match: Match
    until_seconds: float


class OfflineBrain:
    """A ``Brain``. ``has_model`` says whether a model is configured, only for the words of "I don't know"."""

    def __init__(self, sentences: Sentences, catalogue: Catalogue, clock: Clock, *, has_model: bool = False) -> None:
        self._sentences = sentences
        self._catalogue = catalogue
        self._clock = clock
        self._has_model = has_model
        self._open: _OpenQuestion | None = None

    async def warm_up(self) -> None:
        """Parse the sentences in a thread, so that the first match is quick. Raises ``ConfigError``."""
        await asyncio.to_thread(self._sentences.load)

    def match(self, text: str) -> Match | None:
        """What ``text`` asks for; None when it is for a model. Some milliseconds after ``warm_up``."""
        return self._sentences.match(text)

    def match_alert(self, text: str) -> Match | None:
        """What ``text`` asks for while something rings: stop, snooze, "okay" and their like, else None."""
        return self._sentences.match_alert(text)

    def match_answer(self, text: str) -> str:
        """What ``text`` answers to a question that waits for the button: no, stop, yes; "" for everything else."""
        return self._sentences.match_answer(text)

    async def answer(
        self, question: Question, hands: Hands, *, is_alert: bool = False, unknown_key: str = ""
    ) -> BrainAnswer:
        """Answer, or say that the model is not there, or what stands under ``unknown_key``.

        Never raises ``BrainError``.
        """
        match = self.match_alert(question.text) if is_alert else self._understand(question.text)
        self._open = None
        if match is None:
            return self._say(hands, self._unknown(question.text, unknown_key))
        if not match.tool:
            return self._say(hands, self._catalogue.say(match.say_key), is_remembered=match.is_remembered)
        call = ToolCall(hands.next_call_id(), match.tool, match.arguments)
        result = await hands.run(call)
        return self._tell(hands, match, call, result)

    def _understand(self, text: str) -> Match | None:
        """A sentence of ours, else the missing piece of what we asked about."""
        match = self.match(text)
        if match is None and self._open is not None and self._clock.monotonic_seconds() < self._open.until_seconds:
            return filled(self._open.match, self._sentences.clean(text))
        return match

    def _tell(self, hands: Hands, match: Match, call: ToolCall, result: ToolResult) -> BrainAnswer:
        is_for_people = result.outcome is Outcome.OK or (result.outcome is Outcome.FAILED and not result.error)
        text = result.text if is_for_people else self._catalogue.say("offline.not_done")
        is_question = text.rstrip().endswith("?")
        if is_question and match.ask:
            self._open = _OpenQuestion(match, self._clock.monotonic_seconds() + _OPEN_SECONDS)
        is_done = result.outcome is Outcome.OK and match.tool in _DOING and not is_question
        answer = self._say(hands, text, is_remembered=match.is_remembered)
        items = (_call_item(call), call_output(call.call_id, result.text), *answer.items)
        return replace(answer, items=items, did=(text,) if is_done else ())

    def _unknown(self, text: str, key: str = "") -> str:
        if not self._sentences.clean(text):
            return self._catalogue.say("offline.nothing")
        if key:
            return self._catalogue.say(key)
        return self._catalogue.say("offline.model_away" if self._has_model else "offline.no_model")

    def _say(self, hands: Hands, text: str, *, is_remembered: bool = True) -> BrainAnswer:
        hands.say(text)
        return BrainAnswer(
            reply_text=text,
            items=(assistant_message(text),),
            wants_answer=text.rstrip().endswith("?"),
            is_remembered=is_remembered,
        )


def filled(match: Match, text: str) -> Match | None:
    """``match`` with the first thing that it asks for taken from ``text`` (canonical words); None when not there."""
    slot, *others = match.ask
    value = _FILLERS[slot](text)
    return None if value is None else replace(match, arguments={**match.arguments, **value}, ask=tuple(others))


def _seconds(text: str) -> Mapping[str, Json] | None:
    """``5 minutes``, ``for half an hour``; a bare number is minutes."""
    length = text.removeprefix("for ")
    seconds = parse_duration(length) or parse_duration(f"{length} minutes")
    return None if seconds is None else {"seconds": seconds}


def _when(text: str) -> Mapping[str, Json] | None:
    """``at 6``, ``6``, ``tomorrow at 7``, ``10 minutes``."""
    for phrase in (text, f"at {text}", f"in {text}"):
        when = parse_when(phrase)
        if when is not None:
            return when.arguments
    return None


def _name(text: str) -> Mapping[str, Json] | None:
    """``the pasta one``, ``pasta``, ``all of them``."""
    name = re.sub(r"^(?:the|my|that) | (?:1|one|timer|alarm|reminder)$", "", text)
    return {"name": name} if 1 <= len(name.split()) <= 4 else None


def _text(text: str) -> Mapping[str, Json] | None:
    """``to call mom``."""
    return {"text": re.sub(r"^(?:(?:that|to|about|of|remind me|i should|i have) )+", "", text)} if text else None


_FILLERS = {"seconds": _seconds, "when": _when, "name": _name, "text": _text}


def _call_item(call: ToolCall) -> Mapping[str, Json]:
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
    return {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": arguments}
