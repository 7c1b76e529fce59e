"""Makes a sound card that does not hear itself, and what its benchmark is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from appliance.config import BoxConfig, Config
from appliance.home import Home, shipped
from appliance.listen.config import AudioConfig, HearConfig, ListenConfig

if TYPE_CHECKING:
    from appliance.adapters.fakes.sound_card import FakeSoundCard
    from appliance.catalogue import Catalogue
    from appliance.listen.duplex import DuplexSoundCard, TappedCard
    from appliance.ports import Synthesizer, Transcriber, VoiceActivityDetector, WakeWordDetector
    from appliance.ports_hearing import EchoCanceller
    from appliance.think.offline_brain import OfflineBrain


def duplex_card(card: TappedCard, audio: AudioConfig) -> DuplexSoundCard:
    """``card`` with an echo canceller around it."""
    from appliance.listen.duplex import DuplexSoundCard
    from appliance.listen.echo_meter import EchoMeter

    return DuplexSoundCard(card, echo_canceller(audio), EchoMeter(), is_always_on=_has_extras(audio))


def echo_canceller(audio: AudioConfig) -> EchoCanceller:
    """The configured one."""
    from appliance.adapters.echo_canceller import WebRtcEchoCanceller

    return WebRtcEchoCanceller(
        noise_suppression=audio.noise_suppression == "on", gain_control=audio.gain_control == "on"
    )


def _has_extras(audio: AudioConfig) -> bool:
    return "on" in (audio.noise_suppression, audio.gain_control)


@dataclass(frozen=True)
class EchoParts:
    """What is real in the benchmark of the echo, beside the code that is measured. ``card`` takes its output rate."""

    card: Callable[[int], FakeSoundCard]
    canceller: Callable[[], EchoCanceller]
    activity: Callable[[], VoiceActivityDetector]
    wake_words: Callable[[], WakeWordDetector]
    transcriber: Transcriber
    voice: Synthesizer
    offline: OfflineBrain
    catalogue: Catalogue


@contextmanager
def echo_parts(config: Config, home: Home) -> Iterator[EchoParts]:
    """With the configured weights; their threads end with the context. Raises ``WeightsError``."""
    from appliance import models
    from appliance.adapters.fakes.sound_card import FakeSoundCard
    from appliance.adapters.microwakeword import MicroWakeWords
    from appliance.adapters.piper import PiperSynthesizer
    from appliance.adapters.sentence_matcher import HassilMatcher
    from appliance.adapters.silero_vad import SileroVoiceActivity
    from appliance.adapters.whisper import WhisperTranscriber
    from appliance.catalogue import Catalogue
    from appliance.clock import FakeClock
    from appliance.speak.config import SpeakConfig
    from appliance.think.offline_brain import OfflineBrain
    from appliance.think.sentences import SENTENCE_LISTS, Sentences, fixed_lists

    hear, speak, language = config.of(HearConfig), config.of(SpeakConfig), config.of(BoxConfig).language
    words, audio = config.of(ListenConfig).wake_words, config.of(AudioConfig)
    catalogue = Catalogue.load(shipped("soul"), language)
    matcher = HassilMatcher(shipped("soul") / language / "intents.yaml", fixed_lists(), SENTENCE_LISTS)
    weights = models.locate(hear.model, home.models_folder, hear.model_path)
    transcriber = WhisperTranscriber(weights, languages=(language,), beam_size=hear.beam_size, threads=hear.threads)
    voice = PiperSynthesizer(models.locate(speak.voice, home.models_folder, speak.voice_path))
    try:
        yield EchoParts(
            card=lambda rate_hz: FakeSoundCard(output_rate_hz=rate_hz),
            canceller=lambda: echo_canceller(audio),
            activity=SileroVoiceActivity,
            wake_words=lambda: MicroWakeWords(words),
            transcriber=transcriber,
            voice=voice,
            offline=OfflineBrain(Sentences(matcher), catalogue, FakeClock()),
            catalogue=catalogue,
        )
    finally:
        transcriber.close()
        voice.close()
