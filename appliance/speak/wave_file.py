"""Our own small WAV files: 16-bit PCM, one channel. (What a person gives us is read by the WAV adapter.)"""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np

from appliance.audio import AudioChunk, AudioFormat
from appliance.errors import BadAudioFileError


def read_wave(file: Path) -> AudioChunk:
    """The sound in ``file``; blocks. Raises ``BadAudioFileError`` unless it is whole, ``OSError`` when unreadable."""
    try:
        with wave.open(str(file), "rb") as stream:
            if (stream.getsampwidth(), stream.getnchannels()) != (2, 1):
                raise BadAudioFileError(f"{file.name} is not 16-bit mono")
            frames = stream.getnframes()
            data = stream.readframes(frames)
            rate_hz = stream.getframerate()
    except (wave.Error, EOFError) as error:
        raise BadAudioFileError(f"{file.name} is not a WAV file: {error}") from error
    if frames == 0 or len(data) != 2 * frames:
        raise BadAudioFileError(f"{file.name} is cut short")
    samples = np.frombuffer(data, dtype="<i2").astype(np.int16)
    return AudioChunk(samples, AudioFormat(rate_hz))


def write_wave(file: Path, sound: AudioChunk) -> None:
    """Write ``sound`` (mono); blocks. Raises ``OSError``."""
    # Opened here, because a ``wave`` writer that could not open its file complains again when it is collected.
    with file.open("wb") as raw, wave.open(raw, "wb") as stream:
        stream.setsampwidth(2)
        stream.setnchannels(1)
        stream.setframerate(sound.format.sample_rate_hz)
        stream.writeframes(sound.samples.astype("<i2").tobytes())
