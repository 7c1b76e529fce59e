"""How real devices announce themselves: public facts, one announcement a line of ``records.tsv``.

The facts (service types, keys and values of TXT records, makers and device types) are those by which Home Assistant
2026.11.0 recognises devices: its generated lists ``zeroconf.py`` and ``ssdp.py``. Where a list has a pattern, the
record has one value that fits it. The kind was added by hand, from what the integration of that name is for; several
kinds, the first one preferred, where the announcement does not tell.

``half``: "seen" while the rules were written, "held" back until they were done. Whole families (integrations) went one
way or the other, by the parity of the SHA-256 of their name.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

_TABLE = Path(__file__).parent / "records.tsv"
#: Some families list every model that they ever had; so many of them count.
_MOST_OF_A_FAMILY = 6


@dataclass(frozen=True)
class Record:
    """One announcement. ``facts`` are a TXT record (mdns) or a device description (ssdp)."""

    half: str
    source: str
    family: str
    kinds: tuple[str, ...]
    announced: str
    name: str
    facts: dict[str, str]

    def service_info(self, number: int, address: str) -> Any:
        """The announcement of a device that has this record and nothing else to say, for ``zeroconf``."""
        from zeroconf import ServiceInfo

        service = f"{self.announced}.local."
        # Two families may share a name; on one network each has its own.
        name = f"{self.name or 'Device'} {number}"
        return ServiceInfo(
            service,
            f"{name}.{service}",
            port=1000,
            properties=self.facts,
            server=f"device-{number}.local.",
            parsed_addresses=[address],
        )

    def description(self, number: int) -> str:
        """The device description that an SSDP answer points at."""
        facts = {"friendlyName": f"Device {number}", **self.facts}
        body = "".join(f"<{tag}>{escape(value)}</{tag}>" for tag, value in facts.items())
        return f'<?xml version="1.0"?><root xmlns="urn:schemas-upnp-org:device-1-0"><device>{body}</device></root>'

    def target(self) -> str:
        """What the device answers a search for everything with."""
        return self.announced or self.facts.get("nt") or self.facts.get("deviceType", "upnp:rootdevice")


def records(half: str = "") -> list[Record]:
    """The records of one half, or all; of a large family only the first ones."""
    counts: Counter[tuple[str, str]] = Counter()
    kept = []
    for record in _read():
        counts[record.family, record.source] += 1
        if counts[record.family, record.source] <= _MOST_OF_A_FAMILY and half in ("", record.half):
            kept.append(record)
    return kept


def _read() -> Iterator[Record]:
    for line in _TABLE.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            half, source, family, kinds, announced, name, facts = line.split("\t")
            yield Record(half, source, family, tuple(kinds.split("/")), announced, name, json.loads(facts))
