"""Windows of a voice: none is made later than it is needed, and few are made for nothing."""

from __future__ import annotations

import pytest

from appliance.adapters.piper_windows import LEAST_FRAMES, MOST_FIRST_FRAMES, MOST_FRAMES, Windows

FRAME_SECONDS, AROUND = 256 / 22_050, 22
#: Of a fast machine, of a small board (0.36 of real time), and of one that can hardly follow.
PACES = (0.0003, 0.001, 0.0037, 0.006)


def _windows(seconds_for_frame: float) -> Windows:
    windows = Windows(FRAME_SECONDS, AROUND)
    windows.took(100, 100 * seconds_for_frame)
    return windows


def _sizes(windows: Windows, frames: int) -> list[int]:
    sizes = [min(frames, windows.first())]
    while (start := sum(sizes)) < frames:
        sizes.append(windows.end_of_next(start, sizes[-1], frames) - start)
    return sizes


@pytest.mark.parametrize("pace", PACES)
def test_windows_cover_every_frame_once_and_none_is_too_long(pace: float) -> None:
    for frames in range(1, 1000):
        sizes = _sizes(_windows(pace), frames)
        assert sum(sizes) == frames
        assert all(0 < size <= MOST_FRAMES + AROUND for size in sizes)


@pytest.mark.parametrize("pace", PACES[:3])
def test_the_next_window_is_there_before_the_one_before_has_sounded(pace: float) -> None:
    sounded = ready = 0.0
    for size in _sizes(_windows(pace), 515)[:-1]:
        ready += (size + AROUND) * pace
        assert ready <= (sounded or ready) + 1e-9
        sounded = max(sounded, ready) + size * FRAME_SECONDS


def test_a_fast_machine_starts_sooner_and_works_less_for_nothing() -> None:
    fast, slow = (_sizes(_windows(pace), 515) for pace in (PACES[0], PACES[2]))
    assert fast[0] == LEAST_FRAMES < slow[0] <= MOST_FIRST_FRAMES
    assert len(fast) < len(slow)


def test_a_voice_that_was_not_measured_yet_counts_as_slow() -> None:
    assert _sizes(Windows(FRAME_SECONDS, AROUND), 515) == _sizes(_windows(PACES[2]), 515)


def test_a_machine_that_cannot_follow_does_not_cut_a_sentence_into_crumbs() -> None:
    assert _sizes(_windows(0.05), 515)[0] == MOST_FIRST_FRAMES
    assert len(_sizes(_windows(0.05), 515)) < 8
