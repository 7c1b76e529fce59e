"""The first clause of a sentence, which can be spoken while the rest of the sentence is still being synthesised."""

from __future__ import annotations

import re

#: Fewer words than this are over before the rest is there; more gain nothing.
LEAST_WORDS, MOST_WORDS = 3, 8
#: A rest of fewer words is not worth a cut.
_LEAST_REST_WORDS = 3
#: Marks at which a voice makes a pause anyway. Nowhere else is a sentence cut: a voice that does not see what follows
#: lets its tone fall, and that is heard.
_PAUSE = re.compile(r"[,;:–—]+[\"'”’)\]]*\s+")


def first_clause(sentence: str) -> tuple[str, str]:
    """The first clause with its mark, and the rest; the whole sentence and "" where there is no good place to cut."""
    for mark in _PAUSE.finditer(sentence):
        first, rest = sentence[: mark.end()].rstrip(), sentence[mark.end() :]
        words = _count_words(first)
        if words > MOST_WORDS or _count_words(rest) < _LEAST_REST_WORDS:
            break
        if words >= LEAST_WORDS:
            return first, rest
    return sentence, ""


def _count_words(text: str) -> int:
    return sum(any(character.isalnum() for character in word) for word in text.split())
