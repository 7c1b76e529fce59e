"""Sounds for the benchmark of waking: several voices, the ways in which a call can be hard to hear, and music.

Everything is made from a seed: the same sounds each time.
"""

from __future__ import annotations

import asyncio
import io
import shutil
import subprocess
import wave
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import soxr

from appliance.audio import HEARING_FORMAT, AudioFormat, Samples, join
from appliance.bench.speech_clips import Clip
from appliance.ports import Synthesizer

RATE_HZ = HEARING_FORMAT.sample_rate_hz
Wave = npt.NDArray[np.float64]

#: Level of speech in a room, of a soft or distant voice, and of a quiet room's noise.
SPEECH_DBFS, SOFT_DBFS, ROOM_DBFS = -26.0, -50.0, -69.0
_SPOKEN_ABOVE = 300.0
_ESPEAK = "espeak-ng"
_ESPEAK_VOICES = ("en-us", "en-gb", "en-gb-scotland", "en-us-nyc", "en-029", "en-us+f3", "en-us+m3", "en-us+Annie")
#: Speed and pitch of the box's voice for each of the speakers that are made of it.
_OWN_MANNERS = tuple((speed, pitch) for speed in (0.85, 1.0, 1.2) for pitch in (0.9, 1.0, 1.15))


def _name(speed: float, pitch: float) -> str:
    return f"box {speed:g} {pitch:g}"


#: The box's own voice as it is.
OWN_VOICE = _name(1.0, 1.0)


@dataclass(frozen=True)
class Voice:
    """Somebody who speaks; ``kind`` is "box" (the box's voice, varied) or "espeak"."""

    name: str
    kind: str
    say: Callable[[str], Samples]


def voices(own: Synthesizer) -> list[Voice]:
    """The box's voice in nine manners, and eight of espeak-ng where that is installed."""
    mine = [
        Voice(_name(speed, pitch), "box", partial(_say_changed, own, speed, pitch)) for speed, pitch in _OWN_MANNERS
    ]
    if shutil.which(_ESPEAK) is None:
        return mine
    return mine + [Voice(name, "espeak", partial(_say_espeak, name)) for name in _ESPEAK_VOICES]


def pitched(samples: Samples, factor: float) -> Samples:
    """Higher and faster by ``factor``."""
    changed: Samples = soxr.resample(samples, RATE_HZ, round(RATE_HZ / factor))
    return changed


def at_level(samples: Samples, dbfs: float) -> Wave:
    """The same speech with that level, pauses not counted."""
    sound = samples.astype(np.float64)
    loud = sound[np.abs(sound) > _SPOKEN_ABOVE]
    power = float(np.mean(np.square(loud))) if len(loud) else 1.0
    louder: Wave = sound * (32768.0 * 10.0 ** (dbfs / 20.0) / power**0.5)
    return louder


def finished(sound: Wave, seed: int, noise_dbfs: float = ROOM_DBFS) -> Samples:
    """As a microphone gives it: with the noise of the room."""
    noise = np.random.default_rng(seed).normal(0.0, 32768.0 * 10.0 ** (noise_dbfs / 20.0), len(sound))
    samples: Samples = np.clip(sound + noise, -32768, 32767).astype(np.int16)
    return samples


def far(sound: Wave, seed: int, reverberation_seconds: float = 0.5) -> Wave:
    """From the other end of a room: as much sound from the walls as from the mouth."""
    count = round(reverberation_seconds * RATE_HZ)
    echo = np.random.default_rng(seed).normal(0.0, 1.0, count) * 10.0 ** (-3.0 * np.arange(count) / count)
    echo *= 0.7 / np.sqrt(np.sum(np.square(echo)))
    echo[0] = 0.7
    size = len(sound) + count
    reverberant: Wave = np.fft.irfft(np.fft.rfft(sound, size) * np.fft.rfft(echo, size), size)
    return reverberant


def _soft(sound: Wave, seed: int) -> Samples:
    return finished(sound * 10.0 ** ((SOFT_DBFS - SPEECH_DBFS) / 20.0), seed)


def _noisy(sound: Wave, seed: int) -> Samples:
    return finished(sound, seed, SPEECH_DBFS - 10.0)


def _far(sound: Wave, seed: int) -> Samples:
    return finished(far(sound, seed) * 10.0 ** (-12.0 / 20.0), seed, -60.0)


#: The ways in which a call may reach the microphone; each takes speech at ``SPEECH_DBFS`` and a seed.
CONDITIONS: Mapping[str, Callable[[Wave, int], Samples]] = {
    "clean": finished,
    "noise at 10 dB": _noisy,
    "soft, -50 dBFS": _soft,
    "far, reverberant": _far,
}


def music(seconds: float, seed: int) -> Wave:
    """Chords, a bass, a tune that glides like a voice, and drums, at the level of speech."""
    random = np.random.default_rng(seed)
    count, beat = round(seconds * RATE_HZ), round(RATE_HZ * random.uniform(0.35, 0.6))
    sound = np.zeros(count)
    for start in range(0, count, beat):
        time = np.arange(min(beat, count - start)) / RATE_HZ
        root = 110.0 * 2.0 ** (random.integers(0, 12) / 12.0)
        fade = np.exp(-2.0 * time)
        for ratio in (0.5, 1.0, 1.25, 1.5):
            sound[start : start + len(time)] += fade * _tone(root * ratio * time)
        glide = 2.0 * root * time * (1.0 + 0.05 * np.sin(2.0 * np.pi * random.uniform(3.0, 6.0) * time))
        sound[start : start + len(time)] += 1.5 * fade * _tone(glide)
        sound[start : start + len(time)] += 2.0 * np.exp(-40.0 * time) * random.normal(0.0, 1.0, len(time))
    played: Wave = sound * (32768.0 * 10.0 ** (SPEECH_DBFS / 20.0) / float(np.mean(np.square(sound))) ** 0.5)
    return played


def changed_people(clips: list[Clip], seed: int) -> list[Wave]:
    """Recordings of people with another pitch, level and distance each."""
    random, sounds = np.random.default_rng(seed), list[Wave]()
    for clip in clips:
        sound = at_level(pitched(clip.samples, random.uniform(0.85, 1.2)), random.uniform(-36.0, -22.0))
        sounds.append(far(sound, int(random.integers(1000))) if random.random() < 0.4 else sound)
    return sounds


def _tone(cycles: Wave) -> Wave:
    """A tone with four overtones."""
    overtones = range(1, 6)
    tone: Wave = np.sum([np.sin(2.0 * np.pi * number * cycles) / number for number in overtones], axis=0)
    return tone


def _say_changed(voice: Synthesizer, speed: float, pitch: float, text: str) -> Samples:
    async def say() -> Samples:
        chunks = [chunk.audio async for chunk in voice.synthesize(text, speed=speed)]
        return join(chunks, AudioFormat(voice.sample_rate_hz)).samples

    spoken = asyncio.run(say())
    return pitched(soxr.resample(spoken, voice.sample_rate_hz, RATE_HZ), pitch)


def _say_espeak(name: str, text: str) -> Samples:
    command = [_ESPEAK, "-v", name, "-s", "150", "--stdout", text]
    spoken = subprocess.run(command, capture_output=True, check=True).stdout
    with wave.open(io.BytesIO(spoken)) as stream:
        rate_hz = stream.getframerate()
    # Written to a pipe, the head does not know the length.
    samples = np.frombuffer(spoken[44 : len(spoken) - len(spoken) % 2], dtype="<i2")
    converted: Samples = soxr.resample(samples, rate_hz, RATE_HZ)
    return converted
