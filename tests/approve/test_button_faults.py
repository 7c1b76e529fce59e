"""Buttons that stick, flicker, die, and lose edges: none of them approves anything."""

from __future__ import annotations

import pytest

from appliance.approve.button import ButtonMachine
from appliance.approve.button_rules import (
    Approve,
    ButtonRules,
    Fault,
    FaultCleared,
    FaultReason,
    ShutdownCancelled,
    StopAll,
    Talk,
    TalkEnded,
    Unclear,
)
from tests.approve.finger import Finger, noise

# ---------------------------------------------------------------------------------------------------- faults


def test_stuck_at_boot_then_released() -> None:
    """gpiozero reports a release here that no press came before; it must not approve."""
    finger = Finger()
    finger.machine, finger.level = ButtonMachine(), True
    finger.wait(0.1)
    assert finger.take() == [Fault(FaultReason.STUCK)]
    finger.ask()
    finger.wait(3.0)
    finger.up()
    finger.wait(0.5)
    assert finger.take() == []
    assert not finger.machine.is_usable
    finger.wait(0.6)
    assert finger.take() == [FaultCleared()]
    assert finger.machine.is_usable
    finger.wait(0.5)
    finger.press()
    finger.wait(0.2)
    assert finger.take() == [], "it re-arms first"


def test_pressed_for_more_than_15_seconds_is_stuck() -> None:
    finger = Finger()
    finger.ask_and_open()
    finger.down()
    finger.wait(14.9)
    assert finger.machine.is_usable
    finger.wait(0.2)
    assert finger.of(Fault) == [Fault(FaultReason.STUCK)]
    finger.take()
    finger.up()
    finger.wait(1.2)
    assert finger.take() == [FaultCleared()]


@pytest.mark.parametrize("changes_per_second", [40.0, 100.0, 1000.0])
def test_a_pin_in_the_air_is_a_fault_until_it_is_quiet(changes_per_second: float) -> None:
    finger = Finger()
    noise(finger, 4.0, changes_per_second, seed=1)
    assert finger.of(Fault) == [Fault(FaultReason.FLOATING)]
    finger.take()
    finger.wait(9.5)
    assert finger.take() == [], "what flickers may be quiet for a moment"
    finger.wait(0.6)
    assert finger.take() == [FaultCleared()]
    finger.wait(0.2)
    finger.press()
    assert finger.take() == [Talk()]


@pytest.mark.parametrize("changes_per_second", [100.0, 200.0, 1000.0])
def test_noise_that_begins_while_a_request_is_open_approves_nothing(changes_per_second: float) -> None:
    for seed in range(20):
        finger = Finger()
        finger.ask_and_open()
        noise(finger, 4.0, changes_per_second, seed)
        finger.wait(0.3)
        assert finger.of(Approve) == [], f"seed {seed}"


def test_a_burst_from_a_radio_approves_nothing() -> None:
    """Mostly closed for a sixth of a second, but never for long."""
    finger = Finger()
    finger.ask_and_open()
    for _ in range(40):
        finger.set(True)
        finger.wait(0.003)
        finger.set(False)
        finger.wait(0.001)
    finger.wait(0.3)
    assert finger.take() == [Unclear("r1")]
    finger.press()
    finger.rest()
    assert finger.take() == [Unclear("r1")], "what looks like noise closes the request"
    finger.wait(9.0)
    finger.press()
    finger.rest()
    assert len(finger.of(Approve)) == 1


def test_a_press_out_of_the_middle_of_noise_is_unclear() -> None:
    finger = Finger()
    finger.ask_and_open()
    for _ in range(4):
        finger.set(True)
        finger.wait(0.01)
        finger.set(False)
        finger.wait(0.05)
    finger.press(0.2)
    finger.rest()
    assert finger.take() == [Unclear("r1")]


def test_while_it_is_at_fault_no_gesture_means_anything() -> None:
    finger = Finger()
    finger.ask_and_open()
    finger.machine.lose(finger.now)
    finger.wait(0.5)
    assert not finger.machine.is_open
    for seconds in (0.1, 0.9, 3.0):
        finger.press(seconds)
        finger.wait(0.3)
    assert finger.take() == []


def test_somebody_who_hammers_on_the_button_is_no_loose_wire() -> None:
    finger = Finger()
    for _ in range(10):
        finger.press(0.1, "worn")
        finger.wait(0.2)
    assert finger.of(Fault) == []


