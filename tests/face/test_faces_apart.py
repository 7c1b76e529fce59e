"""No two moods can be taken for each other: not by shape on the smallest screen, nor by colour by anybody's sight.

Run with ``-s`` to see the distances.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from appliance.adapters.face_picture import draw_sheet
from appliance.adapters.face_pixels import draw_pixels
from appliance.events import Activity, Emotion
from appliance.face.animator import still
from appliance.face.emotions import EMOTIONS

Matrix = npt.NDArray[np.float64]

#: How linear RGB looks to each kind of sight; Machado, Oliveira and Fernandes (2009), full severity.
SIGHT: dict[str, Matrix] = {
    "normal": np.eye(3),
    "no red": np.array([[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]]),
    "no green": np.array([[0.3673, 0.8607, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]]),
    "no blue": np.array([[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]]),
}
_TO_XYZ = np.array([[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]])

#: Share of the lit pixels that must differ on 64x32. The nearest pair has 0.2 and more; a blink makes about 0.3.
SHAPES_APART = 0.18
#: In CIE Lab (1976). 2.3 is just noticeable side by side; a lamp is compared with memory.
COLOURS_APART = 14.0


def _lab(rgb: tuple[int, int, int], sight: Matrix) -> Matrix:
    share = np.array(rgb) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    x, y, z = (_TO_XYZ @ np.clip(sight @ linear, 0, 1)) / (_TO_XYZ @ np.ones(3))

    def root(part: float) -> float:
        return float(np.cbrt(part)) if part > 0.008856 else 7.787 * part + 16 / 116

    return np.array([116 * root(y) - 16, 500 * (root(x) - root(y)), 200 * (root(y) - root(z))])


def _shape_distance(one: npt.NDArray[np.bool_], other: npt.NDArray[np.bool_]) -> float:
    """Share of the lit pixels that differ, with the faces laid over each other as well as they go."""
    shifted = (np.roll(other, shift, (0, 1)) for shift in itertools.product((-1, 0, 1), repeat=2))
    return min(float((one ^ moved).sum() / (one | moved).sum()) for moved in shifted)


def _nearest(distances: dict[tuple[str, str], float]) -> str:
    pairs = sorted(distances.items(), key=lambda item: item[1])[:4]
    return ", ".join(f"{one}/{other} {distance:.2f}" for (one, other), distance in pairs)


def test_no_two_moods_have_nearly_the_same_shape_on_64_by_32_pixels_of_one_colour() -> None:
    shapes = {emotion: np.asarray(draw_pixels(still(emotion), 64, 32)) for emotion in Emotion}
    distances = {
        (one.value, other.value): _shape_distance(shapes[one], shapes[other])
        for one, other in itertools.combinations(Emotion, 2)
    }
    print(f"\nshapes: {_nearest(distances)}")
    assert min(distances.values()) >= SHAPES_APART


@pytest.mark.parametrize("sight", SIGHT)
def test_no_two_moods_have_nearly_the_same_colour_for_any_kind_of_sight(sight: str) -> None:
    colours = {emotion: _lab(EMOTIONS[emotion].rgb, SIGHT[sight]) for emotion in Emotion}
    distances = {
        (one.value, other.value): float(np.linalg.norm(colours[one] - colours[other]))
        for one, other in itertools.combinations(Emotion, 2)
    }
    print(f"\n{sight}: {_nearest(distances)}")
    assert min(distances.values()) >= COLOURS_APART


def test_what_the_box_does_is_seen_on_the_smallest_screen_too() -> None:
    marks = {activity: np.asarray(draw_pixels(still(Emotion.NEUTRAL, activity)))[:, -8:] for activity in Activity}
    for one, other in itertools.combinations(Activity, 2):
        assert (marks[one] ^ marks[other]).sum() >= 2, (one, other)


def test_the_sheet_in_the_readme_is_what_is_drawn() -> None:
    """The golden picture; ``appliance face sheet --out tests/face/sheet.png`` makes it anew after a wanted change."""
    from PIL import Image

    golden = Image.open(Path(__file__).parent / "sheet.png").convert("RGB")
    drawn = draw_sheet([(emotion.value, still(emotion)) for emotion in Emotion])
    assert golden.size == drawn.size
    difference = np.abs(np.asarray(golden, dtype=np.int16) - np.asarray(drawn, dtype=np.int16))
    # Letters and edges come out a little differently with another Pillow; a changed face does not hide in that.
    assert (difference.max(axis=2) > 60).mean() < 0.002
