"""What a plugin's request gets that says nothing else, and what none may exceed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Read whole, an answer lies in memory; a stream does not.

    ``outside_ca_file`` holds the authorities for servers outside the house; "" is the usual set.
    """

    connect_seconds: float = 10.0
    read_seconds: float = 60.0
    most_whole_bytes: int = 64_000_000
    most_streamed_bytes: int = 2_000_000_000
    outside_ca_file: str = ""
