"""What one request moved: who asked which host, and how many bytes; never a path or a query."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.network.lane import Lane
from appliance.network.route import Route


@dataclass(frozen=True)
class Passage:
    """One request that was sent, whatever became of it. Bytes are those of HTTP, packed, heads included."""

    who: str
    lane: Lane
    host: str
    bytes_out: int
    bytes_in: int


class Meter:
    """Counts while a request is under way."""

    def __init__(self, who: str, route: Route) -> None:
        self._who = who
        self._destination = route.destination
        self.has_sent = False
        self.bytes_out = 0
        self.bytes_in = 0

    @property
    def passage(self) -> Passage:
        """The counts so far."""
        destination = self._destination
        return Passage(self._who, destination.lane, destination.host, self.bytes_out, self.bytes_in)
