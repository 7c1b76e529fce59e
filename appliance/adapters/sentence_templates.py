"""One file of sentence templates, parsed with ``hassil`` and looked through for what would fail in the first turn."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from appliance.errors import ConfigError

#: What hassil runs into when the file is YAML, but of another shape.
_MISSHAPED = (AttributeError, ValueError, AssertionError, LookupError, TypeError, RecursionError)
#: A file of a stranger may not keep every turn waiting.
_LARGEST_BYTES = 64_000
_MOST_SENTENCES = 300
_MOST_PARTS = 200


def read_templates(file: Path) -> Any:
    """The ``Intents`` of a file, every sentence parsed. Raises ``ConfigError``."""
    import yaml  # type: ignore[import-untyped]
    from hassil import Intents
    from hassil.errors import HassilError
    from hassil.parser import ParseError

    try:
        with file.open(encoding="utf-8") as stream:
            # The loader in C, where there is one, reads the same in a tenth of the time.
            loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
            intents = Intents.from_dict(yaml.load(stream, Loader=loader))
        # hassil parses a sentence when it is first tried: better now than in the first turn.
        for sentence in _sentences(intents):
            sentence.get_required_clauses(intents.expansion_rules)
    except (OSError, yaml.YAMLError, HassilError, ParseError, *_MISSHAPED) as error:
        raise ConfigError(f"the sentences in {file} cannot be read: {error}") from error
    return intents


def read_foreign_templates(file: Path, lists: Collection[str]) -> Any:
    """The same for a file that somebody else wrote; ``lists`` are those that it may use without having them.

    Raises ``ConfigError`` also for what would fail, or take for ever, when a sentence is matched.
    """
    try:
        size = file.stat().st_size
    except OSError as error:
        raise ConfigError(f"the sentences in {file} cannot be read: {error}") from error
    if size > _LARGEST_BYTES:
        raise ConfigError(f"the sentences in {file} are too large; {_LARGEST_BYTES} bytes are the most")
    intents = read_templates(file)
    sentences = list(itertools.islice(_sentences(intents), _MOST_SENTENCES + 1))
    if len(sentences) > _MOST_SENTENCES:
        raise ConfigError(f"there are too many sentences in {file}; {_MOST_SENTENCES} are the most")
    known = {*lists, *intents.slot_lists}
    for sentence in sentences:
        _check(sentence, intents.expansion_rules, known)
    return intents


def _sentences(intents: Any) -> Iterator[Any]:
    for intent in intents.intents.values():
        for data in intent.data:
            yield from data.sentences


def _check(sentence: Any, rules: Mapping[str, Any], lists: Collection[str]) -> None:
    text = str(sentence.text)
    for count, (kind, name) in enumerate(_references(sentence.expression, rules, ()), start=1):
        if kind == "circle":
            raise ConfigError(f"the rule <{name}> leads back to itself, in: {text}")
        if kind == "rule":
            raise ConfigError(f"there is no rule <{name}>, in: {text}")
        if kind == "list" and name not in lists:
            raise ConfigError(f"there is no list {{{name}}}, in: {text}")
        if count > _MOST_PARTS:
            raise ConfigError(f"this sentence has too many parts: {text}")


def _references(expression: Any, rules: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Every part of a sentence: lists, what is wrong with rules, and the rest as ("", "")."""
    from hassil.expression import Group, ListReference, RuleReference

    if isinstance(expression, ListReference):
        yield ("", "") if expression.is_inline_range else ("list", expression.list_name)
    elif isinstance(expression, RuleReference):
        name = expression.rule_name
        if name in path:
            yield "circle", name
        elif name not in rules:
            yield "rule", name
        else:
            yield from _references(rules[name].expression, rules, (*path, name))
    elif isinstance(expression, Group):
        for item in expression.items:
            yield from _references(item, rules, path)
    else:
        yield "", ""
