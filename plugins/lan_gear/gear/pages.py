"""A look at the known HTTP ports of hosts that were found and have not said what they are."""

from __future__ import annotations

import time
from collections.abc import Iterable

from plugins.lan_gear.gear.fetch import Fetch, each
from plugins.lan_gear.gear.plain import plain
from plugins.lan_gear.gear.thing import Sighting

#: Ports that answer plain HTTP, the most telling first.
_PORTS = (80, 8080, 8123, 8008, 8060, 631, 5000, 32400, 1400)
_LONGEST_PAGE = 16384
#: A host that answers nothing at all, not even with a refusal, is not asked again: it does not want to be.
_SILENT_SECONDS = 0.9


def sightings(hosts: Iterable[str], fetch: Fetch) -> list[Sighting]:
    """One sighting for each page that a host shows. ``hosts`` are IPv4 addresses in the house."""
    return [sighting for found in each(lambda host: _look(host, fetch), hosts) for sighting in found]


def _look(host: str, fetch: Fetch) -> list[Sighting]:
    found = []
    for port in _PORTS:
        started = time.monotonic()
        page = fetch(f"http://{host}:{port}/", _LONGEST_PAGE)
        if page is None:
            if time.monotonic() - started > _SILENT_SECONDS:
                break
            continue
        texts = {"server": (page.headers.get("server", ""),), "title": (page.title, _realm(page.headers))}
        facts = {name: tuple(text for value in values if (text := plain(value))) for name, values in texts.items()}
        found.append(Sighting("page", (host,), facts={**facts, "port": (str(port),)}))
    return found


def _realm(headers: dict[str, str]) -> str:
    """What the page calls itself when it asks for a password."""
    return headers.get("www-authenticate", "").partition('realm="')[2].partition('"')[0]
