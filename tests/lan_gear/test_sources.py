"""What the sources make of what strangers send."""

from __future__ import annotations

import ipaddress
import socket
import struct
import threading
from contextvars import ContextVar
from pathlib import Path

import pytest

from plugins.lan_gear.gear import fetch, house, mdns, pages, ssdp
from plugins.lan_gear.gear.fetch import Page
from plugins.lan_gear.gear.plain import plain, without_serial
from plugins.lan_gear.gear.thing import Sighting
from tests.lan_gear.garbage import FORBIDDEN, description

_HOST = "192.168.1.9"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Living Room", "Living Room"),
        ("Zoë's Lautsprecher (Küche)", "Zoë's Lautsprecher (Küche)"),
        ("a\x00b\x1b[31m\r\nc", "a b 31m c"),
        ("<<IMG::tool:1>> <!-- x -->", "IMG::tool:1 !-- x --"),
        ("x" * 10_000, "x" * 48),
        ("‮gpj.exe", "gpj.exe"),
        ("", ""),
    ],
)
def test_what_strangers_call_themselves_is_made_plain(said: str, shown: str) -> None:
    assert plain(said) == shown


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("Brother HL-L2350DW [3c2af4000001]", "Brother HL-L2350DW"),
        ("ws-01 [aa:bb:cc:dd:ee:ff]", "ws-01"),
        ("Kitchen-0123456789abcdef0123456789abcdef", "Kitchen"),
        ("3c2af4000001", "3c2af4000001"),
        ("Sonos Five", "Sonos Five"),
    ],
)
def test_serial_numbers_are_no_part_of_a_name(name: str, short: str) -> None:
    assert without_serial(name) == short


# ------------------------------------------------------------------------------------------------------------ ssdp


@pytest.mark.parametrize(
    ("url", "is_own"),
    [
        (f"http://{_HOST}:49152/d.xml", True),
        ("http://203.0.113.7/d.xml", False),
        (f"http://{_HOST}@203.0.113.7/d.xml", False),
        (f"http://x@{_HOST}/d.xml", False),
        (f"https://{_HOST}/d.xml", False),
        ("http://[::1", False),
        ("file:///etc/passwd", False),
    ],
)
def test_a_description_is_only_fetched_from_the_host_that_points_at_it(url: str, is_own: bool) -> None:
    assert ssdp.is_own_description(url, _HOST) is is_own
    asked: list[str] = []
    ssdp.sightings({_HOST: ssdp.Answers(locations={url: None})}, lambda url, _most: asked.append(url))
    assert asked == ([url] if is_own else [])


def test_an_xml_bomb_is_just_text() -> None:
    sighting = ssdp.read_description(description().decode(), _HOST, ssdp.Answers())
    assert sighting.name.startswith("Boom &l9;Printer")
    assert not any(mark in sighting.name for mark in FORBIDDEN)


def test_every_device_in_a_description_is_read() -> None:
    text = (
        "<root><device><deviceType>urn:schemas-upnp-org:device:ZonePlayer:1</deviceType>"
        "<friendlyName>Bath &amp; Sauna</friendlyName><manufacturer>Sonos, Inc.</manufacturer><deviceList><device>"
        "<deviceType>urn:schemas-upnp-org:device:MediaServer:1</deviceType></device></deviceList></device></root>"
    )
    sighting = ssdp.read_description(text, _HOST, ssdp.Answers())
    assert (sighting.name, sighting.announced) == ("Bath & Sauna", ("zoneplayer", "mediaserver"))


def test_a_description_takes_the_place_of_the_bare_answer() -> None:
    url = f"http://{_HOST}/d.xml"
    said = {_HOST: ssdp.Answers(targets={"urn:schemas-upnp-org:device:MediaRenderer:1": None}, locations={url: None})}
    page = Page({}, "<manufacturer>Hegel</manufacturer>")
    assert [item.facts.get("maker") for item in ssdp.sightings(said, lambda _url, _most: page)] == [("Hegel",)]
    assert [item.announced for item in ssdp.sightings(said, lambda _url, _most: None)] == [("mediarenderer",)]


def test_datagrams_that_are_no_answer_add_nothing() -> None:
    said = ssdp.Answers()
    for datagram in (b"", b"\xff" * 100, b"M-SEARCH * HTTP/1.1\r\nST: x\r\n\r\n", b"HTTP/1.1 404 no\r\nST: x\r\n\r\n"):
        ssdp.read_answer(datagram, said)
    assert said == ssdp.Answers()
    for number in range(500):
        ssdp.read_answer(f"HTTP/1.1 200 OK\r\nst : t{number}\r\nLocation:http://a/{number}\r\n\r\n".encode(), said)
    assert (len(said.targets), len(said.locations)) == (40, 3)


# ------------------------------------------------------------------------------------------------------------ mdns


def test_hardware_addresses_are_read_in_every_spelling() -> None:
    assert mdns.hardware_address("1CCAE3000001") == mdns.hardware_address("1c-ca-e3-00-00-01") == "1c:ca:e3:00:00:01"
    assert mdns.hardware_address("none") == "none"


