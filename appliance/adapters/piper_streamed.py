"""A piper voice that begins to speak before its sentence is made."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator
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


class BegunSentence:
    """What of a sentence is told and made already; on the thread of the voice.

    ``phonemes`` are those that are told for good: ``durations`` are theirs, ``timings`` of what is not made yet.
    """

    def __init__(self, parts: Parts) -> None:
        self.latents = Latents(parts)
        self.phonemes: list[str] = []
        self.durations: Floats = np.empty(0, dtype=np.float32)
        self.timings: list[TimedPhoneme] = []
        #: Frames that are made, and of those the last window.
        self.made = self.last_window = 0


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
        self._frame_samples = parts.reach.frame_samples
        self._windows = Windows(parts.reach.frame_samples / audio_format.sample_rate_hz, 2 * parts.reach.vocoder_frames)

    def sentences(
        self, text: str, scales: Scales, *, in_haste: bool = False, begun: BegunSentence | None = None
    ) -> Iterator[Iterator[SynthesizedChunk]]:
        """See ``piper.Voice``."""
        for phonemes in self._text.phonemize(text):
            if phonemes:
                yield self._pieces(phonemes, scales, in_haste, begun or BegunSentence(self._parts))
                in_haste, begun = False, None

    def first_words(
        self, text: str, scales: Scales, begun: BegunSentence | None
    ) -> tuple[BegunSentence, SynthesizedChunk | None]:
        """See ``piper.Voice``."""
        begun = begun or BegunSentence(self._parts)
        phonemes: list[str] = next(filter(None, self._text.phonemize(text)), [])
        known = _last_word_end(phonemes, len(phonemes) - _LOOKED_AT)
        if known > len(begun.phonemes):
            # A voice speaks the end of a sentence as one: here too, or it would hold the last word for ever.
            self._tell_more(begun, [*phonemes, "."], known, scales)
        settled = begun.latents.frames - self._parts.reach.vocoder_frames - self._parts.reach.ahead_frames
        window = self._windows.first()
        if settled - begun.made < window:
            return begun, None
        end = begun.made + window if not begun.made else settled
        return begun, self._piece(begun, end)

    def _pieces(
        self, phonemes: list[str], scales: Scales, in_haste: bool, begun: BegunSentence
    ) -> Iterator[SynthesizedChunk]:
        window = self._windows.first()
        if in_haste and not begun.made and self._tell_first_words(begun, phonemes, scales, window):
            yield self._piece(begun, window)
        self._tell_more(begun, phonemes, len(phonemes), scales)
        frames = begun.latents.frames
        if not begun.made:
            yield self._piece(begun, frames if frames - window < self._parts.reach.vocoder_frames else window)
        while begun.made < frames:
            yield self._piece(begun, self._windows.end_of_next(begun.made, begun.last_window, frames))

    def _piece(self, begun: BegunSentence, end: int) -> SynthesizedChunk:
        """The sound from what is made to frame ``end``."""
        began = self._now_seconds()
        reach, start = self._parts.reach, begun.made
        first, last = max(0, start - reach.vocoder_frames), min(begun.latents.frames, end + reach.vocoder_frames)
        sound = self._parts.sound(begun.latents.between(first, last))
        self._windows.took(last - first, self._now_seconds() - began)
        sound = sound[(start - first) * self._frame_samples : (end - first) * self._frame_samples]
        begun.made, begun.last_window = end, end - start
        timed, begun.timings = _split(begun.timings, len(sound))
        return SynthesizedChunk(AudioChunk(self._samples(sound), self._format), tuple(timed))

    def _tell_more(self, begun: BegunSentence, phonemes: list[str], known: int, scales: Scales) -> None:
        """Have the text tell of the first ``known`` of ``phonemes`` for good, behind what it has told already."""
        ids = self._text.phonemes_to_ids(phonemes)
        prior, durations = self._parts.prior(ids, scales)
        is_whole = known == len(phonemes)
        end = len(ids) if is_whole else self._ids_before(phonemes[:known])
        told = _same_words(begun.phonemes, phonemes)
        start = self._ids_before(phonemes[:told]) if told else 0
        before = int(durations[:start].sum())
        prior = prior[:, :, before : before + int(durations[start:end].sum())]
        begun.latents.add(prior, is_whole=is_whole)
        begun.durations = np.concatenate((begun.durations, durations[start:end]))
        begun.phonemes = phonemes[:known]
        begun.timings = self._timings(begun, ids[:end], is_whole=is_whole)

    def _tell_first_words(self, begun: BegunSentence, phonemes: list[str], scales: Scales, window: int) -> bool:
        """Tell so many words, having looked at some more, that the first window can be made; whether that is done.

        It is not where it is not worth while. The sentence's mark is kept: a question is one from its beginning.
        """
        reach = self._parts.reach
        needed = window + reach.vocoder_frames + reach.ahead_frames
        words = _word_end(phonemes, math.ceil(needed / (_FRAMES_OF_PHONEME * scales[1])))
        looked_at = _word_end(phonemes, words + _LOOKED_AT)
        if not words or not looked_at or looked_at * _WORTH_IT > len(phonemes):
            return False
        mark = phonemes[-1:] if phonemes[-1] in _SENTENCE_MARKS else []
        self._tell_more(begun, [*phonemes[: looked_at - 1], *mark], words, scales)
        return begun.latents.frames >= needed

    def _ids_before(self, phonemes: list[str]) -> int:
        """How many ids there are of a sentence that begins so, down to its next phoneme."""
        return len(self._text.phonemes_to_ids(phonemes)) - len(self._text.config.phoneme_id_map.get(END, ()))

    def _samples(self, sound: Floats) -> Any:
        return (np.clip(sound * self._gain, -1.0, 1.0) * _FULL_SCALE).astype(np.int16)

    def _timings(self, begun: BegunSentence, ids: list[int], *, is_whole: bool) -> list[TimedPhoneme]:
        """How long each phoneme lasts of what is told and not made, with the pad behind it; nothing when unknown."""
        id_map = self._text.config.phoneme_id_map
        pad = list(id_map.get(PAD, ()))
        samples = (begun.durations * self._frame_samples).astype(np.int64)
        timings: list[TimedPhoneme] = []
        at = 0
        for phoneme in itertools.chain((START,), begun.phonemes, (END,) if is_whole else ()):
            own = list(id_map.get(phoneme, ()))
            if not own:
                continue  # The voice does not know it and leaves it out.
            own += [] if phoneme == END else pad
            if ids[at : at + len(own)] != own:
                return []
            name = "" if phoneme in (START, END) else phoneme
            timings.append(TimedPhoneme(name, int(samples[at : at + len(own)].sum())))
            at += len(own)
        if at != len(ids) or sum(timing.samples for timing in timings) != begun.latents.frames * self._frame_samples:
            return []
        return _split(timings, begun.made * self._frame_samples)[1]


class Latents:
    """The latents of one sentence, made as far as they are asked for, from its start to its end."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._prior: Floats | None = None
        self._made: Floats | None = None
        self._is_whole = False

    @property
    def frames(self) -> int:
        """Of how many is known what the text says."""
        return 0 if self._prior is None else int(self._prior.shape[2])

    def add(self, prior: Floats, *, is_whole: bool) -> None:
        """What the text says of more of them; of all, when it ``is_whole``."""
        self._prior = prior if self._prior is None else np.concatenate((self._prior, prior), axis=2)
        self._is_whole = is_whole

    def between(self, first: int, last: int) -> Floats:
        """The latents of these frames, for the vocoder to look at.

        While the end is not known, ``last`` is ``Reach.ahead_frames`` from it; what is then less than exact is made
        again before it is spoken.
        """
        made = self._made
        if made is None or last > made.shape[2]:
            made = self._make(made, last)
            exact = self.frames - (0 if self._is_whole else self._parts.reach.flow_frames)
            self._made = made[:, :, : max(exact, 0 if self._made is None else self._made.shape[2])]
        return made[:, :, first:last]

    def _make(self, made: Floats | None, last: int) -> Floats:
        assert self._prior is not None
        have = made.shape[2] if made is not None else 0
        reach = self._parts.reach.flow_frames
        begin = max(0, have - reach)
        # Twice as far each time: short runs cost most for the neighbours that they must look at.
        last = max(last, min(2 * have, self.frames - (0 if self._is_whole else reach)))
        more = self._parts.latent(self._prior[:, :, begin : last + reach])[:, :, have - begin : last - begin]
        return more if made is None else np.concatenate((made, more), axis=2)


def _same_words(known: list[str], phonemes: list[str]) -> int:
    """How many of ``phonemes`` say the words that are ``known``: a word may sound otherwise before another one."""
    if phonemes[: len(known)] == known:
        return len(known)
    ends = [index + 1 for index, phoneme in enumerate(phonemes) if phoneme == _SPACE]
    words = known.count(_SPACE)
    return ends[words - 1] if 0 < words <= len(ends) else min(len(known), len(phonemes))


def _word_end(phonemes: list[str], least: int) -> int:
    """How many phonemes there are up to the end of a word with its space, ``least`` or more; 0 when there is none."""
    return next((index + 1 for index in range(max(0, least - 1), len(phonemes)) if phonemes[index] == _SPACE), 0)


def _last_word_end(phonemes: list[str], most: int) -> int:
    """How many phonemes there are up to the end of a word with its space, ``most`` or fewer; 0 when there is none."""
    return next((index + 1 for index in range(most - 1, -1, -1) if phonemes[index] == _SPACE), 0)


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
