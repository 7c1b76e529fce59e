"""The lights tell moods apart, and never flash so fast that they could hurt somebody."""

from __future__ import annotations

import itertools

import pytest

from appliance.events import Activity, Emotion
from appliance.face.animator import still
from appliance.face.emotions import EMOTIONS, EmotionSpec, LightPattern
from appliance.face.lights import brightness, mixed, ring
from appliance.face.overlay import OVERLAYS, overlaid
from appliance.ports import RING_LIGHTS

MOMENTS = [step / 100 for step in range(1000)]


def flashes_per_second(levels: list[float]) -> float:
    """How often a light gets brighter by more than a tenth of full brightness, and darker again, per second."""
    count, extreme, is_rising = 0, levels[0], True
    for level in levels:
        if (level > extreme) is is_rising:
            extreme = level
        elif abs(level - extreme) > 0.1:
            count += is_rising
            extreme, is_rising = level, not is_rising
    return count / 10


@pytest.mark.parametrize("emotion", Emotion)
def test_no_mood_flashes_more_than_three_times_a_second(emotion: Emotion) -> None:
    spec = EMOTIONS[emotion]
    assert flashes_per_second([brightness(spec, at) for at in MOMENTS]) <= 3
    for light in range(RING_LIGHTS):
        levels = [max(ring(spec, (255, 255, 255), at)[light]) / 255 for at in MOMENTS]
        assert flashes_per_second(levels) <= 3


@pytest.mark.parametrize("activity", [each for each in Activity if OVERLAYS[each].light is not None])
def test_no_activity_does_either(activity: Activity) -> None:
    mood = still(Emotion.NEUTRAL)
    levels = [overlaid(mood, EMOTIONS[Emotion.NEUTRAL], activity, at).brightness for at in MOMENTS]
    assert flashes_per_second(levels) <= 3


@pytest.mark.parametrize("emotion", Emotion)
def test_a_mood_stays_between_its_own_limits(emotion: Emotion) -> None:
    spec = EMOTIONS[emotion]
    levels = [brightness(spec, at) for at in MOMENTS]
    assert spec.dimmest - 1e-9 <= min(levels) and max(levels) <= spec.brightest + 1e-9


@pytest.mark.parametrize("emotion", [each for each in Emotion if EMOTIONS[each].light is not LightPattern.FLASH])
def test_a_single_light_never_jumps(emotion: Emotion) -> None:
    spec = EMOTIONS[emotion]
    levels = [brightness(spec, at) for at in MOMENTS]
    assert max(abs(later - earlier) for earlier, later in itertools.pairwise(levels)) < 0.1


def lit(spec: EmotionSpec, at: float) -> list[float]:
    return [max(light) / 255 for light in ring(spec, (255, 255, 255), at)]


def test_a_thinking_light_goes_around() -> None:
    spec = EMOTIONS[Emotion.THINKING]
    period = 1 / spec.light_hertz
    brightest = [lit(spec, period * step / 8).index(max(lit(spec, period * step / 8))) for step in range(8)]
    assert brightest == [0, 2, 4, 6, 8, 10, 12, 14]


def test_a_tear_falls_on_both_sides() -> None:
    spec = EMOTIONS[Emotion.CRYING]
    halfway = lit(spec, 0.5)
    assert halfway[4] == pytest.approx(halfway[12], abs=0.01)
    assert halfway[4] > halfway[0] and halfway[4] > halfway[8]


def test_a_surprise_is_one_flash() -> None:
    spec = EMOTIONS[Emotion.SURPRISED]
    assert spec.light is LightPattern.FLASH
    assert brightness(spec, 0.0) > brightness(spec, 0.2) > brightness(spec, 1.0) == brightness(spec, 9.0)


@pytest.mark.parametrize("activity", [Activity.MUTED, Activity.ERROR, Activity.OFFLINE])
def test_what_is_told_by_colour_is_told_by_place_too(activity: Activity) -> None:
    """A strip of lights shows a mark of its own for each, for whoever cannot tell its colour."""
    marks = {each: tuple(max(light) > 0 for light in still(Emotion.NEUTRAL, each).ring) for each in Activity}
    assert [each for each, mark in marks.items() if mark == marks[activity]] == [activity]


def test_a_colour_on_its_way_to_another_does_not_get_dark() -> None:
    for one, other in itertools.combinations([EMOTIONS[emotion].rgb for emotion in Emotion], 2):
        middle = mixed(one, other, 0.5)
        assert max(middle) >= 0.6 * min(max(one), max(other))
    assert mixed((10, 20, 30), (200, 100, 0), 0.0) == (10, 20, 30)
    assert mixed((10, 20, 30), (200, 100, 0), 1.0) == (200, 100, 0)
