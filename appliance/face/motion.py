"""How poses move into each other: softly, never faster than a head may, never further than it can."""

from __future__ import annotations

import dataclasses
from typing import Any

from appliance.ports import FaceState

#: What the joints of a small head bear, in degrees (gaze and openness: their whole range is 1).
_LIMITS = {
    "brow_left_degrees": (-25.0, 25.0),
    "brow_right_degrees": (-25.0, 25.0),
    "lid_degrees": (0.0, 60.0),
    "mouth_degrees": (-20.0, 20.0),
    "neck_degrees": (-15.0, 15.0),
    "mouth_open": (0.0, 1.0),
    "gaze_x": (-1.0, 1.0),
    "gaze_y": (-1.0, 1.0),
    "brightness": (0.0, 1.0),
}
#: Degrees per second; from the face notes, for servos of toy size.
_SPEEDS = {
    "brow_left_degrees": 300.0,
    "brow_right_degrees": 300.0,
    "lid_degrees": 300.0,
    "mouth_degrees": 400.0,
    "neck_degrees": 90.0,
}
_MIXED = (*_LIMITS, "intensity")


def eased(share: float) -> float:
    """Minimum-jerk curve: starts and stops softly, as servos and eyes like it; below 0 is 0, above 1 is 1."""
    share = min(1.0, max(0.0, share))
    return min(1.0, share * share * share * (share * (share * 6 - 15) + 10))


def between(start: FaceState, end: FaceState, share: float) -> FaceState:
    """``end`` with every number on its way from ``start``; lights are not mixed here."""
    if share >= 1.0:
        return end
    numbers: dict[str, Any] = {}
    for name in _MIXED:
        of_start, of_end = getattr(start, name), getattr(end, name)
        numbers[name] = of_start + (of_end - of_start) * share
    return dataclasses.replace(end, **numbers)


def clamped(state: FaceState) -> FaceState:
    """The pose inside what the head can do."""
    numbers: dict[str, Any] = {
        name: min(highest, max(lowest, getattr(state, name))) for name, (lowest, highest) in _LIMITS.items()
    }
    return dataclasses.replace(state, **numbers)


def limited(before: FaceState, wanted: FaceState, seconds: float) -> FaceState:
    """As far on the way from ``before`` as the joints may go in ``seconds``."""
    numbers: dict[str, Any] = {}
    for name, speed in _SPEEDS.items():
        start, most = getattr(before, name), speed * seconds
        numbers[name] = start + min(most, max(-most, getattr(wanted, name) - start))
    return dataclasses.replace(wanted, **numbers)
