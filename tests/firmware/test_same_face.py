"""The head on the board looks like the face on a screen: lights, gestures and motion of the C core against Python's.

The core computes in whole numbers, so the two differ by a few steps of 255 and a fraction of a degree.
"""

from __future__ import annotations

import ctypes
import dataclasses
import math

import pytest

from appliance.events import Emotion
from appliance.face.emotions import EMOTIONS, Gesture
from appliance.face.firmware_table import STATES
from appliance.face.gestures import offset
from appliance.face.lights import mixed, ring
from appliance.face.motion import eased
from appliance.face.overlay import OVERLAYS
from tests.firmware.core import LIGHTS, Core, triples
from tests.firmware.pin_trace import JOINTS, Colours

MOODS = list(EMOTIONS)
#: Of 255: a sine in 256 steps, and two roundings. Where a pattern has an edge, it may come one step of a phase earlier.
LIGHT_TOLERANCE = 9
DEGREE = 16


def _turns(seconds: float, hertz: float) -> int:
    return round(seconds * hertz * 65536) & 0xFFFFFFFF


def _worst(these: Colours, those: Colours) -> int:
    return max(abs(a - b) for this, that in zip(these, those, strict=True) for a, b in zip(this, that, strict=True))


@pytest.mark.parametrize("mood", MOODS, ids=str)
def test_the_lights_of_a_mood_move_as_on_every_other_face(core: Core, mood: Emotion) -> None:
    spec, buffer = EMOTIONS[mood], (ctypes.c_uint8 * (3 * LIGHTS))()
    hertz = round(spec.light_hertz * 100) / 100
    for step in range(600):
        seconds = step / 60 + 0.003
        core.library.host_mood_light(
            MOODS.index(mood), ctypes.c_uint32(_turns(seconds, hertz)), min(60000, round(seconds * 1000)), buffer
        )
        wanted = ring(spec, spec.rgb, seconds)
        assert _worst(triples(buffer), wanted) <= LIGHT_TOLERANCE, f"after {seconds:.3f} s"


@pytest.mark.parametrize("state", [state for state in STATES if OVERLAYS[state].light is not None], ids=str)
def test_the_lights_of_what_the_box_does_move_alike(core: Core, state: str) -> None:
    overlay = next(OVERLAYS[known] for known in STATES if known == state)
    assert overlay.light is not None
    spec = dataclasses.replace(
        EMOTIONS[Emotion.NEUTRAL], light=overlay.light, light_hertz=overlay.light_hertz,
        dimmest=overlay.dimmest, brightest=overlay.brightest,
    )  # fmt: skip
    rgb, buffer = overlay.rgb or (10, 200, 90), (ctypes.c_uint8 * (3 * LIGHTS))()
    index = [str(known) for known in STATES].index(str(state))
    for step in range(300):
        seconds = step / 60 + 0.003
        phase = ctypes.c_uint32(_turns(seconds, overlay.light_hertz))
        core.library.host_state_light(index, bytes(rgb), phase, round(seconds * 1000), buffer)
        assert _worst(triples(buffer), ring(spec, rgb, seconds)) <= LIGHT_TOLERANCE


def test_no_light_jumps_where_its_pattern_begins_anew(core: Core) -> None:
    # A shimmer is two waves that do not fit into one turn: its phase must not be cut to one.
    mood = MOODS.index(Emotion.EMBARRASSED)
    buffer = (ctypes.c_uint8 * (3 * LIGHTS))()
    before: Colours | None = None
    for phase in range(0, 8 * 65536, 900):
        core.library.host_mood_light(mood, ctypes.c_uint32(phase), 60000, buffer)
        if before is not None:
            assert _worst(before, triples(buffer)) <= 12
        before = triples(buffer)


@pytest.mark.parametrize("gesture", list(Gesture), ids=lambda gesture: gesture.name.lower())
def test_a_gesture_moves_the_joints_as_on_every_other_face(core: Core, gesture: Gesture) -> None:
    left, right, lid, mouth, neck = 8.0, -10.0, 40.0, 2.0, 1.0
    for milliseconds in range(0, 12000, 20):
        pose = (ctypes.c_int16 * JOINTS)(*(round(degrees * DEGREE) for degrees in (left, right, lid, mouth, neck)))
        core.library.gesture_add(int(gesture), milliseconds, pose)
        moved = offset(gesture, milliseconds / 1000)
        wanted = (
            left + (right - left) * moved.swaps_brows + moved.brow_degrees,
            right + (left - right) * moved.swaps_brows + moved.brow_degrees,
            lid,
            mouth + moved.mouth_degrees,
            neck + moved.neck_degrees,
        )
        for joint, degrees in enumerate(wanted):
            assert pose[joint] / DEGREE == pytest.approx(degrees, abs=0.2), f"joint {joint} after {milliseconds} ms"


def test_a_change_eases_in_and_out_on_the_same_curve(core: Core) -> None:
    for share in range(0, 1025, 8):
        assert core.library.eased(share) / 1024 == pytest.approx(eased(share / 1024), abs=0.012)


def test_a_colour_changes_through_the_same_colours(core: Core) -> None:
    core.hello()
    core.face(0)
    core.run_alive(2000)
    core.face(5, transition_ms=1000)
    start, end = EMOTIONS[Emotion.NEUTRAL].rgb, EMOTIONS[Emotion.ANGRY].rgb
    for elapsed_ms in range(20, 1000, 20):
        core.run(20)
        wanted = ring(EMOTIONS[Emotion.ANGRY], mixed(start, end, eased(elapsed_ms / 1000)), elapsed_ms / 1000)
        # The board mixes with a gamma of 2.0 where Python has 2.2.
        assert _worst(core.colours, wanted) <= 16, f"after {elapsed_ms} ms"


@pytest.mark.parametrize("mood", MOODS, ids=str)
def test_a_mood_ends_in_the_pose_of_the_table(core: Core, mood: Emotion) -> None:
    spec = EMOTIONS[mood]
    core.hello()
    core.face(MOODS.index(mood), transition_ms=300)
    # All gestures but the sway are over by then, and the long droop; the brows may have changed sides.
    core.run_alive(9000)
    moved = offset(spec.gesture, 9.0 - 0.02)
    left, right = spec.brow_left_degrees, spec.brow_right_degrees
    pose = core.pose_us
    wanted = (
        left + (right - left) * moved.swaps_brows,
        right + (left - right) * moved.swaps_brows,
        None,  # it may be in a blink
        spec.mouth_degrees - 10 * spec.mouth_open,
        spec.neck_degrees + moved.neck_degrees,
    )
    for joint, degrees in enumerate(wanted):
        if degrees is not None:
            limited = max(-20.0, degrees) if joint == 3 else max(-15.0, degrees) if joint == 4 else degrees
            assert pose[joint] == pytest.approx(1500 + 10 * limited, abs=3), f"joint {joint}"


def test_the_numbers_of_the_table_survive_their_rounding() -> None:
    for spec in EMOTIONS.values():
        assert math.isclose(spec.light_hertz * 100, round(spec.light_hertz * 100), abs_tol=1e-6)
        for degrees in (spec.brow_left_degrees, spec.lid_degrees, spec.mouth_degrees, spec.neck_degrees):
            assert degrees == round(degrees)
