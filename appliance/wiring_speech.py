"""What hears words and what speaks them: the largest weights of the box, loaded while the rest is put together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from appliance.config import BoxConfig, Config
from appliance.errors import ApplianceError
from appliance.events import Event, Warmed
from appliance.home import Home
from appliance.ports import AsyncCallback
from appliance.ports_hearing import TurnDetector

if TYPE_CHECKING:
    from appliance.adapters.piper import PiperSynthesizer
    from appliance.adapters.whisper import WhisperTranscriber
    from appliance.adapters.whisper_weights import KeptWeights
    from appliance.bus import Bus


@dataclass(frozen=True)
class SpeechParts:
    """Whisper, a piper voice and Smart Turn; nothing of them is loaded yet. ``weights`` are whisper's."""

    transcriber: WhisperTranscriber
    synthesizer: PiperSynthesizer
    turn_detector: TurnDetector
    weights: KeptWeights


def speech_parts(home: Home, config: Config, turn_detector: TurnDetector) -> SpeechParts:
    """As configured, beside ``turn_detector``. Raises ``WeightsError``."""
    from appliance import models
    from appliance.adapters.piper import PiperSynthesizer
    from appliance.adapters.whisper import WhisperTranscriber
    from appliance.adapters.whisper_short import ShortWindow
    from appliance.adapters.whisper_silence import KeptSilence
    from appliance.adapters.whisper_weights import KeptWeights
    from appliance.listen.config import HearConfig
    from appliance.speak.config import SpeakConfig

    hear, speak = config.of(HearConfig), config.of(SpeakConfig)
    weights = models.locate(hear.model, home.models_folder, hear.model_path)
    voice = models.locate(speak.voice, home.models_folder, speak.voice_path)
    kept = KeptWeights(home.cache_folder / "whisper", weights)
    return SpeechParts(
        WhisperTranscriber(
            weights,
            languages=(config.of(BoxConfig).language,),
            beam_size=hear.beam_size,
            threads=hear.threads,
            load=kept.load,
            shorten=partial(ShortWindow, kept=KeptSilence(home.cache_folder / "silence", weights)),
        ),
        PiperSynthesizer(voice, parts_folder=home.cache_folder / "voice"),
        turn_detector,
        kept,
    )


@asynccontextmanager
async def loading(parts: SpeechParts, bus: Bus | None) -> AsyncIterator[None]:
    """Begin to load all three. Who warms them up later waits for what is begun, and is told what went wrong.

    Once the bus says that all of the box is warm, what makes the next start quicker is put aside.
    """
    warm = asyncio.Event()

    def look(event: Event) -> None:
        if isinstance(event, Warmed):
            warm.set()

    leave = bus.subscribe(look) if bus is not None else lambda: None
    # Whisper takes longest. The other two together take no longer: side by side, all would only wait for each other.
    side_by_side = ((parts.transcriber.warm_up,), (parts.synthesizer.warm_up, parts.turn_detector.warm_up))
    tasks = [asyncio.create_task(_silently(steps), name="loading") for steps in side_by_side]
    tasks.append(asyncio.create_task(_keep(parts.weights, warm), name="keeping weights"))
    try:
        yield
    finally:
        leave()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _silently(steps: Sequence[AsyncCallback]) -> None:
    for step in steps:
        with suppress(ApplianceError):
            await step()


async def _keep(weights: KeptWeights, warm: asyncio.Event) -> None:
    await warm.wait()
    await asyncio.to_thread(weights.keep)
