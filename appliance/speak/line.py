"""A line: one thing said without a break, such as a sentence of the reply or a tool's announcement."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable

from appliance.ports import CommitGate, Priority
from appliance.speak.clip import Clip
from appliance.speak.growing_text import GrowingText
from appliance.speak.mixer import Lane
from appliance.speak.synthesis import CHARACTERS_PER_SECOND, Synthesis

_numbers = itertools.count()


class Line:
    """What to say, under which conditions, and how much of it was heard.

    It sounds when ``gate`` is committed and ``hold`` (asked again and again) is false. ``generation`` is the
    mixer's for its lane when it was planned: after a flush it never sounds. ``on_started`` is called once, on the
    loop, when it begins to sound. With ``growing``, ``text`` is only how it begins, until ``end_text``; then
    ``on_started`` may come before the text is known to its end. The attributes below ``on_started`` belong to the
    ``LinePlayer``.
    """

    def __init__(
        self,
        text: str,
        generation: int,
        *,
        priority: Priority = Priority.REPLY,
        turn_id: str = "",
        gate: CommitGate | None = None,
        hold: Callable[[], bool] | None = None,
        on_started: Callable[[], None] | None = None,
        growing: GrowingText | None = None,
    ) -> None:
        self.text = text
        self.growing = growing
        self.generation = generation
        self.priority = priority
        self.turn_id = turn_id
        self.gate = gate
        self.hold = hold
        self.on_started = on_started
        self.number = next(_numbers)
        self.is_committed = gate is None
        self.has_started = False
        self.synthesis: Synthesis | None = None
        self._clip: Clip | None = None
        self._share_before = 0.0
        self._over = asyncio.Event()

    def end_text(self, sentence: str) -> None:
        """The text that was growing is whole."""
        assert self.growing is not None
        self.text = self.growing.end(sentence)

    @property
    def lane(self) -> Lane:
        """Where it sounds."""
        return Lane.ALERT if self.priority is Priority.ALERT else Lane.SPEECH

    @property
    def clip(self) -> Clip | None:
        """Its sound in the mixer; None until there is any."""
        return self._clip

    @clip.setter
    def clip(self, clip: Clip) -> None:
        # A line that an alert cut is said again from its start; the person heard the longer of the two.
        self._share_before = self._heard_share()
        self._clip = clip

    @property
    def is_over(self) -> bool:
        """Whether it was said, cut or given up."""
        return self._over.is_set()

    @property
    def heard_text(self) -> str:
        """The words that have really sounded until now."""
        return heard_words(self.text, max(self._share_before, self._heard_share()))

    def finish(self) -> None:
        """It is over, however that came."""
        self._over.set()

    async def finished(self) -> str:
        """Wait until it is over; the words that were heard."""
        await self._over.wait()
        return self.heard_text

    def _heard_share(self) -> float:
        clip = self._clip
        if clip is None or clip.heard_seconds == 0.0:
            return 0.0
        if clip.is_ended and not clip.is_dropped and clip.is_over:
            return 1.0
        longest = clip.written_seconds
        if not clip.is_ended:  # Cut while its sound was still being made: its length is a guess.
            longest = max(longest, len(self.text) / CHARACTERS_PER_SECOND)
        return clip.heard_seconds / longest


def heard_words(text: str, share: float) -> str:
    """The words at the start of ``text`` that are whole within the first ``share`` (0 to 1) of its sound.

    Sound is taken to be spread evenly over the characters.
    """
    if share >= 1.0:
        return text
    words = text.split()
    length = len(" ".join(words))
    heard: list[str] = []
    for word in words:
        if len(" ".join([*heard, word])) > share * length:
            break
        heard.append(word)
    return " ".join(heard)
