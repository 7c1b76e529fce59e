"""What the benchmark of hearing compares: the same whisper weights, loaded once, asked in three ways."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np

from appliance import models
from appliance.audio import AudioChunk
from appliance.config import BoxConfig, Config
from appliance.home import Home
from appliance.listen.config import HearConfig
from appliance.ports import Synthesizer, Transcriber, VoiceActivityDetector
from appliance.ports_hearing import TurnDetector
from appliance.speak.config import SpeakConfig


@dataclass(frozen=True)
class HearingParts:
    """``short`` is the box's own transcriber, ``full`` the same without its short window.

    ``stock`` is faster-whisper as it comes but for the language. ``full_windows`` counts how often ``short`` had to
    ask the full window until now.
    """

    short: Transcriber
    full: Transcriber
    stock: Callable[[AudioChunk], str]
    full_windows: Callable[[], int]
    voice: Synthesizer
    activity: Callable[[], VoiceActivityDetector]
    turn_detector: TurnDetector


@contextmanager
def hearing_parts(config: Config, home: Home) -> Iterator[HearingParts]:
    """With the configured weights and voice; their threads end with the context. Raises ``WeightsError``."""
    from appliance.adapters.piper import PiperSynthesizer
    from appliance.adapters.silero_vad import SileroVoiceActivity
    from appliance.adapters.smart_turn import SmartTurn
    from appliance.adapters.whisper import WhisperTranscriber, default_threads, load_weights

    hear, speak, language = config.of(HearConfig), config.of(SpeakConfig), config.of(BoxConfig).language
    folder = models.locate(hear.model, home.models_folder, hear.model_path)
    model = load_weights(folder, hear.threads or default_threads(os.cpu_count() or 1))

    def stock(utterance: AudioChunk) -> str:
        segments, _ = model.transcribe(utterance.samples.astype(np.float32) / 32768.0, language=language)
        return "".join(segment.text for segment in segments)

    make = partial(
        WhisperTranscriber,
        folder,
        languages=(language,),
        beam_size=hear.beam_size,
        load=lambda _folder, _threads: model,
    )
    short, full = make(), make(shorten=None)
    voice = PiperSynthesizer(models.locate(speak.voice, home.models_folder, speak.voice_path))
    detector = SmartTurn(partial(models.locate, models.TURN_DETECTOR, home.models_folder))
    try:
        yield HearingParts(short, full, stock, lambda: short.full_windows, voice, SileroVoiceActivity, detector)
    finally:
        detector.close()
        short.close()
        full.close()
        voice.close()
