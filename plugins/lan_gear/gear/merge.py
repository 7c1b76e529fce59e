"""From sightings to things: what belongs to one host, what it is, what it is called."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace

from plugins.lan_gear.gear.house import House, parse
from plugins.lan_gear.gear.rules import Rules, judge
from plugins.lan_gear.gear.thing import Evidence, Sighting, Thing

#: A host has few addresses and few network chips. Who claims more, or holds more, speaks for others: a liar, or a
#: repeater that stands in for the hosts behind it.
_MOST_ADDRESSES, _MOST_CHIPS = 4, 3
_MOST_EVIDENCE = 12
_UGLY = (
    (re.compile(r"[0-9A-Fa-f]{6,}"), 3),
    (re.compile(r"[_@]"), 1),
    (re.compile(r"^[0-9.:]+$"), 5),
    (re.compile(r"^\S*$"), 1),
)


def things_of(sightings: Iterable[Sighting], house: House, lane_of: Callable[[str], str], rules: Rules) -> list[Thing]:
    """The things of the house, by address. Cost grows with the number of sightings."""
    near = [kept for sighting in sightings if (kept := _in_the_house(sighting, house)) is not None]
    groups = _groups(_without_crowds(near))
    return sorted((_thing(group, lane_of, rules) for group in groups), key=lambda thing: _order(thing.address))


def _in_the_house(sighting: Sighting, house: House) -> Sighting | None:
    """The sighting with only such addresses as are near, IPv4 first; None when none is left, or it is the box."""
    near = sorted({address for address in sighting.addresses if house.holds(address)}, key=_order)
    if not near or not house.own.isdisjoint(near):
        return None
    return replace(sighting, addresses=tuple(near[:_MOST_ADDRESSES]))


def _without_crowds(sightings: list[Sighting]) -> list[Sighting]:
    """The sightings without the hardware addresses and host names that stand for too many addresses to be one host."""
    held: dict[str, set[str]] = defaultdict(set)
    for sighting in sightings:
        for key in (sighting.mac, sighting.host_name):
            held[key].update(address for address in sighting.addresses if ":" not in address)
    crowds = {key for key, addresses in held.items() if len(addresses) > _MOST_ADDRESSES}
    return [
        replace(
            sighting,
            mac="" if sighting.mac in crowds else sighting.mac,
            host_name="" if sighting.host_name in crowds else sighting.host_name,
        )
        for sighting in sightings
    ]


class _Hosts:
    """Groups of keys (addresses, hardware addresses, host names) that belong together."""

    def __init__(self, chip_of: dict[str, str]) -> None:
        self._parent: dict[str, str] = {}
        self._chips: dict[str, frozenset[str]] = {}
        self._chip_of = chip_of

    def find(self, key: str) -> str:
        if key not in self._parent:
            self._parent[key] = key
            self._chips[key] = frozenset({self._chip_of[key]} if key in self._chip_of else ())
        while self._parent[key] != key:
            self._parent[key] = self._parent[self._parent[key]]
            key = self._parent[key]
        return key

    def join(self, one: str, other: str) -> None:
        first, second = self.find(one), self.find(other)
        chips = self._chips[first] | self._chips[second]
        if first != second and len(chips) <= _MOST_CHIPS:
            self._parent[second] = first
            self._chips[first] = chips


def _groups(sightings: list[Sighting]) -> list[list[Sighting]]:
    hosts = _Hosts({address: sighting.mac for sighting in sightings if sighting.mac for address in sighting.addresses})
    for sighting in sightings:
        first, *others = sighting.addresses
        for key in (*others, sighting.mac, sighting.host_name):
            if key:
                hosts.join(first, key)
    groups: dict[str, list[Sighting]] = defaultdict(list)
    for sighting in sightings:
        host = hosts.find(sighting.addresses[0])
        own = tuple(address for address in sighting.addresses if hosts.find(address) == host)
        groups[host].append(replace(sighting, addresses=own))
    return list(groups.values())


def _thing(group: list[Sighting], lane_of: Callable[[str], str], rules: Rules) -> Thing:
    evidence = list(dict.fromkeys(item for sighting in group for item in rules.evidence_of(sighting)))
    kind, confidence, also = judge(evidence)
    addresses = sorted({address for sighting in group for address in sighting.addresses}, key=_order)
    mac = next((sighting.mac for sighting in group if sighting.mac), "")
    host_name = next((sighting.host_name for sighting in group if sighting.host_name), "")
    return Thing(
        name=_name(group, host_name),
        kind=kind,
        confidence=confidence,
        address=addresses[0],
        addresses=tuple(addresses),
        lane=lane_of(addresses[0]),
        model=_model(group),
        mac=mac,
        host_name=host_name,
        also=also,
        evidence=tuple(_strongest(evidence, kind)),
    )


def _strongest(evidence: list[Evidence], kind: str) -> list[Evidence]:
    return sorted(evidence, key=lambda item: (item.kind != kind, -item.weight, item.says))[:_MOST_EVIDENCE]


def _name(group: list[Sighting], host_name: str) -> str:
    """The name that sounds most like one a person gave, else the model; "" when the host tells nothing."""
    names = [(_ugliness(sighting.name), sighting.name) for sighting in group if sighting.name]
    short = host_name.removesuffix(".local")
    if short:
        names.append((_ugliness(short) + 1, short))
    return min(names, key=lambda item: (item[0], len(item[1])))[1] if names else _model(group)


def _model(group: list[Sighting]) -> str:
    """Maker and model, as far as they are told."""
    told = {field: [t for sighting in group for t in sighting.facts.get(field, ())] for field in ("maker", "model")}
    maker, model = next(iter(told["maker"]), ""), next(iter(told["model"]), "")
    return model if maker.lower() in model.lower() else f"{maker} {model}".strip()


def _ugliness(name: str) -> int:
    return sum(points for pattern, points in _UGLY if pattern.search(name))


def _order(address: str) -> tuple[int, int]:
    parsed = parse(address)
    return (parsed.version, int(parsed)) if parsed is not None else (9, 0)
