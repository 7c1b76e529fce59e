"""What the loudspeaker was given stays in step with what the microphone hears, whatever both clocks do."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.audio import Samples
from appliance.listen.far_signal import FarSignal

RATE = 16_000
NEAR_BLOCK = 320


def tones(seconds: float, rate_hz: int) -> Samples:
    """A sound in which every moment is different."""
    at = np.arange(round(seconds * rate_hz)) / rate_hz
    return (8000 * np.sin(2 * np.pi * (300.0 + 200.0 * at) * at)).astype(np.int16)


def lag_of(pulled: Samples, played: Samples) -> int:
    """How many samples later ``played`` (at the microphone's rate) is in ``pulled``, about its middle."""
    middle = len(pulled) // 2
    wanted = pulled[middle : middle + 2000].astype(np.float64)
    lags = range(-500, 500)
    return max(lags, key=lambda lag: float(np.dot(wanted, played[middle - lag : middle - lag + 2000])))


def play(
    far: FarSignal, sound: Samples, rate_hz: int, *, block: int, clock: float = 1.0, near: int = NEAR_BLOCK
) -> Samples:
    """The loudspeaker plays ``sound`` in blocks while the microphone hears; its ``clock`` runs so much faster."""
    pulled, at, owed = [], 0, 0.0
    while at + block <= len(sound):
        owed += near * rate_hz / RATE * clock
        while owed >= block and at + block <= len(sound):
            far.note(sound[at : at + block])
            at, owed = at + block, owed - block
        pulled.append(far.pull(near, rate_hz))
    return np.concatenate(pulled)


@pytest.mark.parametrize(("rate_hz", "block"), [(16_000, 320), (48_000, 960), (44_100, 882), (22_050, 441)])
def test_at_any_rate_it_comes_at_once_and_as_it_was(rate_hz: int, block: int) -> None:
    far = FarSignal()
    pulled = play(far, tones(2.0, rate_hz), rate_hz, block=block)
    reference = tones(2.0, RATE)
    assert 0 <= lag_of(pulled, reference) <= 100, "6 ms: less than the shortest way from a loudspeaker"


@pytest.mark.parametrize(("rate_hz", "block"), [(48_000, 4_800), (44_100, 4_410), (22_050, 441)])
def test_neither_bursts_nor_silence_between_two_sentences_move_anything(rate_hz: int, block: int) -> None:
    far = FarSignal()
    pause = np.zeros(2 * rate_hz, dtype=np.int16)
    sentence = tones(1.0, rate_hz)
    pulled = play(far, np.concatenate([pause, sentence, pause, sentence, pause, sentence, pause]), rate_hz, block=block)
    starts = [_start(pulled, seconds) for seconds in (2, 5, 8)]
    assert np.diff(starts).tolist() == [3 * RATE, 3 * RATE]


def _start(pulled: Samples, about_seconds: float) -> int:
    """The first loud sample behind that moment, or a little before."""
    begin = round((about_seconds - 0.5) * RATE)
    return begin + int(np.flatnonzero(np.abs(pulled[begin:].astype(np.int32)) > 1000)[0])


@pytest.mark.parametrize("parts_per_million", [-200, 200])
def test_small_drifts_are_put_right_in_silence(parts_per_million: int) -> None:
    far = FarSignal()
    clock = 1.0 + parts_per_million * 1e-6
    minute = np.concatenate([tones(5.0, RATE), np.zeros(5 * RATE, dtype=np.int16)] * 12)
    for _ in range(3):
        play(far, minute, RATE, block=320, clock=clock)
        assert far.ahead_seconds < 0.05
    assert far.skew == 0.0


def test_a_loudspeaker_that_runs_two_percent_fast_is_found_out() -> None:
    far = FarSignal()
    play(far, np.zeros(40 * RATE, dtype=np.int16), RATE, block=320, clock=1.02)
    assert far.skew == pytest.approx(0.02, abs=0.004)
    pulled = play(far, tones(4.0, RATE), RATE, block=320, clock=1.02)
    assert len(pulled) == pytest.approx(4.0 / 1.02 * RATE, abs=700)
    assert far.ahead_seconds < 0.05


def test_sound_that_was_lost_once_is_no_clock() -> None:
    far = FarSignal()
    silence = np.zeros(10 * RATE, dtype=np.int16)
    play(far, silence, RATE, block=320)
    for _ in range(20):
        far.note(np.zeros(320, dtype=np.int16))  # 0.4 s that the microphone did not hear
    play(far, np.concatenate([silence] * 4), RATE, block=320)
    assert far.skew == 0.0
    assert far.ahead_seconds < 0.05


def test_another_rate_of_the_card_begins_anew() -> None:
    far = FarSignal()
    play(far, tones(1.0, 48_000), 48_000, block=960)
    pulled = play(far, tones(2.0, RATE), RATE, block=320)
    assert 0 <= lag_of(pulled, tones(2.0, RATE)) <= 100


def test_a_microphone_that_is_away_for_long_costs_no_memory() -> None:
    far = FarSignal()
    for _ in range(10_000):
        far.note(np.ones(320, dtype=np.int16))
    far.restart()
    assert not far.pull(320, RATE).any()
