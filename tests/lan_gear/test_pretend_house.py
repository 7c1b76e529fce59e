"""The plugin in a whole house of pretended devices, on real sockets, in network namespaces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.lan_gear.garbage import FORBIDDEN
from tests.lan_gear.pretend_house import ROUTER
from tests.lan_gear.records import Record, records
from tests.lan_gear.scores import scores, table, total
from tests.lan_gear.street import Street, open_street

_GARBAGE, _NAS, _TV, _PAGE, _SILENT = (f"192.168.79.{host}" for host in (66, 10, 11, 12, 13))
_NEW, _NEW_NAME = "192.168.79.99", "Brother HL-L2350DW"
#: Hosts that are two things; two that announce nothing, and one of these has a page.
_SPECIAL = [
    (_GARBAGE, Record("", "garbage", "", (), "", "", {})),
    (_NAS, Record("", "mdns", "", ("nas",), "_smb._tcp", "Attic", {})),
    (_NAS, Record("", "mdns", "", ("nas",), "_adisk._tcp", "Attic", {})),
    (_NAS, Record("", "mdns", "", ("hub",), "_plexmediasvr._tcp", "Attic", {})),
    (_TV, Record("", "mdns", "", ("tv",), "_googlecast._tcp", "x", {"fn": "Living Room TV", "md": "BRAVIA 4K"})),
    (_TV, Record("", "mdns", "", ("speaker",), "_sonos._tcp", "Living Room", {})),
    (ROUTER, Record("", "mdns", "", ("printer",), "_ipp._tcp", "Shared Laser", {})),
    (_PAGE, Record("", "page", "", ("nas",), "", "", {})),
    (_SILENT, Record("", "", "", (), "", "", {})),
]


def _addresses() -> Iterator[str]:
    for block in (77, 78):
        yield from (f"192.168.{block}.{host}" for host in range(1, 255))


_PEOPLED = list(zip(_addresses(), records(), strict=False))


@pytest.fixture(scope="module")
def street() -> Iterator[Street]:
    with open_street() as street:
        street.add(*_PEOPLED, *_SPECIAL)
        yield street


@pytest.fixture(scope="module")
def things(street: Street) -> dict[str, dict[str, Any]]:
    """One look at it all."""
    return street.look()


def test_devices_that_the_rules_never_met_are_told_as_well_as_they_were_measured(street: Street) -> None:
    seen = street.look_as_measured()
    held = [(address, record) for address, record in _PEOPLED if record.half == "held"]
    rows = scores((record.kinds, seen.get(address, {"kind": "unknown"})["kind"]) for address, record in held)
    print(f"\nHeld back while the rules were written, over the network:\n{table([*rows, total(rows)])}")
    assert total(rows).recall >= 0.55
    assert total(rows).precision >= 0.88


def test_every_device_of_the_house_is_seen_and_nearly_all_are_told_right(things: dict[str, dict[str, Any]]) -> None:
    assert [address for address, _record in _PEOPLED if address not in things] == []
    rows = scores((record.kinds, things[address]["kind"]) for address, record in _PEOPLED)
    print(f"\nAll devices and all rules, over the network:\n{table([*rows, total(rows)])}")
    assert total(rows).recall >= 0.95
    assert total(rows).precision >= 0.95
    assert {thing["lane"] for thing in things.values()} == {"lan"}


def test_no_two_devices_become_one_and_who_says_nothing_is_not_seen(things: dict[str, dict[str, Any]]) -> None:
    there = {address for address, _record in [*_PEOPLED, *_SPECIAL]}
    assert there - set(things) == {_PAGE, _SILENT}
    assert all(len(thing["addresses"]) == 1 for thing in things.values())


def test_a_host_that_is_two_things_is_told_as_both(things: dict[str, dict[str, Any]]) -> None:
    assert (things[_NAS]["kind"], things[_NAS]["also"]) == ("hub", ["nas"])
    assert (things[_TV]["kind"], things[_TV]["also"], things[_TV]["name"]) == ("tv", ["speaker"], "Living Room TV")
    assert (things[ROUTER]["kind"], things[ROUTER]["also"]) == ("router", ["printer"])


def test_a_host_that_sends_garbage_is_one_thing_with_a_clean_name(things: dict[str, dict[str, Any]]) -> None:
    thing = things[_GARBAGE]
    assert thing["name"].startswith(("Boom", "Printer"))
    assert len(thing["name"]) <= 48
    for other in things.values():
        assert not any(mark in text for mark in FORBIDDEN for text in _texts(other))


def test_what_came_since_and_what_a_scan_finds_is_told_and_found_again(
    street: Street, things: dict[str, dict[str, Any]]
) -> None:
    street.add((_NEW, Record("", "mdns", "", ("printer",), "_ipp._tcp", _NEW_NAME, {"ty": _NEW_NAME})))
    told = street.call("lan_gear_look", about="new", scan=True)
    sentence, _empty, *lines = told.splitlines()
    assert sentence == (
        "New since my first look today: a NAS without a name, something without a name "
        f"and a printer called {street.name(_NEW_NAME)}."
    )
    assert lines == [
        f"- without a name: a NAS (sure), at {_PAGE}, lan. NEW. [page: calls itself diskstation]",
        f"- without a name: something unknown, at {_SILENT}, lan. NEW.",
        f"- {street.name(_NEW_NAME)}: a printer (sure), at {_NEW}, lan. NEW. "
        "[mdns: announces _ipp._tcp; mdns: calls itself brother]",
    ]
    found = street.call("lan_gear_find", what="where is the Brother?", form="brief")
    assert found == f"I see a printer called {street.name(_NEW_NAME)} at {_NEW}."


def test_nothing_outside_of_the_house_is_ever_contacted(street: Street, things: dict[str, dict[str, Any]]) -> None:
    # The last packet shows that the watch works, and that it has seen all that went before.
    street.send_from_box("203.0.113.9")
    assert street.outside(least=1) == ["203.0.113.9"]


def _texts(thing: dict[str, Any]) -> list[str]:
    return [thing["name"], thing["model"], thing["host_name"], *(item["says"] for item in thing["evidence"])]
