"""What a press means while a request is pending, trick by trick."""

from __future__ import annotations

import pytest

from appliance.approve.button import ButtonMachine
from appliance.approve.button_rules import (
    Approve,
    Deny,
    Fault,
    FaultCleared,
    FaultReason,
    RequestEnding,
    StopAll,
    Talk,
    Unclear,
)
from tests.approve.finger import BOUNCES, Finger


@pytest.mark.parametrize("bounce", BOUNCES)
def test_a_short_press_approves_once_however_the_contacts_bounce(bounce: str) -> None:
    finger = Finger()
    finger.ask_and_open("r1")
    pressed_at = finger.now
    finger.press(0.2, bounce)
    finger.wait(3.0)
    (approval,) = finger.take()
    assert isinstance(approval, Approve)
    assert approval.request_id == "r1"
    assert approval.pressed_at_seconds == pytest.approx(pressed_at, abs=0.001)
    assert approval.released_at_seconds == pytest.approx(pressed_at + 0.2, abs=0.085)


@pytest.mark.parametrize(("seconds", "is_yes"), [(0.03, False), (0.05, False), (0.07, True), (0.69, True)])
def test_a_touch_of_less_than_60_ms_is_no_press(seconds: float, is_yes: bool) -> None:
    finger = Finger()
    finger.ask_and_open()
    finger.press(seconds)
    finger.rest()
    assert [type(decision) for decision in finger.take()] == ([Approve] if is_yes else [])


def test_it_acts_on_release_not_on_the_way_down() -> None:
    finger = Finger()
    finger.ask_and_open()
    finger.down()
    finger.wait(0.5)
    assert finger.take() == []
    finger.up()
    finger.rest()
    assert len(finger.of(Approve)) == 1


def test_neither_short_nor_held_is_unclear_and_the_request_stays_open() -> None:
    finger = Finger()
    finger.ask_and_open()
    finger.press(0.9)
    assert finger.take() == [Unclear("r1")]
    finger.wait(3.0)
    finger.press()
    finger.rest()
    assert len(finger.of(Approve)) == 1


def test_a_hold_denies_and_stops_everything_while_it_is_still_held() -> None:
    finger = Finger()
    finger.ask_and_open()
    finger.down()
    finger.wait(1.18)
    assert finger.take() == []
    finger.wait(0.04)
    assert finger.take() == [Deny("r1"), StopAll()]
    finger.wait(12.0)
    finger.up()
    finger.wait(2.0)
    assert finger.take() == [], "a hold that denied goes no further: no shutdown, no second meaning"


def test_a_hold_denies_at_once_also_before_the_question_has_named_the_tool() -> None:
    finger = Finger()
    finger.machine.begin_request("r1", finger.now)
    finger.down()
    finger.wait(1.3)
    assert finger.take() == [Deny("r1"), StopAll()]


def test_press_before_ask() -> None:
    """Others took a touch two seconds before the question for the answer to it."""
    finger = Finger()
    finger.press()
    assert finger.take() == [Talk()]
    finger.ask()
    finger.wait(30.0)
    assert finger.take() == []


def test_held_through_ask() -> None:
    """Down before the question, up long after it is armed."""
    finger = Finger()
    finger.down()
    finger.wait(0.05)
    finger.ask()
    finger.wait(0.5)
    finger.up()
    finger.wait(1.6)
    assert finger.take() == []
    finger.press()
    finger.rest()
    assert len(finger.of(Approve)) == 1, "the next press is fresh"


def test_a_press_that_the_question_comes_into_is_not_even_unclear() -> None:
    finger = Finger()
    finger.down()
    finger.wait(0.2)
    finger.ask()
    finger.wait(0.6)
    finger.up()
    finger.wait(0.5)
    assert finger.take() == []


def test_held_through_ask_and_held_on_is_no() -> None:
    finger = Finger()
    finger.down()
    finger.wait(0.5)
    finger.ask()
    finger.wait(5.0)
    finger.up()
    finger.wait(1.0)
    assert finger.take() == [Deny("r1"), StopAll()]


@pytest.mark.parametrize("begins_at", [0.0, 0.5, 0.9, 0.99])
def test_press_during_arming(begins_at: float) -> None:
    finger = Finger()
    finger.ask()
    finger.wait(begins_at)
    finger.press(0.3)
    finger.wait(0.3)
    assert finger.take() == []


