"""Characters that a person neither sees nor hears, and that change what they believe to read."""

from __future__ import annotations

import unicodedata

#: Control, format (bidi, zero width, tags), surrogate, private use, unassigned; line and paragraph separators.
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
_BLANKS = "\t\n\r"
#: Letters that draw nothing, although Unicode calls them letters or marks.
_EMPTY_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u034f\u17b4\u17b5\u2800")


def visible(text: str) -> str:
    """``text`` on one line, without what is hidden."""
    kept = (" " if letter in _BLANKS else letter for letter in text if letter in _BLANKS or not _is_hidden(letter))
    return " ".join("".join(kept).split())


def has_hidden(text: str) -> bool:
    """Whether there is anything in ``text`` that a person would not see."""
    return any(_is_hidden(letter) and letter not in _BLANKS for letter in text)


def _is_hidden(letter: str) -> bool:
    if letter in _EMPTY_LETTERS or 0xFE00 <= ord(letter) <= 0xFE0F or 0xE0100 <= ord(letter) <= 0xE01EF:
        return True
    return unicodedata.category(letter) in _HIDDEN
