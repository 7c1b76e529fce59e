from __future__ import annotations

import itertools

import numpy as np
import pytest

from appliance.listen.earcons import Earcon, earcon

RATE = 48_000


@pytest.mark.parametrize("kind", Earcon)
@pytest.mark.parametrize("rate", [8_000, 22_050, 48_000])
def test_an_earcon_is_short_and_neither_clicks_nor_clips(kind: Earcon, rate: int) -> None:
    sound = earcon(kind, rate, 100)
    assert sound.format.sample_rate_hz == rate
    assert 0.08 <= sound.duration_seconds <= 0.25
    assert np.abs(sound.samples.astype(int)).max() < 0.4 * 32768
    steepest_hz = 2_000.0
    steps = np.abs(np.diff(sound.samples.astype(int), prepend=0, append=0))
    assert steps.max() < 0.4 * 32768 * 2 * np.pi * steepest_hz / rate


def test_every_earcon_is_told_from_every_other() -> None:
    for one, other in itertools.combinations(Earcon, 2):
        a, b = earcon(one, RATE, 100).samples, earcon(other, RATE, 100).samples
        assert len(a) != len(b) or np.abs(a.astype(int) - b.astype(int)).max() > 1_000


def test_the_volume_is_that_of_earcons_alone() -> None:
    levels = [earcon(Earcon.WOKE, RATE, percent).level_dbfs for percent in (10, 40, 70, 100)]
    assert levels == sorted(levels)
    assert not earcon(Earcon.WOKE, RATE, 0).samples.any()


def test_closing_is_quieter_than_opening() -> None:
    assert earcon(Earcon.CLOSED, RATE, 50).level_dbfs < earcon(Earcon.WOKE, RATE, 50).level_dbfs - 3.0
