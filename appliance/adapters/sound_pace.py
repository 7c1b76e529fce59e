"""Whether a device keeps the pace that it promised, and whether what it delivers is sound at all.

Arithmetic on counters; whoever has the streams asks twice a second.
"""

from __future__ import annotations

from collections import deque

#: Nothing at all for this long is no burst, and no busy board.
_STILL_SECONDS = 1.5
#: Pace is measured over this long. Far off means another sample rate, or a device that has gone wild; a clock that is
#: some percent off is none of that, and a board that is too busy loses less.
_PACE_SECONDS = 5.0
_LEAST_SHARE, _MOST_SHARE = 0.5, 1.5
#: Opening a device anew that is wild again helps nobody: each time it is given twice as long.
_MOST_DOUBLINGS = 7
#: Who asks so late was busy, and so were the audio threads.
_LATE_SECONDS = 1.2


class Pace:
    """Judges one stream by its counter of frames. ``faults`` is how often its device was found wild before."""

    def __init__(self, rate_hz: int, faults: int = 0) -> None:
        self._rate_hz = rate_hz
        self._window_seconds = _PACE_SECONDS * 2 ** min(faults, _MOST_DOUBLINGS)
        self._looks: deque[tuple[float, int]] = deque()
        self._moved_at = 0.0
        #: Whether it kept pace for a whole window.
        self.is_proven = False

    def look(self, frames: int, now: float) -> str:
        """What is wrong, for a sentence: "stands still", "is far too fast"; "" when nothing is."""
        looks = self._looks
        if looks and now - looks[-1][0] > _LATE_SECONDS:
            looks.clear()
        if not looks or frames != looks[-1][1]:
            self._moved_at = now
        looks.append((now, frames))
        if now - self._moved_at >= _STILL_SECONDS:
            return "stands still"
        seconds = now - looks[0][0]
        if seconds < self._window_seconds:
            return ""
        share = (frames - looks.popleft()[1]) / (seconds * self._rate_hz)
        self.is_proven = _LEAST_SHARE <= share <= _MOST_SHARE
        return "" if self.is_proven else f"is far too {'slow' if share < _LEAST_SHARE else 'fast'}"


#: A microphone that was never quite silent for so long has noise of its own; perfect silence is then a fault.
_LIVELY_SECONDS = 300.0
#: Shorter silence is not looked at.
_PAUSE_SECONDS = 1.0
#: Perfect silence of a microphone with noise of its own, and of one that is silent now and then, until it is opened
#: anew; then again after three times as long, and so on.
_SOON_SECONDS, _LATER_SECONDS = 10.0, 180.0
_GROWTH = 3.0
_REOPENINGS = 3


class PerfectSilence:
    """Tells a dead stream from a silent room, over all streams of one microphone.

    A microphone that cancels noise, or has a switch of its own, is perfectly silent too; so it is opened anew a few
    times at most, and then left alone until it sounds.
    """

    def __init__(self) -> None:
        self._lively_since: float | None = None
        self._silent_since: float | None = None
        self._due_seconds = 0.0
        self._reopenings = 0
        self._had_noise = False

    def look(self, has_sounded: bool, now: float) -> bool:
        """Whether it should be opened anew now. ``has_sounded``: anything but zeros came since the last look."""
        if has_sounded:
            if self._silent_since is not None or self._lively_since is None:
                self._lively_since = self._lively_since if self._is_pause(now) else now
                self._silent_since, self._reopenings = None, 0
            return False
        if self._silent_since is None:
            self._begin(now)
        assert self._silent_since is not None
        if self._reopenings >= _REOPENINGS or now - self._silent_since < self._due_seconds:
            return False
        self._reopenings += 1
        self._due_seconds *= _GROWTH
        return True

    def pause(self) -> None:
        """The microphone is closed for a while."""
        self._silent_since = self._lively_since = None

    @property
    def is_dead(self) -> bool:
        """Whether a microphone that has noise of its own stays silent, though it was opened anew."""
        return self._had_noise and self._silent_since is not None and self._reopenings >= 2

    def _begin(self, now: float) -> None:
        lively_seconds = now - self._lively_since if self._lively_since is not None else 0.0
        self._had_noise = lively_seconds >= _LIVELY_SECONDS
        self._silent_since = now
        self._due_seconds = _SOON_SECONDS if self._had_noise else _LATER_SECONDS
        self._reopenings = 0

    def _is_pause(self, now: float) -> bool:
        return (
            self._lively_since is not None
            and self._silent_since is not None
            and now - self._silent_since < _PAUSE_SECONDS
        )
