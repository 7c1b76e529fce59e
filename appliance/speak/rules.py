"""A rule of speech: a pattern, and what is said in its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """Where ``pattern`` matches, ``say`` gives the words."""

    pattern: re.Pattern[str]
    say: Callable[[re.Match[str]], str]


def rule(pattern: str, say: Callable[[re.Match[str]], str] | str, *, ignore_case: bool = False) -> Rule:
    """A rule; ``say`` may be a template with groups, as in ``re.sub``."""
    compiled = re.compile(pattern, re.IGNORECASE if ignore_case else 0)
    if isinstance(say, str):
        template = say
        return Rule(compiled, lambda match: match.expand(template))
    return Rule(compiled, say)


def apply_rules(rules: Iterable[Rule], text: str) -> str:
    """``text`` after every rule, in order."""
    for entry in rules:
        text = entry.pattern.sub(entry.say, text)
    return text


def one_of(written: Iterable[str]) -> str:
    """A pattern for any of these texts, the longest first."""
    return "|".join(re.escape(text) for text in sorted(written, key=len, reverse=True))


def sign_rules(signs: Mapping[str, str]) -> tuple[Rule, ...]:
    """Signs of arithmetic by their words: any that stands alone, and those that never belong to a word also in one."""
    return (
        rule(rf"(?<=\s)({one_of(signs)})(?=\s)", lambda match: signs[match[1]]),
        rule(r"(?<=\w)\s?(>=|<=|[=≥≤≈≠×·÷±→])\s?(?=\w)", lambda match: f" {signs[match[1]]} "),
    )


def word_list(text: str) -> tuple[str, ...]:
    """The words of a list that is written as running text."""
    return tuple(text.split())
