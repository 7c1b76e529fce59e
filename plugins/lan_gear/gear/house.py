"""What the box itself knows of its network: its own addresses, the way out, and whom the kernel has met."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import struct
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from plugins.lan_gear.gear.thing import Sighting

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

#: Interfaces that lead into this machine or through a tunnel: not the house.
_NOT_THE_HOUSE = (
    "lo",
    "docker",
    "br-",
    "veth",
    "virbr",
    "vnet",
    "tun",
    "tap",
    "wg",
    "tailscale",
    "zt",
    "cni",
    "flannel",
)
#: Netlink: ask for all neighbours (RTM_GETNEIGH, NLM_F_REQUEST | NLM_F_DUMP), and what comes back.
_GET_NEIGHBOURS, _DUMP = 30, 0x301
_NEW_NEIGHBOUR, _DONE, _ERROR = 28, 3, 2
_HEADER, _NEIGHBOUR, _ATTRIBUTE = struct.Struct("=IHHII"), struct.Struct("=B3xiHBB"), struct.Struct("=HH")
_ADDRESS, _HARDWARE = 1, 2
#: States of a neighbour that has answered: reachable, stale, delay, probe, permanent.
_KNOWN_STATES = 0x02 | 0x04 | 0x08 | 0x10 | 0x80
#: A scan asks no more addresses around the box than are in a network of this size, and some at a time: the kernel's
#: table holds about a thousand for the whole machine, silent ones included.
_SCANNED_PREFIX, _AT_A_TIME, _ANSWER_SECONDS = 23, 128, 1.0
#: A port that nobody serves. The datagram makes the kernel ask who has the address, which is all we want.
_DISCARD_PORT = 9


@dataclass(frozen=True)
class House:
    """The networks that the box is part of. Addresses are text, without a zone."""

    own: frozenset[str] = frozenset()
    networks: tuple[Network, ...] = ()
    interfaces: tuple[int, ...] = ()
    gateways: frozenset[str] = frozenset()

    def holds(self, address: str) -> bool:
        """Whether the address is on one of our networks, so that no packet to it leaves the house."""
        parsed = parse(address)
        return parsed is not None and any(parsed in network for network in self.networks)

    def interface_addresses(self) -> list[str]:
        """Our own IPv4 address on each network, to send from."""
        return sorted(own for own in self.own if ":" not in own)


def parse(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address, without its zone; None when it is none."""
    try:
        return ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None


def our_house() -> House:
    """Ask this machine. Nothing is sent."""
    import ifaddr

    own, networks, indexes = set(), [], []
    for adapter in ifaddr.get_adapters():
        if adapter.name.startswith(_NOT_THE_HOUSE) or adapter.index is None:
            continue
        indexes.append(adapter.index)
        for ip in adapter.ips:
            address = ip.ip if isinstance(ip.ip, str) else ip.ip[0]
            network = ipaddress.ip_network(f"{address}/{ip.network_prefix}", strict=False)
            if network.num_addresses > 2:  # else the other end of a line
                own.add(address)
                networks.append(network)
    return House(frozenset(own), tuple(dict.fromkeys(networks)), tuple(indexes), frozenset(gateways()))


def gateway_sightings(house: House, neighbours: Iterable[Sighting]) -> Iterator[Sighting]:
    """The way out of the house is a router: the same one for IPv4 and IPv6, unless the hardware says otherwise."""
    near = sorted(address for address in house.gateways if house.holds(address))
    chips = {neighbour.mac for neighbour in neighbours if neighbour.addresses[0] in near}
    for addresses in [near] if len(chips) < 2 else [[address] for address in near]:
        if addresses:
            yield Sighting("gateway", tuple(addresses))


def neighbour_sightings(house: House) -> Iterator[Sighting]:
    """Whom the kernel has exchanged packets with lately, IPv4 and IPv6."""
    for index, address, mac in _neighbours():
        if index in house.interfaces and address not in house.own and house.holds(address):
            yield Sighting("neighbour", (address,), mac=mac)


