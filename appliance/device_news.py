"""Tells when a sound device is lost and when it is back: by light, and by voice where that can be heard and disturbs
nobody; once each, however often it was tried meanwhile. What comes back at once is not told at all.
"""

from __future__ import annotations

import enum
import logging
from collections.abc import Callable

from appliance.clock import Clock
from appliance.events import ErrorRaised, Event
from appliance.listen.ear import Ear
from appliance.ports import SoundCard

_LOG = logging.getLogger(__name__)

_LOOK_SECONDS = 0.5
#: A loss that is shorter, and a return that is shorter, is not told.
_BLINK_SECONDS, _RETURN_SECONDS = 2.0, 3.0
#: What is lost again so soon is loose: from then on only what stays for a while is told.
_LOOSE_WITHIN_SECONDS = 60.0
_LOOSE_SECONDS = 30.0
#: The light tells at once, the voice so much later: by then it is known whether the speaker is lost as well.
_VOICE_LATER_SECONDS = 3.0


class Change(enum.Enum):
    """What is to be told."""

    LOST = enum.auto()
    FOUND = enum.auto()


class Loss:
    """One device on its way from well to lost and back. One that was never there is not lost."""

    def __init__(self) -> None:
        #: Whether it was told to be lost and not yet to be back.
        self.is_told = False
        self._is_well: bool | None = None
        self._since = 0.0
        self._returned_at: float | None = None
        self._is_loose = False

    def look(self, is_well: bool, now: float) -> Change | None:
        """What is to be told now, by how it is at this moment."""
        if is_well is not self._is_well:
            self._turn(is_well, now)
        if self._is_well is None:
            return None
        patience = _LOOSE_SECONDS if self._is_loose else _RETURN_SECONDS if is_well else _BLINK_SECONDS
        if is_well is not self.is_told or now - self._since < patience:
            return None
        self.is_told = not is_well
        return Change.FOUND if is_well else Change.LOST

    def _turn(self, is_well: bool, now: float) -> None:
        if self._is_well is None and not is_well:
            return
        if is_well:
            self._returned_at = now if self._is_well is not None else None
        else:
            returned_at = self._returned_at
            self._is_loose = returned_at is not None and now - returned_at < _LOOSE_WITHIN_SECONDS
        self._is_well, self._since = is_well, now


class DeviceNews:
    """``say`` gets the key of a catalogue sentence; ``is_quiet`` tells quiet hours, in which only the light tells."""

    def __init__(
        self,
        card: SoundCard,
        ear: Ear,
        clock: Clock,
        publish: Callable[[Event], None],
        *,
        say: Callable[[str], None],
        is_quiet: Callable[[], bool],
    ) -> None:
        #: Why the microphone was lost, for the log and the trace.
        self.reason = ""
        self._card = card
        self._ear = ear
        self._clock = clock
        self._publish = publish
        self._say = say
        self._is_quiet = is_quiet
        self._microphone, self._speaker = Loss(), Loss()
        self._told_at = 0.0
        # The microphone's loss is long enough for words; they are still to be said.
        self._is_in_words = self._is_unsaid = False
        self._is_death_told = False

    async def run(self) -> None:
        """For ever."""
        while True:
            self.look()
            await self._clock.sleep(_LOOK_SECONDS)

    def look(self) -> None:
        """See how the devices are, and tell what there is to tell."""
        now = self._clock.monotonic_seconds()
        self._tell_of_speaker(self._speaker.look(bool(self._card.info.speaker), now))
        if not self._ear.is_muted:
            self._tell_of_microphone(self._microphone.look(self._ear.can_hear, now))
        if self._card.info.is_microphone_dead and not self._is_death_told:
            self._is_death_told = True
            self._light("listening", "the microphone gives nothing but zeros")
            self._voice("assistant.microphone_dead")

    def _tell_of_microphone(self, change: Change | None) -> None:
        now = self._clock.monotonic_seconds()
        if change is Change.LOST:
            self._told_at, self._is_in_words = now, False
            self._light("listening", self.reason or "the microphone is lost")
        elif change is Change.FOUND and self._is_in_words:
            self._voice("assistant.microphone_back")
        if not self._microphone.is_told or self._ear.can_hear:
            return
        if not self._is_in_words and now - self._told_at >= _VOICE_LATER_SECONDS:
            self._is_in_words = self._is_unsaid = True
        if self._is_in_words and self._is_unsaid:
            self._is_unsaid = not self._voice("assistant.microphone_lost")

    def _tell_of_speaker(self, change: Change | None) -> None:
        if change is Change.LOST:
            self._light("speaker", "the speaker is lost")
        elif change is Change.FOUND and not self._microphone.is_told:
            # Else the microphone's own sentence will be heard through it.
            self._voice("assistant.speaker_back")

    def _light(self, where: str, message: str) -> None:
        _LOG.warning("%s", message)
        self._publish(ErrorRaised("", self._clock.monotonic_seconds(), where, message))

    def _voice(self, key: str) -> bool:
        """Say it if it can be heard now; whether it could."""
        if self._is_quiet() or not self._card.info.speaker:
            return False
        self._say(key)
        return True
