"""How much of a sentence a voice makes at a time: little at first, then as much as is ready before it is needed."""

from __future__ import annotations

from collections import deque

#: Less than this is hardly more than the silence before the first sound; more is not needed on any board that can
#: speak at all.
LEAST_FRAMES, MOST_FIRST_FRAMES = 8, 32
#: Long windows cost no less for each frame, and a listener who leaves waits for one to be finished.
MOST_FRAMES = 150
#: Where a machine is too slow or too busy to tell, each window is so much longer than the one before.
GROWTH = 1.5
#: A window may take so much longer than the ones before it took.
_MARGIN = 1.5
#: Seconds for a frame of 12 ms while nothing is known: a small board's (0.36 of real time, text and all).
_USUAL_SECONDS = 0.0037
_RUNS_REMEMBERED = 6


class Windows:
    """Sizes of windows, from the pace of the last ones; ``around`` frames more are made for each, for its edges."""

    def __init__(self, frame_seconds: float, around: int) -> None:
        self._frame_seconds = frame_seconds
        self._around = around
        self._runs: deque[tuple[int, float]] = deque(maxlen=_RUNS_REMEMBERED)

    def took(self, frames: int, seconds: float) -> None:
        """A window with its edges was so long and took so long."""
        self._runs.append((frames, seconds))

    def first(self) -> int:
        """The smallest window that sounds for as long as it takes to make another one like it."""
        spare = self._frame_seconds - self._seconds_for(1)
        if spare <= 0.0:
            return MOST_FIRST_FRAMES
        return min(MOST_FIRST_FRAMES, max(LEAST_FRAMES, round(self._seconds_for(self._around) / spare)))

    def end_of_next(self, start: int, size_before: int, frames: int) -> int:
        """Where the window ends that is made while one of ``size_before`` sounds; a short rest belongs to it."""
        ready = int(size_before * self._frame_seconds / self._seconds_for(1)) - self._around
        end = start + min(MOST_FRAMES, max(int(size_before * GROWTH), ready))
        return frames if frames - end < self._around else end

    def _seconds_for(self, frames: int) -> float:
        made, seconds = sum(run[0] for run in self._runs), sum(run[1] for run in self._runs)
        return _MARGIN * frames * (seconds / made if made else _USUAL_SECONDS)
