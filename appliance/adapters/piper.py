"""Speaking with a piper voice, through piper-tts.

Piper makes one stretch of sound per sentence of the text. Its own levelling of each stretch to full scale is off:
it makes a lone "really?" louder than the sentence around it. Every stretch gets the same gain instead (128
sentences of the default voice: levels spread by 1.6 dB, with piper's levelling by 1.9 dB).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol, TypeVar

from appliance.audio import AudioChunk, AudioFormat
from appliance.errors import SynthesisError, WeightsError
from appliance.ports import SynthesizedChunk, TimedPhoneme

T = TypeVar("T")

#: 99 of 100 sentences of the default voice peak below 0.78 of full scale; the rest is clipped a little.
GAIN = 1.25
#: The memory of a voice grows with the square of the length: what has no full stop for longer than this is cut.
_LONGEST_STRETCH = 500
#: Marks of a sentence's start and end, which last as pauses but are no sounds.
_BOUNDARIES = frozenset("^$")


class Voice(Protocol):
    """What is used of ``piper.PiperVoice``."""

    @property
    def session(self) -> Any:
        """The ONNX session; a second output means that the voice knows how long each phoneme lasts."""
        ...

    def synthesize(self, text: str, syn_config: Any, include_alignments: bool) -> Iterable[Any]:
        """One ``piper.AudioChunk`` per sentence."""
        ...


#: Voice file, its settings, number of threads; raises ``WeightsError``.
LoadVoice = Callable[[Path, Mapping[str, Any], int], Voice]


class PiperSynthesizer:
    """``ports.Synthesizer`` over a voice file ``*.onnx`` with its ``*.onnx.json`` beside it; a thread of its own.

    ``threads`` 0 takes all cores, at most 4. Raises ``WeightsError`` when a file is missing or broken.
    """

    def __init__(self, voice_file: Path, *, threads: int = 0, load: LoadVoice | None = None) -> None:
        self._voice_file = voice_file
        self._load = load or load_voice
        self._threads = threads or min(4, os.cpu_count() or 1)
        settings, self._settings = _read_settings(voice_file)
        digest = hashlib.sha256(settings).hexdigest()[:12]
        self._voice_key = f"{voice_file.stem}-{digest}-{voice_file.stat().st_size}"
        self._format = AudioFormat(int(self._settings["audio"]["sample_rate"]))
        self._voice: Voice | None = None
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="piper")

    @property
    def voice_key(self) -> str:
        """See ``ports.Synthesizer``."""
        return self._voice_key

    @property
    def sample_rate_hz(self) -> int:
        """See ``ports.Synthesizer``; known before the voice is loaded."""
        return self._format.sample_rate_hz

    async def warm_up(self) -> None:
        """Load the voice and speak once into nothing; see ``ports.Synthesizer``."""
        async for _ in self.synthesize("Ready."):
            pass

    async def synthesize(self, text: str, *, speed: float = 1.0) -> AsyncIterator[SynthesizedChunk]:
        """See ``ports.Synthesizer``.

        A stretch is made only when it is asked for, so two callers take turns stretch by stretch, and closing
        the iterator leaves at most one stretch to finish on the thread.
        """
        sounds = self._sounds(text, speed)
        while (sound := await self._on_thread(lambda: next(sounds, None))) is not None:
            yield sound

    def close(self) -> None:
        """Give the thread back; what runs on it is finished, what waits is dropped."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def _on_thread(self, work: Callable[[], T]) -> T:
        try:
            future = asyncio.get_running_loop().run_in_executor(self._executor, work)
        except RuntimeError as error:
            raise SynthesisError("the voice is closed") from error
        return await future

    # --------------------------------------------------------------------------------- on the piper thread

    def _sounds(self, text: str, speed: float) -> Iterator[SynthesizedChunk]:
        voice = self._loaded()
        from piper import SynthesisConfig

        own_pace = float(self._settings.get("inference", {}).get("length_scale", 1.0))
        config = SynthesisConfig(length_scale=own_pace / speed, normalize_audio=False, volume=GAIN)
        has_alignments = len(voice.session.get_outputs()) > 1
        try:
            for stretch in _stretches(text):
                for chunk in voice.synthesize(stretch, config, include_alignments=has_alignments):
                    yield self._chunk(chunk)
        except Exception as error:
            raise SynthesisError(f"the voice failed: {error}") from error

    def _chunk(self, chunk: Any) -> SynthesizedChunk:
        phonemes = tuple(
            TimedPhoneme("" if aligned.phoneme in _BOUNDARIES else aligned.phoneme, int(aligned.num_samples))
            for aligned in chunk.phoneme_alignments or ()
        )
        return SynthesizedChunk(AudioChunk(chunk.audio_int16_array, self._format), phonemes)

    def _loaded(self) -> Voice:
        if self._voice is None:
            self._voice = self._load(self._voice_file, self._settings, self._threads)
        return self._voice


def load_voice(voice_file: Path, settings: Mapping[str, Any], threads: int) -> Voice:
    """The voice, ready to speak. Raises ``WeightsError``; takes a quarter of a second or more."""
    import onnxruntime
    from piper import PiperConfig, PiperVoice

    # It logs every sentence that is spoken.
    logging.getLogger("piper").setLevel(logging.WARNING)
    # PiperVoice.load would take every core: piper's engine is set up here as it is there.
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(
            str(voice_file), sess_options=options, providers=["CPUExecutionProvider"]
        )
        voice: Voice = PiperVoice(session=session, config=PiperConfig.from_dict(dict(settings)))
    except Exception as error:
        raise WeightsError(
            f"the voice {voice_file} cannot be loaded ({error}); run: appliance models verify"
        ) from error
    return voice


def _read_settings(voice_file: Path) -> tuple[bytes, dict[str, Any]]:
    """The settings beside the voice, raw and parsed."""
    beside = Path(f"{voice_file}.json")
    for file in (voice_file, beside):
        if not file.is_file():
            raise WeightsError(f"{file} is missing; run ./run setup, or correct speak.voice_path in config.toml")
    try:
        raw = beside.read_bytes()
        settings: dict[str, Any] = json.loads(raw)
        if int(settings["audio"]["sample_rate"]) <= 0:
            raise ValueError("no sample rate")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(f"{beside} does not describe a piper voice; run: appliance models verify") from error
    return raw, settings


def _stretches(text: str) -> Iterator[str]:
    """``text`` in pieces that the voice can hold in memory; nothing where there is nothing to say."""
    # Piper reads [[ ]] as phonemes; a text has none.
    rest = re.sub(r"\[\[|\]\]", " ", text).strip()
    while rest:
        piece = rest[:_LONGEST_STRETCH]
        if len(rest) > _LONGEST_STRETCH:
            ends = [match.end() for match in re.finditer(r"[.!?…]\s|[,;:]\s|\s", piece)]
            sentence_ends = [match.end() for match in re.finditer(r"[.!?…]\s", piece)]
            piece = piece[: (sentence_ends or ends or [_LONGEST_STRETCH])[-1]]
        rest = rest[len(piece) :].lstrip()
        if any(character.isalnum() for character in piece):
            yield piece.strip()