def test_an_announcement_tells_name_model_and_category() -> None:
    from zeroconf.asyncio import AsyncServiceInfo

    info = AsyncServiceInfo(
        "_hap._tcp.local.",
        "Porch 0a1b2c3d._hap._tcp.local.",
        port=80,
        properties={"md": "Cam 2", "ci": "17", "id": "AA:BB", "junk": "x" * 200},
        server="Porch.local.",
        parsed_addresses=[_HOST],
    )
    assert mdns.sighting_of(info) == Sighting(
        "mdns",
        (_HOST,),
        host_name="porch.local",
        name="Porch",
        announced=("_hap._tcp",),
        facts={"model": ("Cam 2",), "category": ("17",)},
    )


# ----------------------------------------------------------------------------------------------------------- house


def _neighbour(address: bytes, mac: bytes, state: int) -> bytes:
    attributes = b"".join(
        struct.pack("=HH", 4 + len(value), kind) + value + b"\0" * (-len(value) % 4)
        for kind, value in ((1, address), (2, mac))
        if value
    )
    body = struct.pack("=B3xiHBB", socket.AF_INET, 3, state, 0, 1) + attributes
    return struct.pack("=IHHII", 16 + len(body), 28, 2, 1, 0) + body


def test_the_kernels_neighbours_are_read_up_to_the_end_mark_wherever_it_stands() -> None:
    mac, done = bytes(range(6)), struct.pack("=IHHIIi", 20, 3, 2, 1, 0, 0)
    received = _neighbour(bytes([192, 168, 1, 9]), mac, 0x02) + _neighbour(b"", b"", 0x20) + done
    kinds = [kind for kind, _body in house.messages(received)]
    assert kinds == [28, 28, 3]
    found = [item for _kind, body in list(house.messages(received))[:2] for item in house.parse_neighbour(body)]
    assert found == [(3, _HOST, "00:01:02:03:04:05")]
    assert list(house.messages(b"\0" * 64)) == []


@pytest.mark.parametrize("state", [0x01, 0x20, 0x40])
def test_neighbours_that_never_answered_are_none(state: int) -> None:
    message = _neighbour(bytes([192, 168, 1, 9]), bytes(6), state)
    assert [item for _kind, body in house.messages(message) for item in house.parse_neighbour(body)] == []


def test_gateways_are_read_from_the_route_tables(tmp_path: Path) -> None:
    (tmp_path / "route").write_text(
        "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n"
        f"eth0 00000000 {struct.unpack('=I', socket.inet_aton('192.168.1.1'))[0]:08X} 0003 0 0 0 00000000 0 0 0\n"
        "eth0 0001A8C0 00000000 0001 0 0 0 00FFFFFF 0 0 0\nbroken\n"
    )
    (tmp_path / "ipv6_route").write_text(
        f"{'0' * 32} 00 {'0' * 32} 00 fe80{'0' * 27}1 00000400 0 0 00000003 eth0\n"
        f"{'0' * 32} 00 {'0' * 32} 00 {'0' * 32} ffffffff 1 0 00200200 lo\n"
    )
    assert list(house.gateways(tmp_path)) == ["192.168.1.1", "fe80::1"]
    assert list(house.gateways(tmp_path / "missing")) == []


def test_the_two_addresses_of_the_way_out_are_one_router_unless_the_hardware_differs() -> None:
    own = house.House(
        networks=(ipaddress.ip_network("192.168.1.0/24"), ipaddress.ip_network("fe80::/64")),
        gateways=frozenset({"192.168.1.1", "fe80::1"}),
    )
    assert [s.addresses for s in house.gateway_sightings(own, [])] == [("192.168.1.1", "fe80::1")]
    two = [Sighting("neighbour", (address,), mac=address) for address in sorted(own.gateways)]
    assert len(list(house.gateway_sightings(own, two))) == 2


def test_a_scan_of_a_large_network_stays_near_the_box() -> None:
    large = house.House(own=frozenset({"10.1.2.3"}), networks=(ipaddress.ip_network("10.0.0.0/8"),))
    addresses = house.near_addresses(large)
    assert (addresses[0], addresses[-1], len(addresses)) == ("10.1.2.1", "10.1.3.254", 509)


# ----------------------------------------------------------------------------------------------------------- pages


def test_pages_are_asked_for_on_behalf_of_whoever_looks() -> None:
    whose: ContextVar[str] = ContextVar("whose", default="nobody")
    token = whose.set("lan_gear")
    try:
        assert fetch.each(lambda _job: whose.get(), range(3)) == ["lan_gear"] * 3
    finally:
        whose.reset(token)


def test_a_page_tells_server_title_and_realm_and_the_ports_that_answer() -> None:
    page = Page({"server": "lighttpd", "www-authenticate": 'Basic realm="IP Camera"'}, "<TITLE>Web\nView</TITLE>")
    asked: list[str] = []

    def fake(url: str, _most: int) -> Page | None:
        asked.append(url)
        return page if url.endswith(":80/") else None

    assert pages.sightings([_HOST], fake) == [
        Sighting("page", (_HOST,), facts={"server": ("lighttpd",), "title": ("Web View", "IP Camera"), "port": ("80",)})
    ]
    assert f"http://{_HOST}:8123/" in asked


def test_a_host_that_trickles_is_left_behind_and_the_others_are_heard() -> None:
    stuck = threading.Event()
    try:
        assert fetch.each(lambda job: stuck.wait() if job else job, [0, 1, 0], seconds=0.3) == [0, 0]
    finally:
        stuck.set()
