"""The house side of the pretend house: every device of it in one process, in a network namespace of its own.

It is told what to do by lines of JSON on standard input, and answers each with a line of JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import socket
import struct
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.lan_gear import garbage
from tests.lan_gear.records import Record

NETWORK = ipaddress.IPv4Network("192.168.76.0/22")
BOX, ROUTER = "192.168.79.200", "192.168.76.1"
INTERFACE, BOX_INTERFACE = "house0", "home0"
_DESCRIPTION_PORT = 49152
_GROUP = ("239.255.255.250", 1900)
#: The watch on packets is another thread: so often, and so far apart, it is asked whether it has seen them.
_LOOKS, _LOOK_SECONDS = 500, 0.01
_ALL_PACKETS, _IPV4, _IPV6 = 0x0003, 0x0800, 0x86DD


class House:
    """The devices by address, and the packets that wanted to leave."""

    def __init__(self) -> None:
        from zeroconf import IPVersion
        from zeroconf.asyncio import AsyncZeroconf

        self.devices: dict[str, Record] = {}
        self.numbers: dict[str, int] = {}
        self.garbage = ""
        self.outside: list[str] = []
        self._responder = AsyncZeroconf(interfaces=[ROUTER], ip_version=IPVersion.V4Only)

    async def add(self, devices: list[dict[str, Any]]) -> None:
        """Switch devices on. One address may have several records: a host that is two things."""
        await asyncio.to_thread(_take_addresses, [device["address"] for device in devices])
        infos = []
        for device in devices:
            record = Record(**device["record"])
            if record.source == "mdns":
                infos.append(record.service_info(device["number"], device["address"]))
            elif record.source == "ssdp":
                self.devices[device["address"]] = record
                self.numbers[device["address"]] = device["number"]
            elif record.source == "page":
                _serve(_Page, (device["address"], 80))
            elif record.source == "garbage":
                self.garbage = device["address"]
        await asyncio.gather(
            *(self._responder.async_register_service(info, cooperating_responders=True, strict=False) for info in infos)
        )

    def watch(self) -> None:
        """Note where every packet of the box wants to go that the house has no place for."""
        sniffer = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ALL_PACKETS))
        sniffer.bind((INTERFACE, 0))
        while True:
            try:
                packet, (_interface, protocol, direction, *_rest) = sniffer.recvfrom(65535)
            except OSError:
                return  # the cable is pulled out
            if direction == socket.PACKET_OUTGOING:
                continue
            if protocol == _IPV4:
                target: Any = ipaddress.IPv4Address(packet[16:20])
                is_near = target in NETWORK or target == ipaddress.IPv4Address("255.255.255.255")
            elif protocol == _IPV6:
                target = ipaddress.IPv6Address(packet[24:40])
                is_near = target.is_link_local
            else:
                continue
            if not is_near and not target.is_multicast:
                self.outside.append(str(target))

    async def answer_searches(self) -> None:
        """Every device with a description answers a search from its own address."""
        loop = asyncio.get_running_loop()
        listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        listener.bind(_GROUP)
        member = struct.pack("4s4s", socket.inet_aton(_GROUP[0]), socket.inet_aton(ROUTER))
        listener.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
        listener.setblocking(False)
        while True:
            data, asker = await loop.sock_recvfrom(listener, 4096)
            if b"ssdp:all" in data:
                for address, record in list(self.devices.items()):
                    _send(address, asker, [_answer(address, record.target())])
                    await asyncio.sleep(0)
                if self.garbage:
                    _send(self.garbage, asker, garbage.search_answers(self.garbage))
                    _send(self.garbage, ("224.0.0.251", 5353), garbage.multicast_answers(self.garbage), port=5353)

    def description(self, address: str) -> bytes:
        """What the device at an address says of itself."""
        if address == self.garbage:
            return garbage.description()
        return self.devices[address].description(self.numbers[address]).encode()


class _Page(BaseHTTPRequestHandler):
    """A device that announces nothing and has a page."""

    def do_GET(self) -> None:
        body = b"<html><head><title>Synology DiskStation</title></head></html>"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    #: One process serves for many hosts.
    request_queue_size = 256


def _described(house: House) -> type[BaseHTTPRequestHandler]:
    class Description(_Page):
        def do_GET(self) -> None:
            with contextlib.suppress(OSError, KeyError):
                body = house.description(self.connection.getsockname()[0])
                self.send_response(200)
                self.end_headers()
                self.wfile.write(body)

    return Description


def _serve(handler: type[BaseHTTPRequestHandler], place: tuple[str, int]) -> None:
    server = _Server(place, handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def _answer(address: str, target: str) -> bytes:
    location = f"http://{address}:{_DESCRIPTION_PORT}/d.xml"
    return f"HTTP/1.1 200 OK\r\nST: {target}\r\nSERVER: Linux UPnP/1.0\r\nLOCATION: {location}\r\n\r\n".encode()


def _send(address: str, to: tuple[str, int], datagrams: list[bytes], port: int = 0) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(address))
        sender.bind((address, port))
        for datagram in datagrams:
            with contextlib.suppress(OSError):  # the box may be gone
                sender.sendto(datagram, to)


async def main() -> None:
    """Serve until standard input ends."""
    loop = asyncio.get_running_loop()
    house = House()
    threading.Thread(target=house.watch, daemon=True).start()
    _serve(_described(house), ("0.0.0.0", _DESCRIPTION_PORT))
    searches = asyncio.create_task(house.answer_searches())
    _say("ready")
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        order = json.loads(line)
        if order["do"] == "add":
            await house.add(order["devices"])
            _say("added")
        elif order["do"] == "outside":
            for _ in range(_LOOKS):
                if len(house.outside) >= order["least"]:
                    break
                await asyncio.sleep(_LOOK_SECONDS)
            _say(house.outside)
    searches.cancel()


def _ip(command: str) -> None:
    subprocess.run(["ip", *command.split()], check=True, capture_output=True)


def _take_addresses(addresses: list[str]) -> None:
    """Those that the house has already stay."""
    lines = "".join(f"addr add {address}/22 dev {INTERFACE}\n" for address in addresses)
    subprocess.run(["ip", "-force", "-batch", "-"], input=lines, text=True, capture_output=True, check=False)


def _say(value: Any) -> None:
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    _say("namespace")
    sys.stdin.readline()  # the cable is plugged in
    _ip("link set lo up")
    _ip(f"link set {INTERFACE} address 00:00:5e:00:53:01 up")
    _ip(f"addr add {ROUTER}/22 dev {INTERFACE}")
    asyncio.run(main())
