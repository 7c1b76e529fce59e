"""What left the house today: which hosts outside were asked, told from the box's own record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from appliance.catalogue import Catalogue
from appliance.device.box_tool import Arguments, BoxTool
from appliance.ports_think import Traffic
from appliance.tools.tool import CallContext

#: Nobody listens to a longer list; a reader does.
_MOST_SPOKEN = 4
_MOST_WRITTEN = 20


class TrafficToday(Protocol):
    """The record of what passed the network."""

    async def today(self) -> list[Traffic]:
        """What passed today. Raises ``StoreError``."""
        ...


def traffic_tools(traffic: TrafficToday, catalogue: Catalogue) -> list[BoxTool]:
    """``box_traffic``."""
    teller = _TrafficTeller(traffic, catalogue)
    return [
        BoxTool(
            name="box_traffic",
            description="Which hosts outside the house this box asked today, how often, and how much it sent them.",
            work=teller.tell,
            catalogue=catalogue,
        )
    ]


class _TrafficTeller:
    def __init__(self, traffic: TrafficToday, catalogue: Catalogue) -> None:
        self._traffic = traffic
        self._catalogue = catalogue

    async def tell(self, arguments: Arguments, context: CallContext) -> str:
        """The hosts, those asked most often first, and the amount."""
        rows = [row for row in await self._traffic.today() if row.lane == "wan"]
        if not rows:
            return self._catalogue.say("traffic.nothing")
        hosts = self._hosts(rows, _MOST_SPOKEN if context.channel == "voice" else _MOST_WRITTEN)
        count = len({row.host for row in rows})
        sentence = self._catalogue.say("traffic.one" if count == 1 else "traffic.some", count=count, hosts=hosts)
        return f"{sentence} {self._amount(sum(row.bytes_out for row in rows))}"

    def _hosts(self, rows: Sequence[Traffic], most: int) -> str:
        requests: Counter[str] = Counter()
        for row in rows:
            requests[row.host] += row.requests
        named = [host for host, _ in requests.most_common(most)]
        if len(requests) > most:
            return self._catalogue.say("traffic.and_more", hosts=", ".join(named), count=len(requests) - most)
        *first, last = named
        return self._catalogue.say("traffic.and", first=", ".join(first), last=last) if first else last

    def _amount(self, sent_bytes: int) -> str:
        if sent_bytes >= 1_000_000:
            return self._catalogue.say("traffic.megabytes", amount=f"{sent_bytes / 1e6:.0f}")
        if sent_bytes >= 1_000:
            return self._catalogue.say("traffic.kilobytes", amount=f"{sent_bytes / 1e3:.0f}")
        return self._catalogue.say("traffic.little")
