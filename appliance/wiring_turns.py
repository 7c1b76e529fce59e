"""What the benchmark of whole turns is made of: the box with another sound card, and the parts of its peers' loops."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from appliance.assembly_ground import Adapters
from appliance.audio import HEARING_FORMAT, AudioChunk, Samples
from appliance.box import Box
from appliance.config import Config
from appliance.home import Home
from appliance.ports import SoundCard, Synthesizer, Transcriber, Transcript, VoiceActivityDetector
from appliance.ports_hearing import TurnDetector
from appliance.speak.mixer import Mixer
from appliance.wiring import Sound, credentials_of, open_box
from appliance.wiring_listening import turn_detector

#: Noise, length and noise of lengths of a piper voice whose settings say nothing.
_USUAL_SCALES = (0.667, 1.0, 0.8)
#: From here on pipecat believes its turn model.
_SURE = 0.5


class CountedTranscriber:
    """Meets ``Transcriber``; ``starts`` counts how often it was asked. Everything else is the inner one's."""

    def __init__(self, inner: Transcriber) -> None:
        self.starts = 0
        self._inner = inner

    async def warm_up(self) -> None:
        """See ``Transcriber``."""
        await self._inner.warm_up()

    async def transcribe(self, utterance: AudioChunk) -> Transcript:
        """See ``Transcriber``."""
        self.starts += 1
        return await self._inner.transcribe(utterance)

    def close(self) -> None:
        """See ``Transcriber``."""
        self._inner.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@dataclass(frozen=True)
class BoxOnCard:
    """A box, and what of it a benchmark counts or measures by itself."""

    box: Box
    transcriber: CountedTranscriber
    turn_detector: TurnDetector | None


@asynccontextmanager
async def box_on_card(home: Home, config: Config, card: Callable[[Mixer], SoundCard]) -> AsyncIterator[BoxOnCard]:
    """The box as a device has it, but for its sound card and a counter in front of its transcriber."""
    changed: list[Adapters] = []

    def change(adapters: Adapters) -> Adapters:
        counted = CountedTranscriber(adapters.transcriber)
        changed.append(replace(adapters, card=card, transcriber=counted, button=None, lamp=None, power=None))
        return changed[0]

    async with open_box(home, config, credentials_of(home), Sound.DEVICE, change=change) as box:
        counted = changed[0].transcriber
        assert isinstance(counted, CountedTranscriber)
        yield BoxOnCard(box, counted, changed[0].turn_detector)


@dataclass(frozen=True)
class LoopParts:
    """The same weights as libraries bring them to a peer; each call takes as long as the work does.

    ``transcribe`` gets samples in ``HEARING_FORMAT`` and a beam size; ``say`` gives a sentence at a time, as piper
    does. ``is_finished`` is the turn model's opinion.
    """

    transcribe: Callable[[Samples, int], str]
    say: Callable[[str], Iterator[Samples]]
    activity: VoiceActivityDetector
    is_finished: Callable[[Samples], bool]


@contextmanager
def loop_parts(whisper_folder: Path, voice_file: Path, home: Home, language: str, threads: int) -> Iterator[LoopParts]:
    """faster-whisper and piper as they come, but for the language and the number of threads.

    Raises ``WeightsError``.
    """
    from appliance.adapters.piper import load_whole_voice
    from appliance.adapters.silero_vad import SileroVoiceActivity
    from appliance.adapters.whisper import load_weights

    model = load_weights(whisper_folder, threads)
    settings = json.loads(voice_file.with_name(f"{voice_file.name}.json").read_text(encoding="utf-8"))
    voice = load_whole_voice(voice_file, settings, threads, spins=True)

    def transcribe(samples: Samples, beam_size: int) -> str:
        heard = samples.astype(np.float32) / 32768.0
        segments, _ = model.transcribe(heard, language=language, beam_size=beam_size)
        return "".join(segment.text for segment in segments).strip()

    def say(text: str) -> Iterator[Samples]:
        for sentence in voice.sentences(text, _USUAL_SCALES):
            for piece in sentence:
                yield piece.audio.samples

    detector, asked = turn_detector(home), asyncio.Runner()

    def is_finished(so_far: Samples) -> bool:
        return asked.run(detector.finished_probability(AudioChunk(so_far, HEARING_FORMAT))) >= _SURE

    try:
        yield LoopParts(transcribe, say, SileroVoiceActivity(), is_finished)
    finally:
        asked.close()
        detector.close()


@contextmanager
def clip_parts(voice_file: Path) -> Iterator[tuple[Synthesizer, VoiceActivityDetector]]:
    """Who says the sentences of the benchmark, and who finds their ends. Raises ``WeightsError``."""
    from appliance.adapters.piper import PiperSynthesizer
    from appliance.adapters.silero_vad import SileroVoiceActivity

    voice = PiperSynthesizer(voice_file)
    try:
        yield voice, SileroVoiceActivity()
    finally:
        voice.close()
