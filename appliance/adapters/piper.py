"""Speaking with a piper voice, through piper-tts.

The voice is cut in parts (``piper_parts``), so that a sentence begins to sound while the rest of it is made. A voice
that cannot be cut makes its sentences whole, as piper-tts does; it sounds the same, only later.

Piper's own levelling of each sentence to full scale is off: it makes a lone "really?" louder than the sentence around
it, and a sentence that is not whole has no level yet. Every sample gets the same gain instead (128 sentences of the
default voice: levels spread by 1.6 dB, with piper's levelling by 1.9 dB).
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import os
import re
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from appliance.adapters.onnx_graph import GraphError
from appliance.adapters.piper_parts import Scales, load_parts
from appliance.adapters.piper_streamed import END, START, BegunSentence, StreamedVoice
from appliance.adapters.piper_thread import VoiceThread
from appliance.audio import AudioChunk, AudioFormat
from appliance.errors import SynthesisError, WeightsError
from appliance.ports import SynthesizedChunk, TimedPhoneme
from appliance.ports_speaking import GrowingText

_LOG = logging.getLogger(__name__)

T = TypeVar("T")

#: 99 of 100 sentences of the default voice peak below 0.78 of full scale; the rest is clipped a little.
GAIN = 1.25
#: The memory of a voice grows with the square of the length: what has no full stop for longer than this is cut.
_LONGEST_STRETCH = 500
#: So many threads, each with its voice, may be lost to a voice that hangs; more would fill the memory.
_MOST_ABANDONED = 2
#: So long before it is needed more sound is made of a sentence whose end may be written until then: all at once is
#: cheaper.
_LEAD_SECONDS = 0.2
#: Noise, length and noise of lengths of a voice whose settings say nothing: piper's own.
_USUAL_SCALES: Scales = (0.667, 1.0, 0.8)


class Voice(Protocol):
    """A voice, ready to speak, on one thread."""

    def sentences(
        self, text: str, scales: Scales, *, in_haste: bool = False, begun: BegunSentence | None = None
    ) -> Iterator[Iterator[SynthesizedChunk]]:
        """The sentences of ``text``, each as the pieces of its sound; all is made only when it is asked for.

        ``in_haste`` see ``ports.Synthesizer``. The first sentence goes on behind what is made of it in ``begun``.
        """
        ...

    def first_words(
        self, text: str, scales: Scales, begun: BegunSentence | None
    ) -> tuple[BegunSentence | None, SynthesizedChunk | None]:
        """More sound of a sentence that begins with the words of ``text``, as far as that can be made already.

        None where no more can be.
        """
        ...


#: Voice file, its settings, number of threads; raises ``WeightsError``.
LoadVoice = Callable[[Path, Mapping[str, Any], int], Voice]


class PiperSynthesizer:
    """``ports.Synthesizer`` over a voice file ``*.onnx`` with its ``*.onnx.json`` beside it; a thread of its own.

    ``threads`` 0 takes all cores, at most 4. The parts of the voice are kept in ``parts_folder``, which is for them
    alone. Raises ``WeightsError`` when a file is missing or broken.
    """

    def __init__(
        self,
        voice_file: Path,
        *,
        threads: int = 0,
        parts_folder: Path | None = None,
        load: LoadVoice | None = None,
    ) -> None:
        self._voice_file = voice_file
        self._load = load or partial(load_voice, parts_folder=parts_folder)
        self._threads = threads or min(4, os.cpu_count() or 1)
        settings, self._settings = _read_settings(voice_file)
        digest = hashlib.sha256(settings).hexdigest()[:12]
        self._voice_key = f"{voice_file.stem}-{digest}-{voice_file.stat().st_size}"
        self._sample_rate_hz = int(self._settings["audio"]["sample_rate"])
        self._thread = self._new_thread()
        self._warming = asyncio.Lock()
        self._warm_thread: VoiceThread[Voice] | None = None
        self._times_abandoned = 0

    @property
    def voice_key(self) -> str:
        """See ``ports.Synthesizer``."""
        return self._voice_key

    @property
    def sample_rate_hz(self) -> int:
        """See ``ports.Synthesizer``; known before the voice is loaded."""
        return self._sample_rate_hz

    async def warm_up(self) -> None:
        """Load the voice and speak once into nothing, however often it is asked for; see ``ports.Synthesizer``."""
        async with self._warming:
            thread = self._thread
            if thread is self._warm_thread:
                return
            async for _ in self.synthesize("Ready."):
                pass
            self._warm_thread = thread

    async def synthesize(
        self, text: str, *, speed: float = 1.0, in_haste: bool = False
    ) -> AsyncIterator[SynthesizedChunk]:
        """See ``ports.Synthesizer``.

        A sentence is made only when it is asked for, then to its end, so two callers take turns sentence by sentence.
        Closing the iterator leaves at most one piece to finish on the thread.
        """
        async with contextlib.aclosing(self._made(self._thread, text, speed, in_haste=in_haste)) as pieces:
            async for piece in pieces:
                yield piece

    async def synthesize_growing(self, text: GrowingText, *, speed: float = 1.0) -> AsyncIterator[SynthesizedChunk]:
        """See ``ports.Synthesizer``; whoever else wants to speak has the voice while this one waits for its text."""
        thread, scales = self._thread, self._scales_at(speed)
        begun: BegunSentence | None = None
        while not text.is_whole:
            known = text.text
            begun, piece = await thread.run(partial(_first_words, thread, known, scales, begun))
            if piece is not None:
                yield piece
            await text.more(known, _spare_seconds(piece))
        made = self._made(thread, text.text, speed, in_haste=begun is None, begun=begun)
        async with contextlib.aclosing(made) as pieces:
            async for rest in pieces:
                yield rest

    def start_over(self) -> None:
        """See ``ports.Synthesizer``; a voice that hangs each time is left alone after some threads were lost to it."""
        if self._thread.is_at_work and self._times_abandoned < _MOST_ABANDONED:
            self._times_abandoned += 1
            self._thread.give_back()
            self._thread = self._new_thread()

    def close(self) -> None:
        """Give the thread back; what runs on it is finished, what waits is dropped."""
        self._thread.give_back()

    async def _made(
        self,
        thread: VoiceThread[Voice],
        text: str,
        speed: float,
        *,
        in_haste: bool,
        begun: BegunSentence | None = None,
    ) -> AsyncGenerator[SynthesizedChunk, None]:
        sentences = self._sentences(thread, text, speed, in_haste, begun)
        is_left = threading.Event()
        try:
            while True:
                pieces, job = _begin(thread, sentences, is_left)
                while (piece := await pieces.get()) is not None:
                    yield piece
                if job.cancelled():
                    raise SynthesisError("the voice was closed or started over")
                if not await job:
                    return
        finally:
            is_left.set()

    def _scales_at(self, speed: float) -> Scales:
        noise, length, length_noise = _scales(self._settings)
        return noise, length / speed, length_noise

    def _new_thread(self) -> VoiceThread[Voice]:
        return VoiceThread(lambda: self._load(self._voice_file, self._settings, self._threads))

    # --------------------------------------------------------------------------------- on the piper thread

    def _sentences(
        self, thread: VoiceThread[Voice], text: str, speed: float, in_haste: bool, begun: BegunSentence | None
    ) -> Iterator[Iterator[SynthesizedChunk]]:
        voice, scales = thread.voice(), self._scales_at(speed)
        for stretch in _stretches(text):
            for sentence in _translated(voice.sentences(stretch, scales, in_haste=in_haste, begun=begun)):
                yield _translated(sentence)
            in_haste, begun = False, None


def _first_words(
    thread: VoiceThread[Voice], text: str, scales: Scales, begun: BegunSentence | None
) -> tuple[BegunSentence | None, SynthesizedChunk | None]:
    try:
        return thread.voice().first_words(text, scales, begun)
    except Exception as error:
        raise _failed(error) from error


class WholeVoice:
    """Meets ``Voice`` over a ``piper.PiperVoice``, which makes a sentence as one piece."""

    def __init__(self, voice: Any, audio_format: AudioFormat) -> None:
        self._voice = voice
        self._format = audio_format

    def first_words(
        self, text: str, scales: Scales, begun: BegunSentence | None
    ) -> tuple[BegunSentence | None, SynthesizedChunk | None]:
        """See ``Voice``; it needs the whole sentence."""
        return None, None

    def sentences(
        self, text: str, scales: Scales, *, in_haste: bool = False, begun: BegunSentence | None = None
    ) -> Iterator[Iterator[SynthesizedChunk]]:
        """See ``Voice``; haste changes nothing."""
        from piper import SynthesisConfig

        noise, length, length_noise = scales
        config = SynthesisConfig(
            length_scale=length,
            noise_scale=noise,
            noise_w_scale=length_noise,
            normalize_audio=False,
            volume=GAIN,
        )
        # A second output means that the voice knows how long each phoneme lasts.
        has_alignments = len(self._voice.session.get_outputs()) > 1
        for chunk in self._voice.synthesize(text, config, include_alignments=has_alignments):
            yield iter((self._chunk(chunk),))

    def _chunk(self, chunk: Any) -> SynthesizedChunk:
        phonemes = tuple(
            TimedPhoneme("" if aligned.phoneme in (START, END) else aligned.phoneme, int(aligned.num_samples))
            for aligned in chunk.phoneme_alignments or ()
        )
        return SynthesizedChunk(AudioChunk(chunk.audio_int16_array, self._format), phonemes)


def load_voice(
    voice_file: Path, settings: Mapping[str, Any], threads: int, *, parts_folder: Path | None = None
) -> Voice:
    """The voice in parts, or whole where it cannot be cut.

    Raises ``WeightsError``; takes a quarter of a second or more, and some seconds when it is cut for the first time.
    """
    try:
        parts = load_parts(voice_file, parts_folder, threads)
        audio_format = AudioFormat(int(settings["audio"]["sample_rate"]))
        return StreamedVoice(parts, _piper_voice(None, settings), audio_format, GAIN)
    except GraphError as error:
        _LOG.warning("the voice %s makes its sentences whole, so they start later: %s", voice_file.stem, error)
    except Exception as error:
        # A voice that is broken is broken whole too, and then there is a better message.
        _LOG.warning("the voice %s could not be cut in parts: %s", voice_file.stem, error)
    return load_whole_voice(voice_file, settings, threads)


def load_whole_voice(voice_file: Path, settings: Mapping[str, Any], threads: int, *, spins: bool = False) -> Voice:
    """The voice in one piece; with ``spins`` its idle threads burn their cores, as piper-tts has it.

    Raises ``WeightsError``; takes a quarter of a second or more.
    """
    import onnxruntime

    # PiperVoice.load would take every core: piper's engine is set up here as it is there.
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", str(int(spins)))
    try:
        session = onnxruntime.InferenceSession(
            str(voice_file), sess_options=options, providers=["CPUExecutionProvider"]
        )
        return WholeVoice(_piper_voice(session, settings), AudioFormat(int(settings["audio"]["sample_rate"])))
    except Exception as error:
        raise WeightsError(
            f"the voice {voice_file} cannot be loaded ({error}); run: appliance models verify"
        ) from error


def _begin(
    thread: VoiceThread[Voice], sentences: Iterator[Iterator[SynthesizedChunk]], is_left: threading.Event
) -> tuple[asyncio.Queue[SynthesizedChunk | None], asyncio.Future[bool]]:
    """Have the next sentence made: its pieces with None behind them, and whether there was one."""
    loop = asyncio.get_running_loop()
    pieces: asyncio.Queue[SynthesizedChunk | None] = asyncio.Queue()

    def make() -> bool:
        sentence = None if is_left.is_set() else next(sentences, None)
        for piece in sentence or ():
            loop.call_soon_threadsafe(pieces.put_nowait, piece)
            if is_left.is_set():
                return False
        return sentence is not None

    job = thread.run(make)

    def end(done: asyncio.Future[bool]) -> None:
        pieces.put_nowait(None)
        if not done.cancelled():
            done.exception()  # Looked at, so that asyncio does not complain when the caller has left.

    job.add_done_callback(end)
    return pieces, job


def _piper_voice(session: Any, settings: Mapping[str, Any]) -> Any:
    from piper import PiperConfig, PiperVoice

    # It logs every sentence that is spoken.
    logging.getLogger("piper").setLevel(logging.WARNING)
    return PiperVoice(session=session, config=PiperConfig.from_dict(dict(settings)))


def _scales(settings: Mapping[str, Any]) -> Scales:
    given = settings.get("inference", {})
    noise, length, length_noise = (
        float(given.get(name, usual))
        for name, usual in zip(("noise_scale", "length_scale", "noise_w"), _USUAL_SCALES, strict=True)
    )
    return noise, length, length_noise


def _translated(made: Iterator[T]) -> Iterator[T]:
    """Errors of piper and its engine as ours."""
    try:
        yield from made
    except Exception as error:
        raise _failed(error) from error


def _failed(error: Exception) -> SynthesisError:
    return SynthesisError(f"the voice failed: {error}")


def _spare_seconds(piece: SynthesizedChunk | None) -> float:
    """How long there is no hurry to make more than this piece."""
    return max(0.0, piece.audio.duration_seconds - _LEAD_SECONDS) if piece is not None else 0.0


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
