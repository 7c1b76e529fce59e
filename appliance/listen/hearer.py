"""The hearer opens the ear once and gives back what was said, as text.

Transcribing starts at the soft end of speech, while the ear still waits to see whether the person goes on; so the
pause that ends an utterance costs nothing. Where there is a turn detector that pause is short when the person sounds
finished, and long when not; see ``work_ahead``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from appliance import events
from appliance.audio import AudioChunk
from appliance.clock import Clock, within
from appliance.errors import HearingError
from appliance.events import Event
from appliance.listen.config import ListenConfig
from appliance.listen.ear import Utterance
from appliance.listen.earcons import Earcon
from appliance.listen.opening import Opening, OpeningKind
from appliance.listen.patience import manner_of
from appliance.listen.unfinished import is_unfinished
from appliance.listen.work_ahead import Drafting, TurnJudge, WorkAhead
from appliance.ports import Transcriber, Transcript
from appliance.ports_hearing import TurnDetector

#: A transcriber that needs longer than this is stuck: the slowest board takes some seconds for a long utterance.
_LONGEST_TRANSCRIPTION_SECONDS = 60.0
#: While a finger holds the button the person says when it is over; this is for a button that something lies on.
_HELD_SILENCE_SECONDS = 5.0


class Listening(Protocol):
    """What the hearer needs of the ear."""

    async def listen(
        self,
        *,
        no_speech_seconds: float,
        after_wake_word: bool,
        discard_seconds: float = 0.0,
        on_speech_started: Callable[[], None] | None = None,
        rules: ListenConfig | None = None,
        on_soft_end: Callable[[AudioChunk], None] | None = None,
        on_pause: Callable[[AudioChunk], None] | None = None,
        on_resumed: Callable[[], None] | None = None,
    ) -> Utterance | None:
        """One utterance, or None when nothing was said."""
        ...

    def finish_utterance(self) -> None:
        """It is over now."""
        ...


class Hearer:
    """Hears one utterance at a time. ``rules`` are the owner's, as they are now; see ``ListenConfig``."""

    def __init__(
        self,
        ear: Listening,
        transcriber: Transcriber,
        clock: Clock,
        *,
        publish: Callable[[Event], None],
        sound: Callable[[Earcon], None],
        turn_detector: TurnDetector | None = None,
        rules: Callable[[], ListenConfig] = ListenConfig,
        language: str = "en",
        room_tail_seconds: float = 0.3,
    ) -> None:
        self._ear = ear
        self._transcriber = transcriber
        self._clock = clock
        self._publish = publish
        self._sound = sound
        self._turn_detector = turn_detector
        self._rules = rules
        self._language = language
        self._room_tail_seconds = room_tail_seconds

    async def hear(self, turn_id: str, opening: Opening, drafting: Drafting | None = None) -> str:
        """What was said, "" for nothing. Raises ``HearingError``, also when transcribing never ends.

        ``drafting`` is told of the words as soon as they are there, and when they were not all.
        """
        if opening.is_addressed:
            self._sound(Earcon.WOKE)
        rules, judge = self._rules_for(opening)
        ahead = WorkAhead(
            self._transcriber,
            judge,
            self._ear.finish_utterance,
            is_no_turn=lambda text: opening.is_its_word(text) or is_unfinished(text, self._language),
            drafting=drafting,
        )
        try:
            utterance = await self._ear.listen(
                no_speech_seconds=opening.no_speech_seconds,
                after_wake_word=opening.is_addressed,
                discard_seconds=self._room_tail_seconds if opening.follows_our_sound else 0.0,
                on_speech_started=lambda: self._publish(events.SpeechStarted(turn_id, self._now())),
                rules=rules,
                on_soft_end=ahead.begin,
                on_pause=ahead.decide,
                on_resumed=ahead.drop,
            )
            ahead.stop_deciding()
            if utterance is None:
                return self._nothing(opening)
            self._publish(events.SpeechEnded(turn_id, self._now(), utterance.speech_seconds))
            if opening.is_addressed:
                self._sound(Earcon.HEARD)
            transcript = await self._text_of(utterance, ahead.transcript)
        finally:
            ahead.close()
        self._publish(events.Transcribed(turn_id, self._now(), transcript.text))
        return transcript.text if transcript.text.strip() else self._nothing(opening)

    def _rules_for(self, opening: Opening) -> tuple[ListenConfig, TurnJudge | None]:
        """When the utterance is over, and who may say so earlier."""
        rules = self._rules()
        if opening.is_held:
            return replace(rules, silence_seconds=_HELD_SILENCE_SECONDS), None
        # A recording comes faster than anybody can judge it.
        if self._turn_detector is None or opening.kind is OpeningKind.RECORDING:
            return rules, None
        manner = manner_of(rules)
        judge = TurnJudge(self._turn_detector, manner, self._clock)
        if opening.kind is OpeningKind.ALERT or rules.silence_seconds:
            return rules, judge  # The next ring does not wait, and the owner's own figure holds.
        return replace(rules, silence_seconds=manner.longest_silence_seconds), judge

    async def _text_of(self, utterance: Utterance, early: asyncio.Task[Transcript] | None) -> Transcript:
        work = early or self._transcriber.transcribe(utterance.audio)
        try:
            return await within(self._clock, _LONGEST_TRANSCRIPTION_SECONDS, work)
        except TimeoutError as error:
            raise HearingError(f"transcribing took longer than {_LONGEST_TRANSCRIPTION_SECONDS:g} s") from error

    def _nothing(self, opening: Opening) -> str:
        if opening.is_addressed:
            self._sound(Earcon.CLOSED)
        return ""

    def _now(self) -> float:
        return self._clock.monotonic_seconds()
