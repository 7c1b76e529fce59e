"""A second look at what the wake word detector found, before the ear opens.

A wake model is small and answers to whatever sounds roughly right: "okay, maybe", a line in a film, a groan. So the
last moments go to the transcriber, in its short window, and what it reads is compared with the wake word by sound.
A transcriber that does not know a made-up word writes real ones in its place, and is not sure of them; what it reads
surely counts more against a call than what it guesses.

The box must not become deaf by this. Whatever cannot be judged counts as a call: the transcriber is busy, slow,
broken or not loaded yet; or it does not know the word, as one of the owner's own, for which it is only asked whether
anybody speaks at all. And who calls again right after being refused is heard.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

import numpy as np

from appliance.audio import HEARING_FORMAT, AudioChunk, Samples
from appliance.clock import Clock, within
from appliance.errors import HearingError, WeightsError
from appliance.listen.sound_alike import distance
from appliance.listen.utterance import STEP_SAMPLES
from appliance.ports import Transcript, VoiceActivityDetector
from appliance.ports_hearing import QuickReader

_LOG = logging.getLogger(__name__)

#: What is looked at: a slow wake word, and what whisper needs before it to begin well.
LOOK_SECONDS = 2.0
#: Beyond this the person would notice that the box thinks about it.
_LONGEST_LOOK_SECONDS = 1.0
#: Who calls again within this time is taken at their word.
_SECOND_CALL_SECONDS = 8.0
#: Below this at its best moment nobody spoke; wake words in noise at 10 dB and in a far corner had at least 0.9.
_LEAST_ACTIVITY = 0.3
#: Beyond this a reading is far from the wake word; see ``doubt``. Only words that whisper can be trusted with are here.
#: "okay nabu": no call by the box's voice, clean, soft, with noise and far away, is read further off, of those by a
#: robot's (espeak), which whisper hardly understands, 2 in 5, and of what only sounds alike about half (``appliance
#: bench wake``). From here on what is won in calls is lost in near-misses. "hey jarvis" does as well at 1.3, "alexa"
#: loses 1 in 30.
#: "hey mycroft" is read as anything, like what sounds alike; a word of the owner's own cannot be measured here.
_MOST_DOUBT: Mapping[str, float] = {"okay nabu": 1.5, "hey jarvis": 1.3, "alexa": 1.9}
#: A reading as near as this is the wake word itself, however sure.
_SAME_WORD = 0.3
#: A made-up word is read with a lower log-probability than this; each unit above it counts so many steps of distance.
_SURE_LOG_PROBABILITY = -0.6
_WEIGHT_OF_SURENESS = 3.0


class WakeCheck:
    """Judges one finding at a time; ``refused`` counts those that were no call, since the start."""

    def __init__(self, reader: QuickReader, activity: VoiceActivityDetector, clock: Clock) -> None:
        self.refused = 0
        self._reader = reader
        self._activity = activity
        self._clock = clock
        self._words_refused_at: float | None = None

    async def warm_up(self) -> None:
        """Load voice activity, on another thread, so that the first call is not slow."""
        await asyncio.to_thread(self._has_voice, np.zeros(STEP_SAMPLES, dtype=np.int16))

    async def is_call(self, phrase: str, sound: Samples) -> bool:
        """Whether ``phrase`` was said at the end of ``sound``: the last ``LOOK_SECONDS`` before it was found."""
        if self._is_second_call():
            self._words_refused_at = None
            return True
        if not await asyncio.to_thread(self._has_voice, sound):
            return self._refuse(phrase, "nobody speaks")
        if phrase not in _MOST_DOUBT:
            return True
        reading = await self._read(sound)
        if reading is None or doubt(phrase, reading) <= _MOST_DOUBT[phrase]:
            return True
        self._words_refused_at = self._clock.monotonic_seconds()
        return self._refuse(phrase, "something else was said")

    def _is_second_call(self) -> bool:
        at = self._words_refused_at
        return at is not None and self._clock.monotonic_seconds() - at <= _SECOND_CALL_SECONDS

    def _refuse(self, phrase: str, why: str) -> bool:
        """What was said is not written down: it was not meant for us."""
        self.refused += 1
        _LOG.info("%r was no call: %s", phrase, why)
        return False

    def _has_voice(self, sound: Samples) -> bool:
        try:
            self._activity.reset()
            starts = range(0, len(sound) - STEP_SAMPLES + 1, STEP_SAMPLES)
            return any(self._activity.probability(sound[at : at + STEP_SAMPLES]) >= _LEAST_ACTIVITY for at in starts)
        except WeightsError as error:
            _LOG.warning("a wake word is not looked at twice: %s", error)
            return True

    async def _read(self, sound: Samples) -> Transcript | None:
        """None when it cannot be read, or not soon enough."""
        chunk = AudioChunk(np.array(sound), HEARING_FORMAT)
        try:
            return await within(self._clock, _LONGEST_LOOK_SECONDS, self._reader.glance(chunk))
        except (HearingError, TimeoutError) as error:
            _LOG.info("a wake word counts without a second look: %s", error or "it took too long")
            return None


def doubt(phrase: str, reading: Transcript) -> float:
    """How little ``reading`` is like a call with ``phrase``; 0 when it is the very word."""
    apart = distance(phrase, reading.text)
    if apart <= _SAME_WORD:
        return apart
    return apart + _WEIGHT_OF_SURENESS * max(0.0, reading.average_log_probability - _SURE_LOG_PROBABILITY)
