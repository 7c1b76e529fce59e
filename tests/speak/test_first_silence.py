"""Nobody waits for the breath that a voice takes before a line."""

from __future__ import annotations

import numpy as np

from appliance.audio import AudioChunk, AudioFormat
from appliance.ports import SynthesizedChunk, TimedPhoneme
from appliance.speak.first_silence import without_silence


def _chunk(*levels: tuple[int, int], phonemes: tuple[TimedPhoneme, ...] = ()) -> SynthesizedChunk:
    samples = np.concatenate([np.full(count, level, dtype=np.int16) for count, level in levels])
    return SynthesizedChunk(AudioChunk(samples, AudioFormat(16_000)), phonemes)


def test_a_line_begins_just_before_its_first_sound() -> None:
    left = without_silence(_chunk((1000, 3), (500, -900), (200, 0)))
    assert left.audio.samples.tolist() == [3] * 80 + [-900] * 500 + [0] * 200


def test_a_line_that_begins_with_sound_stays_as_it_is() -> None:
    chunk = _chunk((40, 0), (500, 900))
    assert without_silence(chunk) is chunk


def test_of_a_silent_piece_nothing_is_left() -> None:
    assert len(without_silence(_chunk((1000, -104))).audio.samples) == 0


def test_the_mouth_stays_in_time() -> None:
    phonemes = (TimedPhoneme("", 700), TimedPhoneme("h", 500), TimedPhoneme("a", 300))
    left = without_silence(_chunk((1080, 0), (420, 900), phonemes=phonemes))
    assert left.phonemes == (TimedPhoneme("h", 200), TimedPhoneme("a", 300))
    assert sum(timed.samples for timed in left.phonemes) == len(left.audio.samples)
