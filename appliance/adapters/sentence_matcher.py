"""Sentences recognised with ``hassil`` from a YAML file of templates."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from appliance.errors import ConfigError
from appliance.ports import Json
from appliance.ports_think import SentenceMatch

#: What hassil runs into when the file is YAML, but of another shape.
_MISSHAPED = (AttributeError, ValueError, AssertionError)


class HassilMatcher:
    """A ``SentenceMatcher``; ``lists`` are lists for every text (place names), as words and values."""

    def __init__(self, file: Path, lists: Mapping[str, Mapping[str, Json]] | None = None) -> None:
        self._file = file
        self._lists = dict(lists or {})
        self._intents: Any = None
        self._slot_lists: dict[str, Any] = {}
        self._lock = threading.Lock()

    def load(self) -> None:
        """Read and parse the templates once; about a second on a small board. Raises ``ConfigError``."""
        with self._lock:
            if self._intents is not None:
                return
            import yaml  # type: ignore[import-untyped]
            from hassil import Intents
            from hassil.errors import HassilError
            from hassil.parser import ParseError

            try:
                with self._file.open(encoding="utf-8") as file:
                    intents = Intents.from_yaml(file)
                # hassil parses a sentence when it is first tried: better now than in the first turn.
                for intent in intents.intents.values():
                    for data in intent.data:
                        for sentence in data.sentences:
                            sentence.get_required_clauses(intents.expansion_rules)
            except (OSError, yaml.YAMLError, HassilError, ParseError, LookupError, TypeError, *_MISSHAPED) as error:
                raise ConfigError(f"the sentences in {self._file} cannot be read: {error}") from error
            self._slot_lists = {name: _slot_list(name, values) for name, values in self._lists.items()}
            self._intents = intents

    def match(self, text: str, lists: Mapping[str, Mapping[str, Json]]) -> list[SentenceMatch]:
        """Every way in which the templates read the whole of ``text``."""
        self.load()
        from hassil import recognize_all

        slot_lists = {**self._slot_lists, **{name: _slot_list(name, values) for name, values in lists.items()}}
        return [_as_match(result) for result in recognize_all(text, self._intents, slot_lists=slot_lists)]


def _slot_list(name: str, values: Mapping[str, Json]) -> Any:
    from hassil import TextSlotList

    return TextSlotList.from_tuples(values.items(), allow_template=False, name=name)


def _as_match(result: Any) -> SentenceMatch:
    return SentenceMatch(
        intent=result.intent.name,
        slots={name: entity.value for name, entity in result.entities.items()},
        wildcards=frozenset(name for name, entity in result.entities.items() if entity.is_wildcard),
        metadata=dict(result.intent_metadata or {}),
    )
