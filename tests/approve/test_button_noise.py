"""Contacts that move by themselves: how often a request is approved that nobody pressed for.

A contact that moved before the question, or that moves 15 times a second or more, approves nothing. What cannot be told
from a person is a *first* pulse that has a finger's length, out of silence and into silence: whoever lets one press
approve within a second must take it for one. Noise that begins out of nothing while the request is open gets that one
chance: at one random change a second it had it in 55 of 200 runs, at five in 10, at ten in 1. A call that is asked
about twice was not approved by any of these. Pulses like presses, each some seconds behind the last, are presses as
far as anybody can tell. ``python -m tests.approve.air`` prints the whole table.
"""

from __future__ import annotations

import math

import pytest

from appliance.approve.button import ButtonMachine
from appliance.approve.button_rules import ButtonRules, FaultReason
from tests.approve.air import ALL, SLOW, count, poisson

#: 200 for all models take some minutes; ``tests.approve.air`` runs them.
_RUNS = 20
_MANY_RUNS = 200

_RULES = ButtonRules()


@pytest.mark.parametrize("name", ALL)
def test_a_contact_that_moved_before_the_question_approves_nothing(name: str) -> None:
    assert count(ALL[name], _RUNS, -15.0)["approved"] == 0


@pytest.mark.parametrize("name", ["poisson 2/s", "poisson 5/s", "poisson 20/s", "hum, 1 fades/s", "crosstalk 1/s"])
def test_a_contact_that_begins_to_move_with_the_question_approves_nothing(name: str) -> None:
    assert count(ALL[name], _RUNS, 0.0)["approved"] == 0


@pytest.mark.parametrize(
    "name", ["poisson 15/s", "poisson 20/s", "poisson 60/s", "poisson 300/s", "hum, 1 fades/s", "hum, 10 fades/s"]
)
def test_fast_noise_out_of_nothing_into_an_open_request_approves_nothing(name: str) -> None:
    assert count(ALL[name], _MANY_RUNS, 6.0)["approved"] == 0


@pytest.mark.parametrize("rate", [1.0, 3.0, 8.0])
def test_slow_noise_out_of_nothing_gets_one_chance_and_no_second(rate: float) -> None:
    """No more than its first pulse looks like a press; three of its standard deviations are allowed for."""
    share = _first_pulse_is_a_press(rate)
    approved = count(poisson(rate), _MANY_RUNS, 6.0)["approved"]
    print(f"{rate:g} changes a second: {approved} of {_MANY_RUNS}, first pulses alone {share * _MANY_RUNS:.0f}")
    allowed = share + 0.02 + 3.0 * math.sqrt(share * (1.0 - share) / _MANY_RUNS)
    assert approved <= allowed * _MANY_RUNS


@pytest.mark.parametrize("name", ["like presses 0.05/s", "crosstalk 0.2/s", "poisson 0.2/s"])
def test_a_pulse_now_and_then_is_a_press_as_far_as_anybody_can_tell(name: str) -> None:
    """The honest figure: if this fails because it is 0, the machine is deaf to people as well."""
    approved = count(SLOW[name], _RUNS, 6.0)["approved"]
    print(f"{name}: {approved} of {_RUNS}")
    assert approved > 0


@pytest.mark.parametrize("rate", [1.0, 3.0, 8.0])
def test_what_is_asked_twice_is_not_approved_by_slow_noise_out_of_nothing(rate: float) -> None:
    assert count(poisson(rate), _MANY_RUNS, 6.0, questions=2)["approved"] <= 0.01 * _MANY_RUNS


def test_a_request_is_over_when_its_contact_moves_as_no_hand_would() -> None:
    found = count(poisson(5.0), _RUNS, 0.0)
    assert found["fault"] > _RUNS / 2
    assert found["expired"] == 0


def test_a_flickering_contact_is_usable_again_only_when_it_was_calm_for_long() -> None:
    machine, now = ButtonMachine(), 1000.0
    for step in range(400):
        now = 1000.0 + step * 0.05
        machine.edge(step % 2 == 0, now)
    assert machine.fault is FaultReason.FLOATING, "also when it was pressed at the first look, which is another fault"
    while now < 1020.0 + _RULES.most_calm_seconds - 0.3:
        now += 0.1
        machine.sample(False, now)
    assert not machine.is_usable
    for _ in range(6):
        now += 0.1
        machine.sample(False, now)
    assert machine.is_usable


def _first_pulse_is_a_press(changes_per_second: float) -> float:
    """The share of random pulses that have a finger's length and are followed by nothing for long enough."""
    has_length = math.exp(-changes_per_second * _RULES.shortest_press_seconds) - math.exp(
        -changes_per_second * _RULES.longest_press_seconds
    )
    return has_length * math.exp(-changes_per_second * _RULES.rest_seconds)
