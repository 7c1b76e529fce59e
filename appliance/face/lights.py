"""How the lights of a mood move: pure functions of the seconds since it began.

Nothing here gets brighter and darker by more than a tenth more often than three times a second: faster flashing is a
danger to people with epilepsy.
"""

from __future__ import annotations

import math

from appliance.face.emotions import EmotionSpec, LightPattern
from appliance.ports import RING_LIGHTS, Rgb

#: A flash is over after this.
_FLASH_SECONDS = 0.35
#: Share of the ring that a running spot's tail covers.
_TAIL = 0.35
#: A heartbeat: two beats, at these parts of its period, the second one weaker.
_BEATS = ((0.16, 1.0), (0.44, 0.6))
_BEAT_WIDTH = 0.16


def brightness(spec: EmotionSpec, seconds: float) -> float:
    """Share of full brightness of a single light, 0 to 1."""
    return _between(spec, _single(spec, seconds))


def ring(spec: EmotionSpec, rgb: Rgb, seconds: float, dimming: float = 1.0) -> tuple[Rgb, ...]:
    """``RING_LIGHTS`` colours, brightness included; ``dimming`` 0 to 1 is applied to all of them."""
    lights = []
    for index in range(RING_LIGHTS):
        share = _between(spec, _of_ring(spec, seconds, index / RING_LIGHTS)) * dimming
        lights.append(scaled(rgb, share))
    return tuple(lights)


def scaled(rgb: Rgb, share: float) -> Rgb:
    """The colour at a share of its brightness."""
    return (round(rgb[0] * share), round(rgb[1] * share), round(rgb[2] * share))


def mixed(start: Rgb, end: Rgb, share: float) -> Rgb:
    """A colour on its way to another, in linear light: in between nothing gets dark or grey."""

    def mix(a: int, b: int) -> int:
        linear: float = (a / 255) ** 2.2 * (1 - share) + (b / 255) ** 2.2 * share
        return round(float(linear ** (1 / 2.2)) * 255)

    return (mix(start[0], end[0]), mix(start[1], end[1]), mix(start[2], end[2]))


def _between(spec: EmotionSpec, share: float) -> float:
    return spec.dimmest + (spec.brightest - spec.dimmest) * min(1.0, max(0.0, share))


def _single(spec: EmotionSpec, seconds: float) -> float:
    """What one light makes of the pattern, 0 dimmest to 1 brightest."""
    turn = seconds * spec.light_hertz
    match spec.light:
        case LightPattern.STEADY:
            return 1.0
        case LightPattern.FLASH:
            return max(0.0, 1.0 - seconds / _FLASH_SECONDS)
        case LightPattern.HEARTBEAT:
            return max(height * _bump(turn % 1.0 - at, _BEAT_WIDTH) for at, height in _BEATS)
        case LightPattern.SHIMMER:
            # Two waves that never meet twice the same way.
            return 0.5 + 0.25 * math.sin(math.tau * turn) + 0.25 * math.sin(math.tau * turn * 1.618)
        case _:
            return 0.5 - 0.5 * math.cos(math.tau * turn)


def _of_ring(spec: EmotionSpec, seconds: float, place: float) -> float:
    """What the light at ``place`` (0 top, 0.5 bottom) makes of it."""
    turn = seconds * spec.light_hertz
    match spec.light:
        case LightPattern.CHASE:
            behind = (turn - place) % 1.0
            return max(0.0, 1.0 - behind / _TAIL)
        case LightPattern.ORBIT:
            return _bump((turn - place + 0.5) % 1.0 - 0.5, 1.5 / RING_LIGHTS)
        case LightPattern.DRIP:
            height = abs((place + 0.5) % 1.0 - 0.5) * 2  # 0 top to 1 bottom, on both sides
            return _bump(turn % 1.0 - height, 0.2)
        case LightPattern.ALTERNATE:
            wave = 0.5 - 0.5 * math.cos(math.tau * turn)
            return wave if place < 0.5 else 1.0 - wave
        case LightPattern.SHIMMER:
            return _single(spec, seconds + place * 2.5 / max(spec.light_hertz, 0.1))
        case _:
            return _single(spec, seconds)


def _bump(distance: float, width: float) -> float:
    """1 at distance 0, softly down to 0 at ``width``."""
    if abs(distance) >= width:
        return 0.0
    return 0.5 + 0.5 * math.cos(math.pi * distance / width)
