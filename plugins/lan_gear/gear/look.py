"""One look at the network: listen, ask, and put together what was seen."""

from __future__ import annotations

import asyncio

from plugins.lan_gear.gear import house as our
from plugins.lan_gear.gear import mdns, pages, ssdp
from plugins.lan_gear.gear.fetch import fetch
from plugins.lan_gear.gear.merge import things_of
from plugins.lan_gear.gear.rules import Rules, shipped_rules
from plugins.lan_gear.gear.thing import Sighting, Thing

#: Long enough for sleepy devices, short enough to wait for.
LISTEN_SECONDS = 4.0
#: Who is known this well is left in peace.
_SURE = 0.6


class NoNetworkError(Exception):
    """The box is on no network."""


def look(*, scan: bool = False, seconds: float = LISTEN_SECONDS, rules: Rules | None = None) -> list[Thing]:
    """The things on the network, the box itself left out. Blocks for some seconds; not for an event loop's thread.

    Only hosts that were found are asked for pages, and only through the LAN lane. ``scan`` also makes every address
    near us known first. Raises ``NoNetworkError``.
    """
    from core import net

    rules = rules or shipped_rules()
    house = our.our_house()
    if not house.networks:
        raise NoNetworkError
    sightings = our.knock(house) if scan else []
    announced, answers = asyncio.run(_listen(house, seconds, rules.services()))
    sightings += announced
    sightings += ssdp.sightings(answers, fetch)
    sightings += our.neighbour_sightings(house)
    sightings += our.gateway_sightings(house, [sighting for sighting in sightings if sighting.mac])
    doubtful = [
        thing.address
        for thing in things_of(sightings, house, net.classify, rules)
        if thing.confidence < _SURE and ":" not in thing.address
    ]
    return things_of([*sightings, *pages.sightings(doubtful, fetch)], house, net.classify, rules)


async def _listen(
    house: our.House, seconds: float, services: list[str]
) -> tuple[list[Sighting], dict[str, ssdp.Answers]]:
    announced, answers = await asyncio.gather(
        mdns.listen(seconds, house.interface_addresses(), services), ssdp.search(seconds, house)
    )
    return announced, answers
