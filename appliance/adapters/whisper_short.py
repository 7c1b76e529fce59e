"""Whisper on the sound that is there, instead of on thirty seconds that are mostly padding.

Whisper is trained on windows of thirty seconds, and nearly all the work for a short command goes into encoding
silence. Encoding only the command is not enough: without the silent frames behind it the decoder finds no end and
repeats itself. So silence is encoded once, and what comes behind the command is taken from there, each frame from its
own place. What the decoder sees then has the full length, for a tenth of the work.

The silence is that of a quiet room. With the padding that faster-whisper uses (features of 0) base loses its thread;
with digital silence both base and tiny.en are too sure of what they invent in noise.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from appliance.adapters.whisper_silence import KeptSilence

#: Beyond this little is saved, and the model's habits with long sound are wanted.
LONGEST_SHORT_SECONDS = 20.0
#: A text that shrinks more than this is a repetition; whisper's own limit.
_MOST_COMPRESSION = 2.4
#: Of 90 clips, half of them with noise at 10 dB, tiny.en needed the full window for 2 and base for 4
#: (``appliance bench hearing``).
_UNSURE_BELOW_LOG_PROBABILITY = -0.8
#: About -69 dBFS: a microphone in a quiet room.
_ROOM_NOISE = 12 / 32768
_WINDOW_SAMPLES = 480_000
#: Whisper has room for 448 tokens in all.
_MOST_HINT_TOKENS = 200
#: Encoded behind the sound, so that its own end is seen in one piece with silence.
_PAD_FRAMES = 100
_WINDOW_FRAMES = 3000
#: The encoder halves the number of frames.
_STRIDE = 2


@dataclass(frozen=True)
class Reading:
    """What whisper read in a stretch of sound; ``is_cut_off`` when it ran out of tokens before it came to an end."""

    text: str
    average_log_probability: float
    no_speech_probability: float
    is_cut_off: bool = False

    @property
    def is_unsure(self) -> bool:
        """Whether the full window should be asked: cut off, repeating itself, or not likely."""
        text = self.text.encode()
        is_repeating = len(text) > _MOST_COMPRESSION * len(zlib.compress(text))
        return self.is_cut_off or is_repeating or self.average_log_probability < _UNSURE_BELOW_LOG_PROBABILITY


class ShortWindow:
    """Reads sound of at most ``LONGEST_SHORT_SECONDS`` with a ``faster_whisper.WhisperModel``.

    Making one encodes the silence, which takes as long as the full window; unless it is ``kept``.
    """

    def __init__(self, model: Any, kept: KeptSilence | None = None) -> None:
        self._model = model
        silence = kept.load() if kept is not None else None
        self._silence = self._encoded_room() if silence is None else silence
        if kept is not None and silence is None:
            kept.keep(self._silence)

    def _encoded_room(self) -> npt.NDArray[Any]:
        model = self._model
        room = np.random.default_rng(7).normal(0.0, _ROOM_NOISE, _WINDOW_SAMPLES).astype(np.float32)
        return self._encode(model.feature_extractor(room)[:, :_WINDOW_FRAMES])

    def read(
        self, samples: npt.NDArray[np.float32], language: str, *, beam_size: int, most_tokens: int, hint: str = ""
    ) -> Reading:
        """What is said in ``samples`` (float32 in [-1, 1), 16 kHz); raises what the library raises.

        ``hint`` is text that might have come before, for the spelling of its names; at most its first 200 tokens.
        """
        from faster_whisper.tokenizer import Tokenizer

        whisper = self._model.model
        tokenizer = Tokenizer(self._model.hf_tokenizer, whisper.is_multilingual, "transcribe", language)
        before = [tokenizer.sot_prev, *tokenizer.encode(f" {hint}")[:_MOST_HINT_TOKENS]] if hint else []
        prompt = [*before, *tokenizer.sot_sequence, tokenizer.no_timestamps]
        result = whisper.generate(
            self._storage(self._encoded(samples)),
            [prompt],
            beam_size=beam_size,
            max_length=len(prompt) + most_tokens,
            return_scores=True,
            return_no_speech_prob=True,
        )[0]
        tokens = result.sequences_ids[0]
        # The score is per token without the one that ends the text, which the usual average counts too.
        log_probability = result.scores[0] * len(tokens) / (len(tokens) + 1)
        text = tokenizer.decode(tokens)
        return Reading(text, log_probability, result.no_speech_prob, is_cut_off=len(tokens) >= most_tokens)

    def _encoded(self, samples: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
        """As many frames as the full window has, of which only the first were worked out now."""
        features = self._model.feature_extractor(samples)
        frames = min(_WINDOW_FRAMES, features.shape[1] + _PAD_FRAMES)
        frames -= frames % _STRIDE
        features = features[:, :frames]
        sound = self._encode(np.pad(features, ((0, 0), (0, frames - features.shape[1]))))
        joined: npt.NDArray[Any] = np.concatenate((sound, self._silence[:, sound.shape[1] :]), axis=1)
        return joined

    def _encode(self, features: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
        # A copy: the encoder's own memory goes away with its result.
        return np.array(self._model.model.encode(self._storage(features[np.newaxis]), to_cpu=True))

    @staticmethod
    def _storage(values: npt.NDArray[Any]) -> Any:
        from ctranslate2 import StorageView

        return StorageView.from_array(np.ascontiguousarray(values))
