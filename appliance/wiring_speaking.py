"""What the benchmark of speaking compares: one voice, made in three ways."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from appliance import models
from appliance.home import Home
from appliance.ports import Synthesizer
from appliance.speak.config import SpeakConfig


@dataclass(frozen=True)
class ComparedVoices:
    """``stock`` makes sentences as piper-tts does, ``whole`` so without spinning threads; ``streamed`` is the box's."""

    stock: Synthesizer
    whole: Synthesizer
    streamed: Synthesizer


@contextmanager
def compared_voices(home: Home) -> Iterator[ComparedVoices]:
    """The default voice; its threads end with the context. Raises ``WeightsError``."""
    from appliance.adapters.piper import PiperSynthesizer, load_whole_voice

    voice_file = models.locate(SpeakConfig().voice, home.models_folder)
    voices = ComparedVoices(
        stock=PiperSynthesizer(voice_file, load=partial(load_whole_voice, spins=True)),
        whole=PiperSynthesizer(voice_file, load=load_whole_voice),
        streamed=PiperSynthesizer(voice_file, parts_folder=home.cache_folder / "voice"),
    )
    try:
        yield voices
    finally:
        for voice in (voices.stock, voices.whole, voices.streamed):
            voice.close()
