"""A person's voice and ears for the tests with the whole product."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import soxr

from appliance import models
from appliance.adapters.piper import PiperSynthesizer
from appliance.adapters.wav_file import write_wav
from appliance.adapters.whisper import WhisperTranscriber
from appliance.audio import HEARING_FORMAT, AudioChunk, AudioFormat, join, silence

#: People do not answer at the very instant at which they are asked.
_BEFORE_SECONDS = 0.5

Speak = Callable[[str], Path]
Understand = Callable[[AudioChunk], str]


@pytest.fixture(scope="session")
def speak(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Speak]:
    """Make a WAV of somebody saying a text."""
    folder = tmp_path_factory.mktemp("voice")
    voice = PiperSynthesizer(models.locate("en_US-joe-medium", folder))

    async def say(text: str) -> AudioChunk:
        chunks = [chunk.audio async for chunk in voice.synthesize(text)]
        # A moment before the first word, as people need.
        spoken = join(chunks, AudioFormat(voice.sample_rate_hz))
        return join([silence(_BEFORE_SECONDS, spoken.format), spoken], spoken.format)

    def speak_to_file(text: str) -> Path:
        file = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.wav"
        if not file.exists():
            write_wav(file, asyncio.run(say(text)))
        return file

    yield speak_to_file
    voice.close()


@pytest.fixture(scope="session")
def understand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Understand]:
    """What a person understands of a sound: lower case, without punctuation."""
    ears = WhisperTranscriber(models.locate("tiny.en", tmp_path_factory.mktemp("ears")))

    def transcribe(sound: AudioChunk) -> str:
        resampled = soxr.resample(sound.samples, sound.format.sample_rate_hz, HEARING_FORMAT.sample_rate_hz)
        heard = AudioChunk(resampled.astype(np.int16), HEARING_FORMAT)
        text = asyncio.run(ears.transcribe(join([silence(0.3), heard, silence(0.3)]))).text
        return " ".join("".join(c if c.isalnum() or c == "'" else " " for c in text.lower()).split())

    yield transcribe
    ears.close()
