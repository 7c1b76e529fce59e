"""Endpointing: has the person begun to speak, paused, gone on, or finished?

A pure state machine: it is told how long each chunk was and how likely speech is in it, and answers with what that
means. It knows no clock and no sound, so every case is a test::

    waiting ──speech──> speaking ──silence──> soft end ──> pause ──more silence──> hard end
       └──nothing──> no speech   <──────speech, resumed──────┘
"""

from __future__ import annotations

import enum

from appliance.listen.config import ListenConfig
from appliance.listen.patience import manner_of

#: Speech goes on while its probability is at most this far below the threshold: one level for both ends flutters.
_HYSTERESIS = 0.15
#: A gap this long before speech has lasted its minimum makes what came before it a noise.
_FORGET_SECONDS = 0.3
#: What follows the lead-in must last this long to be more than the lead-in's own echo in the voice activity.
_BEYOND_LEAD_IN_SECONDS = 0.06
#: Less speech than this behind a lead-in may be its own end: nobody is asked whether it is a whole turn.
_TURN_SECONDS = 0.2
#: The wait for speech is stretched by at most this, for somebody who begins at its very end.
LATE_START_SECONDS = 0.5
#: Sums of chunk lengths are compared with this tolerance.
_EPSILON = 1e-6


class Endpoint(enum.StrEnum):
    """What a chunk meant."""

    SPEECH_STARTED = "speech_started"
    #: The person paused; perhaps this was all.
    SOFT_END = "soft_end"
    #: The silence has lasted long enough to ask (perhaps again) whether the turn is over.
    PAUSE = "pause"
    #: No, it was not: they speak again.
    RESUMED = "resumed"
    #: The utterance is over.
    HARD_END = "hard_end"
    #: Nobody spoke in time.
    NO_SPEECH = "no_speech"
    #: The utterance is over because it has become too long.
    TOO_LONG = "too_long"


#: Nothing comes after these.
ENDS = frozenset({Endpoint.HARD_END, Endpoint.NO_SPEECH, Endpoint.TOO_LONG})


class Endpointing:
    """Endpointing of one utterance. Times are seconds of sound since its first chunk.

    ``lead_in_seconds`` of sound at the start may hold the tail of a wake word: speech in it counts towards a command
    that follows without a pause, but alone it starts nothing. Sound that only warms up the voice activity is not
    given to ``hear`` at all: it is neither speech nor silence.
    """

    def __init__(self, rules: ListenConfig, *, no_speech_seconds: float, lead_in_seconds: float = 0.0) -> None:
        self._rules = rules
        manner = manner_of(rules)
        self._hard_end_seconds = rules.silence_seconds or manner.timer_seconds
        self._soft_end_seconds = min(rules.soft_end_seconds, self._hard_end_seconds)
        self._pauses_seconds = [max(self._soft_end_seconds, look.silence_seconds) for look in manner.looks]
        self._no_speech_seconds = no_speech_seconds
        self._lead_in_seconds = lead_in_seconds
        self._now = 0.0
        self._is_voiced = False
        self._has_started = False
        self._is_soft = False
        self._pauses_told = 0
        self._is_over = False
        self._speech_seconds = 0.0
        self._beyond_lead_in_seconds = 0.0
        self._speech_began = 0.0
        self._speech_ended = 0.0

    @property
    def is_over(self) -> bool:
        """Whether one of ``ENDS`` was returned."""
        return self._is_over

    @property
    def speech_began_at_seconds(self) -> float:
        """Start of the first chunk with speech; 0 when there was none."""
        return self._speech_began

    @property
    def speech_ended_at_seconds(self) -> float:
        """End of the last chunk with speech; 0 when there was none."""
        return self._speech_ended

    def hear(self, chunk_seconds: float, speech_probability: float) -> tuple[Endpoint, ...]:
        """What the next chunk means, in order; mostly nothing. After the end always nothing."""
        if self._is_over:
            return ()
        began, self._now = self._now, self._now + chunk_seconds
        # Speech needs the full threshold to begin and less to go on.
        needed = self._rules.speech_threshold - (_HYSTERESIS if self._is_voiced else 0.0)
        self._is_voiced = speech_probability >= needed
        if self._is_voiced:
            self._count_speech(began, chunk_seconds)
        found = self._while_speaking() if self._has_started else self._while_waiting()
        self._is_over = bool(found) and found[-1] in ENDS
        return found

    def _count_speech(self, began: float, chunk_seconds: float) -> None:
        if not self._has_started and (not self._speech_seconds or began - self._speech_ended >= _FORGET_SECONDS):
            self._speech_began = began
            self._speech_seconds = self._beyond_lead_in_seconds = 0.0
        self._speech_seconds += chunk_seconds
        self._beyond_lead_in_seconds += max(0.0, min(chunk_seconds, self._now - self._lead_in_seconds))
        self._speech_ended = self._now

    def _while_waiting(self) -> tuple[Endpoint, ...]:
        is_speech = self._speech_seconds >= self._rules.minimum_speech_seconds - _EPSILON
        if is_speech and self._beyond_lead_in_seconds >= _BEYOND_LEAD_IN_SECONDS - _EPSILON:
            self._has_started = True
            return (Endpoint.SPEECH_STARTED, *self._while_speaking())
        late = self._now - self._no_speech_seconds + _EPSILON
        may_be_starting = self._speech_seconds > 0.0 and self._silence_seconds < _FORGET_SECONDS
        if late >= (LATE_START_SECONDS if may_be_starting else 0.0):
            return (Endpoint.NO_SPEECH,)
        return ()

    def _while_speaking(self) -> tuple[Endpoint, ...]:
        if self._now - self._speech_began >= self._rules.longest_utterance_seconds - _EPSILON:
            return (Endpoint.TOO_LONG,)
        if self._is_voiced:
            was_soft, self._is_soft, self._pauses_told = self._is_soft, False, 0
            return (Endpoint.RESUMED,) if was_soft else ()
        found: tuple[Endpoint, ...] = ()
        if not self._is_soft and self._silence_seconds >= self._soft_end_seconds - _EPSILON:
            self._is_soft = True
            found = (Endpoint.SOFT_END,)
        if self._is_next_pause_here():
            self._pauses_told += 1
            found = (*found, Endpoint.PAUSE)
        if self._silence_seconds >= self._hard_end_seconds - _EPSILON:
            found = (*found, Endpoint.HARD_END)
        return found

    def _is_next_pause_here(self) -> bool:
        if self._pauses_told == len(self._pauses_seconds):
            return False
        if self._lead_in_seconds and self._beyond_lead_in_seconds < _TURN_SECONDS - _EPSILON:
            return False
        return self._silence_seconds >= self._pauses_seconds[self._pauses_told] - _EPSILON

    @property
    def _silence_seconds(self) -> float:
        return self._now - self._speech_ended
