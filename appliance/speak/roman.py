"""Roman numerals."""

from __future__ import annotations

import re

_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_NUMERAL = re.compile(r"(?=[IVXLC])C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")


def roman_value(written: str) -> int:
    """The number, up to 399; 0 when it is no numeral."""
    if not _NUMERAL.fullmatch(written):
        return 0
    values = [_VALUES[letter] for letter in written]
    following = [*values[1:], 0]
    return sum(-value if value < after else value for value, after in zip(values, following, strict=True))
