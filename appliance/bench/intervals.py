"""Intervals by bootstrap: what the figure would be with other clips of the same kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_RESAMPLES = 2_000
Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A figure, and where 95 of 100 repetitions would find it."""

    value: float
    low: float
    high: float


def estimate(rows: Values, figure: Callable[[Values], float]) -> Estimate:
    """``figure`` of ``rows`` (one for each clip, drawn again with replacement)."""
    random = np.random.default_rng(1)
    drawn = [figure(rows[random.integers(0, len(rows), len(rows))]) for _ in range(_RESAMPLES)]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Estimate(figure(rows), float(low), float(high))
