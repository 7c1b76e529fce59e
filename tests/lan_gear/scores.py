"""Recall and precision per kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Score:
    """One row of the table. ``right`` of ``there`` were found, ``right`` of ``said`` were true."""

    kind: str
    there: int
    said: int
    right: int

    @property
    def recall(self) -> float:
        return self.right / self.there if self.there else 1.0

    @property
    def precision(self) -> float:
        return self.right / self.said if self.said else 1.0


def scores(judged: Iterable[tuple[tuple[str, ...], str]]) -> list[Score]:
    """From pairs (kinds that are right, kind that was said). A pair is there under the kind said when that is right."""
    there: Counter[str] = Counter()
    said: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for kinds, kind in judged:
        said[kind] += 1
        there[kind if kind in kinds else kinds[0]] += 1
        right[kind] += kind in kinds
    return [Score(kind, there[kind], said[kind], right[kind]) for kind in sorted({*there, *said})]


def total(rows: Iterable[Score], *, without: str = "unknown") -> Score:
    """All kinds together, those that cannot be named left out."""
    kept = [row for row in rows if row.kind != without]
    return Score("all named", sum(r.there for r in kept), sum(r.said for r in kept), sum(r.right for r in kept))


def table(rows: Iterable[Score]) -> str:
    """For a person to read."""
    lines = [f"{'kind':<10} {'there':>5} {'said':>5} {'right':>5} {'recall':>6} {'precision':>9}"]
    lines += [
        f"{row.kind:<10} {row.there:>5} {row.said:>5} {row.right:>5} {row.recall:>6.2f} {row.precision:>9.2f}"
        for row in rows
    ]
    return "\n".join(lines)
