"""The emotion table: each of the 14 moods as numbers, and the picture's one source of truth.

Angles come from the measured sheet in the face design notes: all 14 can be told apart by shape alone; the nearest
pairs differ by colour too. Strong moods are capped in time, so that the box is never angry for minutes.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from appliance.events import Emotion

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class EmotionSpec:
    """How a mood looks.

    Angles as in ``FaceState``; ``brightness`` and gaze as there too; ``longest_seconds`` is how long a mood set by
    a reply may stay (None: until replaced); ``enter_seconds`` how long the change takes; ``blinks_per_minute``.
    """

    rgb: tuple[int, int, int]
    brow_left_degrees: float
    brow_right_degrees: float
    lid_degrees: float
    mouth_degrees: float
    neck_degrees: float
    blinks_per_minute: float
    brightness: float = 0.8
    mouth_open: float = 0.0
    gaze_x: float = 0.0
    gaze_y: float = 0.0
    enter_seconds: float = 0.4
    longest_seconds: float | None = None


EMOTIONS: dict[Emotion, EmotionSpec] = {
    Emotion.NEUTRAL: EmotionSpec((60, 140, 255), 0, 0, 40, 2, 0, 14, brightness=0.7),
    Emotion.HAPPY: EmotionSpec((0, 220, 160), 4, 4, 32, 16, 4, 14, longest_seconds=20),
    Emotion.EXCITED: EmotionSpec((120, 255, 0), 10, 10, 54, 20, 8, 22, mouth_open=0.35, longest_seconds=8),
    Emotion.SAD: EmotionSpec(
        (40, 90, 230), 16, 16, 24, -12, -8, 10, brightness=0.45, gaze_y=-0.5, enter_seconds=0.9, longest_seconds=12
    ),
    Emotion.CRYING: EmotionSpec((0, 170, 255), 20, 20, 12, -18, -12, 26, gaze_y=-0.6, longest_seconds=8),
    Emotion.ANGRY: EmotionSpec((255, 20, 0), -20, -20, 26, -14, -4, 6, enter_seconds=0.2, longest_seconds=4),
    Emotion.SURPRISED: EmotionSpec(
        (255, 255, 190), 14, 14, 60, -2, 10, 4, mouth_open=0.6, enter_seconds=0.15, longest_seconds=3
    ),
    Emotion.EMBARRASSED: EmotionSpec(
        (255, 90, 110), 10, 10, 22, 6, -10, 24, gaze_x=0.6, gaze_y=-0.6, enter_seconds=0.8, longest_seconds=8
    ),
    Emotion.THINKING: EmotionSpec((150, 90, 255), -6, 12, 34, -4, 6, 8, gaze_x=0.6, gaze_y=0.7, longest_seconds=60),
    Emotion.SLEEPY: EmotionSpec((70, 70, 150), -2, -2, 10, 0, -14, 6, brightness=0.2, enter_seconds=3.0),
    Emotion.AFFECTIONATE: EmotionSpec((255, 70, 170), 8, 8, 30, 12, -3, 12, longest_seconds=15),
    Emotion.CONFUSED: EmotionSpec((230, 170, 60), 14, -10, 42, -6, 8, 18, gaze_x=-0.3, longest_seconds=10),
    Emotion.SCARED: EmotionSpec((190, 60, 255), 20, 20, 56, -10, -6, 28, mouth_open=0.15, longest_seconds=4),
    Emotion.DETERMINED: EmotionSpec((255, 140, 0), -14, -14, 34, 8, 2, 8, longest_seconds=10),
}

_UNKNOWN_TOLD: set[str] = set()


def emotion_named(name: str) -> Emotion:
    """The mood of that name; an unknown one is neutral, and told in the log once."""
    try:
        return Emotion(name.strip().lower())
    except ValueError:
        if name not in _UNKNOWN_TOLD:
            _UNKNOWN_TOLD.add(name)
            _LOG.warning("no emotion is called %r; the face stays neutral", name)
        return Emotion.NEUTRAL
