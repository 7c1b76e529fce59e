"""Numbers in German words."""

from __future__ import annotations

from appliance.speak.rules import word_list

_ONES = word_list(
    "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn"
    " achtzehn neunzehn"
)
_TENS = ("", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig")
_SCALES = ((10**12, "Billion"), (10**9, "Milliarde"), (10**6, "Million"))
_TOO_LARGE = 10**15
_ORDINAL_STEMS = {1: "erst", 3: "dritt", 7: "siebt", 8: "acht"}


def cardinal(number: int, one: str = "eins") -> str:
    """As in "einhundertsiebenundzwanzig"; ``one`` is the form of a one at the end: "ein Liter", "eine Stunde".

    Numbers too large to follow are read digit by digit.
    """
    if number < 0:
        return f"minus {cardinal(-number, one)}"
    if number >= _TOO_LARGE:
        return digits(str(number))
    if number == 1:
        return one
    words = []
    for scale, name in _SCALES:
        count, number = divmod(number, scale)
        if count:
            many = f"{name}n" if name.endswith("e") else f"{name}en"
            words.append(f"eine {name}" if count == 1 else f"{cardinal(count)} {many}")
    if number or not words:
        words.append(_below_million(number))
    return " ".join(words)


def ordinal(number: int, ending: str) -> str:
    """As in "dreißigsten"; ``ending`` is what the grammar wants: "e", "en" or "er"."""
    before, last = divmod(number, 100)
    if not 1 <= last < 20:
        return f"{cardinal(number)}st{ending}"
    stem = _ORDINAL_STEMS.get(last) or f"{_ONES[last]}t"
    return f"{cardinal(before * 100) if before else ''}{stem}{ending}"


def year(number: int) -> str:
    """As in "neunzehnhundertfünf", "zweitausendsechsundzwanzig"."""
    century, rest = divmod(number, 100)
    if not 1100 <= number <= 1999:
        return cardinal(number)
    return f"{_ONES[century]}hundert{cardinal(rest) if rest else ''}"


def digits(text: str) -> str:
    """Every character by itself: "eins neun zwei"."""
    return " ".join(cardinal(int(character)) if character in "0123456789" else character for character in text)


def decimal(text: str, one: str = "eins") -> str:
    """A written number, with or without thousands points and decimal comma: "drei Komma eins vier"."""
    whole, _, fraction = text.replace(".", "").replace(" ", "").partition(",")
    number = int(whole or "0")
    return f"{cardinal(number)} Komma {digits(fraction)}" if fraction else cardinal(number, one)


def _below_million(number: int) -> str:
    thousands, rest = divmod(number, 1000)
    if not thousands:
        return _below_thousand(rest)
    start = _below_thousand(thousands)
    return (
        f"{start.removesuffix('s') if start.endswith('eins') else start}tausend{_below_thousand(rest) if rest else ''}"
    )


def _below_thousand(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    start = f"{_ONES[hundreds]}hundert" if hundreds else ""
    if start and not rest:
        return start
    if rest < 20:
        return start + ("eins" if rest == 1 else _ONES[rest])
    tens, ones = divmod(rest, 10)
    return f"{start}{_ONES[ones]}und{_TENS[tens]}" if ones else start + _TENS[tens]