def test_the_second_of_arming_counts_from_the_name_of_the_tool_not_from_the_first_word() -> None:
    finger = Finger()
    finger.machine.begin_request("r1", finger.now)
    finger.wait(8.0)
    finger.press()
    finger.wait(3.0)
    assert finger.take() == []
    finger.machine.arm("r1", finger.now)
    finger.wait(0.9)
    assert not finger.machine.is_open
    finger.wait(0.2)
    assert finger.machine.is_open


def test_a_second_arm_does_not_put_off_the_first_and_a_strange_one_does_nothing() -> None:
    finger = Finger()
    finger.machine.begin_request("r1", finger.now)
    finger.machine.arm("r2", finger.now)
    finger.wait(1.1)
    assert not finger.machine.is_open
    finger.machine.arm("r1", finger.now)
    finger.wait(0.9)
    finger.machine.arm("r1", finger.now)
    finger.wait(0.2)
    assert finger.machine.is_open


def test_press_exactly_at_expiry() -> None:
    """The end was told first: it wins, although the finger had left the button by then."""
    finger = Finger()
    finger.ask_and_open()
    finger.down()
    finger.wait(0.15)
    finger.up()
    finger.machine.end_request("r1", finger.now + 0.15, RequestEnding.EXPIRED)
    finger.wait(2.0)
    assert finger.take() == []


def test_hold_versus_deny_tie() -> None:
    """Voice said no in the same moment in which the hold did: one no, and nothing is left pending."""
    finger = Finger()
    finger.ask_and_open()
    finger.down()
    finger.wait(1.19)
    decided = finger.machine.end_request("r1", finger.now + 0.01, RequestEnding.DENIED)
    assert decided == [StopAll()]
    assert finger.machine.pending == ""
    finger.wait(1.0)
    assert finger.of(Deny) == []


def test_double_press_with_two_queued_requests() -> None:
    """The second press is not for the request that came up meanwhile, nor is it a mute."""
    finger = Finger()
    finger.ask_and_open("r1")
    finger.press(0.1)
    finger.rest()
    finger.ask("r2")
    finger.press(0.1)
    finger.wait(30.0)
    assert [decision for decision in finger.take() if not isinstance(decision, Approve)] == []
    assert finger.machine.pending == "r2"


def test_presses_behind_a_decision_are_ignored_for_a_second_and_a_half() -> None:
    finger = Finger()
    finger.ask_and_open("r1")
    finger.press()
    finger.rest()
    finger.take()
    decided_at = finger.now
    finger.ask("r2")
    while finger.now < decided_at + 1.3:
        finger.press(0.1)
        finger.wait(0.1)
    assert finger.take() == []
    finger.wait(10.0)
    finger.press()
    finger.rest()
    assert [approval.request_id for approval in finger.of(Approve)] == ["r2"]


def test_a_press_behind_a_decision_means_nothing_else_either() -> None:
    finger = Finger()
    finger.ask_and_open()
    finger.press()
    finger.rest()
    finger.take()
    finger.press()
    finger.wait(0.1)
    finger.press()
    assert finger.take() == []


def test_a_change_of_mind_behind_the_approval_still_stops_everything() -> None:
    finger = Finger()
    finger.ask_and_open()
    finger.press()
    finger.rest()
    finger.take()
    finger.down()
    finger.wait(1.3)
    assert finger.take() == [StopAll()]


def test_the_trailing_release_of_a_denial_reaches_no_next_request() -> None:
    finger = Finger()
    finger.ask_and_open("r1")
    finger.down()
    finger.wait(1.3)
    finger.take()
    finger.ask("r2")
    finger.wait(4.0)
    finger.up()
    finger.wait(0.5)
    assert finger.take() == []


def test_no_double_press_is_looked_for_while_a_request_is_pending() -> None:
    finger = Finger()
    finger.ask()
    finger.press(0.1)
    finger.wait(0.1)
    finger.press(0.1)
    finger.wait(1.0)
    assert finger.take() == []


