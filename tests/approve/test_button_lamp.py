"""What the lamp in the button looks like, and when."""

from __future__ import annotations

import pytest

from appliance.approve.button_rules import RequestEnding
from appliance.approve.lamp import LampPattern, is_on, length_seconds
from tests.approve.finger import Finger


def lights(pattern: LampPattern, seconds: float) -> list[tuple[float, float]]:
    """When the lamp goes on, and for how long, within the first ``seconds``; to the hundredth."""
    steps = [is_on(pattern, step / 100.0) for step in range(round(seconds * 100))] + [False]
    found: list[tuple[float, float]] = []
    began = None
    for step, lit in enumerate(steps):
        if lit and began is None:
            began = step
        elif not lit and began is not None:
            found.append((began / 100.0, (step - began) / 100.0))
            began = None
    return found


def test_off_is_dark() -> None:
    assert lights(LampPattern.OFF, 5.0) == []


def test_asking_is_a_slow_pulse() -> None:
    assert lights(LampPattern.ASKING, 6.0) == [(0.0, 1.0), (2.0, 1.0), (4.0, 1.0)]


def test_armed_blinks_twice_a_second() -> None:
    assert len(lights(LampPattern.ARMED, 10.0)) == 20


def test_accepted_is_one_light_of_400_ms() -> None:
    assert lights(LampPattern.ACCEPTED, 5.0) == [(0.0, 0.4)]


@pytest.mark.parametrize(("pattern", "count"), [(LampPattern.DENIED, 2), (LampPattern.EXPIRED, 3)])
def test_denied_and_expired_are_two_and_three_short_lights(pattern: LampPattern, count: int) -> None:
    found = lights(pattern, 5.0)
    assert len(found) == count
    assert all(length == pytest.approx(0.15, abs=0.011) for _, length in found)


def test_a_fault_is_a_fast_double_blink_without_end() -> None:
    found = lights(LampPattern.FAULT, 10.0)
    assert len(found) == 20
    gaps = [second - first for (first, _), (second, _) in zip(found[::2], found[1::2], strict=True)]
    assert gaps == pytest.approx([0.2] * 10, abs=0.011)


def test_what_tells_an_ending_is_over_before_the_dark_is() -> None:
    endings = (LampPattern.ACCEPTED, LampPattern.DENIED, LampPattern.EXPIRED, LampPattern.UNCLEAR)
    assert all(0.0 < length_seconds(pattern) < 1.0 for pattern in endings)
    assert not any(is_on(pattern, length_seconds(pattern) + 0.001) for pattern in endings)


def test_before_its_time_nothing_is_lit() -> None:
    assert not any(is_on(pattern, -0.1) for pattern in LampPattern)


# ---------------------------------------------------------------------------------------- as the button drives it


def shown(finger: Finger) -> LampPattern:
    """What the lamp shows now."""
    return finger.machine.lamp(finger.now)[0]


def test_the_lamp_tells_that_a_press_would_approve_exactly_while_it_would() -> None:
    finger = Finger()
    assert shown(finger) is LampPattern.OFF
    finger.ask()
    finger.wait(0.9)
    assert shown(finger) is LampPattern.ASKING
    finger.wait(0.2)
    assert shown(finger) is LampPattern.ARMED
    finger.ring(True)
    finger.wait(2.0)
    assert shown(finger) is LampPattern.ASKING
    finger.ring(False)
    finger.wait(1.2)
    assert shown(finger) is LampPattern.ARMED


@pytest.mark.parametrize(
    ("ending", "pattern"),
    [
        (RequestEnding.DENIED, LampPattern.DENIED),
        (RequestEnding.EXPIRED, LampPattern.EXPIRED),
        (RequestEnding.TAKEN_BACK, LampPattern.OFF),
    ],
)
def test_the_lamp_tells_how_a_request_ended_and_is_dark_before_the_next(
    ending: RequestEnding, pattern: LampPattern
) -> None:
    finger = Finger()
    finger.ask_and_open("r1")
    finger.machine.end_request("r1", finger.now, ending)
    assert shown(finger) is pattern
    finger.ask("r2")
    finger.wait(1.0)
    finger.wait(0.3)
    assert shown(finger) is LampPattern.OFF
    assert not finger.machine.is_open
    finger.wait(0.3)
    assert shown(finger) in (LampPattern.ASKING, LampPattern.ARMED)


def test_the_lamp_tells_yes_no_unclear_and_fault() -> None:
    finger = Finger()
    finger.ask_and_open("r1")
    finger.press(0.9)
    assert shown(finger) is LampPattern.UNCLEAR
    finger.wait(0.7)
    assert shown(finger) is LampPattern.ASKING
    finger.wait(2.4)
    assert shown(finger) is LampPattern.ARMED
    finger.press(0.1)
    assert shown(finger) is LampPattern.TOUCHED, "it waits whether something comes behind it"
    finger.wait(0.7)
    assert shown(finger) is LampPattern.ACCEPTED
    finger.wait(2.0)
    finger.ask_and_open("r2")
    finger.down()
    finger.wait(1.25)
    assert shown(finger) is LampPattern.DENIED
    finger.machine.lose(finger.now)
    assert shown(finger) is LampPattern.FAULT


def test_it_is_watched_closely_only_while_something_goes_on() -> None:
    finger = Finger()
    assert not finger.machine.is_watchful
    finger.down()
    assert finger.machine.is_watchful
    finger.up()
    finger.wait(0.1)
    assert not finger.machine.is_watchful
    finger.ask("r1")
    assert finger.machine.is_watchful
    finger.machine.end_request("r1", finger.now)
    finger.wait(1.0)
    assert finger.machine.is_watchful, "the lamp still tells how it ended"
    finger.wait(0.6)
    assert not finger.machine.is_watchful
