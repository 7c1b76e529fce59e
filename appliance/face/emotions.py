"""The emotion table: each of the 14 moods as numbers, and the one source of truth for pictures, lamps and servos.

Angles come from the measured sheet in the face design notes: all 14 can be told apart by shape alone; the nearest
pairs differ by colour and motion too. Colours were moved a little from there until every two of them are at least
14 apart in CIE Lab for normal and for colour-blind sight (tests/face/test_faces_apart.py). Strong moods are capped in
time and strength, so that the box is never angry for minutes. The order is the protocol's numbering of the moods: new
ones go to the end.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from appliance.events import Emotion


class LightPattern(enum.IntEnum):
    """How the lights move; the numbers are the protocol's."""

    STEADY = 0
    BREATHE = 1
    #: A bright spot runs around with a tail.
    CHASE = 2
    #: A drop falls from the top to the bottom on both sides.
    DRIP = 3
    PULSE = 4
    #: Bright for a moment when the mood begins, then steady.
    FLASH = 5
    SHIMMER = 6
    #: One light circles.
    ORBIT = 7
    HEARTBEAT = 8
    #: Left half, right half.
    ALTERNATE = 9
    FLUTTER = 10


class Gesture(enum.IntEnum):
    """What the head does when a mood begins; the numbers are the protocol's."""

    STILL = 0
    NOD = 1
    TWO_NODS = 2
    LOOK_DOWN = 3
    QUIVER = 4
    LOOK_AWAY = 5
    SWAY = 6
    DROOP = 7
    SWAP_BROWS = 8
    TREMBLE = 9


@dataclass(frozen=True)
class EmotionSpec:
    """How a mood looks.

    Angles as in ``FaceState``; gaze as there too. ``light_hertz`` is the pattern's pace; ``dimmest`` and ``brightest``
    are the shares of brightness between which it moves. ``intensity`` is how strongly the pose is shown, 0 to 1;
    ``longest_seconds`` how long a mood set by a reply may stay (None: until replaced); ``enter_seconds`` how long the
    change takes. ``falls_back_to`` is for a device that does not know the mood. Only a mood that ``wanders`` looks
    around. ``blinks_long`` is for heavy lids, which stay shut for a while.
    """

    rgb: tuple[int, int, int]
    brow_left_degrees: float
    brow_right_degrees: float
    lid_degrees: float
    mouth_degrees: float
    neck_degrees: float
    blinks_per_minute: float
    falls_back_to: Emotion = Emotion.NEUTRAL
    light: LightPattern = LightPattern.STEADY
    light_hertz: float = 0.0
    dimmest: float = 0.8
    brightest: float = 0.8
    gesture: Gesture = Gesture.STILL
    wanders: bool = False
    blinks_long: bool = False
    mouth_open: float = 0.0
    gaze_x: float = 0.0
    gaze_y: float = 0.0
    intensity: float = 1.0
    enter_seconds: float = 0.4
    longest_seconds: float | None = None

    @property
    def brightness(self) -> float:
        """The middle of its pattern, for whatever stands still."""
        return (self.dimmest + self.brightest) / 2


_P, _G, _E = LightPattern, Gesture, Emotion

EMOTIONS: dict[Emotion, EmotionSpec] = {
    _E.NEUTRAL: EmotionSpec(
        (67, 145, 248), 0, 0, 40, 2, 0, 14, _E.NEUTRAL, _P.BREATHE, 0.15, 0.6, 0.8, wanders=True
    ),
    _E.HAPPY: EmotionSpec(
        (0, 232, 177), 4, 4, 32, 16, 4, 14, _E.NEUTRAL, _P.BREATHE, 0.3, 0.7, 1.0, _G.NOD, wanders=True,
        longest_seconds=20,
    ),
    _E.EXCITED: EmotionSpec(
        (124, 237, 0), 10, 10, 54, 20, 8, 22, _E.HAPPY, _P.CHASE, 1.2, 0.3, 1.0, _G.TWO_NODS, wanders=True,
        mouth_open=0.35, longest_seconds=8,
    ),
    _E.SAD: EmotionSpec(
        (40, 61, 239), 16, 16, 24, -12, -8, 10, _E.NEUTRAL, _P.BREATHE, 0.1, 0.25, 0.5, _G.LOOK_DOWN,
        gaze_y=-0.5, intensity=0.8, enter_seconds=0.9, longest_seconds=12,
    ),
    _E.CRYING: EmotionSpec(
        (0, 187, 255), 20, 20, 12, -18, -12, 26, _E.SAD, _P.DRIP, 1.0, 0.2, 0.8, _G.QUIVER,
        gaze_y=-0.6, intensity=0.8, longest_seconds=8,
    ),
    _E.ANGRY: EmotionSpec(
        (235, 16, 0), -20, -20, 26, -14, -4, 6, _E.NEUTRAL, _P.PULSE, 1.0, 0.6, 1.0,
        intensity=0.6, enter_seconds=0.2, longest_seconds=4,
    ),
    _E.SURPRISED: EmotionSpec(
        (252, 255, 176), 14, 14, 60, -2, 10, 4, _E.EXCITED, _P.FLASH, 0.0, 0.8, 1.0,
        mouth_open=0.6, enter_seconds=0.15, longest_seconds=3,
    ),
    _E.EMBARRASSED: EmotionSpec(
        (251, 134, 116), 10, 10, 22, 6, -10, 24, _E.AFFECTIONATE, _P.SHIMMER, 0.7, 0.6, 0.8, _G.LOOK_AWAY,
        gaze_x=0.6, gaze_y=-0.6, enter_seconds=0.8, longest_seconds=8,
    ),
    _E.THINKING: EmotionSpec(
        (151, 82, 255), -6, 12, 34, -4, 6, 8, _E.NEUTRAL, _P.ORBIT, 0.5, 0.1, 0.9, _G.SWAY,
        gaze_x=0.6, gaze_y=0.7, longest_seconds=60,
    ),
    _E.SLEEPY: EmotionSpec(
        (69, 67, 153), -2, -2, 10, 0, -14, 6, _E.NEUTRAL, _P.BREATHE, 0.08, 0.08, 0.25, _G.DROOP, blinks_long=True,
        enter_seconds=3.0
    ),
    _E.AFFECTIONATE: EmotionSpec(
        (255, 92, 203), 8, 8, 30, 12, -3, 12, _E.HAPPY, _P.HEARTBEAT, 1.1, 0.5, 0.9, longest_seconds=15
    ),
    _E.CONFUSED: EmotionSpec(
        (227, 176, 72), 14, -10, 42, -6, 8, 18, _E.THINKING, _P.ALTERNATE, 0.8, 0.3, 0.8, _G.SWAP_BROWS,
        gaze_x=-0.3, longest_seconds=10,
    ),
    _E.SCARED: EmotionSpec(
        (235, 64, 158), 20, 20, 56, -10, -6, 28, _E.SURPRISED, _P.FLUTTER, 2.5, 0.72, 0.88, _G.TREMBLE,
        mouth_open=0.15, intensity=0.7, longest_seconds=4,
    ),
    _E.DETERMINED: EmotionSpec(
        (242, 117, 0), -14, -14, 34, 8, 2, 8, _E.NEUTRAL, _P.STEADY, 0.0, 0.8, 0.8, _G.NOD, longest_seconds=10
    ),
}  # fmt: skip


def known_to(emotion: Emotion, moods: int) -> Emotion:
    """The nearest mood that a device with the first ``moods`` of the table can show."""
    order = list(EMOTIONS)
    while order.index(emotion) >= moods:
        emotion = EMOTIONS[emotion].falls_back_to
    return emotion
