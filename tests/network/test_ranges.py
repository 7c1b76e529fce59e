"""Which addresses are in the house."""

from __future__ import annotations

import re
from ipaddress import ip_address
from pathlib import Path

import pytest

from appliance.network import ranges
from appliance.network.lane import Lane
from appliance.network.ranges import lane_of, leads_inside, tunnel_of, unwrapped

NETWORK = Path(ranges.__file__).parent

#: The first and the last address of each range, and their neighbours.
EDGES = {
    Lane.LAN: (
        "0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 127.0.0.0 127.255.255.255 169.254.0.0 169.254.255.255 "
        "172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.8 192.0.0.11 192.0.0.255 192.0.2.0 192.0.2.255 192.168.0.0 "
        "192.168.255.255 198.18.0.0 198.19.255.255 198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255 240.0.0.0 "
        "255.255.255.255 :: ::1 fe80:: febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff fc00:: "
        "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff 3fff:: "
        "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff 100:: 100::ffff:ffff:ffff:ffff 2001:2:: ::ffff:10.0.0.1"
    ),
    Lane.WAN: (
        "1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.64.0.0 100.127.255.255 100.128.0.0 126.255.255.255 "
        "128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.0.9 192.0.0.10 "
        "192.0.1.0 192.0.1.255 192.0.3.0 192.88.99.1 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 "
        "198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255 224.0.0.0 239.255.255.255 ::2 "
        "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff fec0:: fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff fe00:: ff00:: ff02::1 "
        "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff 2001:db9:: 2001:200:: 2001:20:: 2001:1::1 2001:4:112::1 4000:: "
        "3fff:1000:: 100:0:0:1:: 2606:4700::1111 ::ffff:8.8.8.8 ::ffff:100.64.0.1"
    ),
}


@pytest.mark.parametrize(("address", "lane"), [(each, lane) for lane, edges in EDGES.items() for each in edges.split()])
def test_the_edges_of_every_range_are_where_the_registry_has_them(address: str, lane: Lane) -> None:
    assert lane_of(ip_address(address))[0] is lane


def test_an_ipv4_address_in_ipv6_spelling_is_that_address() -> None:
    assert unwrapped(ip_address("::ffff:192.168.1.1")) == ip_address("192.168.1.1")
    assert unwrapped(ip_address("::ffff:c0a8:101")) == ip_address("192.168.1.1")
    assert unwrapped(ip_address("fd00::1")) == ip_address("fd00::1")


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("2001:0:53aa:64c::f5ff:fffe", "a Teredo address"),
        ("2002:7f00:1::", "a 6to4 address"),
        ("::ffff:0:10.0.0.1", "an IPv4-translated address"),
        ("64:ff9b:1::a00:1", "an address of a local NAT64"),
        ("2001:1::", ""),
        ("2003::1", ""),
        ("10.0.0.1", ""),
    ],
)
def test_a_tunnel_is_told_by_its_kind(address: str, kind: str) -> None:
    assert tunnel_of(ip_address(address)) == kind


@pytest.mark.parametrize(
    "peer",
    [
        "192.168.1.1",
        "fe80::1%eth0",
        "::ffff:10.0.0.1",
        "64:ff9b::c0a8:101",
        "64:ff9b:1::192.168.1.1",
        "::192.168.1.1",
        "::ffff:0:192.168.1.1",
        "2002:c0a8:101::1",
        "2001:0:53aa:64c:0:0:3f57:fefe",  # Teredo of 192.168.1.1
    ],
)
def test_a_connection_into_the_house_is_seen_through_every_disguise(peer: str) -> None:
    assert leads_inside(peer)


@pytest.mark.parametrize("peer", ["8.8.8.8", "100.64.0.1", "2606:4700::1111", "64:ff9b::8.8.8.8", "2002:808:808::1"])
def test_a_connection_to_the_outside_is_no_connection_into_the_house(peer: str) -> None:
    assert not leads_inside(peer)


def test_what_is_no_address_is_not_judged() -> None:
    with pytest.raises(ValueError, match="nas"):
        leads_inside("nas")


def test_the_answer_is_never_taken_from_python_whose_answer_changes() -> None:
    asked = re.compile(r"\.is_(?:private|global|reserved|link_local|loopback|site_local|multicast|unspecified)\b(?!\()")
    assert [path.name for path in NETWORK.glob("*.py") if asked.search(path.read_text(encoding="utf-8"))] == []
