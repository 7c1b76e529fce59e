"""From what was seen of a host to what kind of thing it is. The tables are TOML files beside this folder."""

from __future__ import annotations

import functools
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path
from typing import Any

from plugins.lan_gear.gear.thing import UNKNOWN, Evidence, Sighting

_FOLDER = Path(__file__).resolve().parent.parent
#: The rows of ``more_kinds.toml`` go first. They were written after the rules had been measured, so a measurement on
#: devices that the rules had not met leaves them out.
MEASURED, MORE = _FOLDER / "kinds.toml", _FOLDER / "more_kinds.toml"
#: Less belief than this is none.
_LEAST = 0.4
#: A reason as strong as this knows; a service of this strength makes a thing a second kind.
_STRONG = 0.6
#: Nothing that strangers say of themselves is certain.
_MOST = 0.995
#: The longest phrase in the tables of words.
_PHRASE_WORDS = 3
#: The way out is a router, whatever else it does.
_GATEWAY_WEIGHT = 0.995
#: Phones and computers change their hardware address; gear does not.
_PRIVATE_ADDRESS_WEIGHT = 0.45
_TEXTS = ("model", "maker", "title", "server")
_UPNP_STANDARD = "urn:schemas-upnp-org:device:"
_VERSION = re.compile(r":[\d-]+$")
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@dataclass(frozen=True)
class _Row:
    """A row of a table: what it takes the host for, and on which further conditions."""

    order: int
    kind: str
    weight: float
    conditions: tuple[tuple[str, re.Pattern[str]], ...] = ()


class Rules:
    """The tables of some files; rows of an earlier file go before those of a later one."""

    def __init__(self, *files: Path) -> None:
        tables = [tomllib.loads(file.read_text(encoding="utf-8")) for file in files]
        #: Every kind with its words: ``one``, ``many``, ``words`` (what people call it).
        self.kinds: Mapping[str, Mapping[str, Any]] = _joined(tables, "kinds")
        self._makers: Mapping[str, Mapping[str, Any]] = _joined(tables, "makers")
        self._announced: dict[str, list[_Row]] = defaultdict(list)
        self._services = {
            name for _row, entry in _rows(tables, "announced") for name in entry["what"] if name[0] == "_"
        }
        #: Whole words and phrases, and beginnings of words.
        self._words: dict[str, _Row] = {}
        self._beginnings: dict[str, _Row] = {}
        for row, entry in _rows(tables, "announced"):
            for name in entry["what"]:
                self._announced[announced_name(name)].append(row)
        for row, entry in _rows(tables, "words"):
            for word in entry["any"]:
                (self._beginnings if word.endswith("*") else self._words).setdefault(word.removesuffix("*"), row)
        self._ports = {str(entry["port"]): row for row, entry in _rows(tables, "ports")}

    def services(self) -> list[str]:
        """The DNS-SD services that say something, to ask for; some in two spellings, as gear spells them."""
        return sorted(self._services)

    def evidence_of(self, sighting: Sighting) -> Iterator[Evidence]:
        """What the sighting says; nothing at all is quite usual."""
        if sighting.source == "gateway":
            yield Evidence("gateway", "the way out of the house", "router", _GATEWAY_WEIGHT, is_service=True)
        yield from self._from_announcements(sighting)
        yield from self._from_words(sighting)
        for port in sighting.facts.get("port", ()):
            row = self._ports.get(port)
            if row is not None:
                yield Evidence(sighting.source, f"answers on port {port}", row.kind, row.weight, is_service=True)
        yield from self._from_hardware(sighting)

    def _from_announcements(self, sighting: Sighting) -> Iterator[Evidence]:
        text = None
        for name in dict.fromkeys(sighting.announced):
            for row in self._announced.get(name, ()):
                if row.conditions and text is None:
                    text = "\n".join(_texts(sighting)).lower()
                if all(_fits(sighting, text or "", field, pattern) for field, pattern in row.conditions):
                    yield Evidence(sighting.source, f"announces {name}", row.kind, row.weight, is_service=True)
                    break

    def _from_words(self, sighting: Sighting) -> Iterator[Evidence]:
        """One piece: the first row of the table that any text of the host fits."""
        texts = [*_texts(sighting), *self._unknown_services(sighting)]
        found = [(row.order, phrase, row) for text in texts for phrase, row in self._rows_in(text)]
        if found:
            _order, phrase, row = min(found, key=lambda item: item[:2])
            yield Evidence(sighting.source, f"calls itself {phrase}", row.kind, row.weight)

    def _unknown_services(self, sighting: Sighting) -> list[str]:
        """Their names may still say it: "_acme-speaker._tcp"."""
        unknown = [name for name in sighting.announced if name.startswith("_") and name not in self._announced]
        return [name.partition(".")[0] for name in unknown]

    def _rows_in(self, text: str) -> Iterator[tuple[str, _Row]]:
        words = re.findall(r"[^\W_]+", text.lower())
        phrases = {" ".join(words[at : at + size]) for size in range(1, _PHRASE_WORDS + 1) for at in range(len(words))}
        # "LivingRoomTV" too.
        for phrase in {*phrases, *(part.lower() for part in _CAMEL.findall(text))}:
            if phrase in self._words:
                yield phrase, self._words[phrase]
        for word in words:
            for size in range(3, len(word) + 1):
                if word[:size] in self._beginnings:
                    yield word, self._beginnings[word[:size]]

    def _from_hardware(self, sighting: Sighting) -> Iterator[Evidence]:
        for address in (sighting.mac, *sighting.facts.get("chip", ())):
            maker = self._makers.get(address[:8])
            if maker is not None:
                yield Evidence(sighting.source, f"hardware of {maker['maker']}", maker["kind"], maker["weight"])
        if len(sighting.mac) == 17 and int(sighting.mac[:2], 16) & 2:
            says = "a hardware address of its own making"
            yield Evidence(sighting.source, says, "computer", _PRIVATE_ADDRESS_WEIGHT)


