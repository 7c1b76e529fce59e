"""Sound as values."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.audio import (
    HEARING_FORMAT,
    SILENCE_DBFS,
    AudioChunk,
    AudioFormat,
    apply_gain,
    join,
    level_dbfs,
    silence,
)

STEREO = AudioFormat(48_000, 2)


def test_how_long_a_chunk_is() -> None:
    assert AudioChunk(np.zeros(8_000, dtype=np.int16), HEARING_FORMAT).duration_seconds == 0.5
    assert AudioChunk(np.zeros((24_000, 2), dtype=np.int16), STEREO).duration_seconds == 0.5


def test_silence_is_silent_and_as_long_as_it_should_be() -> None:
    quiet = silence(0.25, STEREO)

    assert quiet.samples.shape == (12_000, 2)
    assert quiet.samples.dtype == np.int16
    assert quiet.level_dbfs == SILENCE_DBFS
    assert silence(0.25).samples.shape == (4_000,)
    assert silence(0.0).duration_seconds == 0.0


@pytest.mark.parametrize(
    ("samples", "expected_dbfs"),
    [([], -96.0), ([0, 0], -96.0), ([-32768, -32768], 0.0), ([16384, -16384], -6.02), ([1, -1], -90.3)],
)
def test_how_loud_samples_are(samples: list[int], expected_dbfs: float) -> None:
    assert level_dbfs(np.array(samples, dtype=np.int16)) == pytest.approx(expected_dbfs, abs=0.02)


def test_full_scale_does_not_overflow_over_a_long_time() -> None:
    assert level_dbfs(np.full(1_000_000, -32768, dtype=np.int16)) == pytest.approx(0.0, abs=1e-6)


def test_chunks_are_joined_in_order() -> None:
    one, two = (AudioChunk(np.array([number], dtype=np.int16), HEARING_FORMAT) for number in (1, 2))

    assert join([one, two]).samples.tolist() == [1, 2]
    assert join(iter([two, one])).samples.tolist() == [2, 1]


def test_nothing_joined_is_an_empty_chunk_of_the_format() -> None:
    empty = join([], STEREO)

    assert empty.samples.shape == (0, 2)
    assert empty.format == STEREO


def test_sound_of_another_format_is_not_joined_by_mistake() -> None:
    with pytest.raises(ValueError, match="cannot join"):
        join([silence(0.1), silence(0.1, STEREO)])


def test_gain_is_clipped_and_not_wrapped_around() -> None:
    samples = np.array([20_000, -20_000, 100], dtype=np.int16)

    louder = apply_gain(samples, 2.0)

    assert louder.tolist() == [32_767, -32_768, 200]
    assert louder.dtype == np.int16
    assert apply_gain(samples, 0.5).tolist() == [10_000, -10_000, 50]
    assert apply_gain(samples, 0.0).tolist() == [0, 0, 0]
    assert samples.tolist() == [20_000, -20_000, 100], "the original stays"