def test_changed_arguments_are_a_new_request_and_the_press_for_the_old_one_is_lost() -> None:
    finger = Finger()
    finger.ask_and_open("r1")
    finger.down()
    finger.wait(0.1)
    finger.machine.end_request("r1", finger.now)
    finger.ask("r2")
    finger.wait(0.1)
    finger.up()
    finger.wait(5.0)
    assert finger.take() == []


def test_process_restart_while_pending() -> None:
    """A new machine knows nothing of the old one's request, and a button still held is no press for anybody."""
    finger = Finger()
    finger.ask_and_open()
    finger.down()
    finger.wait(0.1)
    finger.machine = ButtonMachine()
    finger.wait(0.1)
    finger.up()
    finger.wait(3.0)
    assert finger.take() == [Fault(FaultReason.STUCK), FaultCleared()]


# ------------------------------------------------------------------------------------- calm before and behind


def test_who_presses_twice_in_haste_is_asked_on_and_one_calm_press_approves() -> None:
    finger = Finger()
    finger.ask_and_open()
    finger.press(0.1)
    finger.wait(0.1)
    finger.press(0.1)
    finger.rest()
    assert set(finger.take()) == {Unclear("r1")}
    assert finger.machine.pending == "r1"
    finger.wait(6.0)
    assert finger.machine.is_open
    finger.press()
    finger.rest()
    assert len(finger.of(Approve)) == 1


@pytest.mark.parametrize("behind", [0.15, 0.3, 0.65])
def test_a_second_touch_takes_the_press_before_it_back(behind: float) -> None:
    finger = Finger()
    finger.ask_and_open()
    finger.down()
    finger.wait(0.2)
    finger.up()
    finger.wait(behind)
    finger.press(0.03)
    finger.wait(1.0)
    assert finger.take() == [Unclear("r1")]
    assert not finger.machine.is_open


def test_two_touches_that_follow_each_other_like_no_contact_bounces_are_unclear() -> None:
    finger = Finger()
    finger.ask_and_open()
    finger.down()
    finger.wait(0.1)
    finger.up()
    finger.wait(0.07)
    finger.press(0.1)
    finger.wait(1.0)
    assert set(finger.take()) == {Unclear("r1")}


def test_a_second_press_that_becomes_a_hold_is_the_no_that_it_looks_like() -> None:
    finger = Finger()
    finger.ask_and_open()
    finger.press()
    finger.wait(0.2)
    finger.down()
    finger.wait(1.3)
    assert finger.take() == [Unclear("r1"), Deny("r1"), StopAll()]


def test_a_press_that_came_too_early_costs_three_seconds_of_calm() -> None:
    finger = Finger()
    finger.ask()
    finger.wait(0.5)
    finger.press(0.15)
    released_at = finger.now
    finger.wait(2.5)
    assert not finger.machine.is_open
    finger.wait_until(released_at + 3.1)
    assert finger.machine.is_open


def test_a_press_before_the_request_is_open_again_is_told_to_be_unclear() -> None:
    """Once it was open, a person may believe that a press approves."""
    finger = Finger()
    finger.ask_and_open()
    finger.press(0.9)
    finger.take()
    finger.wait(1.0)
    finger.press()
    finger.rest()
    assert finger.take() == [Unclear("r1")]


def test_a_flick_too_short_for_a_press_closes_the_request_for_a_while() -> None:
    finger = Finger()
    finger.ask_and_open()
    finger.press(0.02)
    finger.wait(0.2)
    assert not finger.machine.is_open
    finger.press()
    finger.rest()
    assert finger.of(Approve) == []


def test_talking_by_button_before_the_question_makes_no_press_wait() -> None:
    finger = Finger()
    for _ in range(2):
        finger.press()
        finger.wait(2.0)
    finger.take()
    finger.ask_and_open()
    finger.press()
    finger.rest()
    assert len(finger.of(Approve)) == 1


def test_one_request_at_a_time() -> None:
    finger = Finger()
    finger.ask("r1")
    with pytest.raises(ValueError, match="r1 is still pending"):
        finger.ask("r2")


def test_ending_a_request_that_is_not_pending_changes_nothing() -> None:
    finger = Finger()
    finger.ask_and_open("r1")
    finger.machine.end_request("r0", finger.now)
    finger.press()
    finger.rest()
    assert len(finger.of(Approve)) == 1
