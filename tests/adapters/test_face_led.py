"""The lamp on pins: what gpiozero's mock pins are told, against the table of moods."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from gpiozero.pins.mock import MockFactory, MockPWMPin

from appliance.adapters.face_led import LedFace
from appliance.adapters.gpio_factory import lgpio_factory
from appliance.events import Emotion
from appliance.face.animator import dimmed, still
from appliance.face.emotions import EMOTIONS, LightPattern
from appliance.ports import FaceState
from tests.adapters.face_table import lived

PINS = ("GPIO22", "GPIO23", "GPIO24")
DARK, WHITE = FaceState(brightness=0.0), FaceState(rgb=(255, 255, 255), brightness=1.0)


class FragilePin(MockPWMPin):  # type: ignore[misc]
    """A pin whose board can go away."""

    is_gone = False

    def _set_state(self, value: float) -> None:
        if FragilePin.is_gone:
            raise OSError(5, "Input/output error")
        super()._set_state(value)


@pytest.fixture
def factory() -> Iterator[MockFactory]:
    FragilePin.is_gone = False
    factory = MockFactory(pin_class=FragilePin)
    yield factory
    FragilePin.is_gone = False
    factory.close()
    factory.reset()


def duties(factory: MockFactory) -> tuple[float, ...]:
    return tuple(round(float(factory.pin(pin).state), 3) for pin in PINS)


@pytest.mark.parametrize("emotion", list(Emotion))
def test_the_lamp_moves_between_the_dimmest_and_the_brightest_of_the_table(
    factory: MockFactory, emotion: Emotion
) -> None:
    spec = EMOTIONS[emotion]
    face = LedFace(PINS, lambda: factory)
    face.apply(DARK)
    poses = lived(emotion, seconds=1.05 / spec.light_hertz if spec.light_hertz else 1.0)
    face.apply(next(poses))
    for pin in PINS:
        factory.pin(pin).clear_states()
    for pose in poses:
        face.apply(pose)
        assert duties(factory)[0] == pytest.approx((pose.rgb[0] / 255 * pose.brightness) ** 2.2, abs=0.011)
    for pin, colour in zip(PINS, spec.rgb, strict=True):
        trace = [moment.state for moment in factory.pin(pin).states]
        lowest, highest = ((colour / 255 * share) ** 2.2 for share in (spec.dimmest, spec.brightest))
        assert min(trace) >= lowest - 0.011 and max(trace) <= highest + 0.011
        if spec.light not in (LightPattern.FLASH, LightPattern.SHIMMER):
            assert min(trace) == pytest.approx(lowest, abs=0.02)
            # A beat is short: the pose nearest to its top may be a little beside it.
            assert max(trace) == pytest.approx(highest, abs=0.03)
    face.close()


def test_every_duty_is_a_whole_percent_that_lgpio_does_not_cut_down(factory: MockFactory) -> None:
    face = LedFace(PINS, lambda: factory)
    told = set()
    for step in range(256):
        face.apply(FaceState(rgb=(step, 0, 0), brightness=1.0))
        told.add(int(float(factory.pin(PINS[0]).state) * 100))
    assert told == set(range(101))


def test_a_mood_in_quiet_hours_is_dim_and_never_quite_dark(factory: MockFactory) -> None:
    face = LedFace(PINS, lambda: factory)
    face.apply(dimmed(still(Emotion.SLEEPY), 0.2))
    assert duties(factory) == (0.0, 0.0, 0.01), "the strongest colour stays"
    face.apply(dimmed(still(Emotion.SLEEPY), 0.0))
    assert duties(factory) == (0.0, 0.0, 0.0)


def test_a_common_anode_is_lit_by_low_pins(factory: MockFactory) -> None:
    face = LedFace(PINS, lambda: factory, is_common_anode=True)
    face.apply(FaceState(rgb=(255, 186, 0), brightness=1.0))
    assert duties(factory) == (0.0, 0.5, 1.0)
    face.park()
    assert duties(factory) == (1.0, 1.0, 1.0)


def test_the_cap_is_a_share_of_the_current(factory: MockFactory) -> None:
    face = LedFace(PINS, lambda: factory, brightness_cap=0.4)
    face.apply(WHITE)
    assert duties(factory) == (0.4, 0.4, 0.4)


def test_the_end_is_dark_and_the_pins_are_free_for_others(factory: MockFactory) -> None:
    face = LedFace(PINS, lambda: factory)
    face.apply(WHITE)
    face.park()
    assert duties(factory) == (0.0, 0.0, 0.0)
    face.close()
    face.close()
    assert {factory.pin(pin).function for pin in PINS} == {"input"}
    again = LedFace(PINS, lambda: factory)
    again.apply(WHITE)
    again.close()


def test_a_face_that_was_never_shown_takes_no_pin() -> None:
    def none() -> MockFactory:
        raise AssertionError("nobody asked for pins")

    face = LedFace(PINS, none)
    face.park()
    face.close()


def test_a_board_that_goes_away_is_told_and_found_again(factory: MockFactory) -> None:
    face = LedFace(PINS, lambda: factory)
    face.apply(WHITE)
    FragilePin.is_gone = True
    with pytest.raises(OSError, match=r"the lamp on GPIO22, GPIO23, GPIO24: .*Input/output error"):
        face.apply(DARK)
    FragilePin.is_gone = False
    face.apply(WHITE)
    assert duties(factory) == (1.0, 1.0, 1.0)


def test_a_pin_that_somebody_else_has_is_named(factory: MockFactory) -> None:
    other = LedFace(PINS, lambda: factory)
    other.apply(WHITE)
    with pytest.raises(OSError, match=r"GPIO22.*already in use.*face\.led_pins names its pins"):
        LedFace(PINS, lambda: factory).apply(WHITE)


def test_a_pin_that_is_none_is_told(factory: MockFactory) -> None:
    with pytest.raises(OSError, match="BANANA"):
        LedFace(("BANANA", "GPIO23", "GPIO24"), lambda: factory).apply(WHITE)


def test_without_lgpio_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LG_WD", str(tmp_path))
    monkeypatch.setitem(sys.modules, "lgpio", None)
    monkeypatch.delitem(sys.modules, "gpiozero.pins.lgpio", raising=False)
    with pytest.raises(OSError, match=r"needs the library lgpio, which is not installed; on a Raspberry Pi, \./run"):
        LedFace(PINS, lambda: lgpio_factory(tmp_path)).apply(WHITE)
