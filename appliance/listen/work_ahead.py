"""What is worked out while the ear is still open: the text so far, and whether the person has finished.

The text is begun at the soft end of speech, the question is asked at each pause; all of it is dropped when the person
goes on. The turn is over when the turn detector is sure and the words may be all of it: a cough, the tail of the wake
word, or "set a timer for" is no turn, however final it sounds. Waiting for the words costs nothing, for nothing can
be done before they are there, and who goes on meanwhile is still heard.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from appliance.audio import AudioChunk
from appliance.clock import Clock
from appliance.errors import ApplianceError, WeightsError
from appliance.listen.patience import Look, Manner
from appliance.ports import Transcriber, Transcript
from appliance.ports_hearing import TurnDetector

_LOG = logging.getLogger(__name__)


class Drafting(Protocol):
    """Begins to work on what was said so far, while the person may still go on. Both return at once."""

    def begin(self, text: str) -> None:
        """This was said so far; instead of what was told before."""
        ...

    def drop(self) -> None:
        """The person goes on."""
        ...


class TurnJudge:
    """The turn detector with the owner's patience. Where it fails, the timer that holds without one takes over."""

    def __init__(self, detector: TurnDetector, manner: Manner, clock: Clock) -> None:
        self._detector = detector
        self._manner = manner
        self._clock = clock

    @property
    def looks(self) -> tuple[Look, ...]:
        """When it is to be asked."""
        return self._manner.looks

    async def is_finished(self, so_far: AudioChunk, look: Look) -> bool:
        """Whether the person has finished, who has just been silent for as long as ``look`` says."""
        try:
            probability = await self._detector.finished_probability(so_far)
        except ApplianceError as error:
            # That there are no weights was told when they were to be loaded.
            level = logging.DEBUG if isinstance(error, WeightsError) else logging.WARNING
            _LOG.log(level, "nobody can tell whether the person has finished, so the timer does: %s", error)
            await self._clock.sleep(self._manner.timer_seconds - look.silence_seconds)
            return True
        return probability >= look.finished_probability


class WorkAhead:
    """For one utterance; ``finish`` is called once the turn is over, never without a ``judge``.

    ``is_no_turn`` tells of texts that are none, or not all of it. ``drafting`` is told of all others at once.
    """

    def __init__(
        self,
        transcriber: Transcriber,
        judge: TurnJudge | None,
        finish: Callable[[], None],
        is_no_turn: Callable[[str], bool],
        drafting: Drafting | None = None,
    ) -> None:
        self._transcriber = transcriber
        self._judge = judge
        self._finish = finish
        self._is_no_turn = is_no_turn
        self._drafting = drafting
        self._transcript: asyncio.Task[Transcript] | None = None
        #: One for each look at this silence.
        self._decisions: list[asyncio.Task[None]] = []

    @property
    def transcript(self) -> asyncio.Task[Transcript] | None:
        """The text of the utterance as it was at its soft end; None when the person has gone on since."""
        return self._transcript

    def begin(self, so_far: AudioChunk) -> None:
        """The person may have finished."""
        self.drop()
        self._transcript = asyncio.ensure_future(self._transcriber.transcribe(so_far))
        self._transcript.add_done_callback(self._draft)

    def decide(self, so_far: AudioChunk) -> None:
        """The person has been silent for as long as the next look says."""
        if self._judge is not None:
            look = self._judge.looks[len(self._decisions)]
            self._decisions.append(asyncio.ensure_future(self._decide(self._judge, so_far, look)))

    def stop_deciding(self) -> None:
        """The utterance is over."""
        for decision in self._decisions:
            decision.cancel()
        self._decisions.clear()

    def drop(self) -> None:
        """The person goes on."""
        self.close()
        if self._drafting is not None:
            self._drafting.drop()

    def close(self) -> None:
        """Nothing more is to be worked out; what was drafted from the text stays."""
        self.stop_deciding()
        if self._transcript is not None:
            self._transcript.cancel()
            self._transcript = None

    def _draft(self, transcript: asyncio.Task[Transcript]) -> None:
        is_wanted = transcript is self._transcript and not transcript.cancelled() and transcript.exception() is None
        if self._drafting is not None and is_wanted and self._is_turn(transcript.result().text):
            self._drafting.begin(transcript.result().text)

    async def _decide(self, judge: TurnJudge, so_far: AudioChunk, look: Look) -> None:
        if await judge.is_finished(so_far, look) and await self._may_be_all():
            self._finish()

    async def _may_be_all(self) -> bool:
        if self._transcript is None:
            return False
        try:
            # Shielded: the text is still wanted when the question is not.
            text = (await asyncio.shield(self._transcript)).text
        except ApplianceError:
            return True  # Whoever wants the text is told.
        return self._is_turn(text)

    def _is_turn(self, text: str) -> bool:
        return bool(text.strip()) and not self._is_no_turn(text)
