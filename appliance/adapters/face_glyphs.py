"""The moods for 8 x 8 lights: drawn by hand, as nothing that is scaled down can be read at that size.

Four rows for the eyes, one for tears and cheeks, two for the mouth, and the last for what the box is doing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from appliance.events import Activity, Emotion
from appliance.ports import FaceState

#: Eight rows of eight lights; the highest bit is the left one.
Glyph = tuple[int, ...]


@dataclass(frozen=True)
class _Mood:
    """``rows`` are eyes, cheeks and mouth; ``mouth_open`` is how open that mouth is already, 0 to 1."""

    rows: tuple[int, ...]
    mouth_open: float = 0.0


def _drawn(text: str) -> tuple[int, ...]:
    return tuple(int(row.replace(".", "0").replace("#", "1"), 2) for row in text.split())


_MOODS: Mapping[Emotion, _Mood] = {
    Emotion.NEUTRAL: _Mood(_drawn("........ .##..##. .##..##. ........ ........ ........ .######.")),
    Emotion.HAPPY: _Mood(_drawn("........ .##..##. #..##..# ........ ........ .#....#. ..####..")),
    Emotion.EXCITED: _Mood(_drawn("#.#..#.# .#....#. #.#..#.# ........ ........ .######. ..####.."), 0.35),
    Emotion.SAD: _Mood(_drawn("..#..#.. .#....#. ........ .##..##. ........ ..####.. .#....#.")),
    Emotion.CRYING: _Mood(_drawn("..#..#.. ##....## ........ ###..### .#....#. .#.##.#. .##..##.")),
    Emotion.ANGRY: _Mood(_drawn("##....## ..#..#.. .##..##. .##..##. ........ ..####.. ##....##")),
    Emotion.SURPRISED: _Mood(_drawn(".##..##. #..##..# #..##..# .##..##. ........ ..####.. ..####.."), 0.6),
    Emotion.EMBARRASSED: _Mood(_drawn("........ ..##..## ........ ........ ##....## ..#.##.. .#.#..#.")),
    Emotion.THINKING: _Mood(_drawn(".....### .##..... .##..##. .....##. ........ ........ ...####.")),
    Emotion.SLEEPY: _Mood(_drawn("....###. .....#.. ....###. ........ ###..### ........ ...##...")),
    Emotion.AFFECTIONATE: _Mood(_drawn("#.#..#.# ###..### .#....#. ........ ........ #......# .######.")),
    Emotion.CONFUSED: _Mood(_drawn("###....# ......#. ###..##. ###..##. ........ .##..#.. #..##...")),
    Emotion.SCARED: _Mood(_drawn("###..### #.#..#.# #.#..#.# ###..### ........ .#.#.#.# #.#.#.#."), 0.15),
    Emotion.DETERMINED: _Mood(_drawn("##....## ..#..#.. ........ .##..##. ........ ........ .#####..")),
}
#: Whole pictures, for what must not be missed.
_PICTURES: Mapping[Activity, Glyph] = {
    Activity.ASKING: _drawn("..####.. .#....#. .....##. ....##.. ...##... ........ ...##... ........"),
    Activity.ERROR: _drawn("#......# .#....#. ..#..#.. ...##... ...##... ..#..#.. .#....#. #......#"),
}
#: The last row.
_MARKS: Mapping[Activity, int] = {
    Activity.LISTENING: 0b11111111,
    Activity.MUTED: 0b11100111,
    Activity.OFFLINE: 0b00011000,
}
_EYE_ROWS, _MOUTH_AT = 4, 5
_SHUT_EYES = _drawn("........ ........ .##..##. ........")
_MOUTH_AJAR, _MOUTH_OPEN = _drawn("........ ..####.."), _drawn(".######. .######.")
_SHUT_DEGREES = 6.0


def face_glyph(state: FaceState) -> Glyph:
    """The pose on one module."""
    if state.activity in _PICTURES:
        return _PICTURES[state.activity]
    mood = _MOODS[state.emotion]
    rows = list(mood.rows)
    if state.lid_degrees < _SHUT_DEGREES:
        rows[:_EYE_ROWS] = _SHUT_EYES
    opened = (state.mouth_open - mood.mouth_open) / (1.0 - mood.mouth_open)
    if opened > 0.15:
        rows[_MOUTH_AT:] = _MOUTH_OPEN if opened > 0.5 else _MOUTH_AJAR
    return (*rows, _mark(state))


def module_glyphs(state: FaceState, modules: int) -> list[Glyph]:
    """The pose on 1 to 4 modules from left to right: two are the eyes, the others between them are the mouth."""
    face = face_glyph(state)
    if modules == 1 or state.activity in _PICTURES:
        return [face] * modules
    eyes, mark = [_twice_as_wide(row) for row in face[:_EYE_ROWS]], face[7]
    left, right = ([row >> shift & 0xFF for row in eyes for _ in range(2)] for shift in (8, 0))
    for eye in (left, right):
        eye[7] |= mark
    return [tuple(left), *_mouth(face[_MOUTH_AT:7], modules - 2), tuple(right)]


def _mouth(rows: Glyph, modules: int) -> list[Glyph]:
    if modules == 0:
        return []
    tall = [0, 0, *(row for row in rows for _ in range(2)), 0, 0]
    if modules == 1:
        return [tuple(tall)]
    wide = [_twice_as_wide(row) for row in tall]
    return [tuple(row >> shift & 0xFF for row in wide) for shift in (8, 0)]


def _mark(state: FaceState) -> int:
    if state.activity is Activity.WORKING and state.ring:
        # The light that runs around the ring runs along the row.
        brightest = max(range(len(state.ring)), key=lambda index: sum(state.ring[index]))
        return 0x80 >> (brightest * 8 // len(state.ring))
    return _MARKS.get(state.activity, 0)


def _twice_as_wide(row: int) -> int:
    wide = 0
    for bit in range(8):
        wide |= (row >> bit & 1) * 0b11 << 2 * bit
    return wide
