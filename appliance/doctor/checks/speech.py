"""Whether the box can wake, hear and speak: it says something to itself, without the room."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import soxr

from appliance.audio import HEARING_FORMAT, AudioChunk, Samples, join, silence
from appliance.clock import Clock
from appliance.doctor.check import in_thread
from appliance.doctor.finding import Finding, cannot_tell, failed, fine, wrong
from appliance.errors import ApplianceError, WeightsError
from appliance.ports import Synthesizer, Transcriber, VoiceActivityDetector, WakeWordDetector

#: Words that every whisper knows.
_PHRASE = "Good morning. Please set a timer for ten minutes."
_WORDS = frozenset(("good", "morning", "please", "set", "a", "timer", "for", "ten", "10", "minutes"))
_ENOUGH_WORDS = 6
_CHUNK_SECONDS = 0.08
_PAUSE_SECONDS = 1.0
#: What voice activity takes at once.
_STEP_SAMPLES = 512
_SURE = 0.5


async def speech_hearing(
    synthesizer: Callable[[], Synthesizer], transcriber: Callable[[], Transcriber], clock: Clock
) -> Finding:
    """The voice says a phrase, whisper hears it."""
    begun = clock.monotonic_seconds()
    try:
        said = await spoken(await in_thread(synthesizer), _PHRASE)
        said_at = clock.monotonic_seconds()
        transcript = await (await in_thread(transcriber)).transcribe(said)
    except ApplianceError as error:
        return failed(error)
    times = f"{said_at - begun:.1f} s to speak, {clock.monotonic_seconds() - said_at:.1f} s to understand"
    understood = _WORDS & set(re.findall(r"[a-z0-9]+", transcript.text.casefold()))
    if len(understood) < _ENOUGH_WORDS:
        return wrong(
            f"The box does not understand what it says itself: {transcript.text!r}.",
            "Check the speech weights: appliance models verify",
        )
    return fine(f"The box understands its own voice ({times}).")


async def speech_wake(wake_words: Callable[[], WakeWordDetector], synthesizer: Callable[[], Synthesizer]) -> Finding:
    """The wake words load, and the first one is found when the box's own voice says it."""
    try:
        detector = await in_thread(wake_words)
        phrases = detector.phrases
        if not phrases:
            return fine("There is no wake word: the button opens the ear.")
        called = await spoken(await in_thread(synthesizer), f"{phrases[0].capitalize()}.")
        found = await in_thread(lambda: _is_found(detector, called))
    except WeightsError as error:
        return failed(error)
    words = ", ".join(phrases)
    if found:
        return fine(f"The wake word works ({words}): it woke to the box's own voice.")
    return cannot_tell(
        f"The wake word loads ({words}), but does not wake to the box's own voice, which is no human one.",
        f'Say "{phrases[0]}" yourself, and see whether the face listens.',
    )


async def speech_activity(
    activity: Callable[[], VoiceActivityDetector], synthesizer: Callable[[], Synthesizer]
) -> Finding:
    """Voice activity tells speech from silence."""
    try:
        said = await spoken(await in_thread(synthesizer), _PHRASE)
        detector = await in_thread(activity)
        speech = await in_thread(lambda: _highest(detector, said.samples))
        detector.reset()
        quiet = await in_thread(lambda: _highest(detector, silence(_PAUSE_SECONDS).samples))
    except ApplianceError as error:
        return failed(error)
    if speech < _SURE or quiet > _SURE:
        return wrong(
            f"Voice activity does not tell speech ({speech:.2f}) from silence ({quiet:.2f}).",
            "Install the box anew: ./run setup",
        )
    return fine(f"Voice activity tells speech ({speech:.2f}) from silence ({quiet:.2f}).")


async def spoken(voice: Synthesizer, text: str) -> AudioChunk:
    """A text in the box's voice as a microphone would bring it, with a pause on either side."""
    pieces = [chunk.audio async for chunk in voice.synthesize(text)]
    whole = join(pieces, pieces[0].format) if pieces else silence(0.0)
    samples: Samples = soxr.resample(whole.samples, whole.format.sample_rate_hz, HEARING_FORMAT.sample_rate_hz)
    pause = silence(_PAUSE_SECONDS)
    return join([pause, AudioChunk(np.asarray(samples, dtype=np.int16), HEARING_FORMAT), pause])


def _is_found(detector: WakeWordDetector, sound: AudioChunk) -> bool:
    size = round(_CHUNK_SECONDS * HEARING_FORMAT.sample_rate_hz)
    pieces = [sound.samples[start : start + size] for start in range(0, len(sound.samples) - size, size)]
    return any(detector.detect(AudioChunk(piece, HEARING_FORMAT)) for piece in pieces)


def _highest(detector: VoiceActivityDetector, samples: Samples) -> float:
    steps = range(0, len(samples) - _STEP_SAMPLES, _STEP_SAMPLES)
    return max(detector.probability(samples[start : start + _STEP_SAMPLES]) for start in steps)
