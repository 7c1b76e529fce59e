"""The animator turns facts and seconds into poses; no thread, no device, no chance that it cannot repeat.

Layers: mood, then what the box is doing, then the mouth that follows the sound, then the blink. A focus face stays
while its tool runs, whatever else is said; a reply's face falls back to neutral when its time is over. The animator
owns that expiry, so no speech that is cut off can leave a face behind.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from appliance import events
from appliance.events import Activity, Emotion, Event
from appliance.face.emotions import EMOTIONS, EmotionSpec
from appliance.ports import FaceState

#: Lid closes in 80 ms, stays 60 ms, opens in 120 ms (a person's blink).
_BLINK_CLOSE_SECONDS, _BLINK_STAY_SECONDS, _BLINK_OPEN_SECONDS = 0.08, 0.06, 0.12
_BLINK_SECONDS = _BLINK_CLOSE_SECONDS + _BLINK_STAY_SECONDS + _BLINK_OPEN_SECONDS
_SHORTEST_BETWEEN_BLINKS_SECONDS = 0.8
#: Below this lid a blink cannot be seen.
_NO_BLINK_LID_DEGREES = 15.0
#: A fail face stays this long when nothing replaces it.
_FAIL_SECONDS = 6.0


@dataclass
class _Mood:
    """A mood with the moment it ends (None: until replaced)."""

    emotion: Emotion
    until_seconds: float | None = None


@dataclass
class Animator:
    """Facts in, poses out. ``loudness`` gives 0 to 1 for the sound that is being played right now."""

    loudness: Callable[[], float] = lambda: 0.0
    random: random.Random = field(default_factory=random.Random)
    _mood: _Mood = field(default_factory=lambda: _Mood(Emotion.NEUTRAL))
    _focus: dict[str, Emotion] = field(default_factory=dict)
    _activity: Activity = Activity.IDLE
    _is_muted: bool = False
    _shown: FaceState = field(default_factory=FaceState)
    _from: FaceState = field(default_factory=FaceState)
    _target: Emotion = Emotion.NEUTRAL
    _changed_at_seconds: float = -1e9
    _blink_at_seconds: float = 0.0
    _pending_focus: Emotion | None = None

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
            case events.MuteChanged(is_muted=is_muted):
                self._is_muted = is_muted
            case events.TurnEnded():
                self._focus.clear()
                self._pending_focus = None
        self._activity = _activity_after(event, self._activity)

    @property
    def activity(self) -> Activity:
        """What the box is doing, as far as the face knows."""
        return Activity.MUTED if self._is_muted and self._activity is Activity.IDLE else self._activity

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
        emotion = self.emotion(at_seconds)
        if emotion is not self._target:
            self._from, self._target, self._changed_at_seconds = self._shown, emotion, at_seconds
        spec = EMOTIONS[emotion]
        share = min(1.0, max(0.0, (at_seconds - self._changed_at_seconds) / spec.enter_seconds))
        self._shown = _between(self._from, _pose_of(emotion, spec), _eased(share))
        state = dataclasses.replace(self._shown, activity=self.activity)
        if self.activity is Activity.SPEAKING:
            state = dataclasses.replace(state, mouth_open=max(state.mouth_open, min(1.0, self.loudness())))
        return dataclasses.replace(state, lid_degrees=self._blinked(state.lid_degrees, spec, at_seconds))

    def _blinked(self, lid_degrees: float, spec: EmotionSpec, at_seconds: float) -> float:
        if lid_degrees < _NO_BLINK_LID_DEGREES:
            return lid_degrees
        since = at_seconds - self._blink_at_seconds
        if since > _BLINK_SECONDS:
            between = self.random.expovariate(spec.blinks_per_minute / 60.0)
            self._blink_at_seconds = at_seconds + max(_SHORTEST_BETWEEN_BLINKS_SECONDS, between)
            return lid_degrees
        if since < 0:
            return lid_degrees
        if since < _BLINK_CLOSE_SECONDS:
            return lid_degrees * (1 - since / _BLINK_CLOSE_SECONDS)
        opening = since - _BLINK_CLOSE_SECONDS - _BLINK_STAY_SECONDS
        return lid_degrees * max(0.0, opening / _BLINK_OPEN_SECONDS)


def still(emotion: Emotion, activity: Activity = Activity.IDLE) -> FaceState:
    """The pose of a mood at rest, as pictures and the sheet show it."""
    return dataclasses.replace(_pose_of(emotion, EMOTIONS[emotion]), activity=activity)


def _activity_after(event: Event, activity: Activity) -> Activity:
    match event:
        case events.TurnStarted(origin="typed") | events.SpeechEnded() | events.ToolStarted():
            return Activity.WORKING
        case events.TurnStarted() | events.WakeDetected():
            return Activity.LISTENING
        case events.ApprovalRequested():
            return Activity.ASKING
        case events.PlaybackFinished(turn_id="") if activity is Activity.SPEAKING:
            return Activity.IDLE
        case events.ApprovalDecided() | events.PlaybackFinished():
            return Activity.WORKING if activity in (Activity.SPEAKING, Activity.ASKING) else activity
        case events.PlaybackStarted(lane="speech"):
            return Activity.SPEAKING
        case events.TurnEnded():
            return Activity.IDLE
    return activity


def _pose_of(emotion: Emotion, spec: EmotionSpec) -> FaceState:
    return FaceState(
        emotion=emotion,
        brow_left_degrees=spec.brow_left_degrees,
        brow_right_degrees=spec.brow_right_degrees,
        lid_degrees=spec.lid_degrees,
        mouth_degrees=spec.mouth_degrees,
        mouth_open=spec.mouth_open,
        neck_degrees=spec.neck_degrees,
        gaze_x=spec.gaze_x,
        gaze_y=spec.gaze_y,
        rgb=spec.rgb,
        brightness=spec.brightness,
    )


def _eased(share: float) -> float:
    """Minimum-jerk curve: starts and stops softly, as servos and eyes like it."""
    return share * share * share * (share * (share * 6 - 15) + 10)


def _between(start: FaceState, end: FaceState, share: float) -> FaceState:
    """``end`` with every number on its way from ``start``."""
    if share >= 1.0:
        return end

    def mix(a: float, b: float) -> float:
        return a + (b - a) * share

    numbers: dict[str, Any] = {name: mix(getattr(start, name), getattr(end, name)) for name in _NUMBERS}
    numbers["rgb"] = tuple(round(mix(a, b)) for a, b in zip(start.rgb, end.rgb, strict=True))
    return dataclasses.replace(end, **numbers)


_NUMBERS = tuple(entry.name for entry in dataclasses.fields(FaceState) if entry.type == "float")
