"""Which lane a URL takes, known from its text alone: no name is ever looked up."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from ipaddress import IPv4Address

from appliance.errors import LaneRefusedError
from appliance.network.authority import ascii_name, read_authority
from appliance.network.host_list import HostList, address_of, plain
from appliance.network.lane import Destination, Lane
from appliance.network.ranges import Address, lane_of, tunnel_of

#: Names that no public name server answers for: RFC 6762 (.local), RFC 8375 (.home.arpa), and what routers give out.
_HOUSE_SUFFIXES = (".local", ".lan", ".home.arpa")

_OTHER_STOPS = str.maketrans("。．｡", "...")
_HEXADECIMAL = re.compile(r"0x[0-9a-f]{1,8}")
_OCTAL = re.compile(r"0[0-7]{0,11}")
_DECIMAL = re.compile(r"[1-9][0-9]{0,9}")
_PADDED_QUAD = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")


class Classifier:
    """Tells the house from the world. ``direct_hosts`` gives what is in the house although it does not look it.

    Any thread, as far as ``direct_hosts`` may be called from it; it is asked for each URL, so it should be quick
    and give the same object as long as nothing has changed.
    """

    def __init__(self, direct_hosts: Callable[[], Iterable[str]] = tuple) -> None:
        self._direct_hosts = direct_hosts
        self._read: tuple[object, HostList] = (None, HostList(()))

    def classify(self, url: str) -> Destination:
        """Where a URL leads, read as it will be requested.

        Raises ``LaneRefusedError`` for a spelling that programs read differently; the message says what to write.
        """
        found = read_authority(url)
        address = address_of(found.host)
        tunnel = tunnel_of(address) if address is not None else ""
        if tunnel and found.host not in self._direct():
            raise LaneRefusedError(f"{found.host} is {tunnel}, which hides another; write the address it stands for")
        lane, reason = self._lane(found.host, address)
        return Destination(lane, found.scheme, found.host, found.port, reason)

    def classify_host(self, host: object) -> Lane:
        """The lane of a host by itself, as ``core.net.classify`` gives it.

        It answers for every spelling, odd ones too, and what is no host at all is outside: nothing is sent on its word.
        """
        if not isinstance(host, str):
            return Lane.WAN
        name = _as_the_page_reads_it(host)
        if not name:
            return Lane.WAN
        return self._lane(name, _address_by_the_page(name))[0]

    def _lane(self, host: str, address: Address | None) -> tuple[Lane, str]:
        if host in self._direct():
            return Lane.LAN, "one of the direct hosts"
        if address is not None:
            return lane_of(address)
        if host == "localhost":
            return Lane.LAN, "this machine"
        suffix = next((suffix for suffix in _HOUSE_SUFFIXES if host.endswith(suffix)), "")
        if suffix:
            return Lane.LAN, f"a name that ends in {suffix}"
        if "." not in host and ":" not in host:
            return Lane.LAN, "a name without a dot"
        return Lane.WAN, "a public name"

    def _direct(self) -> HostList:
        entries = self._direct_hosts()
        known, hosts = self._read
        if entries is not known:
            hosts = HostList(entries)
            self._read = (entries, hosts)
        return hosts


def _as_the_page_reads_it(host: str) -> str:
    name = plain(host.translate(_OTHER_STOPS)) if host == host.strip() else host
    try:
        return ascii_name(name)
    except ValueError:
        return name


def _address_by_the_page(name: str) -> Address | None:
    """The address that a host is for the original, which also reads zones, numbers and zero-padded quads."""
    if ":" in name:
        return address_of(name.partition("%")[0])
    if _PADDED_QUAD.fullmatch(name):
        numbers = [int(part) for part in name.split(".")]
        return IPv4Address(bytes(numbers)) if max(numbers) < 256 else None
    for spelling, base in ((_HEXADECIMAL, 16), (_OCTAL, 8), (_DECIMAL, 10)):
        if spelling.fullmatch(name):
            number = int(name, base)
            return IPv4Address(number) if number < 2**32 else None
    return None
