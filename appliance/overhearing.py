"""What people say while the box waits for a hand on the button: it may refuse and stop, nothing else comes of it.

The ear is open inside the turn, but only while the box itself is silent, so that its own question answers nothing.
What is no answer is forgotten at once: no turn begins, no model gets it, and neither trace nor chat nor log has it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from appliance import events
from appliance.approve.ears import SpokenAnswer
from appliance.assistant import Assistant, letters
from appliance.assistant_parts import Parts
from appliance.clock import within
from appliance.errors import HearingError
from appliance.listen.ear import Utterance
from appliance.listen.earcons import Earcon
from appliance.ports import Transcriber

_LOG = logging.getLogger(__name__)

#: How often the ear looks whether it may be open.
_LOOK_SECONDS = 0.1
#: One opening of the ear; it is opened again and again, for as long as the question waits.
_OPEN_SECONDS = 600.0
#: An answer is a word or a few. What is longer is talk or television, and is not even transcribed.
_LONGEST_ANSWER_SECONDS = 4.0
#: A transcriber that needs longer for so little is stuck.
_LONGEST_TRANSCRIPTION_SECONDS = 15.0
#: The room's tail of our own last sound.
_ROOM_TAIL_SECONDS = 0.3


class Overhearing:
    """``Ears``, with the parts of the assistant. ``is_sounding`` tells whether the loudspeaker has anything to play."""

    def __init__(
        self, assistant: Assistant, parts: Parts, transcriber: Transcriber, *, is_sounding: Callable[[], bool]
    ) -> None:
        self._assistant = assistant
        self._parts = parts
        self._transcriber = transcriber
        self._is_sounding = is_sounding

    @property
    def can_hear(self) -> bool:
        """Whether the microphone works and is open."""
        return self._parts.ear.can_hear

    def asking(self, turn_id: str) -> AbstractContextManager[None]:
        """Inside the block that turn waits for the person."""
        return self._assistant.asking(turn_id)

    def stop(self) -> None:
        """End what goes on, with a sound that says so."""
        self._assistant.stop()
        self._parts.sound(Earcon.CLOSED)

    async def listen(self, turn_id: str, tell: Callable[[SpokenAnswer], None]) -> None:
        """Tell every answer that is heard in that turn, until cancelled; nothing is missed while one is transcribed."""
        discard_seconds = _ROOM_TAIL_SECONDS
        async with asyncio.TaskGroup() as understanding:
            while True:
                while not self._may_open(turn_id):
                    await self._parts.clock.sleep(_LOOK_SECONDS)
                heard = await self._hear(turn_id, discard_seconds)
                discard_seconds = 0.0 if heard is not None else _ROOM_TAIL_SECONDS
                if heard is not None and heard.utterance.speech_seconds <= _LONGEST_ANSWER_SECONDS:
                    understanding.create_task(self._understand(turn_id, heard, tell))

    # ------------------------------------------------------------------------------------------------- private

    def _may_open(self, turn_id: str) -> bool:
        ear = self._parts.ear
        return ear.can_hear and not ear.is_listening and self._may_stay_open(turn_id)

    def _may_stay_open(self, turn_id: str) -> bool:
        is_silent = not (self._parts.speaker.is_speaking or self._is_sounding())
        return is_silent and self._assistant.is_asking(turn_id)

    async def _hear(self, turn_id: str, discard_seconds: float) -> _Heard | None:
        """What somebody says next; None when the box itself begins to speak, or cannot hear any more."""
        own_words = ""

        def on_speech_started() -> None:
            nonlocal own_words
            own_words = self._parts.speaker.lately_said

        listening = asyncio.ensure_future(
            self._parts.ear.listen(
                no_speech_seconds=_OPEN_SECONDS,
                after_wake_word=False,
                discard_seconds=discard_seconds,
                is_overhearing=True,
                on_speech_started=on_speech_started,
            )
        )
        try:
            while not listening.done() and self._may_stay_open(turn_id):
                with contextlib.suppress(TimeoutError):
                    await within(self._parts.clock, _LOOK_SECONDS, asyncio.shield(listening))
            utterance = listening.result() if listening.done() else None
            return _Heard(utterance, own_words) if utterance is not None else None
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    async def _understand(self, turn_id: str, heard: _Heard, tell: Callable[[SpokenAnswer], None]) -> None:
        parts = self._parts
        try:
            transcribing = self._transcriber.transcribe(heard.utterance.audio)
            text = (await within(parts.clock, _LONGEST_TRANSCRIPTION_SECONDS, transcribing)).text
        except (HearingError, TimeoutError) as error:
            _LOG.warning("what was said to a question could not be transcribed: %s", error)
            return
        # What the room gives back is the end of what we said; it must not answer us.
        if letters(heard.own_words).endswith(letters(text)):
            return
        if parts.alarm.is_ringing:
            self._hear_of_alarm(text)
        elif answer := parts.offline.match_answer(text):
            parts.bus.publish(events.Transcribed(turn_id, parts.clock.monotonic_seconds(), text))
            tell(SpokenAnswer(answer))

    def _hear_of_alarm(self, text: str) -> None:
        """What is said while something rings is about that, as a press is: it silences, and the question waits on."""
        match = self._parts.offline.match_alert(text)
        if match is not None and match.tool == "box_stop":
            self._assistant.silence()


@dataclass(frozen=True)
class _Heard:
    """What somebody said, and what the box itself had said until a moment before."""

    utterance: Utterance
    own_words: str