def knock(house: House) -> list[Sighting]:
    """Who answers at the addresses near us. Slow (some seconds), and only done when a person asks for it."""
    found: list[Sighting] = []
    addresses = near_addresses(house)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as knocker:
        knocker.setblocking(False)
        for start in range(0, len(addresses), _AT_A_TIME):
            for address in addresses[start : start + _AT_A_TIME]:
                with contextlib.suppress(OSError):
                    knocker.sendto(b"", (address, _DISCARD_PORT))
            time.sleep(_ANSWER_SECONDS)
            found += neighbour_sightings(house)
    return list({sighting.addresses: sighting for sighting in found}.values())


def near_addresses(house: House) -> list[str]:
    """The addresses that a scan asks: our IPv4 networks, of a large one the part around us."""
    found: list[str] = []
    for own in house.interface_addresses():
        for network in house.networks:
            if isinstance(network, ipaddress.IPv4Network) and ipaddress.ip_address(own) in network:
                small = ipaddress.ip_network(f"{own}/{max(network.prefixlen, _SCANNED_PREFIX)}", strict=False)
                found += [str(host) for host in small.hosts() if str(host) not in house.own]
    return found


def gateways(folder: Path = Path("/proc/net")) -> Iterator[str]:
    """The next hops of the default routes, as the kernel lists them."""
    for line in _lines(folder / "route")[1:]:
        fields = line.split()
        if len(fields) > 7 and fields[1] == fields[7] == "00000000" and fields[2] != "00000000":
            yield socket.inet_ntoa(struct.pack("=I", int(fields[2], 16)))
    for line in _lines(folder / "ipv6_route"):
        fields = line.split()
        if len(fields) > 4 and fields[1] == "00" and int(fields[0], 16) == 0 and int(fields[4], 16) != 0:
            yield str(ipaddress.IPv6Address(bytes.fromhex(fields[4])))


def _neighbours() -> list[tuple[int, str, str]]:
    """Interface index, address and hardware address of each; only IPv4 where netlink is not allowed."""
    try:
        return [found for message in _dump_neighbours() for found in parse_neighbour(message)]
    except OSError:
        return list(_neighbours_of_arp())


def _dump_neighbours() -> Iterator[bytes]:
    """The bodies of the kernel's messages."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        kernel.settimeout(2.0)
        kernel.send(_HEADER.pack(28, _GET_NEIGHBOURS, _DUMP, 1, 0) + _NEIGHBOUR.pack(0, 0, 0, 0, 0))
        while True:
            for kind, body in messages(kernel.recv(65536)):
                if kind in (_DONE, _ERROR):
                    return
                if kind == _NEW_NEIGHBOUR:
                    yield body


def messages(answer: bytes) -> Iterator[tuple[int, bytes]]:
    """Kind and body of each netlink message in what was received at once."""
    at = 0
    while at + _HEADER.size <= len(answer):
        length, kind, *_rest = _HEADER.unpack_from(answer, at)
        if length < _HEADER.size:
            return
        yield kind, answer[at + _HEADER.size : at + length]
        at += (length + 3) & ~3


def parse_neighbour(message: bytes) -> Iterator[tuple[int, str, str]]:
    """Interface index, address and hardware address, of one that has answered."""
    _family, index, state, _flags, _type = _NEIGHBOUR.unpack_from(message)
    attributes: dict[int, bytes] = {}
    at = _NEIGHBOUR.size
    while at + _ATTRIBUTE.size <= len(message):
        length, kind = _ATTRIBUTE.unpack_from(message, at)
        if length < _ATTRIBUTE.size:
            break
        attributes[kind] = message[at + _ATTRIBUTE.size : at + length]
        at += (length + 3) & ~3
    address, mac = attributes.get(_ADDRESS, b""), attributes.get(_HARDWARE, b"")
    if state & _KNOWN_STATES and len(mac) == 6 and len(address) in (4, 16):
        yield index, str(ipaddress.ip_address(address)), mac.hex(":")


def _neighbours_of_arp(file: Path = Path("/proc/net/arp")) -> Iterator[tuple[int, str, str]]:
    for line in _lines(file)[1:]:
        fields = line.split()
        if len(fields) == 6 and int(fields[2], 16) & 2:
            with contextlib.suppress(OSError):
                yield socket.if_nametoindex(fields[5]), fields[0], fields[3].lower()


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="ascii").splitlines()
    except OSError:
        return []
