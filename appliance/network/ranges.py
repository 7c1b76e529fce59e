"""Which addresses are in the house: own tables, because Python's ``ipaddress`` changes its mind between versions.

The ranges are those of IANA's special-purpose address registries (RFC 6890 and what it was extended by); the RFC of
each stands beside it. As in the original host, what can never be a public server (documentation, benchmarks, reserved)
counts as the house: it is never sent to a proxy. Everything not listed is outside.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from appliance.network.lane import Lane

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

#: The first range that holds an address decides.
_RANGES: tuple[tuple[Network, Lane, str], ...] = tuple(
    (ipaddress.ip_network(text), lane, reason)
    for text, lane, reason in (
        ("127.0.0.0/8", Lane.LAN, "this machine"),  # RFC 1122
        ("0.0.0.0/8", Lane.LAN, "this machine"),  # RFC 791; a connection to 0.0.0.0 ends at the machine itself
        ("10.0.0.0/8", Lane.LAN, "a private address"),  # RFC 1918
        ("172.16.0.0/12", Lane.LAN, "a private address"),  # RFC 1918
        ("192.168.0.0/16", Lane.LAN, "a private address"),  # RFC 1918
        ("169.254.0.0/16", Lane.LAN, "a link-local address"),  # RFC 3927
        ("100.64.0.0/10", Lane.WAN, "a carrier's or a mesh network's address"),  # RFC 6598
        ("192.0.0.9/32", Lane.WAN, "a public address"),  # RFC 7723
        ("192.0.0.10/32", Lane.WAN, "a public address"),  # RFC 8155
        ("192.0.0.0/24", Lane.LAN, "a reserved address"),  # RFC 6890
        ("192.0.2.0/24", Lane.LAN, "an address for documentation"),  # RFC 5737
        ("198.51.100.0/24", Lane.LAN, "an address for documentation"),  # RFC 5737
        ("203.0.113.0/24", Lane.LAN, "an address for documentation"),  # RFC 5737
        ("198.18.0.0/15", Lane.LAN, "an address for benchmarks"),  # RFC 2544
        ("224.0.0.0/4", Lane.WAN, "a multicast address"),  # RFC 5771
        ("240.0.0.0/4", Lane.LAN, "a reserved address"),  # RFC 1112; the broadcast address too
        ("::1/128", Lane.LAN, "this machine"),  # RFC 4291
        ("::/128", Lane.LAN, "this machine"),  # RFC 4291; connects as 0.0.0.0 does
        ("fe80::/10", Lane.LAN, "a link-local address"),  # RFC 4291
        ("fc00::/7", Lane.LAN, "a private address"),  # RFC 4193
        ("2001:db8::/32", Lane.LAN, "an address for documentation"),  # RFC 3849
        ("3fff::/20", Lane.LAN, "an address for documentation"),  # RFC 9637
        ("100::/64", Lane.LAN, "a reserved address"),  # RFC 6666
        ("2001:1::1/128", Lane.WAN, "a public address"),  # RFC 7723
        ("2001:1::2/128", Lane.WAN, "a public address"),  # RFC 8155
        ("2001:1::3/128", Lane.WAN, "a public address"),  # RFC 9665
        ("2001:3::/32", Lane.WAN, "a public address"),  # RFC 7450
        ("2001:4:112::/48", Lane.WAN, "a public address"),  # RFC 7535
        ("2001:20::/28", Lane.WAN, "a public address"),  # RFC 7343
        ("2001:30::/28", Lane.WAN, "a public address"),  # RFC 9374
        ("2001::/23", Lane.LAN, "a reserved address"),  # RFC 2928; benchmarks (RFC 5180) are in it
        ("::/96", Lane.WAN, "an IPv4-compatible address"),  # RFC 4291
        ("64:ff9b::/96", Lane.WAN, "a NAT64 address"),  # RFC 6052
        ("fec0::/10", Lane.WAN, "a site-local address"),  # RFC 3879 ended these
        ("ff00::/8", Lane.WAN, "a multicast address"),  # RFC 4291
    )
)

#: Tunnels: the IPv4 address in them decides where a packet goes, and who sends it on. Nothing at home needs one.
_TUNNELS: tuple[tuple[IPv6Network, str], ...] = tuple(
    (IPv6Network(text), name)
    for text, name in (
        ("2001::/32", "a Teredo address"),  # RFC 4380
        ("2002::/16", "a 6to4 address"),  # RFC 3056
        ("::ffff:0:0:0/96", "an IPv4-translated address"),  # RFC 2765
        ("64:ff9b:1::/48", "an address of a local NAT64"),  # RFC 8215
    )
)

_MAPPED = IPv6Network("::ffff:0:0/96")  # RFC 4291
#: Where the last 32 bits are an IPv4 address.
_IPV4_AT_THE_END = tuple(
    IPv6Network(text) for text in ("::/96", "64:ff9b::/96", "64:ff9b:1::/48", "::ffff:0:0/96", "::ffff:0:0:0/96")
)


def lane_of(address: Address) -> tuple[Lane, str]:
    """The lane of an address and, in a few words, why."""
    address = unwrapped(address)
    for network, lane, reason in _RANGES:
        if address in network:
            return lane, reason
    return Lane.WAN, "a public address"


def unwrapped(address: Address) -> Address:
    """The IPv4 address that an IPv4-mapped IPv6 address is another spelling of; others as they are."""
    if isinstance(address, IPv6Address) and address in _MAPPED:
        return _ipv4_at_the_end(address)
    return address


def tunnel_of(address: Address) -> str:
    """What kind of tunnel an address belongs to ("a 6to4 address"), "" for a plain one."""
    return next((name for network, name in _TUNNELS if address in network), "")


def leads_inside(peer: str) -> bool:
    """Whether a connection to this address ends in the house, also by way of an IPv4 address hidden in it.

    Stricter than ``lane_of``: it judges where a connection really went. Raises ``ValueError`` for what is no address.
    """
    address = ipaddress.ip_address(peer.partition("%")[0])
    return any(lane_of(each)[0] is Lane.LAN for each in (address, *_hidden(address)))


def _hidden(address: Address) -> Iterable[IPv4Address]:
    if not isinstance(address, IPv6Address):
        return
    if any(address in network for network in _IPV4_AT_THE_END):
        yield _ipv4_at_the_end(address)
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo


def _ipv4_at_the_end(address: IPv6Address) -> IPv4Address:
    return IPv4Address(int(address) & 0xFFFFFFFF)
