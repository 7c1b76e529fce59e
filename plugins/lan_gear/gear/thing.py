"""The values that everything here is about: what was seen of a host, what that says, and the thing it makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Sighting:
    """What one source saw of one host. All text has been through ``plain``.

    ``source``: mdns, ssdp, page, neighbour or gateway. ``mac`` is the kernel's word, never a stranger's.
    ``announced``: DNS-SD services ("_ipp._tcp"), SSDP targets and UPnP devices as ``rules.announced_name`` writes
    them. ``facts``: model, maker, category, title, server, port, chip (a hardware address that the host claims).
    """

    source: str
    addresses: tuple[str, ...] = ()
    mac: str = ""
    host_name: str = ""
    name: str = ""
    announced: tuple[str, ...] = ()
    facts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Evidence:
    """One reason to take a host for a kind of thing; ``weight`` is a belief from 0 to 1.

    ``is_service``: what the host does, not what it is called or made of.
    """

    source: str
    says: str
    kind: str
    weight: float
    is_service: bool = False


@dataclass(frozen=True)
class Thing:
    """A host on the network. ``confidence`` is that of ``kind``; ``also`` names other kinds that it is as well.

    ``lane`` is the way that requests to ``address`` go: "lan" or "wan".
    ``name``, ``model`` (with its maker), ``mac`` and ``host_name`` may be "".
    """

    name: str
    kind: str
    confidence: float
    address: str
    addresses: tuple[str, ...]
    lane: str
    model: str = ""
    mac: str = ""
    host_name: str = ""
    also: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
