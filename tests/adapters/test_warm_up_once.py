"""What is loaded ahead of the box and asked for again by the box runs once: twice would keep a question waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from appliance import models
from appliance.adapters.piper import PiperSynthesizer
from appliance.adapters.smart_turn import SmartTurn
from appliance.adapters.whisper import WhisperTranscriber
from appliance.ports import SynthesizedChunk

NOWHERE = Path("/nonexistent")


async def test_whisper_reads_once() -> None:
    read: list[int] = []

    class Model:
        supported_languages = ("en",)

        def transcribe(self, audio: npt.NDArray[np.float32], **_options: Any) -> tuple[Iterator[Any], None]:
            read.append(len(audio))
            return iter(()), None

        def detect_language(self, _audio: npt.NDArray[np.float32]) -> Any:
            raise AssertionError("there is one language")

    whisper = WhisperTranscriber(NOWHERE, load=lambda _folder, _threads: Model(), shorten=None)  # type: ignore[arg-type, return-value]
    await asyncio.gather(whisper.warm_up(), whisper.warm_up())
    await whisper.warm_up()
    whisper.close()
    assert len(read) == 1


async def test_the_voice_speaks_once() -> None:
    spoken: list[str] = []

    class Voice:
        def sentences(self, text: str, *_scales: Any, **_how: Any) -> Iterator[Iterator[SynthesizedChunk]]:
            spoken.append(text)
            yield iter(())

    voice = PiperSynthesizer(models.locate("en_US-joe-medium", NOWHERE), load=lambda *_: Voice())  # type: ignore[arg-type, return-value]
    await asyncio.gather(voice.warm_up(), voice.warm_up())
    await voice.warm_up()
    voice.close()
    assert len(spoken) == 1


async def test_the_turn_detector_judges_once() -> None:
    judged: list[tuple[int, ...]] = []

    def model(features: npt.NDArray[np.float32]) -> float:
        judged.append(features.shape)
        return 0.5

    detector = SmartTurn(lambda: NOWHERE, lambda _file: model)
    await asyncio.gather(detector.warm_up(), detector.warm_up())
    await detector.warm_up()
    detector.close()
    assert len(judged) == 1
