"""Hearing with whisper, through faster-whisper.

Whisper hears words in silence, so three gates stand around it: the level of the sound before the model runs, the
model's own doubt (probability of no speech together with a low log-probability), and phrases that it is known to
invent, which count only when the sound was loud enough for somebody to have said them. There is no second try at
a higher temperature: on silence it costs seconds and makes the invented text worse.

An utterance is read in a short window first (``whisper_short``); the full thirty seconds are asked when that reading
is unsure, though not when it holds nothing and the gates drop it anyway: noise must not cost time.
"""

from __future__ import annotations

import asyncio
import logging
import os
import string
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from appliance.adapters.whisper_library import whisper_model
from appliance.adapters.whisper_short import LONGEST_SHORT_SECONDS, Reading, ShortWindow
from appliance.audio import HEARING_FORMAT, SILENCE_DBFS, AudioChunk, Samples, level_dbfs
from appliance.errors import HearingError, WeightsError
from appliance.ports import Transcript
from appliance.promptness import step_back

_LOG = logging.getLogger(__name__)

T = TypeVar("T")

#: What faster-whisper would otherwise look for on the internet, and what nothing works without.
_NEEDED_FILES = ("model.bin", "config.json", "tokenizer.json")
_WINDOW_SECONDS = 30.0
#: Fast speech has about 6 tokens a second; a model that runs in circles must not use up its 448.
_TOKENS_PER_SECOND = 12
_MOST_TOKENS = 220
_SHORTEST_SECONDS = 0.3
_PADDED_SECONDS = 0.5
_LEVEL_WINDOW_SAMPLES = HEARING_FORMAT.sample_rate_hz * 30 // 1000
#: Ends of the videos that whisper was trained on: what it most often invents.
_INVENTED = frozenset(
    (
        "you",
        "thank you",
        "thank you very much",
        "thank you so much",
        "thanks",
        "thanks for watching",
        "thank you for watching",
        "bye",
        "bye bye",
        "okay",
        "so",
        "the end",
        "please subscribe",
    )
)


@dataclass(frozen=True)
class HearingGates:
    """When text is not believed. Levels are those of the loudest 30 ms, in dBFS."""

    #: Quieter utterances are not given to the model at all.
    silent_below_dbfs: float = -55.0
    #: Quieter utterances cannot be one of the phrases that whisper invents.
    doubtful_below_dbfs: float = -45.0
    #: Above this, and below the log-probability, there was no speech. Measured with tiny.en and base: noise,
    #: clicks, hum and tones gave at least 0.61 and at most -1.09; clear speech was never past both.
    no_speech_probability: float = 0.6
    average_log_probability: float = -1.0


class SpeechModel(Protocol):
    """What is used of ``faster_whisper.WhisperModel``."""

    @property
    def supported_languages(self) -> list[str]:
        """Codes such as "en"."""
        ...

    def transcribe(self, audio: npt.NDArray[np.float32], **options: Any) -> tuple[Iterable[Any], Any]:
        """Segments with text and probabilities, and what was found out about the whole."""
        ...

    def detect_language(self, audio: npt.NDArray[np.float32]) -> tuple[str, float, list[tuple[str, float]]]:
        """The likeliest language, its probability, and all languages with theirs."""
        ...


class ShortReader(Protocol):
    """What is used of ``ShortWindow``."""

    def read(
        self, samples: npt.NDArray[np.float32], language: str, *, beam_size: int, most_tokens: int, hint: str = ""
    ) -> Reading:
        """What is said in ``samples``."""
        ...


