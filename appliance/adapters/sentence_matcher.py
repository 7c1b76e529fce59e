"""Sentences recognised with ``hassil`` from YAML files of templates: the box's own, and those of plugins."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.adapters.sentence_templates import read_foreign_templates, read_templates
from appliance.errors import ConfigError
from appliance.ports import Json
from appliance.ports_think import SentenceFile, SentenceMatch

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Templates:
    """What was read from one file. ``owner`` is "" for the box; of a plugin only ``intents`` count."""

    owner: str
    parsed: Any
    intents: frozenset[str] = frozenset()


class HassilMatcher:
    """A ``SentenceMatcher``.

    ``lists`` are lists for every text (place names), as words and values; ``names`` those that ``match`` is given.
    """

    def __init__(
        self, file: Path, lists: Mapping[str, Mapping[str, Json]] | None = None, names: Sequence[str] = ()
    ) -> None:
        self._file = file
        self._lists = dict(lists or {})
        self._names = (*self._lists, *names)
        self._own: _Templates | None = None
        self._foreign: tuple[_Templates, ...] = ()
        self._slot_lists: dict[str, Any] = {}
        self._lock = threading.Lock()

    def load(self) -> None:
        """Read and parse the templates once; about a second on a small board. Raises ``ConfigError``."""
        with self._lock:
            if self._own is None:
                parsed = read_templates(self._file)
                self._slot_lists = {name: _slot_list(name, values) for name, values in self._lists.items()}
                self._own = _Templates("", parsed)

    def use(self, files: Sequence[SentenceFile]) -> Mapping[str, tuple[str, ...]]:
        """Recognise these too, instead of those given before; what is wrong with them, by owner."""
        found: list[_Templates] = []
        wrong: dict[str, tuple[str, ...]] = {}
        for entry in files:
            try:
                parsed = read_foreign_templates(entry.file, self._names)
            except ConfigError as error:
                wrong[entry.owner] = (str(error),)
                continue
            found.append(_Templates(entry.owner, parsed, entry.intents))
            strange = sorted(set(parsed.intents) - entry.intents)
            if strange:
                wrong[entry.owner] = tuple(
                    f"its sentences for {name} do not count: it has no such tool" for name in strange
                )
        self._foreign = tuple(found)
        return wrong

    def match(self, text: str, lists: Mapping[str, Mapping[str, Json]]) -> list[SentenceMatch]:
        """Every way in which the templates read the whole of ``text``."""
        self.load()
        slot_lists = {**self._slot_lists, **{name: _slot_list(name, values) for name, values in lists.items()}}
        found = list(_matches(self._own, text, slot_lists)) if self._own is not None else []
        for templates in self._foreign:
            try:
                matches = list(_matches(templates, text, slot_lists))
            except Exception:
                # Whatever hassil makes of a stranger's file, the box understands its own sentences.
                _LOG.exception("the sentences of %s fail, and are left out from now on", templates.owner)
                self._foreign = tuple(other for other in self._foreign if other is not templates)
            else:
                found += [match for match in matches if match.intent in templates.intents]
        return found


def _matches(templates: _Templates, text: str, slot_lists: Mapping[str, Any]) -> Iterator[SentenceMatch]:
    from hassil import recognize_all

    for result in recognize_all(text, templates.parsed, slot_lists=dict(slot_lists)):
        yield SentenceMatch(
            intent=result.intent.name,
            slots={name: _plain(entity.value) for name, entity in result.entities.items()},
            wildcards=frozenset(name for name, entity in result.entities.items() if entity.is_wildcard),
            metadata=dict(result.intent_metadata or {}),
            owner=templates.owner,
        )


def _plain(value: Json) -> Json:
    """Numbers of a range come as floats; whoever says "note two" means a whole one."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _slot_list(name: str, values: Mapping[str, Json]) -> Any:
    from hassil import TextSlotList

    return TextSlotList.from_tuples(values.items(), allow_template=False, name=name)
