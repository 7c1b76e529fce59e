"""What hears words and what speaks them: the largest weights of the box, loaded while the rest is put together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from appliance.config import BoxConfig, Config
from appliance.errors import ApplianceError
from appliance.home import Home

if TYPE_CHECKING:
    from appliance.adapters.piper import PiperSynthesizer
    from appliance.adapters.whisper import WhisperTranscriber


@dataclass(frozen=True)
class SpeechParts:
    """Whisper and a piper voice; nothing of them is loaded yet."""

    transcriber: WhisperTranscriber
    synthesizer: PiperSynthesizer


def speech_parts(home: Home, config: Config) -> SpeechParts:
    """As configured. Raises ``WeightsError``."""
    from appliance import models
    from appliance.adapters.piper import PiperSynthesizer
    from appliance.adapters.whisper import WhisperTranscriber
    from appliance.adapters.whisper_short import ShortWindow
    from appliance.adapters.whisper_silence import KeptSilence
    from appliance.listen.config import HearConfig
    from appliance.speak.config import SpeakConfig

    hear, speak = config.of(HearConfig), config.of(SpeakConfig)
    weights = models.locate(hear.model, home.models_folder, hear.model_path)
    voice = models.locate(speak.voice, home.models_folder, speak.voice_path)
    return SpeechParts(
        WhisperTranscriber(
            weights,
            languages=(config.of(BoxConfig).language,),
            beam_size=hear.beam_size,
            threads=hear.threads,
            shorten=partial(ShortWindow, kept=KeptSilence(home.cache_folder / "silence", weights)),
        ),
        PiperSynthesizer(voice, parts_folder=home.cache_folder / "voice"),
    )


@asynccontextmanager
async def loading(parts: SpeechParts) -> AsyncIterator[None]:
    """Begin to load both. Who warms them up later waits for what is begun, and is told what went wrong."""
    both = (parts.transcriber.warm_up(), parts.synthesizer.warm_up())
    tasks = [asyncio.create_task(_silently(work), name="loading") for work in both]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _silently(work: Coroutine[Any, Any, None]) -> None:
    with suppress(ApplianceError):
        await work
