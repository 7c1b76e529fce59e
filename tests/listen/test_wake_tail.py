from __future__ import annotations

import numpy as np
import pytest

from appliance.audio import Samples
from appliance.listen.wake_tail import command_start

RATE = 16_000


def loud(seconds: float) -> Samples:
    return np.full(round(seconds * RATE), 5000, dtype=np.int16)


def quiet(seconds: float) -> Samples:
    return np.full(round(seconds * RATE), 20, dtype=np.int16)


def start_seconds(*parts: Samples) -> float:
    return command_start(np.concatenate(parts)) / RATE


def test_without_a_pause_a_fixed_stretch_is_kept() -> None:
    assert start_seconds(loud(1.0)) == pytest.approx(0.2)


def test_the_cut_is_in_the_middle_of_a_pause() -> None:
    assert start_seconds(loud(0.8), quiet(0.1)) == pytest.approx(0.05, abs=0.01)
    assert start_seconds(loud(0.8), quiet(0.1), loud(0.05)) == pytest.approx(0.1, abs=0.01)


def test_a_stop_inside_a_word_is_no_pause() -> None:
    assert start_seconds(loud(0.8), quiet(0.05), loud(0.05)) == pytest.approx(0.2)


def test_a_pause_inside_the_wake_word_is_too_long_ago() -> None:
    assert start_seconds(loud(0.4), quiet(0.1), loud(0.35)) == pytest.approx(0.2)


def test_of_two_pauses_the_later_one_counts() -> None:
    assert start_seconds(loud(0.8), quiet(0.08), loud(0.05), quiet(0.08)) == pytest.approx(0.04, abs=0.01)


def test_a_noisy_room_has_no_pauses() -> None:
    noise = np.random.default_rng(1).normal(0, 2000, RATE).astype(np.int16)
    assert start_seconds(noise) == pytest.approx(0.2)


@pytest.mark.parametrize("count", [0, 1, 100, 500])
def test_hardly_any_sound_is_no_fault(count: int) -> None:
    assert command_start(np.zeros(count, dtype=np.int16)) <= count
