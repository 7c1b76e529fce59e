"""A figure of the benchmark: one ratio against a peer, with its goal and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """``id`` is that of the goal, such as "P8"; less is better.

    ``ratio`` lies between ``low`` and ``high`` in 95 of 100 draws from what was measured; both equal it where it was
    measured once. ``guard`` says in words what must hold beside the ratio (word errors, premature ends), "" when
    nothing; ``own`` and ``peer`` are the medians behind it, in ``unit``.
    """

    id: str
    name: str
    against: str
    ratio: float
    goal: float
    low: float
    high: float
    own: float = 0.0
    peer: float = 0.0
    unit: str = "ms"
    guard: str = ""

    @property
    def is_met(self) -> bool:
        """Whether the goal is reached."""
        return self.ratio <= self.goal