@functools.cache
def shipped_rules() -> Rules:
    """All rules that we have."""
    return Rules(MORE, MEASURED)


def announced_name(text: str) -> str:
    """A service, target or device as the tables write it: lower case, no version, standard devices by their name."""
    return _VERSION.sub("", text.strip().lower()).removeprefix(_UPNP_STANDARD)


def judge(evidence: Iterable[Evidence]) -> tuple[str, float, tuple[str, ...]]:
    """The kind, how sure that is, and the other kinds that the host is as well. A reason given twice counts once."""
    doubt: dict[str, float] = defaultdict(lambda: 1.0)
    strongest: dict[str, float] = defaultdict(float)
    serves: set[str] = set()
    for item in {(item.kind, item.says): item for item in evidence}.values():
        doubt[item.kind] *= 1 - item.weight
        strongest[item.kind] = max(strongest[item.kind], item.weight)
        if item.is_service and item.weight >= _STRONG:
            serves.add(item.kind)
    belief = {kind: min(_MOST, 1 - left) for kind, left in doubt.items()}
    # Weak reasons may add up to a guess, but never beat one that knows.
    ranked = sorted(belief, key=lambda kind: (strongest[kind] >= _STRONG, belief[kind], kind), reverse=True)
    if not ranked or belief[ranked[0]] < _LEAST:
        return UNKNOWN, 0.0, ()
    return ranked[0], round(belief[ranked[0]], 3), tuple(kind for kind in ranked[1:] if kind in serves)


def _fits(sighting: Sighting, text: str, field: str, pattern: re.Pattern[str]) -> bool:
    values = (text,) if field == "text" else sighting.facts.get(field, ())
    return any(pattern.match(value.lower()) for value in values)


def _texts(sighting: Sighting) -> list[str]:
    facts = [value for field in _TEXTS for value in sighting.facts.get(field, ())]
    return [text for text in (sighting.name, sighting.host_name.removesuffix(".local"), *facts) if text]


def _joined(tables: Iterable[Mapping[str, Any]], name: str) -> dict[str, Mapping[str, Any]]:
    return {key: value for table in tables for key, value in table.get(name, {}).items()}


def _rows(tables: Iterable[Mapping[str, Any]], name: str) -> Iterator[tuple[_Row, Mapping[str, Any]]]:
    entries = [entry for table in tables for entry in table.get(name, ())]
    for order, entry in enumerate(entries):
        conditions = tuple(
            (field, re.compile("|".join(f"(?:{translate(glob)})" for glob in globs)))
            for field, globs in entry.get("where", {}).items()
        )
        yield _Row(order, entry["kind"], entry["weight"], conditions), entry
