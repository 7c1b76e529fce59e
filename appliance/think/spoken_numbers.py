"""English number words and digits, both ways, as far as times, lengths and volumes need them."""

from __future__ import annotations

from collections.abc import Sequence

_SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")

_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh"),
    *("twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"),
    "twentieth",
)

_SMALL_VALUES = {word: value for value, word in enumerate(_SMALL)}
_ORDINAL_VALUES = {word: index + 1 for index, word in enumerate(_ORDINALS)} | {"thirtieth": 30}
_TENS_VALUES = {word: (index + 2) * 10 for index, word in enumerate(_TENS)} | {"fourty": 40}


def to_words(number: int) -> str:
    """The words of a number from 0 to 99. Raises ``ValueError`` outside of that."""
    if not 0 <= number <= 99:
        raise ValueError(f"no words for {number}")
    if number < 20:
        return _SMALL[number]
    tens, unit = divmod(number, 10)
    return _TENS[tens - 2] + (f"-{_SMALL[unit]}" if unit else "")


def to_ordinal_words(number: int) -> str:
    """``twenty-first``: the ordinal of a day of the month, 1 to 31. Raises ``ValueError`` outside of that."""
    for word, value in _ORDINAL_VALUES.items():
        if value == number:
            return word
    if not 20 < number <= 31:
        raise ValueError(f"no ordinal for {number}")
    tens, unit = divmod(number, 10)
    return f"{_TENS[tens - 2]}-{_ORDINALS[unit - 1]}"


def to_digits(words: Sequence[str]) -> list[str]:
    """The same words with every number, and every day of a month, written in digits (``25``, ``21st``).

    Only what is one number is joined: ``twenty five`` is 25, but ``seven thirty`` stays ``7 30``. A lone
    ``second`` stays: it is more often a length.
    """
    result: list[str] = []
    index = 0
    while index < len(words):
        day, used = _ordinal_at(words, index)
        if day:
            result.append(f"{day}{_suffix(day)}")
        else:
            value, used = _number_at(words, index)
            result.append(words[index] if value is None else str(value))
        index += max(used, 1)
    return result


def _ordinal_at(words: Sequence[str], start: int) -> tuple[int, int]:
    word, following = _word(words, start), _word(words, start + 1)
    if word in ("twenty", "thirty") and following in _ORDINALS[:9]:
        return _TENS_VALUES[word] + _ORDINAL_VALUES[following], 2
    return (0, 0) if word == "second" else (_ORDINAL_VALUES.get(word, 0), 1)


def _suffix(number: int) -> str:
    if 10 < number < 20:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _number_at(words: Sequence[str], start: int) -> tuple[int | None, int]:
    """The number that starts at a word and how many words it takes; (None, 0) when there is none."""
    value, used = _below_hundred(words, start)
    if value is None and _word(words, start) == "a" and _word(words, start + 1) in _SCALES:
        value, used = 1, 1
    if value is None:
        return None, 0
    for scale_word, scale in _SCALES.items():
        if _word(words, start + used) == scale_word and value < 100:
            rest_start = start + used + 1
            skip = 1 if _word(words, rest_start) == "and" else 0
            rest, rest_used = _number_at(words, rest_start + skip)
            if rest is not None and rest < scale:
                return value * scale + rest, used + 1 + skip + rest_used
            return value * scale, used + 1
    return value, used


_SCALES = {"hundred": 100, "thousand": 1000}


def _below_hundred(words: Sequence[str], start: int) -> tuple[int | None, int]:
    word = _word(words, start)
    if word in _SMALL_VALUES:
        return _SMALL_VALUES[word], 1
    if word in _TENS_VALUES:
        unit = _SMALL_VALUES.get(_word(words, start + 1), 0)
        return (_TENS_VALUES[word] + unit, 2) if 1 <= unit <= 9 else (_TENS_VALUES[word], 1)
    return None, 0


def _word(words: Sequence[str], index: int) -> str:
    return words[index] if index < len(words) else ""
