"""A piper voice that begins to speak before its sentence is made."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from appliance.adapters.piper_parts import Floats, Parts, Scales
from appliance.adapters.piper_windows import Windows
from appliance.audio import AudioChunk, AudioFormat
from appliance.ports import SynthesizedChunk, TimedPhoneme

_FULL_SCALE = 32767.0
#: Marks of a sentence's start and end, which last as pauses but are no sounds; the pad stands behind every phoneme.
START, END, PAD = "^", "$", "_"
_SPACE = " "
_SENTENCE_MARKS = ".!?…"
#: A phoneme with its pad lasts 4.5 on the average, in 32 sentences of the default voice. Where the first words are too
#: short all the same, they are made with the whole sentence.
_FRAMES_OF_PHONEME = 4.0
#: A voice speaks a word as its neighbours want it: so many phonemes behind the first words are looked at with them.
_LOOKED_AT = 6
#: The first words of a sentence that is not so much longer are not made alone: all of it takes hardly longer.
_WORTH_IT = 2.0


@dataclass(frozen=True)
class _Told:
    """What a text tells of the frames of its sound."""

    prior: Floats
    durations: Floats
    timings: list[TimedPhoneme]

    @property
    def frames(self) -> int:
        return int(self.prior.shape[2])


class StreamedVoice:
    """Meets ``piper.Voice`` over the parts of a voice; ``text`` is the ``piper.PiperVoice`` that knows its phonemes.

    ``now_seconds`` is for measuring how long a window takes.
    """

    def __init__(
        self,
        parts: Parts,
        text: Any,
        audio_format: AudioFormat,
        gain: float,
        now_seconds: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._parts = parts
        self._text = text
        self._format = audio_format
        self._gain = gain
        self._now_seconds = now_seconds
        self._windows = Windows(parts.reach.frame_samples / audio_format.sample_rate_hz, 2 * parts.reach.vocoder_frames)

    def sentences(self, text: str, scales: Scales, *, in_haste: bool = False) -> Iterator[Iterator[SynthesizedChunk]]:
        """See ``piper.Voice``."""
        for phonemes in self._text.phonemize(text):
            if phonemes:
                yield self._pieces(phonemes, scales, in_haste)
                in_haste = False

    def _pieces(self, phonemes: list[str], scales: Scales, in_haste: bool) -> Iterator[SynthesizedChunk]:
        latents = _Latents(self._parts)
        start, end = 0, self._windows.first()
        first = self._first_words(phonemes, scales, end) if in_haste else None
        if first is not None:
            latents.prior = first.prior
            sound, _ = self._piece(latents, start, end, first.timings)
            yield sound
        told = self._told(phonemes, scales, first)
        latents.prior, timings = told.prior, told.timings
        if first is not None:
            _, timings = _split(timings, end * self._parts.reach.frame_samples)
            start, end = end, self._windows.end_of_next(end, end, told.frames)
        elif told.frames - end < self._parts.reach.vocoder_frames:
            end = told.frames
        while start < told.frames:
            sound, timings = self._piece(latents, start, end, timings)
            yield sound
            start, end = end, self._windows.end_of_next(end, end - start, told.frames)

    def _piece(
        self, latents: _Latents, start: int, end: int, timings: list[TimedPhoneme]
    ) -> tuple[SynthesizedChunk, list[TimedPhoneme]]:
        """The sound of a window, and the timings behind it."""
        began = self._now_seconds()
        reach = self._parts.reach
        first, last = max(0, start - reach.vocoder_frames), min(latents.frames, end + reach.vocoder_frames)
        sound = self._parts.sound(latents.between(first, last))
        self._windows.took(last - first, self._now_seconds() - began)
        sound = sound[(start - first) * reach.frame_samples : (end - first) * reach.frame_samples]
        timed, rest = _split(timings, len(sound))
        return SynthesizedChunk(AudioChunk(self._samples(sound), self._format), tuple(timed)), rest

    def _told(self, phonemes: list[str], scales: Scales, first: _Told | None = None) -> _Told:
        """What the whole sentence tells, behind what its ``first`` words have told already."""
        ids = self._text.phonemes_to_ids(phonemes)
        prior, durations = self._parts.prior(ids, scales)
        if first is not None:
            known = len(first.durations)
            prior = np.concatenate((first.prior, prior[:, :, int(durations[:known].sum()) :]), axis=2)
            durations = np.concatenate((first.durations, durations[known:]))
        timings = self._timings(phonemes, ids, durations)
        if sum(timing.samples for timing in timings) != prior.shape[2] * self._parts.reach.frame_samples:
            timings = []
        return _Told(prior, durations, timings)

    def _first_words(self, phonemes: list[str], scales: Scales, window: int) -> _Told | None:
        """What is told by the first words and some behind them, of the first words only: enough for the first window.

        None where that is not worth while. The sentence's mark is kept: a question is one from its beginning.
        """
        reach = self._parts.reach
        needed = window + reach.vocoder_frames + reach.flow_frames
        words = _word_end(phonemes, math.ceil(needed / (_FRAMES_OF_PHONEME * scales[1])))
        looked_at = _word_end(phonemes, words + _LOOKED_AT)
        if not words or not looked_at or looked_at * _WORTH_IT > len(phonemes):
            return None
        mark = phonemes[-1:] if phonemes[-1] in _SENTENCE_MARKS else []
        told = self._told([*phonemes[: looked_at - 1], *mark], scales)
        known = len(self._text.phonemes_to_ids(phonemes[:words])) - len(self._text.config.phoneme_id_map.get(END, ()))
        durations = told.durations[:known]
        frames = int(durations.sum())
        return _Told(told.prior[:, :, :frames], durations, told.timings) if frames >= needed else None

    def _samples(self, sound: Floats) -> Any:
        return (np.clip(sound * self._gain, -1.0, 1.0) * _FULL_SCALE).astype(np.int16)

    def _timings(self, phonemes: list[str], ids: list[int], durations: Floats) -> list[TimedPhoneme]:
        """How long each phoneme lasts, with the pad behind it; nothing when that cannot be told."""
        id_map = self._text.config.phoneme_id_map
        pad = list(id_map.get(PAD, ()))
        samples = (durations * self._parts.reach.frame_samples).astype(np.int64)
        timings: list[TimedPhoneme] = []
        at = 0
        for phoneme in itertools.chain((START,), phonemes, (END,)):
            own = list(id_map.get(phoneme, ()))
            if not own:
                continue  # The voice does not know it and leaves it out.
            own += [] if phoneme == END else pad
            if ids[at : at + len(own)] != own:
                return []
            name = "" if phoneme in (START, END) else phoneme
            timings.append(TimedPhoneme(name, int(samples[at : at + len(own)].sum())))
            at += len(own)
        return timings if at == len(ids) else []


class _Latents:
    """The latents of one sentence, made as far as they are asked for, from its start to its end.

    ``prior`` may be replaced by a longer one that begins in the same way.
    """

    def __init__(self, parts: Parts) -> None:
        self.prior: Floats = np.empty((1, 0, 0), dtype=np.float32)
        self._parts = parts
        self._made: Floats | None = None

    @property
    def frames(self) -> int:
        """How many there are to be asked for."""
        return int(self.prior.shape[2])

    def between(self, first: int, last: int) -> Floats:
        """The latents of these frames."""
        made = self._made
        if made is None or last > made.shape[2]:
            made = self._made = self._make(made, last)
        return made[:, :, first:last]

    def _make(self, made: Floats | None, last: int) -> Floats:
        have = made.shape[2] if made is not None else 0
        reach = self._parts.reach.flow_frames
        begin = max(0, have - reach)
        # Twice as far each time: short runs cost most for the neighbours that they must look at.
        last = min(max(last, 2 * have), self.frames)
        more = self._parts.latent(self.prior[:, :, begin : last + reach])[:, :, have - begin : last - begin]
        return more if made is None else np.concatenate((made, more), axis=2)


def _word_end(phonemes: list[str], least: int) -> int:
    """How many phonemes there are up to the end of a word with its space, ``least`` or more; 0 when there is none."""
    return next((index + 1 for index in range(max(0, least - 1), len(phonemes)) if phonemes[index] == _SPACE), 0)


def _split(timings: list[TimedPhoneme], samples: int) -> tuple[list[TimedPhoneme], list[TimedPhoneme]]:
    """The timings of the first so many samples, and the rest; a phoneme in between is in both."""
    before: list[TimedPhoneme] = []
    for index, timing in enumerate(timings):
        if timing.samples > samples:
            if samples:
                before.append(TimedPhoneme(timing.phoneme, samples))
            return before, [TimedPhoneme(timing.phoneme, timing.samples - samples), *timings[index + 1 :]]
        before.append(timing)
        samples -= timing.samples
    return before, []
