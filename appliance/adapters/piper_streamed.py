"""A piper voice that begins to speak before its sentence is made."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from appliance.adapters.piper_parts import Floats, Parts, Scales
from appliance.audio import AudioChunk, AudioFormat
from appliance.ports import SynthesizedChunk, TimedPhoneme

#: The first window is short (0.2 s of sound), so that it is there soon; each later one is made while the one before is
#: heard. Half as long again each time is what a voice can follow that takes 0.36 of real time, as on a small board.
FIRST_FRAMES = 16
GROWTH = 1.5
#: Long windows cost less, but a listener who leaves waits for one to be finished.
LONGEST_FRAMES = 150
_FULL_SCALE = 32767.0
#: Marks of a sentence's start and end, which last as pauses but are no sounds; the pad stands behind every phoneme.
START, END, PAD = "^", "$", "_"


class StreamedVoice:
    """Meets ``piper.Voice`` over the parts of a voice; ``text`` is the ``piper.PiperVoice`` that knows its phonemes."""

    def __init__(self, parts: Parts, text: Any, audio_format: AudioFormat, gain: float) -> None:
        self._parts = parts
        self._text = text
        self._format = audio_format
        self._gain = gain

    def sentences(self, text: str, scales: Scales) -> Iterator[Iterator[SynthesizedChunk]]:
        """See ``piper.Voice``."""
        for phonemes in self._text.phonemize(text):
            if phonemes:
                yield self._windows(phonemes, scales)

    def _windows(self, phonemes: list[str], scales: Scales) -> Iterator[SynthesizedChunk]:
        ids = self._text.phonemes_to_ids(phonemes)
        prior, durations = self._parts.prior(ids, scales)
        frames = prior.shape[2]
        timings = self._timings(phonemes, ids, durations)
        if sum(timing.samples for timing in timings) != frames * self._parts.reach.frame_samples:
            timings = []
        latents = _Latents(self._parts, prior)
        start = 0
        for end in window_ends(frames):
            sound = self._sound(latents, start, end, frames)
            timed, timings = _split(timings, len(sound))
            yield SynthesizedChunk(AudioChunk(self._samples(sound), self._format), tuple(timed))
            start = end

    def _sound(self, latents: _Latents, start: int, end: int, frames: int) -> Floats:
        reach = self._parts.reach
        first, last = max(0, start - reach.vocoder_frames), min(frames, end + reach.vocoder_frames)
        sound = self._parts.sound(latents.between(first, last))
        return sound[(start - first) * reach.frame_samples : (end - first) * reach.frame_samples]

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
    """The latents of one sentence, made as far as they are asked for, from its start to its end."""

    def __init__(self, parts: Parts, prior: Floats) -> None:
        self._parts = parts
        self._prior = prior
        self._made = np.empty((1, prior.shape[1], 0), dtype=np.float32)

    def between(self, first: int, last: int) -> Floats:
        """The latents of these frames."""
        if last > self._made.shape[2]:
            self._make(last)
        return self._made[:, :, first:last]

    def _make(self, last: int) -> None:
        have = self._made.shape[2]
        reach = self._parts.reach.flow_frames
        begin = max(0, have - reach)
        # Twice as far each time: short runs cost most for the neighbours that they must look at.
        last = min(max(last, 2 * have), self._prior.shape[2])
        made = self._parts.latent(self._prior[:, :, begin : last + reach])
        self._made = np.concatenate((self._made, made[:, :, have - begin : last - begin]), axis=2)


def window_ends(frames: int) -> Iterator[int]:
    """Where windows over so many frames end; a short rest belongs to the last one."""
    end, size = 0, float(FIRST_FRAMES)
    while end < frames:
        end += int(size)
        size = min(size * GROWTH, LONGEST_FRAMES)
        if frames - end < size / 3:
            end = frames
        yield end


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
