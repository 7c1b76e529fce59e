"""Drafts: the model is asked ahead, while the person may still go on speaking.

As soon as the first words are text, the request for them is made, and the first sentence of its answer is synthesised.
When the turn is meant, with these very words, its request gets that answer; see ``think/drafted_endpoint.py``. All else
is thrown away: a draft runs no tool, makes no sound, and is in no history, no trace and no log.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Protocol

from appliance import events
from appliance.clock import Clock
from appliance.errors import ApplianceError
from appliance.first_request import FirstRequest
from appliance.ports import Json
from appliance.ports_think import ModelRequest
from appliance.speak.speech_text import Sentence, SpeechText
from appliance.think.drafted_endpoint import DraftedEndpoint

_LOG = logging.getLogger(__name__)

#: Who pauses more often than this in one turn is better waited for.
_MOST_DRAFTS = 3


class FirstSound(Protocol):
    """Synthesising ahead what may be said next (``Speaker``)."""

    def prepare_first(self, text: str) -> None:
        """Make the sound of this sentence now, for a line of the same text."""
        ...

    def prepare_first_words(self, words: str) -> None:
        """The same for a sentence of which only these words are known until now."""
        ...

    def forget_first(self) -> None:
        """Nobody will say it."""
        ...


@dataclass
class DraftCounts:
    """Drafts since the start."""

    begun: int = 0
    used: int = 0
    discarded: int = 0


class Drafts:
    """The drafts of one turn after the other. Everything returns at once."""

    def __init__(
        self,
        endpoint: DraftedEndpoint,
        first: FirstRequest,
        sound: FirstSound,
        *,
        clock: Clock,
        publish: Callable[[events.Event], None],
        language: str = "en",
    ) -> None:
        self._endpoint = endpoint
        self._first = first
        self._sound = sound
        self._clock = clock
        self._publish = publish
        self._language = language
        self._turn_id = ""
        self._left = 0
        self._beginning: asyncio.Task[None] | None = None
        self._counts = DraftCounts()

    @property
    def counts(self) -> Json:
        """How many were begun, used and discarded."""
        return asdict(self._counts)

    def open(self, turn_id: str) -> None:
        """A turn begins to listen."""
        self._turn_id, self._left = turn_id, _MOST_DRAFTS

    def begin(self, text: str) -> None:
        """This was said so far."""
        self.drop()
        if self._left:
            self._beginning = asyncio.create_task(self._begin(self._turn_id, text), name="begin a draft")

    def drop(self) -> None:
        """It was not all, or it was nothing."""
        self.settle()
        self._endpoint.drop()
        self._sound.forget_first()

    def settle(self) -> None:
        """What was said is known now: a draft that has not begun until now would come too late."""
        if self._beginning is not None:
            self._beginning.cancel()
            self._beginning = None

    def close(self) -> None:
        """The turn is over."""
        self._left = 0
        self.drop()

    async def _begin(self, turn_id: str, text: str) -> None:
        try:
            request = await self._first.of(turn_id, text)
            is_said_at_once = await self._first.may_be_said_at_once(turn_id)
        except ApplianceError as error:
            _LOG.info("there is no draft: %s", type(error).__name__)
            return
        if request is not None:
            self._ask(turn_id, request, is_said_at_once=is_said_at_once)

    def _ask(self, turn_id: str, request: ModelRequest, *, is_said_at_once: bool) -> None:
        self._left -= 1
        self._counts.begun += 1
        self._publish(events.DraftBegun(turn_id, self._clock.monotonic_seconds()))
        sound = self._sound if is_said_at_once else None
        self._endpoint.begin(request, _Watch(SpeechText(self._language), sound, self._ended(turn_id)))

    def _ended(self, turn_id: str) -> Callable[[bool], None]:
        def ended(is_used: bool) -> None:
            self._counts.used += is_used
            self._counts.discarded += not is_used
            self._publish(events.DraftEnded(turn_id, self._clock.monotonic_seconds(), is_used))

        return ended


class _Watch:
    """Has the first sentence synthesised that a draft says; ``sound`` is None where it may still be changed."""

    def __init__(self, text: SpeechText, sound: FirstSound | None, ended: Callable[[bool], None]) -> None:
        self._text = text
        self._sound = sound
        self._ended = ended

    def text(self, delta: str) -> None:
        """See ``DraftWatch``."""
        self._found(self._text.feed(delta))
        if self._sound is not None and (words := self._text.first_words()) is not None:
            self._sound.prepare_first_words(words.text)

    def whole(self) -> None:
        """See ``DraftWatch``."""
        self._found(self._text.end())

    def over(self, *, is_used: bool) -> None:
        """See ``DraftWatch``."""
        self._sound = None
        self._ended(is_used)

    def _found(self, sentences: list[Sentence]) -> None:
        if sentences and self._sound is not None:
            self._sound.prepare_first(sentences[0].text)
            self._sound = None