class WhisperTranscriber:
    """``ports.Transcriber`` over a folder of CTranslate2 weights; one load, one thread of its own.

    ``languages``: with one, it is fixed; with several, each utterance is taken for the likeliest of them, which needs
    the full window. ``threads`` 0 takes what ``default_threads`` says. ``shorten`` None leaves only the full window.
    """

    def __init__(
        self,
        folder: Path,
        *,
        languages: tuple[str, ...] = ("en",),
        beam_size: int = 3,
        threads: int = 0,
        gates: HearingGates | None = None,
        load: Callable[[Path, int], SpeechModel] | None = None,
        shorten: Callable[[Any], ShortReader] | None = ShortWindow,
    ) -> None:
        self._folder = folder
        self._languages = languages
        self._beam_size = beam_size
        self._threads = threads or default_threads(os.cpu_count() or 1)
        self._gates = gates or HearingGates()
        self._load = load or load_weights
        self._shorten = shorten if len(languages) == 1 else None
        self._words: Callable[[], Sequence[str]] = tuple
        self._model: SpeechModel | None = None
        self._short: ShortReader | None = None
        self._is_warm = False
        #: How often the full window was asked; for whoever measures.
        self.full_windows = 0
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="whisper", initializer=step_back)

    async def warm_up(self) -> None:
        """Load and run once, however often it is asked for; see ``ports.Transcriber``."""
        await self._on_thread(self._warm_up)

    async def transcribe(self, utterance: AudioChunk) -> Transcript:
        """See ``ports.Transcriber``."""
        if utterance.format != HEARING_FORMAT:
            raise HearingError(f"an utterance must be {HEARING_FORMAT}, not {utterance.format}")
        return await self._on_thread(self._hear, utterance.samples, _hint(self._words()))

    def expect(self, words: Callable[[], Sequence[str]]) -> None:
        """From now on expect the names that ``words`` gives each time; it is called on the loop."""
        self._words = words

    async def glance(self, sound: AudioChunk) -> Transcript:
        """See ``ports_hearing.QuickReader``: one reading in the short window."""
        return await self._on_thread(self._glance, sound.samples)

    def close(self) -> None:
        """Give the thread back; what runs on it is finished, what waits is dropped."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def _on_thread(self, work: Callable[..., T], *arguments: Any) -> T:
        try:
            future = asyncio.get_running_loop().run_in_executor(self._executor, work, *arguments)
        except RuntimeError as error:
            raise HearingError("the transcriber is closed") from error
        return await future

    # ------------------------------------------------------------------------------- on the whisper thread

    def _warm_up(self) -> None:
        if not self._is_warm:
            self._read(np.zeros(HEARING_FORMAT.sample_rate_hz, dtype=np.float32))
            self._is_warm = True

    def _hear(self, samples: Samples, hint: str) -> Transcript:
        loudest_dbfs = _loudest_dbfs(samples)
        if loudest_dbfs < self._gates.silent_below_dbfs:
            return Transcript("", self._languages[0], no_speech_probability=1.0)
        transcript = self._read(_as_float(samples), hint)
        is_doubtful = loudest_dbfs < self._gates.doubtful_below_dbfs
        if is_doubtful and _is_empty(transcript.text):
            return Transcript("", transcript.language, no_speech_probability=transcript.no_speech_probability)
        return transcript

    def _glance(self, samples: Samples) -> Transcript:
        if self._model is None:
            raise HearingError("whisper is not loaded yet")
        language = self._languages[0]
        reading = self._read_short(_as_float(samples), language)
        if reading is None:
            raise HearingError("whisper has no short window for this sound")
        log_probability, no_speech = reading.average_log_probability, reading.no_speech_probability
        return Transcript(reading.text.strip(), language, log_probability, no_speech)

    def _read(self, samples: npt.NDArray[np.float32], hint: str = "") -> Transcript:
        model = self._loaded()
        try:
            language = self._language_of(model, samples)
            reading = self._read_short(samples, language, hint)
            if reading is not None and hint and self._is_echo(reading, hint):
                hint, reading = "", self._read_short(samples, language)
            if reading is None or not self._is_settled(reading):
                return self._join(self._read_full(model, samples, language, hint), language)
            return self._join([reading], language)
        except Exception as error:
            raise HearingError(f"the transcriber failed: {error}") from error

    def _read_short(self, samples: npt.NDArray[np.float32], language: str, hint: str = "") -> Reading | None:
        """None when there is no short window, or the sound is too long for it."""
        if self._short is None or _seconds(samples) > LONGEST_SHORT_SECONDS:
            return None
        try:
            most_tokens = _most_tokens(_seconds(samples))
            return self._short.read(samples, language, beam_size=self._beam_size, most_tokens=most_tokens, hint=hint)
        except Exception:
            _LOG.exception("the short window failed; from now on only the full one is used")
            self._short = None
            return None

    def _read_full(
        self, model: SpeechModel, samples: npt.NDArray[np.float32], language: str, hint: str
    ) -> list[Reading]:
        self.full_windows += 1
        segments, _ = model.transcribe(
            samples,
            language=language,
            beam_size=self._beam_size,
            temperature=0.0,
            condition_on_previous_text=False,
            # Without time stamps fewer tokens are written; beyond one window they are needed to go on.
            without_timestamps=_seconds(samples) <= _WINDOW_SECONDS,
            max_new_tokens=_most_tokens(_seconds(samples)),
            hotwords=hint or None,
            # The gates are ours, so that they can be asked.
            compression_ratio_threshold=None,
            log_prob_threshold=None,
            no_speech_threshold=None,
        )
        return [Reading(segment.text, segment.avg_logprob, segment.no_speech_prob) for segment in segments]

    def _loaded(self) -> SpeechModel:
        if self._model is None:
            model = self._load(self._folder, self._threads)
            unknown = sorted(set(self._languages) - set(model.supported_languages))
            if unknown:
                raise WeightsError(
                    f"the whisper weights in {self._folder} do not know {', '.join(unknown)}; "
                    "set hear.model to weights for many languages, such as base"
                )
            self._model = model
            self._short = self._shorten_window(model)
        return self._model

    def _shorten_window(self, model: SpeechModel) -> ShortReader | None:
        if self._shorten is None:
            return None
        try:
            return self._shorten(model)
        except Exception:
            _LOG.exception("there is no short window for the weights in %s; the full one is used", self._folder)
            return None

    def _language_of(self, model: SpeechModel, samples: npt.NDArray[np.float32]) -> str:
        if len(self._languages) == 1:
            return self._languages[0]
        _, _, probabilities = model.detect_language(samples)
        likely = dict(probabilities)
        return max(self._languages, key=lambda language: likely.get(language, 0.0))

    def _join(self, readings: list[Reading], language: str) -> Transcript:
        """One text of what passes the gates; the probabilities are those of the least certain part."""
        no_speech = max((reading.no_speech_probability for reading in readings), default=1.0)
        log_probability = min((reading.average_log_probability for reading in readings), default=0.0)
        text = "".join(reading.text for reading in readings if not self._is_no_speech(reading)).strip()
        has_words = any(character.isalnum() for character in text)
        return Transcript(text if has_words else "", language, log_probability, no_speech)

    def _is_settled(self, reading: Reading) -> bool:
        """Whether the full window need not be asked.

        In the short one the probability of no speech is higher, with speech too, so alone it drops no words.
        """
        if self._is_no_speech(reading):
            return _is_empty(reading.text)
        is_doubted = reading.no_speech_probability > self._gates.no_speech_probability
        return not reading.is_unsure and not (is_doubted and _is_empty(reading.text))

    def _is_echo(self, reading: Reading, hint: str) -> bool:
        """Whether it may be nothing but the hint, which whisper gives back when nobody speaks."""
        is_doubted = reading.no_speech_probability > self._gates.no_speech_probability
        return is_doubted and set(_plain_words(reading.text)) <= set(_plain_words(hint))

    def _is_no_speech(self, reading: Reading) -> bool:
        gates = self._gates
        is_doubted = reading.no_speech_probability > gates.no_speech_probability
        return is_doubted and reading.average_log_probability < gates.average_log_probability


def load_weights(folder: Path, threads: int) -> SpeechModel:
    """The model in ``folder``, as int8 on the processor. Raises ``WeightsError``; takes a second or more."""
    missing = [name for name in _NEEDED_FILES if not (folder / name).is_file()]
    if missing:
        raise WeightsError(
            f"{folder} lacks {', '.join(missing)}; run ./run setup, or correct hear.model_path in config.toml"
        )
    try:
        model: SpeechModel = whisper_model()(
            str(folder), device="cpu", compute_type="int8", cpu_threads=threads, local_files_only=True
        )
    except Exception as error:
        raise WeightsError(
            f"the whisper weights in {folder} cannot be loaded ({error}); run: appliance models verify"
        ) from error
    return model


def default_threads(cores: int) -> int:
    """All cores but one, which the sound and the face need; two where there are two; more than 4 bring nothing."""
    return min(4, cores if cores <= 2 else cores - 1)


def _hint(words: Sequence[str]) -> str:
    """What whisper is told of names: a list, as a sentence. Without commas and full stop it writes them everywhere.

    With 12 names tiny.en had 4 % of the words of 15 sentences with such names wrong instead of 25 %, with noise at
    10 dB 14 % instead of 51 %; other sentences were heard as before. With 40 names those lost one word in a hundred.
    """
    return f"{', '.join(words)}." if words else ""


def _plain_words(text: str) -> list[str]:
    return text.lower().translate(str.maketrans("", "", string.punctuation)).split()


def _is_empty(text: str) -> bool:
    """Whether nothing is said, or only what whisper invents."""
    words = text.lower().strip(string.punctuation + string.whitespace)
    return not words or words in _INVENTED


def _seconds(samples: npt.NDArray[np.float32]) -> float:
    return len(samples) / HEARING_FORMAT.sample_rate_hz


def _most_tokens(seconds: float) -> int:
    return min(_MOST_TOKENS, 24 + round(_TOKENS_PER_SECOND * seconds))


def _loudest_dbfs(samples: Samples) -> float:
    """Level of the loudest 30 ms; a constant offset, which cheap microphones have, does not count."""
    if not len(samples):
        return SILENCE_DBFS
    centred = np.clip(np.rint(samples - np.mean(samples)), -32768, 32767).astype(np.int16)
    windows = np.pad(centred, (0, -len(centred) % _LEVEL_WINDOW_SAMPLES)).reshape(-1, _LEVEL_WINDOW_SAMPLES)
    energies = np.sum(np.square(windows.astype(np.float64)), axis=1)
    return level_dbfs(windows[int(np.argmax(energies))])


def _as_float(samples: Samples) -> npt.NDArray[np.float32]:
    """float32 in [-1, 1), long enough for the model."""
    scaled = samples.astype(np.float32) / 32768.0
    rate = HEARING_FORMAT.sample_rate_hz
    if len(scaled) < _SHORTEST_SECONDS * rate:
        scaled = np.pad(scaled, (0, round(_PADDED_SECONDS * rate) - len(scaled)))
    return scaled
