"""The two lanes: in the house, and out of it. What they are called wherever they meet a person is here."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Lane(enum.Enum):
    """Which way a request goes."""

    #: In the house: direct, never through a proxy.
    LAN = "lan"
    #: Out of it: through the proxy when there is one.
    WAN = "wan"


@dataclass(frozen=True)
class Destination:
    """Where a URL leads, known from its text alone.

    ``host`` is as it will be connected to: lower case, ASCII (punycode), without brackets or a final dot; ``port`` is
    the one that will be used; ``reason`` says in a few words why it is this lane ("a private address").
    """

    lane: Lane
    scheme: str
    host: str
    port: int
    reason: str
