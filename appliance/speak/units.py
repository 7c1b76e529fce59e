"""What a written unit is called: shared by the languages whose nouns have a gender."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Unit:
    """A noun that is counted; ``gender`` is "m", "f" or "n"."""

    gender: str
    singular: str
    plural: str


def units(table: Mapping[str, str]) -> dict[str, Unit]:
    """Written unit -> its noun, from lines such as "h": "f Stunde Stunden"; "_" stands for a space."""
    return {written: Unit(*(word.replace("_", " ") for word in line.split())) for written, line in table.items()}
