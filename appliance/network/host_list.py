"""A list of hosts as an owner or a plugin writes it: names, addresses, ranges of addresses."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from appliance.network.authority import address_text, ascii_name, is_name
from appliance.network.ranges import Address, Network, unwrapped


class HostList:
    """Tells whether a host is on the list. An entry that is no host fits nothing."""

    def __init__(self, entries: Iterable[str]) -> None:
        normal = frozenset(map(normal_entry, entries))
        self._hosts = normal
        self._networks = tuple(ipaddress.ip_network(entry) for entry in normal if "/" in entry)

    def __contains__(self, host: str) -> bool:
        """Whether a host, as ``lane.Destination`` spells it, is on the list."""
        if host in self._hosts:
            return True
        address = address_of(host) if self._networks else None
        return address is not None and any(unwrapped(address) in network for network in self._networks)


def normal_entry(text: str) -> str:
    """An entry as ``lane.Destination`` spells hosts; a range with its prefix length. "" for what is no host."""
    text = plain(text)
    if "/" in text:
        return str(_network(text) or "")
    address = address_of(text)
    if address is not None:
        return address_text(address)
    try:
        name = ascii_name(text)
    except ValueError:
        return ""
    return name if is_name(name) else ""


def plain(host: str) -> str:
    """A host as people write it, without what makes no difference: case, brackets, final dots, space around."""
    return host.strip().strip("[]").lower().rstrip(".")


def address_of(host: str) -> Address | None:
    """The address that a host is, None for a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _network(text: str) -> Network | None:
    try:
        # Not strict: "192.168.1.5/24" means the network that this address is in.
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
