"""What the head does when a mood begins, on top of its pose; pure functions of the seconds since then."""

from __future__ import annotations

import math
from dataclasses import dataclass

from appliance.face.emotions import Gesture


@dataclass(frozen=True)
class Offset:
    """Added to the pose; degrees and gaze as in ``FaceState``. ``swaps_brows`` is how far they have changed sides."""

    brow_degrees: float = 0.0
    mouth_degrees: float = 0.0
    neck_degrees: float = 0.0
    gaze_x: float = 0.0
    gaze_y: float = 0.0
    swaps_brows: float = 0.0


_NONE = Offset()


def offset(gesture: Gesture, seconds: float) -> Offset:
    """Where the gesture is after ``seconds``; nothing when it is over."""
    match gesture:
        case Gesture.NOD:
            return Offset(neck_degrees=-5 * _wave(seconds, 0.6, times=1))
        case Gesture.TWO_NODS:
            bounce = 3 * math.sin(math.tau * 1.2 * seconds) if seconds < 2.0 else 0.0
            return Offset(neck_degrees=-4 * _wave(seconds, 0.45, times=2), brow_degrees=bounce)
        case Gesture.LOOK_DOWN:
            return Offset(gaze_y=-0.3 * min(1.0, seconds / 2.5))
        case Gesture.QUIVER:
            return Offset(mouth_degrees=_trembling(seconds, degrees=2, hertz=2, until=3.0))
        case Gesture.LOOK_AWAY:
            # Twice it dares to look back.
            back = _wave(seconds - 1.6, 1.0, times=1) + _wave(seconds - 4.0, 1.0, times=1)
            return Offset(gaze_x=-0.6 * back, gaze_y=0.6 * back)
        case Gesture.SWAY:
            return Offset(neck_degrees=2.0 * math.sin(math.tau * 0.2 * seconds))
        case Gesture.DROOP:
            # The head has sunk, and once it starts up again.
            return Offset(neck_degrees=5.0 * _wave(seconds - 6.0, 0.8, times=1))
        case Gesture.SWAP_BROWS:
            return Offset(swaps_brows=min(1.0, max(0.0, (seconds - 1.0) / 0.3)))
        case Gesture.TREMBLE:
            dart = 0.35 * math.copysign(1.0, math.sin(math.tau * 1.1 * seconds)) if seconds < 1.5 else 0.0
            return Offset(brow_degrees=_trembling(seconds, degrees=2, hertz=5, until=1.5), gaze_x=dart)
    return _NONE


def _wave(seconds: float, period_seconds: float, *, times: int) -> float:
    """0 to 1 and back, so many times, each in ``period_seconds``."""
    if not 0 <= seconds < period_seconds * times:
        return 0.0
    return 0.5 - 0.5 * math.cos(math.tau * seconds / period_seconds)


def _trembling(seconds: float, *, degrees: float, hertz: float, until: float) -> float:
    return degrees * math.sin(math.tau * hertz * seconds) if seconds < until else 0.0
