"""What the box reads aloud is understood by ear: made by the voice, transcribed, and judged as a person would.

The voice has its chance taken away, so that each run hears the same. The transcript goes through the reading aloud
too, for it writes "21" where "twenty one" was said.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soxr

from appliance import models
from appliance.adapters.piper import PiperSynthesizer
from appliance.adapters.whisper import WhisperTranscriber
from appliance.audio import HEARING_FORMAT, AudioChunk
from tests.adapters.voices import steady_voice
from tests.speak.reading import said
from tests.speak.test_speech_text import ROWS, Row
from tests.understood import was_said

#: What the smallest ear mishears, as its transcripts showed: spelled letters and hundreds of hours ("fifteen thirty"
#: becomes a number), and rows whose accepted forms leave out words that are rightly said.
_NOT_FOR_THIS_EAR = frozenset(f"st-{number:03}" for number in (7, 8, 20, 22, 30, 33, 34, 37, 44, 67, 72, 103))
HEARD = [row for row in ROWS if row.language == "en" and row.row_id not in _NOT_FOR_THIS_EAR]
_PAUSE = np.zeros(4_800, dtype=np.int16)


@pytest.fixture(scope="module")
def voice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PiperSynthesizer]:
    folder = tmp_path_factory.mktemp("heard")
    steady = PiperSynthesizer(steady_voice(folder), threads=1, parts_folder=folder / "parts")
    yield steady
    steady.close()


@pytest.fixture(scope="module")
def ear() -> WhisperTranscriber:
    return WhisperTranscriber(models.locate("tiny.en", Path("nowhere")), threads=1, beam_size=1)


@pytest.mark.parametrize("row", HEARD, ids=lambda row: f"{row.row_id}-{row.kind}")
async def test_what_is_read_aloud_is_understood(row: Row, voice: PiperSynthesizer, ear: WhisperTranscriber) -> None:
    spoken = [chunk.audio.samples for text in said(*row.deltas) async for chunk in voice.synthesize(text)]
    sound = soxr.resample(np.concatenate(spoken), voice.sample_rate_hz, HEARING_FORMAT.sample_rate_hz)
    around = np.concatenate((_PAUSE, sound.astype(np.int16), _PAUSE))
    heard = " ".join(said((await ear.transcribe(AudioChunk(around, HEARING_FORMAT))).text))
    assert any(was_said(heard, form) for form in row.accept), heard


def test_forty_and_more_are_heard() -> None:
    assert len(HEARD) >= 40