def test_without_readings_for_two_seconds_it_is_dead_and_edges_alone_do_not_revive_it() -> None:
    finger = Finger()
    finger.ask_and_open()
    finger.is_blind = True
    finger.wait(2.1)
    assert finger.take() == [Fault(FaultReason.DEAD)]
    for level in (True, False):
        finger.now += 0.2
        finger.machine.edge(level, finger.now)
    assert not finger.machine.is_usable
    finger.machine.sample(False, finger.now)
    finger.wait(2.5)
    finger.machine.sample(False, finger.now)
    assert not finger.machine.is_usable, "two looks in between are no second of rest"
    finger.is_blind = False
    finger.wait(0.9)
    assert not finger.machine.is_usable
    finger.wait(0.2)
    assert finger.machine.is_usable


def test_button_backend_dies_while_pending() -> None:
    finger = Finger()
    finger.ask_and_open()
    finger.down()
    finger.wait(0.1)
    assert finger.machine.lose(finger.now) == [Fault(FaultReason.DEAD)]
    assert not finger.machine.is_usable
    finger.level, finger.is_blind = False, True
    finger.wait(5.0)
    finger.is_blind = False
    finger.wait(1.2)
    assert finger.take() == [FaultCleared()]


def test_a_fault_in_the_countdown_ends_it() -> None:
    finger = Finger()
    finger.down()
    finger.wait(9.0)
    finger.take()
    assert finger.machine.lose(finger.now) == [ShutdownCancelled(), Fault(FaultReason.DEAD)]


def test_a_fault_while_talking_ends_the_talk() -> None:
    finger = Finger(ButtonRules.of(hold_to_talk=True))
    finger.down()
    finger.wait(1.0)
    assert finger.machine.lose(finger.now) == [TalkEnded(), Fault(FaultReason.DEAD)]


def test_a_button_that_nobody_has_looked_at_is_not_usable() -> None:
    machine = ButtonMachine()
    assert not machine.is_usable
    machine.sample(False, 5.0)
    assert machine.is_usable


# ----------------------------------------------------------------------------------------------- lost edges


def test_lost_release_edge() -> None:
    finger = Finger()
    finger.ask_and_open()
    finger.down()
    finger.wait(0.15)
    finger.loses_edges = True
    finger.up()
    finger.rest()
    assert len(finger.of(Approve)) == 1


def test_every_edge_lost() -> None:
    finger = Finger()
    finger.loses_edges = True
    finger.ask_and_open()
    finger.press(0.2)
    finger.rest()
    assert len(finger.of(Approve)) == 1


def test_an_edge_that_comes_late_makes_the_press_as_old_as_it_is() -> None:
    """The loop was busy: the sample saw the press behind the arming, the edge tells that it began before."""
    finger = Finger()
    finger.ask()
    finger.is_blind = True
    finger.wait(1.05)
    finger.is_blind = False
    at = finger.now
    finger.machine.sample(False, at)
    finger.machine.sample(True, at + 0.02)
    finger.machine.edge(True, at - 0.2)
    finger.machine.sample(True, at + 0.15)
    finger.machine.sample(False, at + 0.2)
    decided = [decision for step in range(60) for decision in finger.machine.sample(False, at + 0.2 + step * 0.02)]
    assert Approve not in map(type, decided)


def test_an_edge_that_comes_when_the_press_is_known_already_makes_it_older_too() -> None:
    finger = Finger()
    finger.down()
    finger.wait(0.1)
    finger.machine.edge(True, finger.now - 1.0)
    finger.wait(0.25)
    assert finger.take() == [StopAll()]


def test_a_press_that_turns_out_to_be_older_than_the_open_request_does_not_approve() -> None:
    finger = Finger()
    finger.ask_and_open()
    finger.down()
    finger.wait(0.1)
    finger.machine.edge(True, finger.now - 0.4)
    finger.up()
    finger.rest()
    assert finger.of(Approve) == []


def test_a_gap_between_two_touches_is_not_the_button_at_rest() -> None:
    finger = Finger()
    finger.ask()
    finger.wait(0.98)
    finger.set(True)
    finger.wait(0.01)
    finger.set(False)
    finger.wait(1.4)
    assert not finger.machine.is_open, "it moved in one tenth of a second"
    finger.wait(0.2)
    assert finger.machine.is_open
