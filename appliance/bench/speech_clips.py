"""Speech to measure hearing with: people, from Debian's ``pocketsphinx-testdata``, and sentences of the box's voice."""

from __future__ import annotations

import re
import wave
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import soxr

from appliance.audio import HEARING_FORMAT, AudioFormat, Samples, join
from appliance.ports import Synthesizer

#: Where Debian puts them.
PEOPLE_FOLDER = Path("/usr/share/pocketsphinx/test/data")
_LINE = re.compile(r"<s>(?P<text>.*)</s> \((?P<name>.*)\)")
#: Clips without a transcript of their own; the names and grammars that come with them tell what is said.
_RAW_CLIPS = {
    "goforward.raw": "go forward ten meters",
    "something.raw": "go somewhere and do something",
    "tidigits/dhd.2934z.raw": "two nine three four zero",
}
#: Said by the voice: 0.5 to 6 s.
SENTENCES = (
    "Stop.",
    "Volume four.",
    "Good night.",
    "Never mind.",
    "Louder, please.",
    "Yes, do that.",
    "Pause the film.",
    "Skip this song.",
    "What time is it?",
    "Set a timer for ten minutes.",
    "Turn off the kitchen light.",
    "How is the weather tomorrow?",
    "Remind me to call my mother at six.",
    "Play some music in the living room.",
    "Cancel the second timer.",
    "What is on my shopping list?",
    "Add milk, eggs and butter to the list.",
    "Wake me at half past seven on Monday.",
    "Turn the heating down by two degrees.",
    "Is the front door locked?",
    "Tell me something about the moon.",
    "Dim the lights in the bedroom to thirty percent.",
    "Read me the news from this morning.",
    "How long does it take to boil an egg?",
    "Open the blinds in the office, and close the ones in the hall.",
    "Start the washing machine when the electricity is cheap tonight.",
    "What did I ask you to remember about the garden last week?",
    "Please tell everybody in the house that dinner will be ready in twenty minutes.",
    "Find the recipe for the apple cake that we made last Sunday and read me the first three steps.",
    "I would like to know how far it is to the station, and whether the train at nine is on time.",
    "When the rain stops, remind me to bring in the chairs, and then water the tomatoes behind the house.",
    "Switch on the lamp beside the window, wait five minutes, and then switch it off again.",
)
#: -34 dBFS: what is quieter at the end of a clip is not speech any more.
_LOUD = 654
#: About -69 dBFS: a microphone in a quiet room.
_ROOM_NOISE = 12.0


@dataclass(frozen=True, eq=False)
class Clip:
    """Speech in ``HEARING_FORMAT`` and what is said; ``voice`` is "people" or "box"."""

    voice: str
    samples: Samples
    text: str
    noise: str = "clean"

    def trimmed(self) -> Clip:
        """Without what follows the last loud sample: its end is the end of speech."""
        loud = np.flatnonzero(np.abs(self.samples.astype(np.int32)) > _LOUD)
        return replace(self, samples=self.samples[: loud[-1] + 1]) if len(loud) else self

    def noisy(self, ratio_db: float, seed: int) -> Clip:
        """With white noise, ``ratio_db`` below the mean power of the speech."""
        speech = self.samples.astype(np.float64)
        power = np.mean(np.square(speech[np.abs(speech) > _LOUD / 4]))
        noise = np.random.default_rng(seed).normal(0.0, np.sqrt(power / 10 ** (ratio_db / 10)), len(speech))
        loudest = np.iinfo(np.int16)
        samples = np.clip(speech + noise, loudest.min, loudest.max).astype(np.int16)
        return replace(self, samples=samples, noise=f"{ratio_db:g} dB")


def people(folder: Path = PEOPLE_FOLDER) -> list[Clip]:
    """People who give commands, say digits and read from a novel; nothing when the package is not installed."""
    if not (folder / "librivox").is_dir():
        return []
    listed = [(folder / "cards", "cards.transcription"), (folder / "librivox", "transcription")]
    clips = [
        Clip("people", _read_wav(sub / f"{line['name']}.wav"), line["text"])
        for sub, transcripts in listed
        for line in _LINE.finditer((sub / transcripts).read_text(encoding="ascii"))
    ]
    raw = ((np.fromfile(folder / name, dtype="<i2"), text) for name, text in _RAW_CLIPS.items())
    return clips + [Clip("people", samples, text) for samples, text in raw]


async def said_by(voice: Synthesizer, sentences: tuple[str, ...] = SENTENCES) -> list[Clip]:
    """Each sentence in ``voice``."""
    return [Clip("box", await _say(voice, sentence), sentence) for sentence in sentences]


def room(seconds: float, seed: int = 7) -> Samples:
    """A quiet room."""
    count = round(seconds * HEARING_FORMAT.sample_rate_hz)
    return np.random.default_rng(seed).normal(0.0, _ROOM_NOISE, count).astype(np.int16)


async def _say(voice: Synthesizer, sentence: str) -> Samples:
    chunks = [chunk.audio async for chunk in voice.synthesize(sentence)]
    sound = join(chunks, AudioFormat(voice.sample_rate_hz)).samples
    samples: Samples = soxr.resample(sound, voice.sample_rate_hz, HEARING_FORMAT.sample_rate_hz)
    return samples


def _read_wav(path: Path) -> Samples:
    with wave.open(str(path)) as stream:
        assert (stream.getframerate(), stream.getnchannels(), stream.getsampwidth()) == (16_000, 1, 2)
        return np.frombuffer(stream.readframes(stream.getnframes()), dtype="<i2")
