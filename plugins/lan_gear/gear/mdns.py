"""What announces itself by mDNS (DNS-SD)."""

from __future__ import annotations

import asyncio
import contextlib
import re
from typing import TYPE_CHECKING

from plugins.lan_gear.gear.plain import from_bytes, plain, without_serial
from plugins.lan_gear.gear.rules import announced_name
from plugins.lan_gear.gear.thing import Sighting

if TYPE_CHECKING:
    from zeroconf import Zeroconf
    from zeroconf.asyncio import AsyncServiceInfo

#: Who answers this tells the kinds of services that it has.
_ENUMERATION = "_services._dns-sd._udp.local."
_DOMAIN = ".local."
#: One sender cannot make us work without end.
_MOST_NEW_TYPES, _MOST_NAMES = 250, 3000
_AT_A_TIME, _RESOLVE_MS, _RESOLVE_SECONDS = 32, 1200, 3.0
#: Keys of TXT records, in lower case, and the fact that they are. All others are left alone.
_FACTS = {
    **dict.fromkeys(
        ("md", "model", "am", "ty", "product", "usb_mdl", "rmodel", "systype", "type", "modelname"), "model"
    ),
    **dict.fromkeys(("manufacturer", "vendor", "usb_mfg", "mfg", "brand", "integrator", "mf"), "maker"),
    **dict.fromkeys(("macaddress", "mac", "deviceid"), "chip"),
}
_NAMES = ("fn", "friendlyname", "n", "name", "nm")


async def listen(seconds: float, addresses: list[str], services: list[str]) -> list[Sighting]:
    """What announces these services, or any other, to own addresses within so long. No network is no sighting."""
    from zeroconf import IPVersion
    from zeroconf.asyncio import AsyncZeroconf

    if not addresses:
        return []
    try:
        zeroconf = AsyncZeroconf(interfaces=addresses, ip_version=IPVersion.V4Only)
    except OSError:
        return []
    try:
        found = await _browse(zeroconf.zeroconf, seconds, services)
        return await _resolve(zeroconf.zeroconf, found)
    finally:
        await zeroconf.async_close()


async def _browse(zeroconf: Zeroconf, seconds: float, services: list[str]) -> list[tuple[str, str]]:
    """Service and full name of whatever announces itself: of these services, and of those we learn of."""
    from zeroconf import Error
    from zeroconf.asyncio import AsyncServiceBrowser

    found: dict[tuple[str, str], None] = {}
    new_types: asyncio.Queue[str] = asyncio.Queue()
    asked = {service + _DOMAIN for service in services}

    def on_change(service_type: str, name: str, **_other: object) -> None:
        if service_type == _ENUMERATION:
            new_types.put_nowait(name)
        elif len(found) < _MOST_NAMES:
            found[service_type, name] = None

    browsers = [AsyncServiceBrowser(zeroconf, [_ENUMERATION, *sorted(asked)], handlers=[on_change])]
    most_asked = len(asked) + _MOST_NEW_TYPES
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while True:
                # "_Acme._tcp" and "_acme._tcp" are one service to DNS, but two to the library.
                name = await new_types.get()
                if name not in asked and name.endswith(_DOMAIN) and len(asked) < most_asked:
                    asked.add(name)
                    with contextlib.suppress(Error, ValueError):
                        browsers.append(AsyncServiceBrowser(zeroconf, [name], handlers=[on_change]))
    for browser in browsers:
        await browser.async_cancel()
    return list(found)


async def _resolve(zeroconf: Zeroconf, found: list[tuple[str, str]]) -> list[Sighting]:
    """Host, addresses and TXT record of each; those that do not tell in time are left out."""
    from zeroconf import Error
    from zeroconf.asyncio import AsyncServiceInfo

    sightings: list[Sighting] = []
    turns = asyncio.Semaphore(_AT_A_TIME)

    async def resolve(service_type: str, name: str) -> None:
        # A name that is against the rules of DNS-SD is an error of its sender, not of ours.
        with contextlib.suppress(Error, ValueError):
            info = AsyncServiceInfo(service_type, name)
            async with turns:
                if info.load_from_cache(zeroconf) or await info.async_request(zeroconf, _RESOLVE_MS):
                    sightings.append(sighting_of(info))

    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_RESOLVE_SECONDS):
            await asyncio.gather(*(resolve(service_type, name) for service_type, name in found))
    return sightings


def sighting_of(info: AsyncServiceInfo) -> Sighting:
    """What one announcement says."""
    service = info.type.removesuffix(_DOMAIN)
    texts = [(key.decode("utf-8", "replace").lower(), value) for key, value in info.properties.items()]
    facts: dict[str, tuple[str, ...]] = {}
    for key, value in texts:
        fact = "category" if key == "ci" and service.startswith("_hap.") else _FACTS.get(key)
        text = from_bytes(value)
        if fact and text:
            facts[fact] = (*facts.get(fact, ()), hardware_address(text) if fact == "chip" else text)
    own_name = plain(info.name.removesuffix("." + info.type)).rpartition("@")[2]
    said_name = next((from_bytes(value) for wanted in _NAMES for key, value in texts if key == wanted and value), "")
    return Sighting(
        source="mdns",
        addresses=tuple(info.parsed_addresses()),
        host_name=plain(info.server or "").rstrip(".").lower(),
        name=without_serial(said_name or own_name),
        announced=(announced_name(service),),
        facts=facts,
    )


def hardware_address(text: str) -> str:
    """``1CCAE3000001`` and ``1c-ca-e3-…`` as ``1c:ca:e3:…``; what is none stays as it is."""
    digits = re.sub(r"[^0-9a-f]", "", text.lower())
    return ":".join(digits[at : at + 2] for at in range(0, 12, 2)) if len(digits) == 12 else text.lower()
