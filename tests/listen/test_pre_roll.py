from __future__ import annotations

import numpy as np

from appliance.audio import Samples
from appliance.listen.pre_roll import PreRoll


def _numbered(start: int, count: int) -> Samples:
    return np.arange(start, start + count, dtype=np.int16)


def test_what_was_said_a_moment_ago_is_still_there() -> None:
    pre_roll = PreRoll()
    for start in range(0, 3200, 320):
        pre_roll.append(_numbered(start, 320), keep_seconds=1.0)
    assert pre_roll.end == 3200
    assert pre_roll.since(2000).tolist() == list(range(2000, 3200))
    assert pre_roll.since(3200).size == 0


def test_old_sound_is_forgotten_and_memory_is_bounded() -> None:
    pre_roll = PreRoll()
    for start in range(0, 32_000, 320):
        pre_roll.append(_numbered(start, 320), keep_seconds=0.1)
    kept = pre_roll.since(0)
    assert kept.tolist() == list(range(32_000 - 1600, 32_000))


def test_more_is_kept_while_more_is_wanted() -> None:
    pre_roll = PreRoll()
    for start in range(0, 6400, 320):
        pre_roll.append(_numbered(start, 320), keep_seconds=0.1 if start < 3200 else 10.0)
    assert len(pre_roll.since(0)) == 1600 + 3200


def test_positions_go_on_after_everything_was_forgotten() -> None:
    pre_roll = PreRoll()
    pre_roll.append(_numbered(0, 320), keep_seconds=1.0)
    pre_roll.clear()
    pre_roll.append(_numbered(320, 320), keep_seconds=1.0)
    assert pre_roll.since(0).tolist() == list(range(320, 640))
