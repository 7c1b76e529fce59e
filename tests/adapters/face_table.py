"""What the table of moods asks of a device, worked out here once more, by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from appliance.events import Emotion, EmotionChanged
from appliance.face.animator import Animator
from appliance.face.emotions import EMOTIONS
from appliance.ports import FaceState

POSE_SECONDS = 0.04


class Watch:
    """Time that passes when told to, or while somebody waits."""

    def __init__(self) -> None:
        self.seconds = 50.0

    def now(self) -> float:
        return self.seconds

    def wait(self, seconds: float) -> None:
        self.seconds += seconds


def table_degrees(emotion: Emotion) -> dict[str, float]:
    """The angle of each joint; the corners of an open mouth hang."""
    calm, mood = EMOTIONS[Emotion.NEUTRAL], EMOTIONS[emotion]

    def shown(part: str) -> float:
        at_calm = float(getattr(calm, part))
        return at_calm + (float(getattr(mood, part)) - at_calm) * mood.intensity

    return {
        "brow_left": shown("brow_left_degrees"),
        "brow_right": shown("brow_right_degrees"),
        "lid": shown("lid_degrees"),
        "mouth": shown("mouth_degrees") - 10 * shown("mouth_open"),
        "neck": shown("neck_degrees"),
    }


def table_pulses_us(emotion: Emotion) -> dict[str, float]:
    """With the usual servo: 1500 at zero, 10 for a degree, from 1000 to 2000."""
    return {joint: min(2000, max(1000, 1500 + 10 * angle)) for joint, angle in table_degrees(emotion).items()}


def lived(emotion: Emotion, seconds: float) -> Iterator[FaceState]:
    """A mood's poses for so long, once it is fully there."""
    animator = Animator()
    now, since = 10.0, 0.0
    entered = EMOTIONS[emotion].enter_seconds + 0.4  # A flash is over then.
    while since <= entered + seconds:
        animator.tell(EmotionChanged("", now, emotion, "tag"))
        pose = animator.pose(now)
        if since > entered:
            yield pose
        now, since = now + POSE_SECONDS, since + POSE_SECONDS


def apply_for(apply: Callable[[FaceState], None], watch: Watch, state: FaceState, seconds: float) -> None:
    """Show one pose again and again, as the stage does."""
    for _ in range(round(seconds / POSE_SECONDS)):
        watch.wait(POSE_SECONDS)
        apply(state)
