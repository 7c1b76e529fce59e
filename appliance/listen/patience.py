"""How long the box waits for a person to go on, in one word of the owner's.

The figures are measured with ``appliance bench hearing``. A sentence that was broken off sounds less finished than a
whole one, but not by much, and less so the longer the silence behind it: so the first look asks for much certainty. The
second finds most of what the first was not sure of. Before 0.25 s of silence nobody is sure: so long is a comma.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from appliance.listen.config import ListenConfig


@dataclass(frozen=True)
class Look:
    """After this much silence the turn detector is asked; the turn is over when it is at least so sure."""

    silence_seconds: float
    finished_probability: float


@dataclass(frozen=True)
class Manner:
    """When the turn is over: by one of the looks, in this order, else after ``longest_silence_seconds``.

    Without a turn detector nobody can tell, and it is over after ``timer_seconds``.
    """

    looks: tuple[Look, ...]
    longest_silence_seconds: float
    timer_seconds: float


_MANNERS: Mapping[str, Manner] = {
    "relaxed": Manner((Look(0.7, 0.9), Look(1.1, 0.8)), longest_silence_seconds=2.5, timer_seconds=1.5),
    "normal": Manner((Look(0.28, 0.95), Look(0.5, 0.5)), longest_silence_seconds=0.9, timer_seconds=0.7),
    "quick": Manner((Look(0.25, 0.9), Look(0.4, 0.5)), longest_silence_seconds=0.6, timer_seconds=0.5),
}


def manner_of(rules: ListenConfig) -> Manner:
    """What silence means for an owner with these settings."""
    return _MANNERS[rules.patience]
