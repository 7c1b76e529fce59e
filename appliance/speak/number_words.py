"""Numbers in English words."""

from __future__ import annotations

_TO_NINETEEN = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen"
)
_ONES = _TO_NINETEEN.split()
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SCALES = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred"))
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}


def cardinal(number: int) -> str:
    """As in "one hundred twenty seven"; numbers too large to follow are read digit by digit."""
    if number < 0:
        return f"minus {cardinal(-number)}"
    if number < 20:
        return _ONES[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return f"{_TENS[tens]} {_ONES[ones]}" if ones else _TENS[tens]
    if number >= 10**15:
        return digits(str(number))
    scale, name = next(entry for entry in _SCALES if number >= entry[0])
    count, rest = divmod(number, scale)
    return f"{cardinal(count)} {name} {cardinal(rest)}" if rest else f"{cardinal(count)} {name}"


def ordinal(number: int) -> str:
    """As in "twenty first"."""
    words = cardinal(number).split()
    last = words[-1]
    if last in _ORDINALS:
        words[-1] = _ORDINALS[last]
    else:
        words[-1] = f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th"
    return " ".join(words)


def year(number: int) -> str:
    """As in "nineteen oh five", "two thousand nine", "twenty twenty six"."""
    century, rest = divmod(number, 100)
    if not 1100 <= number <= 2099 or 2000 <= number <= 2009:
        return cardinal(number)
    if rest == 0:
        return f"{cardinal(century)} hundred"
    return f"{cardinal(century)} oh {cardinal(rest)}" if rest < 10 else f"{cardinal(century)} {cardinal(rest)}"


def digits(text: str) -> str:
    """Every character by itself: "one nine two", "f e eight zero"."""
    return " ".join(_ONES[int(character)] if character in "0123456789" else character for character in text)


def decimal(text: str) -> str:
    """A written number, with or without sign, thousands commas and fraction: "minus three point one four"."""
    sign, plain = ("minus ", text[1:]) if text[:1] in "-−" else ("", text)
    whole, _, fraction = plain.replace(",", "").partition(".")
    words = cardinal(int(whole or "0"))
    return f"{sign}{words} point {digits(fraction)}" if fraction else f"{sign}{words}"
