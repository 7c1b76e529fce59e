"""The animator turns facts and seconds into poses; no thread, no device, no chance that it cannot repeat.

Layers, each over the one below: mood (with its gesture and its lights), what the box is doing, gaze, the mouth that
follows the sound, the blink. A blink moves only the lids and a word only the mouth. A focus face stays while its tool
runs, whatever else is said; a reply's face falls back to neutral when its time is over. The animator owns that expiry,
so no speech that is cut off can leave a face behind.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from appliance import events
from appliance.events import Activity, Emotion, Event
from appliance.face.doing import Doing
from appliance.face.emotions import EMOTIONS, EmotionSpec
from appliance.face.eyes import Blinks, Wandering
from appliance.face.gestures import Offset, offset
from appliance.face.lights import brightness, mixed, ring, scaled
from appliance.face.motion import between, clamped, eased, limited
from appliance.face.overlay import overlaid
from appliance.ports import FaceState

#: A fail face stays this long when nothing replaces it.
_FAIL_SECONDS = 6.0


@dataclass
class _Mood:
    """A mood with the moment it ends (None: until replaced)."""

    emotion: Emotion
    until_seconds: float | None = None


@dataclass
class Animator:
    """Facts in, poses out.

    ``mouth`` gives 0 to 1 for the sound that is heard at a moment of the clock; ``dimming`` 0 to 1 for all lights
    (quiet hours); ``is_offline`` whether the box misses its model.
    """

    mouth: Callable[[float], float] = lambda _seconds: 0.0
    dimming: Callable[[], float] = lambda: 1.0
    is_offline: Callable[[], bool] = lambda: False
    random: random.Random = field(default_factory=random.Random)

    def __post_init__(self) -> None:
        self._mood = _Mood(Emotion.NEUTRAL)
        self._focus: dict[str, Emotion] = {}
        self._pending_focus: Emotion | None = None
        self._doing = Doing()
        self._overlay, self._overlay_began = Activity.IDLE, 0.0
        self._shown = self._from = posed(EMOTIONS[Emotion.NEUTRAL], Emotion.NEUTRAL)
        self._target, self._changed_at = Emotion.NEUTRAL, -1e9
        self._moved = self._shown
        self._moved_at: float | None = None
        self._blinks, self._wandering = Blinks(self.random), Wandering(self.random)

    def tell(self, event: Event) -> None:
        """Take note of a fact; unknown ones are ignored."""
        match event:
            case events.EmotionChanged(emotion=emotion, source="focus"):
                self._pending_focus = emotion
            case events.EmotionChanged(emotion=emotion, source=source):
                longest = _FAIL_SECONDS if source == "fail" else EMOTIONS[emotion].longest_seconds
                self._mood = _Mood(emotion, None if longest is None else event.at_seconds + longest)
            case events.ToolStarted(call_id=call_id):
                self._focus[call_id] = self._pending_focus or Emotion.THINKING
                self._pending_focus = None
            case events.ToolFinished(call_id=call_id):
                self._focus.pop(call_id, None)
            case events.TurnEnded():
                self._focus.clear()
                self._pending_focus = None
        self._doing.tell(event)

    def activity(self, at_seconds: float) -> Activity:
        """What the box is doing, as far as the face knows."""
        return self._doing.activity(at_seconds, is_offline=self.is_offline())

    def emotion(self, at_seconds: float) -> Emotion:
        """The mood at that moment: a running tool's focus face, else the reply's, else neutral."""
        if self._focus:
            return next(reversed(self._focus.values()))
        until = self._mood.until_seconds
        if until is not None and at_seconds >= until:
            return Emotion.NEUTRAL
        return self._mood.emotion

    def pose(self, at_seconds: float) -> FaceState:
        """The pose at that moment; call it with rising seconds."""
        emotion, activity = self.emotion(at_seconds), self.activity(at_seconds)
        spec = EMOTIONS[emotion]
        state = self._mood_at(emotion, spec, at_seconds)
        if activity is not self._overlay:
            self._overlay, self._overlay_began = activity, at_seconds
        state = self._gaze_wandering(state, spec, at_seconds)
        state = overlaid(state, spec, activity, at_seconds - self._overlay_began)
        state = self._moved = self._at_speed(clamped(state), at_seconds)
        mouth = max(state.mouth_open, min(1.0, self.mouth(at_seconds)))
        lid = state.lid_degrees * self._blinks.share_open(at_seconds, spec, state.lid_degrees)
        return dimmed(dataclasses.replace(state, mouth_open=mouth, lid_degrees=lid), self.dimming())

    def _mood_at(self, emotion: Emotion, spec: EmotionSpec, at_seconds: float) -> FaceState:
        """The mood on its way in, with its gesture and its lights."""
        if emotion is not self._target:
            self._from, self._target, self._changed_at = self._shown, emotion, at_seconds
        since = at_seconds - self._changed_at
        share = eased(since / spec.enter_seconds)
        state = self._shown = between(self._from, posed(spec, emotion), share)
        rgb = mixed(self._from.rgb, spec.rgb, share)
        lit = dataclasses.replace(state, rgb=rgb, brightness=brightness(spec, since), ring=ring(spec, rgb, since))
        return _with(lit, offset(spec.gesture, since))

    def _gaze_wandering(self, state: FaceState, spec: EmotionSpec, at_seconds: float) -> FaceState:
        if not spec.wanders:
            return state
        x, y = self._wandering.gaze(at_seconds)
        return dataclasses.replace(state, gaze_x=state.gaze_x + x, gaze_y=state.gaze_y + y)

    def _at_speed(self, state: FaceState, at_seconds: float) -> FaceState:
        passed, self._moved_at = at_seconds - (self._moved_at or at_seconds), at_seconds
        return limited(self._moved, state, passed) if passed > 0 else state


def posed(spec: EmotionSpec, emotion: Emotion) -> FaceState:
    """The pose of a mood as strongly as it is shown, its lights at their middle."""
    calm, strength = EMOTIONS[Emotion.NEUTRAL], spec.intensity

    def shown(of_calm: float, of_mood: float) -> float:
        return of_calm + (of_mood - of_calm) * strength

    return FaceState(
        emotion=emotion,
        brow_left_degrees=shown(calm.brow_left_degrees, spec.brow_left_degrees),
        brow_right_degrees=shown(calm.brow_right_degrees, spec.brow_right_degrees),
        lid_degrees=shown(calm.lid_degrees, spec.lid_degrees),
        mouth_degrees=shown(calm.mouth_degrees, spec.mouth_degrees),
        mouth_open=shown(calm.mouth_open, spec.mouth_open),
        neck_degrees=shown(calm.neck_degrees, spec.neck_degrees),
        gaze_x=shown(calm.gaze_x, spec.gaze_x),
        gaze_y=shown(calm.gaze_y, spec.gaze_y),
        rgb=spec.rgb,
        brightness=spec.brightness,
        intensity=strength,
        transition_seconds=spec.enter_seconds,
    )


def still(emotion: Emotion, activity: Activity = Activity.IDLE) -> FaceState:
    """The pose of a mood at rest, as pictures and the sheet show it."""
    spec = EMOTIONS[emotion]
    state = dataclasses.replace(posed(spec, emotion), ring=ring(spec, spec.rgb, 0.4))
    return clamped(overlaid(state, spec, activity, 0.4))


def dimmed(state: FaceState, share: float) -> FaceState:
    """The pose with its lights turned down."""
    if share >= 1.0:
        return state
    lights = tuple(scaled(colour, share) for colour in state.ring)
    return dataclasses.replace(state, brightness=state.brightness * share, ring=lights, dimming=share)


def _with(state: FaceState, moved: Offset) -> FaceState:
    left, right, swap = state.brow_left_degrees, state.brow_right_degrees, moved.swaps_brows
    return dataclasses.replace(
        state,
        brow_left_degrees=left + (right - left) * swap + moved.brow_degrees,
        brow_right_degrees=right + (left - right) * swap + moved.brow_degrees,
        mouth_degrees=state.mouth_degrees + moved.mouth_degrees,
        neck_degrees=state.neck_degrees + moved.neck_degrees,
        gaze_x=state.gaze_x + moved.gaze_x,
        gaze_y=state.gaze_y + moved.gaze_y,
    )
