"""What answers an SSDP search (UPnP), and the descriptions that it points at."""

from __future__ import annotations

import asyncio
import contextlib
import html
import re
import socket
from collections import defaultdict
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from plugins.lan_gear.gear.fetch import Fetch, each
from plugins.lan_gear.gear.house import House
from plugins.lan_gear.gear.plain import plain
from plugins.lan_gear.gear.rules import announced_name
from plugins.lan_gear.gear.thing import Sighting

_GROUP = ("239.255.255.250", 1900)
_TARGETS = ("ssdp:all", "upnp:rootdevice", "roku:ecp", "urn:dial-multiscreen-org:service:dial:1")
_TIMES = 2
#: No router passes our question on.
_HOPS = 1
#: What one sender can make us keep.
_MOST_HOSTS, _MOST_TARGETS, _MOST_LOCATIONS, _LONGEST_ANSWER, _LONGEST_DESCRIPTION = 1000, 40, 3, 4096, 65536
_TAG = re.compile(
    r"<(?:\w{1,20}:)?(deviceType|friendlyName|manufacturer|modelName|modelDescription)>([^<]{0,400})<", re.IGNORECASE
)
_FACTS = {"manufacturer": "maker", "modelname": "model", "modeldescription": "model"}


@dataclass
class Answers:
    """Everything that one host answered."""

    targets: dict[str, None] = field(default_factory=dict)
    locations: dict[str, None] = field(default_factory=dict)
    servers: dict[str, None] = field(default_factory=dict)


async def search(seconds: float, house: House) -> dict[str, Answers]:
    """Ask each of our networks, and collect for so long what its hosts answer, by their address."""
    answers: dict[str, Answers] = defaultdict(Answers)

    class Listener(asyncio.DatagramProtocol):
        def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
            if house.holds(addr[0]) and addr[0] not in house.own and (addr[0] in answers or len(answers) < _MOST_HOSTS):
                read_answer(data, answers[addr[0]])

    loop = asyncio.get_running_loop()
    transports = []
    for address in house.interface_addresses():
        with contextlib.suppress(OSError):
            transport, _ = await loop.create_datagram_endpoint(Listener, sock=_socket(address))
            transports.append(transport)
    for _ in range(_TIMES):
        for transport in transports:
            for target in _TARGETS:
                transport.sendto(_question(target), _GROUP)
        await asyncio.sleep(seconds / _TIMES)
    for transport in transports:
        transport.close()
    return dict(answers)


def read_answer(data: bytes, answers: Answers) -> None:
    """Add one datagram to what its sender has said; anything that is no answer adds nothing."""
    lines = data[:_LONGEST_ANSWER].decode("utf-8", "replace").split("\r\n")
    if not re.match(r"HTTP/1\.\d 200|NOTIFY ", lines[0]):
        return
    for line in lines[1:]:
        key, _, value = line.partition(":")
        kept, most = {
            "st": (answers.targets, _MOST_TARGETS),
            "nt": (answers.targets, _MOST_TARGETS),
            "location": (answers.locations, _MOST_LOCATIONS),
            "server": (answers.servers, _MOST_LOCATIONS),
        }.get(key.strip().lower(), ({}, 0))
        if value.strip() and len(kept) < most:
            kept[value.strip()[:400]] = None


def sightings(found: dict[str, Answers], fetch: Fetch) -> list[Sighting]:
    """One sighting for each description of a host, else one for what the host answered."""
    wanted = [(host, url) for host, said in found.items() for url in said.locations if is_own_description(url, host)]
    answers = each(lambda job: _described(*job, found[job[0]], fetch), wanted)
    described = [sighting for sighting in answers if sighting is not None]
    # Without its description a renderer is any renderer, so with it the bare answer would only mislead.
    known = {sighting.addresses[0] for sighting in described}
    bare = [
        Sighting("ssdp", (host,), announced=_names(said.targets), facts={"server": _texts(said.servers)})
        for host, said in found.items()
        if host not in known
    ]
    return described + bare


def is_own_description(url: str, host: str) -> bool:
    """Whether the description is on the host that answered. Whoever points elsewhere could send us anywhere."""
    try:
        parts = urlsplit(url)
        return parts.scheme == "http" and parts.hostname == host and "@" not in parts.netloc
    except ValueError:
        return False


def read_description(text: str, host: str, said: Answers) -> Sighting:
    """What a device description says. It is only searched, never parsed: an XML bomb is just text."""
    devices, facts, name = [], defaultdict(list), ""
    for tag, content in _TAG.findall(text[:_LONGEST_DESCRIPTION]):
        value = html.unescape(content).strip()
        if tag.lower() == "devicetype":
            devices.append(value)
        elif tag.lower() == "friendlyname":
            name = name or plain(value)
        elif plain(value):
            facts[_FACTS[tag.lower()]].append(plain(value))
    facts["server"] = list(_texts(said.servers))
    announced = _names(dict.fromkeys([*devices[:_MOST_TARGETS], *said.targets]))
    return Sighting("ssdp", (host,), name=name, announced=announced, facts={k: tuple(v[:8]) for k, v in facts.items()})


def _described(host: str, url: str, said: Answers, fetch: Fetch) -> Sighting | None:
    page = fetch(url, _LONGEST_DESCRIPTION)
    return read_description(page.text, host, said) if page is not None else None


def _question(target: str) -> bytes:
    lines = ("M-SEARCH * HTTP/1.1", f"HOST: {_GROUP[0]}:{_GROUP[1]}", 'MAN: "ssdp:discover"', "MX: 1", f"ST: {target}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _socket(address: str) -> socket.socket:
    asker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    asker.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(address))
    asker.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, _HOPS)
    asker.setblocking(False)
    asker.bind((address, 0))
    return asker


def _names(targets: dict[str, None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(announced_name(plain(target, 120)) for target in targets))


def _texts(values: dict[str, None]) -> tuple[str, ...]:
    return tuple(text for value in values if (text := plain(value)))
