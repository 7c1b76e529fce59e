"""Whoever watches hears everything in order and can break nothing."""

from __future__ import annotations

import logging

import pytest

from appliance.bus import Bus
from appliance.events import Event, Transcribed

ONE, TWO = Transcribed("turn-1", 1.0, "one"), Transcribed("turn-1", 2.0, "two")


def test_every_subscriber_is_told_everything_in_order() -> None:
    bus = Bus()
    first: list[Event] = []
    second: list[Event] = []
    bus.subscribe(first.append)
    bus.publish(ONE)
    bus.subscribe(second.append)
    bus.publish(TWO)

    assert (first, second) == ([ONE, TWO], [TWO])


def test_who_has_unsubscribed_is_told_nothing_more_and_may_do_so_twice() -> None:
    bus = Bus()
    told: list[Event] = []
    unsubscribe = bus.subscribe(told.append)

    unsubscribe()
    unsubscribe()
    bus.publish(ONE)

    assert told == []


def test_a_subscriber_that_breaks_costs_the_others_nothing(caplog: pytest.LogCaptureFixture) -> None:
    bus = Bus()
    told: list[Event] = []

    def broken(_event: Event) -> None:
        raise RuntimeError("the face fell off")

    bus.subscribe(broken)
    bus.subscribe(told.append)
    with caplog.at_level(logging.ERROR):
        bus.publish(ONE)
        bus.publish(TWO)

    assert told == [ONE, TWO]
    assert [record.getMessage() for record in caplog.records] == ["an observer failed on Transcribed"] * 2


def test_a_subscriber_may_leave_while_it_is_told() -> None:
    bus = Bus()
    told: list[str] = []

    def once(_event: Event) -> None:
        told.append("once")
        unsubscribe()

    unsubscribe = bus.subscribe(once)
    bus.subscribe(lambda _event: told.append("always"))
    bus.publish(ONE)
    bus.publish(TWO)

    assert told == ["once", "always", "always"]


def test_without_anybody_listening_publishing_is_no_trouble() -> None:
    Bus().publish(ONE)
