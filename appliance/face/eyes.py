"""What eyes do by themselves: they blink, and they look around. Random, with a chance that is passed in."""

from __future__ import annotations

import random
from dataclasses import dataclass

from appliance.face.emotions import EmotionSpec

#: Lid closes in 80 ms, stays 60 ms, opens in 120 ms (a person's blink).
_CLOSE_SECONDS, _STAY_SECONDS, _OPEN_SECONDS = 0.08, 0.06, 0.12
#: A sleepy blink stays shut.
_LONG_STAY_SECONDS = 0.42
#: Below this lid a blink cannot be seen, unless it is a long one.
_NO_BLINK_LID_DEGREES = 15.0
_SHORTEST_BETWEEN_SECONDS = 0.8
#: People look at something else every 0.5 to 2.4 seconds; a box that does it so often is restless.
_SHORTEST_LOOK_SECONDS, _LONGEST_LOOK_SECONDS = 1.5, 5.0
_GLANCE_SECONDS = 0.12


@dataclass
class Blinks:
    """When the lids are shut, and how far."""

    random: random.Random
    _next_at: float = 0.0

    def share_open(self, at_seconds: float, spec: EmotionSpec, lid_degrees: float) -> float:
        """1 open to 0 shut; multiplies the lid."""
        stay = _LONG_STAY_SECONDS if spec.blinks_long else _STAY_SECONDS
        since = at_seconds - self._next_at
        if since > _CLOSE_SECONDS + stay + _OPEN_SECONDS:
            between = self.random.expovariate(spec.blinks_per_minute / 60.0)
            self._next_at = at_seconds + max(_SHORTEST_BETWEEN_SECONDS, between)
            return 1.0
        if since < 0 or (lid_degrees < _NO_BLINK_LID_DEGREES and not spec.blinks_long):
            return 1.0
        if since < _CLOSE_SECONDS:
            return 1.0 - since / _CLOSE_SECONDS
        return max(0.0, min(1.0, (since - _CLOSE_SECONDS - stay) / _OPEN_SECONDS))


@dataclass
class Wandering:
    """Where the eyes rest when nothing holds them, and the quick glance to the next place."""

    random: random.Random
    _next_at: float = 0.0
    _from: tuple[float, float] = (0.0, 0.0)
    _to: tuple[float, float] = (0.0, 0.0)
    _moved_at: float = -1e9

    def gaze(self, at_seconds: float) -> tuple[float, float]:
        """Added to the mood's own gaze, -1 to 1 each."""
        if at_seconds >= self._next_at:
            self._from, self._moved_at = self._to, at_seconds
            # Mostly back to the person, as one does.
            looks_away = self.random.random() < 0.55
            self._to = (self.random.uniform(-0.5, 0.5), self.random.uniform(-0.25, 0.3)) if looks_away else (0.0, 0.0)
            self._next_at = at_seconds + self.random.uniform(_SHORTEST_LOOK_SECONDS, _LONGEST_LOOK_SECONDS)
        share = min(1.0, (at_seconds - self._moved_at) / _GLANCE_SECONDS)
        (from_x, from_y), (to_x, to_y) = self._from, self._to
        return from_x + (to_x - from_x) * share, from_y + (to_y - from_y) * share
