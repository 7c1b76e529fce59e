"""Joins the ringer to the house: its sounds go to the alert lane, its gaps open the ear without a wake word."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from appliance.assistant import Assistant
from appliance.audio import AudioChunk
from appliance.clock import Clock
from appliance.device.entry import Due, RingEnding
from appliance.device.entry_words import EntryWords
from appliance.device.ringer import Ringer, RingPorts
from appliance.device.schedule import Schedule
from appliance.errors import StoreError
from appliance.listen.ear import Ear
from appliance.listen.opening import Opening, OpeningKind
from appliance.ports import Priority
from appliance.speak.mixer import Lane, Mixer
from appliance.speak.speaker import Speaker
from appliance.turn import TurnState

_LOG = logging.getLogger(__name__)

#: A ring lets a turn that is on come to its end, but not for longer than this: a tool may run for minutes.
_LONGEST_COURTESY_SECONDS = 15.0
_LOOK_SECONDS = 0.1


@dataclass
class RingAlarm:
    """The assistant's ``Alarm``: what rings while no turn is on."""

    mixer: Mixer
    ringer: Ringer | None = None

    @property
    def is_ringing(self) -> bool:
        """Whether something rings, also between two bursts."""
        return self.ringer is not None and bool(self.ringer.ringing)

    def pause(self) -> None:
        """Cut the burst that sounds; the next one waits for the person's turn."""
        self.mixer.flush(Lane.ALERT)

    def dismiss(self) -> bool:
        """Stop ringing for good; False when nothing rings."""
        if self.ringer is None or not self.ringer.stop():
            return False
        self.mixer.flush(Lane.ALERT)
        return True


class RingRoom:
    """Where it rings: the speaker and the ear, shared with the turns."""

    def __init__(self, assistant: Assistant, ear: Ear, speaker: Speaker, mixer: Mixer, clock: Clock) -> None:
        self._assistant = assistant
        self._ear = ear
        self._speaker = speaker
        self._mixer = mixer
        self._clock = clock

    def ports(
        self, words: Callable[[Sequence[Due]], str], ended: Callable[[Due, RingEnding, float], Awaitable[None]]
    ) -> RingPorts:
        """What the ringer needs."""
        return RingPorts(
            play=self.play, say=self.say, gap=self.gap, tell=self._assistant.notice, words=words, ended=ended
        )

    async def play(self, sound: AudioChunk) -> None:
        """One burst of the bell."""
        await self._let_turn_end()
        clip = self._mixer.open_clip(Lane.ALERT)
        clip.write(sound)
        clip.end()
        try:
            await clip.finished()
        finally:
            clip.drop()

    async def say(self, text: str) -> None:
        """What it rings for, unless the person has begun to speak meanwhile."""
        await self._let_turn_end()
        saying = self._speaker.say(text, Priority.ALERT)
        try:
            await saying.finished()
        finally:
            saying.withdraw()

    async def gap(self, seconds: float) -> None:
        """Silence in which "stop" or "snooze" needs no wake word; such a turn ends the ring through its tool."""
        if self._assistant.is_busy or not self._ear.can_hear:
            await self._clock.sleep(seconds)
            return
        await self._assistant.take_turn(Opening(OpeningKind.ALERT, "alert", seconds))

    async def _let_turn_end(self) -> None:
        waited_seconds = 0.0
        # A turn that waits for a person may wait for a minute, and a bell brings them.
        while (
            self._assistant.is_busy and not self._is_waiting_for_person and waited_seconds < _LONGEST_COURTESY_SECONDS
        ):
            await self._clock.sleep(_LOOK_SECONDS)
            waited_seconds += _LOOK_SECONDS

    @property
    def _is_waiting_for_person(self) -> bool:
        return self._assistant.state == TurnState.ASKING and not self._speaker.is_speaking


class MissedRings:
    """What rang and nobody answered: told to the first person who is heard again."""

    def __init__(self, schedule: Schedule, words: EntryWords, notice: Callable[[str, str], None]) -> None:
        self._schedule = schedule
        self._words = words
        self._notice = notice

    async def tell(self) -> None:
        """Somebody is there."""
        try:
            for entry in await self._schedule.take_missed():
                self._notice(f"missed-{entry.entry_id}", self._words.missed(entry))
        except StoreError as error:
            _LOG.error("what was missed stays stored, and will be told again after a restart: %s", error)
