"""The hearer opens the ear once and gives back what was said, as text.

Transcribing starts at the soft end of speech, while the ear still waits to see whether the person goes on; the work
is thrown away when they do. So the pause that ends an utterance costs nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from appliance import events
from appliance.audio import AudioChunk
from appliance.clock import Clock, within
from appliance.errors import HearingError
from appliance.events import Event
from appliance.listen.ear import Utterance
from appliance.listen.earcons import Earcon
from appliance.listen.opening import Opening
from appliance.ports import Transcriber, Transcript

#: A transcriber that needs longer than this is stuck: the slowest board takes some seconds for a long utterance.
_LONGEST_TRANSCRIPTION_SECONDS = 60.0


class Listening(Protocol):
    """What the hearer needs of the ear."""

    async def listen(
        self,
        *,
        no_speech_seconds: float,
        after_wake_word: bool,
        discard_seconds: float = 0.0,
        on_speech_started: Callable[[], None] | None = None,
        on_soft_end: Callable[[AudioChunk], None] | None = None,
        on_resumed: Callable[[], None] | None = None,
    ) -> Utterance | None:
        """One utterance, or None when nothing was said."""
        ...


class Hearer:
    """Hears one utterance at a time."""

    def __init__(
        self,
        ear: Listening,
        transcriber: Transcriber,
        clock: Clock,
        *,
        publish: Callable[[Event], None],
        sound: Callable[[Earcon], None],
        room_tail_seconds: float = 0.3,
    ) -> None:
        self._ear = ear
        self._transcriber = transcriber
        self._clock = clock
        self._publish = publish
        self._sound = sound
        self._room_tail_seconds = room_tail_seconds

    async def hear(self, turn_id: str, opening: Opening) -> str:
        """What was said, "" for nothing. Raises ``HearingError``, also when transcribing never ends."""
        if opening.is_addressed:
            self._sound(Earcon.WOKE)
        early: asyncio.Task[Transcript] | None = None

        def on_soft_end(so_far: AudioChunk) -> None:
            nonlocal early
            on_resumed()
            early = asyncio.ensure_future(self._transcriber.transcribe(so_far))

        def on_resumed() -> None:
            nonlocal early
            if early is not None:
                early.cancel()
                early = None

        try:
            utterance = await self._ear.listen(
                no_speech_seconds=opening.no_speech_seconds,
                after_wake_word=opening.is_addressed,
                discard_seconds=self._room_tail_seconds if opening.follows_our_sound else 0.0,
                on_speech_started=lambda: self._publish(events.SpeechStarted(turn_id, self._now())),
                on_soft_end=on_soft_end,
                on_resumed=on_resumed,
            )
            if utterance is None:
                return self._nothing(opening)
            self._publish(events.SpeechEnded(turn_id, self._now(), utterance.speech_seconds))
            if opening.is_addressed:
                self._sound(Earcon.HEARD)
            transcript = await self._text_of(utterance, early)
        finally:
            on_resumed()
        self._publish(events.Transcribed(turn_id, self._now(), transcript.text))
        return transcript.text if transcript.text.strip() else self._nothing(opening)

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
