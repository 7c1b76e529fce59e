"""The emotion table for the firmware: ``python -m appliance.face.firmware_table > firmware/core/emotions.h``.

A test makes it anew and compares, so that a head on a microcontroller never drifts from the one on the screen.
"""

from __future__ import annotations

from collections.abc import Iterable

from appliance.face.emotions import EMOTIONS, EmotionSpec
from appliance.face.overlay import OVERLAYS, OverlaySpec, is_lit
from appliance.ports import RING_LIGHTS, Rgb
from appliance.ports_face import STATES


def emotions_header() -> str:
    """The whole of ``emotions.h``."""
    lines = [
        "/* Generated from appliance/face/emotions.py and overlay.py; do not edit. To make it anew:",
        " * python -m appliance.face.firmware_table > firmware/core/emotions.h */",
        "#ifndef FACE_EMOTIONS_H",
        "#define FACE_EMOTIONS_H",
        "",
        '#include "table.h"',
        "",
        f"#define EMOTION_COUNT {len(EMOTIONS)}",
        "",
        f"static const struct emotion_row EMOTIONS[{len(EMOTIONS)}] IN_FLASH = {{",
        *(f"    {_emotion(spec)}, /* {index} {emotion} */" for index, (emotion, spec) in enumerate(EMOTIONS.items())),
        "};",
        "",
        f"static const struct overlay_row OVERLAYS[{len(STATES)}] IN_FLASH = {{",
        *(f"    {_overlay(OVERLAYS[state])}, /* {index} {state} */" for index, state in enumerate(STATES)),
        "};",
        "",
        "#endif",
    ]
    return "\n".join(lines) + "\n"


def _emotion(spec: EmotionSpec) -> str:
    degrees = (
        spec.brow_left_degrees,
        spec.brow_right_degrees,
        spec.lid_degrees,
        spec.mouth_degrees,
        spec.neck_degrees,
    )
    light = _light(spec.rgb, spec.light, spec.light_hertz, spec.dimmest, spec.brightest)
    rest = (round(spec.mouth_open * 255), spec.blinks_per_minute, spec.blinks_long, spec.gesture)
    return f"{{{light}, {_braced(degrees)}, {_listed(rest)}}}"


def _overlay(spec: OverlaySpec) -> str:
    light = _light(spec.rgb or (0, 0, 0), spec.light or 0, spec.light_hertz, spec.dimmest, spec.brightest)
    lit = sum(1 << index for index in range(RING_LIGHTS) if is_lit(spec, index))
    pose = (spec.least_lid_degrees, spec.most_lid_degrees, spec.brow_degrees, spec.neck_degrees)
    return f"{{{light}, {_listed((spec.rgb is not None, spec.light is not None, *pose))}, 0x{lit:04X}}}"


def _light(rgb: Rgb, pattern: int, hertz: float, dimmest: float, brightest: float) -> str:
    numbers = (pattern, hertz * 100, dimmest * 255, brightest * 255)
    return f"{{{_braced(rgb)}, {_listed(numbers)}}}"


def _braced(numbers: Iterable[float]) -> str:
    return f"{{{_listed(numbers)}}}"


def _listed(numbers: Iterable[float]) -> str:
    return ", ".join(str(round(number)) for number in numbers)


if __name__ == "__main__":
    print(emotions_header(), end="")
