"""Looks twice a second whether both directions of a sound card still do what they should.

Devices break in ways that tell nobody: they stand still, run wild, deliver zeros, or lie there unopened after the
machine slept. What is found is only said; the card acts on it.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

from appliance.adapters.sound_devices import Direction
from appliance.adapters.sound_pace import Pace, PerfectSilence
from appliance.adapters.sound_streams import Loudspeaker, Microphone
from appliance.clock import Clock

#: How often to look.
LOOK_SECONDS = 0.5
#: A machine that slept for less does not know it itself.
_SLEEP_SECONDS = 1.0


class Trouble(enum.Enum):
    """What was found."""

    #: Both directions are to be opened anew.
    SLEPT = enum.auto()
    MICROPHONE = enum.auto()
    SPEAKER = enum.auto()
    #: The microphone is to be opened anew, to see whether that helps.
    PERFECT_SILENCE = enum.auto()


@dataclass(frozen=True)
class Found:
    """``why`` is for the log."""

    trouble: Trouble
    why: str


class SoundWatch:
    """``asleep`` tells how long the machine has slept since it was switched on."""

    def __init__(self, clock: Clock, asleep: Callable[[], float]) -> None:
        self._clock = clock
        self._asleep = asleep
        self._slept_seconds = asleep()
        self._silence = PerfectSilence()
        self._watched: dict[Direction, tuple[object, Pace]] = {}
        self._faults = dict.fromkeys(Direction, 0)

    @property
    def is_microphone_dead(self) -> bool:
        """Whether a microphone that has noise of its own gives nothing but zeros, and opening it anew did not help."""
        return self._silence.is_dead

    def look(self, microphone: Microphone | None, speaker: Loudspeaker | None) -> list[Found]:
        """What is wrong with the streams that are open; call it every ``LOOK_SECONDS``."""
        slept, self._slept_seconds = self._asleep() - self._slept_seconds, self._asleep()
        if slept >= _SLEEP_SECONDS:
            self._watched.clear()
            return [Found(Trouble.SLEPT, f"the machine slept for {slept:.0f} s")]
        found = []
        if why := self._pace(Direction.INPUT, microphone):
            found.append(Found(Trouble.MICROPHONE, why))
        elif self._is_silent(microphone):
            found.append(Found(Trouble.PERFECT_SILENCE, "the microphone gives nothing but zeros"))
        if why := self._pace(Direction.OUTPUT, speaker):
            found.append(Found(Trouble.SPEAKER, why))
        return found

    def _pace(self, direction: Direction, stream: Microphone | Loudspeaker | None) -> str:
        if stream is None:
            self._watched.pop(direction, None)
            return ""
        known, pace = self._watched.get(direction, (None, None))
        if pace is None or known is not stream:
            pace = Pace(stream.rate_hz, self._faults[direction])
            self._watched[direction] = (stream, pace)
        wrong = pace.look(stream.frames, self._clock.monotonic_seconds())
        if pace.is_proven:
            self._faults[direction] = 0
        if not wrong:
            return ""
        self._faults[direction] += 1
        del self._watched[direction]
        return f"the {direction} {stream.device.name!r} {wrong}"

    def _is_silent(self, microphone: Microphone | None) -> bool:
        if microphone is None:
            self._silence.pause()
            return False
        has_sounded, microphone.has_sounded = microphone.has_sounded, False
        return self._silence.look(has_sounded, self._clock.monotonic_seconds())
