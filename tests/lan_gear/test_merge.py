"""Which sightings are one host, and what all of it costs."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Iterable

from plugins.lan_gear.gear.house import House
from plugins.lan_gear.gear.merge import things_of
from plugins.lan_gear.gear.rules import shipped_rules
from plugins.lan_gear.gear.thing import Sighting, Thing
from tests.lan_gear.records import records
from tests.lan_gear.test_rules import as_seen

_HOUSE = House(
    own=frozenset({"192.168.0.2"}),
    networks=(ipaddress.ip_network("192.168.0.0/22"), ipaddress.ip_network("fe80::/64")),
)


def seen(*sightings: Sighting) -> list[Thing]:
    return things_of(sightings, _HOUSE, lambda _address: "lan", shipped_rules())


def test_one_host_on_two_addresses_is_one_thing_when_the_hardware_is_the_same() -> None:
    mac = "00:00:5e:00:53:07"
    things = seen(
        Sighting("neighbour", ("192.168.0.7",), mac=mac),
        Sighting("neighbour", ("fe80::7",), mac=mac),
        Sighting("ssdp", ("192.168.0.7",), announced=("printer",)),
    )
    assert [(thing.kind, thing.addresses, thing.mac) for thing in things] == [
        ("printer", ("192.168.0.7", "fe80::7"), mac)
    ]


def test_a_host_name_joins_what_several_services_say() -> None:
    things = seen(
        Sighting("mdns", ("192.168.0.8",), host_name="attic.local", announced=("_adisk._tcp",)),
        Sighting("mdns", ("192.168.0.9",), host_name="attic.local", announced=("_plexmediasvr._tcp",)),
    )
    assert [{thing.kind, *thing.also} for thing in things] == [{"nas", "hub"}]


def test_hardware_that_stands_in_for_many_hosts_joins_none_of_them() -> None:
    repeater = "00:00:5e:00:53:08"
    assert len(seen(*(Sighting("neighbour", (f"192.168.0.{host}",), mac=repeater) for host in range(10, 20)))) == 10


def test_a_liar_cannot_swallow_the_house() -> None:
    honest = [Sighting("neighbour", (f"192.168.0.{host}",), mac=f"00:00:5e:00:53:{host:02x}") for host in range(10, 60)]
    pairs = [
        Sighting("mdns", (f"192.168.0.{host}", f"192.168.0.{host + 1}"), host_name="liar.local", name="Liar")
        for host in range(10, 59)
    ]
    chain = [
        Sighting("mdns", (f"192.168.0.{host}", f"192.168.0.{host + 1}"), host_name=f"liar-{host}.local")
        for host in range(10, 59)
    ]
    everything = Sighting("mdns", tuple(f"192.168.0.{host}" for host in range(10, 60)), name="Me")
    things = seen(*honest, *pairs, *chain, everything)
    assert sum(len(thing.addresses) for thing in things) == 50
    assert max(len(thing.addresses) for thing in things) <= 3


def test_addresses_outside_of_the_house_and_the_box_itself_are_no_things() -> None:
    assert seen(Sighting("mdns", ("203.0.113.9",)), Sighting("mdns", ("192.168.0.2",)), Sighting("ssdp", ())) == []
    assert seen(Sighting("mdns", ("8.8.8.8", "192.168.0.5")))[0].addresses == ("192.168.0.5",)


def test_the_name_is_the_one_that_a_person_gave() -> None:
    thing = seen(
        Sighting("mdns", ("192.168.0.7",), host_name="brw3c2af4000001.local", name="BRW3C2AF4000001"),
        Sighting("mdns", ("192.168.0.7",), name="Office printer"),
    )[0]
    assert thing.name == "Office printer"
    assert seen(Sighting("ssdp", ("192.168.0.7",), facts={"maker": ("Sony",), "model": ("KD-55",)}))[0].name == (
        "Sony KD-55"
    )
    assert seen(Sighting("neighbour", ("192.168.0.7",)))[0].name == ""


def test_ten_times_the_hosts_cost_no_more_than_twelve_times_as_much() -> None:
    small, large = _best_seconds(_town(30)), _best_seconds(_town(300))
    print(f"\n30 hosts {small * 1000:.2f} ms, 300 hosts {large * 1000:.2f} ms, ratio {large / small:.1f}")
    assert large <= 12 * small


def _town(hosts: int) -> list[Sighting]:
    """So many hosts, each with an announcement, a neighbour entry, a page and a second service of its host name."""
    templates = records()[:30]
    found: list[Sighting] = []
    for number in range(hosts):
        address = str(ipaddress.ip_address("192.168.0.10") + number)
        host_name = f"device-{number}.local"
        found += [
            Sighting(item.source, (address,), "", host_name, item.name, item.announced, item.facts)
            for item in as_seen(number, templates[number % 30])
        ]
        found.append(Sighting("neighbour", (address,), mac=f"00:00:5e:{number >> 8:02x}:53:{number & 255:02x}"))
        found.append(Sighting("page", (address,), facts={"title": ("Some page of a thing",), "port": ("80",)}))
        found.append(Sighting("mdns", (address,), host_name=host_name, announced=("_http._tcp",), name="Web server"))
    return found


def _best_seconds(town: Iterable[Sighting]) -> float:
    """Processor time of one look's thinking, the best of several: what else the machine does is not ours."""
    sightings, best = list(town), float("inf")
    for _ in range(7):
        started = time.process_time()
        things = seen(*sightings)
        best = min(best, time.process_time() - started)
    assert len(things) == len({sighting.addresses for sighting in sightings})
    return best
