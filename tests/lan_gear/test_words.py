"""What is remembered, said and found."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from plugins.lan_gear.gear.find import records_like, things_like
from plugins.lan_gear.gear.memory import News, recall, remember
from plugins.lan_gear.gear.thing import Thing
from plugins.lan_gear.gear.words import told, told_found, told_new

_DAY = 86400.0
_NOON = datetime.datetime(2026, 5, 6, 12).timestamp()  # a Wednesday


class Store:
    """The plugin's store, in memory."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def get(self, key: str, default: Any = None) -> Any:
        return self.values.get(key, default)

    def save(self, key: str, value: Any) -> None:
        self.values[key] = value


def thing(name: str, kind: str = "printer", address: str = "192.168.1.9", **other: Any) -> Thing:
    return Thing(name, kind, 0.9, address, (address,), "lan", **other)


def _told(store: Store, things: list[Thing], now: float) -> str:
    return told(things, remember(store, things, now), now)


def test_the_first_look_says_what_there_is() -> None:
    things = [thing("A", "router"), thing("B", address="192.168.1.10"), thing("C", address="192.168.1.11")]
    assert _told(Store(), things, _NOON) == "I see three things: a router and two printers."


def test_what_came_is_told_with_the_day_since_when() -> None:
    store, old = Store(), [thing("A", "router")]
    _told(store, old, _NOON - 3 * _DAY)
    assert _told(store, old, _NOON - 2 * _DAY) == "I see one thing: a router. Nothing is new since yesterday."
    _told(store, old, _NOON - 3600)
    new = [*old, thing("Brother", address="192.168.1.10")]
    assert _told(store, new, _NOON) == "I see two things. New since yesterday: a printer called Brother."
    assert (
        _told(store, new, _NOON + 2 * _DAY)
        == "I see two things: a router and a printer. Nothing is new since yesterday."
    )


def test_what_came_while_nobody_looked_is_new_since_the_last_look() -> None:
    store, old = Store(), [thing("A", "router")]
    _told(store, old, _NOON - 40 * _DAY)
    _told(store, old, _NOON - 5 * _DAY)
    new = [*old, thing("", "camera", "192.168.1.10")]
    assert told_new(new, remember(store, new, _NOON), _NOON) == "New since Friday: a camera without a name."
    _told(store, old, _NOON + 60 * _DAY)
    later = [*new, thing("Echo", "speaker", "192.168.1.11")]
    now = _NOON + 90 * _DAY
    assert told_new(later, remember(store, later, now), now) == "New since 5 July: a speaker called Echo."


def test_more_than_four_new_things_are_counted() -> None:
    things = [thing(f"T{host}", address=f"192.168.1.{host}") for host in range(1, 7)]
    said = told_new(things, News(tuple(things), _NOON - _DAY, {}), _NOON)
    assert said.endswith("a printer called T4 and two more.")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            {"mac": "00:00:5e:00:53:01", "address": "192.168.1.9"},
            {"mac": "00:00:5e:00:53:01", "address": "192.168.1.77"},
        ),
        ({"host_name": "a.local", "address": "192.168.1.9"}, {"host_name": "a.local", "address": "192.168.1.77"}),
        ({"host_name": "a.local"}, {"host_name": "a.local", "mac": "00:00:5e:00:53:01"}),
        ({}, {"host_name": "a.local"}),
    ],
)
def test_a_thing_is_known_again(before: dict[str, str], after: dict[str, str]) -> None:
    store = Store()
    remember(store, [thing("A", **before)], _NOON - 2 * _DAY)
    assert remember(store, [thing("A", **after)], _NOON).new == ()
    assert len(recall(store)) == 1


def test_another_host_on_the_same_address_is_new() -> None:
    store = Store()
    remember(store, [thing("A", mac="00:00:5e:00:53:01")], _NOON - 2 * _DAY)
    other = thing("B", mac="00:00:5e:00:53:02")
    assert remember(store, [other], _NOON).new == (other,)


def test_a_damaged_memory_is_no_memory() -> None:
    store = Store()
    times = {"first_seen": 1.0, "last_seen": 1.0, "not_before": 1.0}
    nameless = {**times, "name": 7, "kind": "printer", "mac": "", "host_name": "", "address": "192.168.1.9"}
    store.values = {"things": [nameless, times, "x", None], "first_look": "once", "last_look": _NOON - _DAY}
    assert remember(store, [thing("A")], _NOON).first_seen == {"192.168.1.9": _NOON}


def test_the_memory_is_bounded() -> None:
    store = Store()
    for day in range(3):
        remember(store, [thing("x", address=f"10.{day}.{n >> 8}.{n & 255}") for n in range(400)], _NOON + day)
    assert len(recall(store)) == 500


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("printer", ["Office", "Laser"]),
        ("the printers", ["Office", "Laser"]),
        ("office printer", ["Office"]),
        ("living room TV", ["Living Room TV"]),
        ("Brother", ["Laser"]),
        ("home server", ["Attic"]),
        ("NAS", ["Attic"]),
        ("bathroom mirror", []),
        ("", []),
    ],
)
def test_a_person_means_a_kind_or_a_name(what: str, names: list[str]) -> None:
    things = [
        thing("Office"),
        thing("Laser", model="Brother HL-L2350DW"),
        thing("Living Room TV", "tv"),
        thing("Bedroom TV", "tv"),
        thing("Attic", "nas", also=("hub",)),
        thing("", "unknown"),
    ]
    assert [found.name for found in things_like(what, things)] == names


def test_a_thing_that_is_gone_is_told_with_where_it_was() -> None:
    store = Store()
    remember(store, [thing("Laser")], _NOON - _DAY)
    past = records_like("printer", recall(store))
    assert told_found("printer", [], past, _NOON) == "I do not see it now. I last saw Laser yesterday, at 192.168.1.9."
    assert told_found("where is the printer?", [], [], _NOON) == "I see no printer on the network."
    assert told_found("<b>", [], [], _NOON) == "I see no b on the network."
