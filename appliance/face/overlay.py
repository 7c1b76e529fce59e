"""What the box is doing, laid over its mood: seen at a glance, by light, by eyes, and never by colour alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from appliance.events import Activity
from appliance.face.emotions import EmotionSpec, LightPattern
from appliance.face.lights import brightness, ring
from appliance.ports import RING_LIGHTS, FaceState, Rgb

_DARK: Rgb = (0, 0, 0)


@dataclass(frozen=True)
class OverlaySpec:
    """How an activity changes the pose.

    ``rgb`` None keeps the mood's colour and ``light`` None its pattern. ``least_lid_degrees`` opens the eyes at least
    so far, ``most_lid_degrees`` at most; ``holds_gaze`` looks at the person. ``lit`` are the places of the ring, 0 to
    1, that stay lit: a mark that colour-blind people see too (() is all of it).
    """

    rgb: Rgb | None = None
    light: LightPattern | None = None
    light_hertz: float = 0.0
    dimmest: float = 0.8
    brightest: float = 0.8
    least_lid_degrees: float = 0.0
    most_lid_degrees: float = 60.0
    brow_degrees: float = 0.0
    neck_degrees: float = 0.0
    holds_gaze: bool = False
    lit: tuple[tuple[float, float], ...] = ()


OVERLAYS: Mapping[Activity, OverlaySpec] = {
    Activity.IDLE: OverlaySpec(),
    Activity.LISTENING: OverlaySpec(
        (90, 220, 255), LightPattern.STEADY, 0.0, 0.9, 0.9, least_lid_degrees=46, brow_degrees=4, neck_degrees=3,
        holds_gaze=True,
    ),
    Activity.WORKING: OverlaySpec(None, LightPattern.ORBIT, 0.8, 0.15, 0.9),
    Activity.SPEAKING: OverlaySpec(holds_gaze=True),
    # A red bar at the bottom, where a closed ear would be: dark otherwise.
    Activity.MUTED: OverlaySpec(
        (255, 30, 30), LightPattern.STEADY, 0.0, 0.25, 0.25, most_lid_degrees=26, lit=((0.4, 0.6),)
    ),
    Activity.ASKING: OverlaySpec(
        (255, 160, 0), LightPattern.PULSE, 1.0, 0.35, 1.0, least_lid_degrees=44, brow_degrees=8, holds_gaze=True
    ),
    # Two red sides.
    Activity.ERROR: OverlaySpec(
        (255, 40, 30), LightPattern.PULSE, 0.5, 0.2, 0.7, brow_degrees=6, lit=((0.15, 0.35), (0.65, 0.85))
    ),
    # One grey point at the top.
    Activity.OFFLINE: OverlaySpec(
        (140, 140, 150), LightPattern.STEADY, 0.0, 0.3, 0.3, most_lid_degrees=34, lit=((0.94, 1.0), (0.0, 0.06))
    ),
}  # fmt: skip


def overlaid(state: FaceState, mood: EmotionSpec, activity: Activity, seconds: float) -> FaceState:
    """The pose with the activity over it; ``seconds`` since the activity began. Lights are not dimmed yet."""
    spec = OVERLAYS[activity]
    lid = min(spec.most_lid_degrees, max(spec.least_lid_degrees, state.lid_degrees))
    state = dataclasses.replace(
        state,
        activity=activity,
        lid_degrees=lid,
        brow_left_degrees=state.brow_left_degrees + spec.brow_degrees,
        brow_right_degrees=state.brow_right_degrees + spec.brow_degrees,
        neck_degrees=state.neck_degrees + spec.neck_degrees,
    )
    if spec.holds_gaze:
        state = dataclasses.replace(state, gaze_x=0.0, gaze_y=0.0)
    if spec.light is None:
        return state
    rgb = spec.rgb or state.rgb
    light = dataclasses.replace(
        mood, light=spec.light, light_hertz=spec.light_hertz, dimmest=spec.dimmest, brightest=spec.brightest
    )
    lights = tuple(colour if is_lit(spec, index) else _DARK for index, colour in enumerate(ring(light, rgb, seconds)))
    return dataclasses.replace(state, rgb=rgb, brightness=brightness(light, seconds), ring=lights)


def is_lit(spec: OverlaySpec, index: int) -> bool:
    """Whether the activity lights this place of the ring."""
    place = index / RING_LIGHTS
    return not spec.lit or any(start <= place <= end for start, end in spec.lit)
