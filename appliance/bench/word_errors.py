"""Word error rate: how many words of what was said were not heard as said."""

from __future__ import annotations

import re
from collections.abc import Sequence

from appliance.speak.number_words import cardinal, digits

#: Two ways to write one word.
_SAME = {"mr": "mister", "meters": "meters", "metres": "meters"}


def words_of(text: str) -> list[str]:
    """Lower-case words without punctuation; numbers in words: small ones counted, longer ones digit by digit."""
    spoken = re.sub(r"\d+", lambda match: f" {_number(match.group())} ", text.lower().replace("-", " "))
    return [_SAME.get(word, word) for word in re.sub(r"[^a-z' ]", " ", spoken).split()]


def word_errors(reference: Sequence[str], heard: Sequence[str]) -> int:
    """The fewest words to replace, add or leave out that turn ``heard`` into ``reference``."""
    row = list(range(len(heard) + 1))
    for count, expected in enumerate(reference, start=1):
        diagonal, row[0] = row[0], count
        for place, word in enumerate(heard, start=1):
            best = min(row[place] + 1, row[place - 1] + 1, diagonal + (expected != word))
            diagonal, row[place] = row[place], best
    return row[-1]


def _number(written: str) -> str:
    return cardinal(int(written)) if len(written) <= 2 else digits(written)
