"""Collecting one utterance: the sound from a little before the first word to a little behind the last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from appliance.audio import HEARING_FORMAT, AudioChunk, Samples
from appliance.listen.endpointing import Endpoint, Endpointing
from appliance.ports import VoiceActivityDetector

#: Voice activity looks at this many samples at a time (32 ms).
STEP_SAMPLES = 512
#: Kept before the first word: voice activity notices a soft consonant late.
_LEAD_SECONDS = 0.3

_RATE_HZ = HEARING_FORMAT.sample_rate_hz
_STEP_SECONDS = STEP_SAMPLES / _RATE_HZ


@dataclass(frozen=True)
class Utterance:
    """What was said. ``audio`` is in ``HEARING_FORMAT``; ``speech_seconds`` is without the silence around it."""

    audio: AudioChunk
    speech_seconds: float


@dataclass(frozen=True)
class Progress:
    """Who is told how an utterance goes on; called on the loop, must return at once."""

    on_speech_started: Callable[[], None] | None = None
    on_soft_end: Callable[[AudioChunk], None] | None = None
    on_pause: Callable[[AudioChunk], None] | None = None
    on_resumed: Callable[[], None] | None = None


@dataclass
class UtteranceRecorder:
    """Hears chunk after chunk until ``is_over``; then ``utterance`` is what was said, or None.

    When nobody spoke again after a soft end, ``utterance.audio`` is the very chunk that ``on_soft_end`` was given:
    what was worked out ahead from it holds.
    """

    activity: VoiceActivityDetector
    endpointing: Endpointing
    progress: Progress = field(default_factory=Progress)
    #: Sound to let pass first, such as the room's echo of our own last word.
    discard_samples: int = 0

    def __post_init__(self) -> None:
        self._steps: list[Samples] = []
        self._unheard = np.zeros(0, dtype=np.int16)
        self._at_soft_end: AudioChunk | None = None
        self._is_cut_short = False
        self._has_started = False

    @property
    def is_over(self) -> bool:
        """Whether the utterance has ended, or nobody spoke in time."""
        return self._is_cut_short or self.endpointing.is_over

    @property
    def utterance(self) -> Utterance | None:
        """What was said until now; None when nobody has spoken."""
        if not self._has_started:
            return None
        ended_seconds = self.endpointing.speech_ended_at_seconds
        speech_seconds = ended_seconds - self.endpointing.speech_began_at_seconds
        return Utterance(self._at_soft_end or self._audio(), speech_seconds)

    def warm_up(self, samples: Samples) -> None:
        """Sound from before, so that voice activity knows the room; it belongs to no utterance."""
        self.activity.reset()
        for start in range(len(samples) % STEP_SAMPLES, len(samples), STEP_SAMPLES):
            self.activity.probability(samples[start : start + STEP_SAMPLES])

    def hear(self, samples: Samples) -> None:
        """Take the next samples, any number of them."""
        self._unheard = np.concatenate([self._unheard, samples])
        while len(self._unheard) >= STEP_SAMPLES and not self.is_over:
            step, self._unheard = self._unheard[:STEP_SAMPLES], self._unheard[STEP_SAMPLES:]
            probability = self.activity.probability(step)
            if self.discard_samples > 0:
                self.discard_samples -= STEP_SAMPLES
                continue
            self._steps.append(step)
            for endpoint in self.endpointing.hear(_STEP_SECONDS, probability):
                self._reach(endpoint)

    def finish(self) -> None:
        """The person says that this was all: even a sound too short to be taken for speech counts."""
        if not self._has_started and self.endpointing.speech_ended_at_seconds > 0.0:
            self._reach(Endpoint.SPEECH_STARTED)
        self._is_cut_short = True

    def drop(self) -> None:
        """End it as if nobody had spoken."""
        self._has_started = False
        self._is_cut_short = True

    def _reach(self, endpoint: Endpoint) -> None:
        if endpoint is Endpoint.SPEECH_STARTED:
            self._has_started = True
            if self.progress.on_speech_started is not None:
                self.progress.on_speech_started()
        elif endpoint is Endpoint.SOFT_END:
            self._at_soft_end = self._audio()
            if self.progress.on_soft_end is not None:
                self.progress.on_soft_end(self._at_soft_end)
        elif endpoint is Endpoint.PAUSE:
            if self.progress.on_pause is not None:
                self.progress.on_pause(self._audio())
        elif endpoint is Endpoint.RESUMED:
            self._at_soft_end = None
            if self.progress.on_resumed is not None:
                self.progress.on_resumed()

    def _audio(self) -> AudioChunk:
        """Everything so far, without the wait before the first word."""
        start = max(0, round((self.endpointing.speech_began_at_seconds - _LEAD_SECONDS) * _RATE_HZ))
        return AudioChunk(np.concatenate(self._steps)[start:], HEARING_FORMAT)
