"""A glance: one reading in the short window, at once or not at all."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from appliance.adapters.whisper import WhisperTranscriber
from appliance.adapters.whisper_short import Reading
from appliance.audio import HEARING_FORMAT, AudioChunk
from appliance.errors import HearingError

SOUND = AudioChunk(np.full(32_000, 100, dtype=np.int16), HEARING_FORMAT)


class _Short:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading

    def read(self, _samples: npt.NDArray[np.float32], _language: str, **_options: Any) -> Reading:
        return self.reading


class _Full:
    supported_languages = ("en",)

    def __init__(self) -> None:
        self.calls = 0

    def transcribe(self, _audio: npt.NDArray[np.float32], **_options: Any) -> tuple[Any, None]:
        self.calls += 1
        return iter([SimpleNamespace(text=" full", avg_logprob=-0.3, no_speech_prob=0.1)]), None


def transcriber(full: _Full, reading: Reading | None) -> WhisperTranscriber:
    shorten = None if reading is None else lambda _model: _Short(reading)
    return WhisperTranscriber(Path("nowhere"), load=lambda _folder, _threads: full, shorten=shorten)  # type: ignore[arg-type]


async def test_it_gives_an_unsure_reading_as_it_is_and_never_asks_the_full_window() -> None:
    full = _Full()
    whisper = transcriber(full, Reading(" Okay, now move.", -1.3, 0.7))
    await whisper.warm_up()
    asked = full.calls
    reading = await whisper.glance(SOUND)
    assert (reading.text, reading.average_log_probability) == ("Okay, now move.", -1.3)
    assert full.calls == asked


async def test_it_never_waits_for_weights() -> None:
    with pytest.raises(HearingError, match="not loaded"):
        await transcriber(_Full(), Reading("Okay.", -0.1, 0.1)).glance(SOUND)


async def test_without_a_short_window_it_refuses() -> None:
    whisper = transcriber(_Full(), None)
    await whisper.warm_up()
    with pytest.raises(HearingError, match="no short window"):
        await whisper.glance(SOUND)
