"""Wake words with microWakeWord: several at once over one shared front end of features.

The four words that ship with the library are known by name; an owner's own word is the path of its ``.json`` file,
with the weights beside it, as microWakeWord's training writes them.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.audio import HEARING_FORMAT, AudioChunk
from appliance.errors import WeightsError

SHIPPED_WORDS = ("okay_nabu", "hey_jarvis", "alexa", "hey_mycroft")

#: The library's front end makes one column of features for each 10 ms and cannot do otherwise.
_FEATURE_STEP_MILLISECONDS = 10
_TRIAL_SECONDS = 0.5


@dataclass(frozen=True)
class _Word:
    """A wake word's description: what is said, and where its files are."""

    phrase: str
    description: Path
    weights: Path


class MicroWakeWords:
    """Meets ``WakeWordDetector``. The first ``detect`` loads the weights (about 0.1 s) unless ``load`` did.

    ``words`` are names of ``SHIPPED_WORDS`` or paths of ``.json`` files; none at all is allowed and never wakes.
    Raises ``WeightsError`` at once for an unknown word or a file that cannot be used.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = tuple(_read(word) for word in words)
        self._models: list[Any] = []
        self._features: Any = None

    @property
    def phrases(self) -> tuple[str, ...]:
        """What a person may say, in lower case."""
        return tuple(word.phrase for word in self._words)

    def load(self) -> None:
        """Load the weights; any thread. Raises ``WeightsError``."""
        if self._features is not None:
            return
        import pymicro_wakeword

        models = [_load(pymicro_wakeword.MicroWakeWord, word) for word in self._words]
        features = pymicro_wakeword.MicroWakeWordFeatures()
        self._try_out(models, features)
        self._models, self._features = models, features

    def detect(self, chunk: AudioChunk) -> str | None:
        """The phrase that ended in this chunk, if any. Raises ``WeightsError`` when there are no weights."""
        if not self._words:
            return None
        self.load()
        return self._detect(self._models, self._features, chunk.samples.tobytes())

    def reset(self) -> None:
        """Forget what was heard before. What the features know of the room's noise stays: without it a wake word
        within the next second is found less surely."""
        for model in self._models:
            model.reset()

    def _detect(self, models: Sequence[Any], features: Any, pcm: bytes) -> str | None:
        """Every model sees every column of features, also behind a hit: they keep state."""
        found: str | None = None
        for column in features.process_streaming(pcm):
            for word, model in zip(self._words, models, strict=True):
                if model.process_streaming(column) and found is None:
                    found = word.phrase
        return found

    def _try_out(self, models: Sequence[Any], features: Any) -> None:
        """Run every model once, so that weights of another kind are found now and not in the middle of the night."""
        silence = bytes(2 * round(_TRIAL_SECONDS * HEARING_FORMAT.sample_rate_hz))
        columns = list(features.process_streaming(silence))
        features.reset()
        for word, model in zip(self._words, models, strict=True):
            try:
                for column in columns:
                    model.process_streaming(column)
                model.reset()
            except (ValueError, TypeError, RuntimeError) as error:
                raise _unusable(word.weights, f"its shape is not that of a microWakeWord ({error})") from error


def _read(word: str) -> _Word:
    if word in SHIPPED_WORDS:
        return _describe(_wheel() / "models" / f"{word}.json")
    if not word.endswith(".json"):
        raise WeightsError(
            f"{word!r} is no wake word; there are: {', '.join(SHIPPED_WORDS)}, "
            "or give the path of a microWakeWord .json file"
        )
    return _describe(Path(word).expanduser())


def _wheel() -> Path:
    found = importlib.util.find_spec("pymicro_wakeword")
    if found is None or not found.submodule_search_locations:
        raise WeightsError("the package pymicro-wakeword is missing; run ./run setup")
    return Path(found.submodule_search_locations[0])


def _describe(file: Path) -> _Word:
    try:
        description = json.loads(file.read_text(encoding="utf-8"))
        settings = description["micro"]
        word = _Word(str(description["wake_word"]).casefold().strip(), file, file.parent / str(description["model"]))
        float(settings["probability_cutoff"]), int(settings["sliding_window_size"])
        step = settings.get("feature_step_size", _FEATURE_STEP_MILLISECONDS)
    except OSError as error:
        raise _unusable(file, error.strerror or str(error)) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unusable(file, f"it is not a description of a microWakeWord ({error!r})") from error
    if step != _FEATURE_STEP_MILLISECONDS:
        raise _unusable(file, f"it needs features every {step} ms; only {_FEATURE_STEP_MILLISECONDS} ms can be made")
    if not word.phrase:
        raise _unusable(file, "its wake_word is empty")
    if not word.weights.is_file():
        raise _unusable(file, f"its weights {word.weights.name} are not beside it")
    return word


def _load(kind: Any, word: _Word) -> Any:
    _check_weights(word)
    try:
        return kind.from_config(word.description)
    except (OSError, ValueError, RuntimeError) as error:
        raise _unusable(word.weights, f"the library says: {error}") from error


def _check_weights(word: _Word) -> None:
    """The library dereferences a null pointer when weights are damaged, which would end the whole program."""
    for library in _wheel().glob("lib/*tensorflowlite_c*"):
        tensorflow = ctypes.CDLL(str(library))
        tensorflow.TfLiteModelCreateFromFile.argtypes = [ctypes.c_char_p]
        tensorflow.TfLiteModelCreateFromFile.restype = ctypes.c_void_p
        tensorflow.TfLiteModelDelete.argtypes = [ctypes.c_void_p]
        tensorflow.TfLiteModelDelete.restype = None
        model = tensorflow.TfLiteModelCreateFromFile(str(word.weights.resolve()).encode())
        if not model:
            raise _unusable(word.weights, "it is damaged")
        tensorflow.TfLiteModelDelete(model)


def _unusable(file: Path, why: str) -> WeightsError:
    return WeightsError(
        f"the wake word file {file} cannot be used: {why}; take another, or remove it from listen.wake_words"
    )
