"""What a press means while something rings, and while nothing is asked."""

from __future__ import annotations

from appliance.approve.button_rules import (
    Approve,
    ButtonRules,
    Deny,
    Mute,
    Shutdown,
    ShutdownCancelled,
    ShutdownCountdown,
    Silence,
    StopAll,
    Talk,
    TalkEnded,
)
from tests.approve.finger import Finger

# ----------------------------------------------------------------------------------------- something rings


def test_while_something_rings_a_press_silences_it_and_approves_nothing() -> None:
    finger = Finger()
    finger.ask_and_open()
    finger.ring(True)
    finger.wait(1.0)
    assert not finger.machine.is_open
    finger.press()
    assert finger.take() == [Silence()]
    finger.ring(False)
    finger.wait(0.5)
    finger.press()
    finger.rest()
    assert Approve not in map(type, finger.take()), "it re-arms first"
    finger.wait(6.0)
    finger.press()
    finger.rest()
    assert len(finger.of(Approve)) == 1


def test_the_press_that_silences_is_used_up() -> None:
    finger = Finger()
    finger.ask_and_open()
    finger.ring(True)
    finger.wait(1.0)
    finger.down()
    finger.wait(0.1)
    assert finger.take() == [Silence()], "the bell ends while the finger is down"
    finger.ring(False)
    finger.wait(0.4)
    finger.up()
    finger.wait(2.0)
    assert finger.take() == []


def test_a_bell_that_begins_under_the_finger_takes_the_approval_away_and_rings_on() -> None:
    finger = Finger()
    finger.ask_and_open()
    finger.down()
    finger.wait(0.1)
    finger.ring(True)
    finger.wait(0.1)
    finger.up()
    finger.wait(1.0)
    assert finger.take() == []


def test_a_bell_that_begins_before_the_contact_is_at_rest_takes_the_approval_away() -> None:
    finger = Finger()
    finger.ask_and_open()
    finger.press(0.1)
    finger.ring(True)
    finger.wait(1.0)
    finger.ring(False)
    finger.wait(5.0)
    assert finger.take() == []


def test_a_bell_that_begins_with_the_first_touch_is_not_silenced_by_it() -> None:
    finger = Finger()
    finger.down()
    finger.wait(0.03)
    finger.ring(True)
    finger.wait(0.2)
    finger.up()
    finger.wait(1.0)
    assert finger.take() == []


def test_a_press_that_outlasts_the_bell_is_no_press_to_talk() -> None:
    finger = Finger()
    finger.ring(True)
    finger.wait(1.0)
    finger.down()
    finger.wait(0.03)
    finger.ring(False)
    finger.wait(0.2)
    finger.up()
    finger.wait(1.0)
    assert finger.take() == []


def test_somebody_who_keeps_silencing_for_long_does_not_shut_the_box_down() -> None:
    finger = Finger()
    finger.ring(True)
    finger.wait(1.0)
    finger.down()
    finger.wait(9.0)
    assert finger.take() == [Silence(), StopAll()]


def test_a_hold_says_no_also_while_something_rings() -> None:
    finger = Finger()
    finger.ask_and_open()
    finger.ring(True)
    finger.wait(0.5)
    finger.down()
    finger.wait(1.3)
    assert finger.take() == [Silence(), Deny("r1"), StopAll()]


# ------------------------------------------------------------------------------------- nothing is pending


def test_a_press_talks_and_a_double_press_mutes() -> None:
    finger = Finger()
    finger.press()
    assert finger.take() == [Talk()]
    finger.wait(0.15)
    finger.press()
    assert finger.take() == [Mute()]
    finger.wait(0.15)
    finger.press()
    assert finger.take() == [Talk()], "a third press is not the second of another pair"


def test_two_presses_with_a_pause_are_two_presses() -> None:
    finger = Finger()
    finger.press()
    finger.wait(0.35)
    finger.press()
    assert finger.take() == [Talk(), Talk()]


def test_a_long_press_talks_too() -> None:
    finger = Finger()
    finger.press(1.0)
    assert finger.take() == [Talk()]


def test_a_hold_stops_everything() -> None:
    finger = Finger()
    finger.press(2.0)
    assert finger.take() == [StopAll()]


def test_eight_seconds_begin_a_countdown_and_letting_go_ends_it() -> None:
    finger = Finger()
    finger.down()
    finger.wait(8.1)
    assert finger.take() == [StopAll(), ShutdownCountdown(5)]
    finger.wait(4.8)
    finger.up()
    finger.wait(5.0)
    assert finger.take() == [ShutdownCancelled()]


def test_held_to_the_end_of_the_countdown_it_shuts_down_once() -> None:
    finger = Finger()
    finger.down()
    finger.wait(13.1)
    finger.up()
    finger.wait(3.0)
    assert finger.take() == [StopAll(), ShutdownCountdown(5), Shutdown()]


def test_a_machine_that_slept_does_not_shut_down_without_its_countdown() -> None:
    finger = Finger()
    finger.down()
    finger.wait(0.1)
    finger.machine.sample(True, finger.now + 14.0)
    assert Shutdown() not in finger.machine.sample(True, finger.now + 14.1)


def test_gaps_of_less_than_40_ms_inside_a_hold_are_no_release() -> None:
    finger = Finger()
    finger.down()
    for _ in range(12):
        finger.wait(0.1)
        finger.up()
        finger.wait(0.035)
        finger.down()
    assert finger.take() == [StopAll()]


def test_a_dirty_contact_that_never_closes_for_long_adds_up_to_a_press() -> None:
    finger = Finger()
    for _ in range(20):
        finger.set(True)
        finger.wait(0.008)
        finger.set(False)
        finger.wait(0.002)
    finger.wait(0.1)
    assert finger.take() == [Talk()]


# ---------------------------------------------------------------------------------------------- hold to talk


def test_with_hold_to_talk_the_ear_is_open_as_long_as_the_finger_is_down() -> None:
    finger = Finger(ButtonRules.of(hold_to_talk=True))
    finger.down()
    finger.wait(0.1)
    assert finger.take() == [Talk()]
    finger.wait(25.0)
    assert finger.take() == [], "neither stop, nor shutdown, nor a stuck button"
    finger.up()
    finger.wait(0.1)
    assert finger.take() == [TalkEnded()]


def test_with_hold_to_talk_a_double_press_stops_everything() -> None:
    finger = Finger(ButtonRules.of(hold_to_talk=True))
    finger.press()
    finger.wait(0.1)
    finger.press()
    assert finger.take() == [Talk(), TalkEnded(), Talk(), TalkEnded(), StopAll()]


def test_with_hold_to_talk_a_request_is_answered_as_ever() -> None:
    finger = Finger(ButtonRules.of(hold_to_talk=True))
    finger.ask_and_open("r1")
    finger.press()
    finger.rest()
    assert len(finger.of(Approve)) == 1
    finger.take()
    finger.wait(2.0)
    finger.ask("r2")
    finger.down()
    finger.wait(1.3)
    assert finger.take() == [Deny("r2"), StopAll()]
