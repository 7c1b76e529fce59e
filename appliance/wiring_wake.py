"""What the benchmarks of waking are made of: the ear as it idles, the wake words, and the second look at them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from appliance import models
from appliance.audio import AudioChunk
from appliance.clock import SystemClock
from appliance.config import BoxConfig, Config
from appliance.home import Home
from appliance.listen.config import HearConfig, ListenConfig
from appliance.listen.ear import Ear
from appliance.ports import Synthesizer, VoiceActivityDetector, WakeWordDetector
from appliance.ports_hearing import QuickReader
from appliance.speak.config import SpeakConfig


class WakeReader(QuickReader, Protocol):
    """A quick reader that can be made ready."""

    async def warm_up(self) -> None:
        """See ``Transcriber``."""
        ...


@dataclass(frozen=True)
class WakeParts:
    """``wake_words`` makes a detector for phrases such as "okay nabu"; ``voice`` is the box's own."""

    wake_words: Callable[[Sequence[str]], WakeWordDetector]
    activity: VoiceActivityDetector
    reader: WakeReader
    voice: Synthesizer


@contextmanager
def wake_parts(config: Config, home: Home) -> Iterator[WakeParts]:
    """With the configured weights and voice; their threads end with the context. Raises ``WeightsError``."""
    from appliance.adapters.microwakeword import MicroWakeWords
    from appliance.adapters.piper import PiperSynthesizer
    from appliance.adapters.whisper import WhisperTranscriber

    hear, speak, language = config.of(HearConfig), config.of(SpeakConfig), config.of(BoxConfig).language
    reader = WhisperTranscriber(
        models.locate(hear.model, home.models_folder, hear.model_path),
        languages=(language,),
        beam_size=hear.beam_size,
        threads=hear.threads,
    )
    voice = PiperSynthesizer(models.locate(speak.voice, home.models_folder, speak.voice_path))
    try:
        yield WakeParts(
            lambda phrases: MicroWakeWords([phrase.replace(" ", "_") for phrase in phrases]),
            voice_activity(),
            reader,
            voice,
        )
    finally:
        reader.close()
        voice.close()


async def idle_ear(chunks: Callable[[], AsyncIterator[AudioChunk]]) -> Ear:
    """The ear of a box with the settings of a new one, all of it loaded, that hears ``chunks``."""
    from appliance.adapters.fakes.sound_card import FakeSoundCard
    from appliance.adapters.microwakeword import MicroWakeWords

    class Card(FakeSoundCard):
        def chunks(self) -> AsyncIterator[AudioChunk]:
            return chunks()

    settings = ListenConfig()
    wake_words = MicroWakeWords(settings.wake_words)
    wake_words.load()
    ear = Ear(Card(), voice_activity(), wake_words, SystemClock(), settings)
    await ear.warm_up()
    return ear


def voice_activity() -> VoiceActivityDetector:
    """The box's own, loaded."""
    from appliance.adapters.silero_vad import SileroVoiceActivity

    activity = SileroVoiceActivity()
    activity.load()
    return activity
