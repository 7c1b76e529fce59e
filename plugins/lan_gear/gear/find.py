"""Which things a person means: by kind ("the printer"), by name ("the Brother"), or both ("the living room TV")."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from plugins.lan_gear.gear.rules import shipped_rules
from plugins.lan_gear.gear.thing import UNKNOWN, Thing

_FILLERS = frozenset(("the", "my", "a", "an", "our", "where", "is", "are", "find", "called", "on", "network", "s"))
_Item = TypeVar("_Item")


def things_like(what: str, things: Iterable[Thing]) -> list[Thing]:
    """The things that ``what`` may mean, the best fit only."""
    return _meant(
        what, [(thing, f"{thing.name} {thing.model} {thing.host_name}", (thing.kind, *thing.also)) for thing in things]
    )


def records_like(what: str, records: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The same among the records of the memory."""
    return _meant(
        what,
        [
            (record, record.get("name", ""), (record.get("kind", UNKNOWN), *record.get("also", ())))
            for record in records
        ],
    )


def bare(what: str) -> str:
    """The words that matter: "where is the printer?" is "printer"."""
    return " ".join(word for word in re.findall(r"[^\W_]+", what) if word.lower() not in _FILLERS)


def _meant(what: str, items: Sequence[tuple[_Item, str, tuple[str, ...]]]) -> list[_Item]:
    asked = [word for word in _words(what) if word not in _FILLERS]
    wanted, rest = _kind_in(asked)
    scored = []
    for item, name, of_kinds in items:
        own = set(_words(name))
        named = sum(word in own for word in asked)
        if wanted in of_kinds:
            # The word for the kind may stand in the name as well: "Kitchen TV".
            scored.append((1 + sum(word in own for word in rest), of_kinds[0] == wanted, item))
        elif named and named >= len(rest):
            scored.append((named, False, item))
    best = max((score[:2] for score in scored), default=None)
    return [item for *score, item in scored if tuple(score) == best]


def _kind_in(asked: Sequence[str]) -> tuple[str, list[str]]:
    """The kind that the words name, and the words that are left; "" when they name none."""
    text = f" {' '.join(word.removesuffix('s') for word in asked)} "
    for kind, row in shipped_rules().kinds.items():
        for word in sorted(row["words"], key=len, reverse=True):
            phrase = f" {' '.join(part.removesuffix('s') for part in _words(word))} "
            if phrase in text:
                return kind, text.replace(phrase, " ", 1).split()
    return "", list(asked)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())
