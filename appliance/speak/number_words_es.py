"""Numbers in Spanish words."""

from __future__ import annotations

from appliance.speak.rules import word_list

_BELOW_THIRTY = word_list(
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete"
    " dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete"
    " veintiocho veintinueve"
)
_TENS = ("", "", "", "treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa")
_HUNDREDS = (
    "",
    "ciento",
    "doscientos",
    "trescientos",
    "cuatrocientos",
    "quinientos",
    "seiscientos",
    "setecientos",
    "ochocientos",
    "novecientos",
)
_SCALES = ((10**12, "billón", "billones"), (10**6, "millón", "millones"))
_TOO_LARGE = 10**15
_ORDINAL_ONES = ("", "primero", "segundo", "tercero", "cuarto", "quinto", "sexto", "séptimo", "octavo", "noveno")
_ORDINAL_TENS = (
    "",
    "décimo",
    "vigésimo",
    "trigésimo",
    "cuadragésimo",
    "quincuagésimo",
    "sexagésimo",
    "septuagésimo",
    "octogésimo",
    "nonagésimo",
)


def cardinal(number: int, one: str = "uno") -> str:
    """As in "ciento veintisiete"; ``one`` is the form of a one at the end: "un" and "una" before a noun.

    With "una" the hundreds are feminine too. Numbers too large to follow are read digit by digit.
    """
    if number < 0:
        return f"menos {cardinal(-number, one)}"
    if number >= _TOO_LARGE:
        return digits(str(number))
    words = []
    for scale, name, many in _SCALES:
        count, number = divmod(number, scale)
        if count:
            words.append(f"un {name}" if count == 1 else f"{_below_million(count, 'un')} {many}")
    if number or not words:
        words.append(_below_million(number, one))
    return " ".join(words)


def ordinal(number: int, ending: str) -> str:
    """As in "vigésima primera", up to 99th; ``ending`` is "o", "a" or "" ("primer piso")."""
    tens, ones = divmod(number, 10)
    if not 1 <= number <= 99:
        return cardinal(number)
    words = " ".join(filter(None, (_ORDINAL_TENS[tens], _ORDINAL_ONES[ones])))
    if ending == "a":
        return " ".join(f"{word[:-1]}a" for word in words.split())
    return words[:-1] if not ending and ones in (1, 3) else words


def digits(text: str) -> str:
    """Every character by itself: "uno nueve dos"."""
    return " ".join(cardinal(int(character)) if character in "0123456789" else character for character in text)


def decimal(text: str, one: str = "uno") -> str:
    """A written number, with or without thousands points and decimal comma: "tres coma catorce"."""
    whole, _, fraction = text.replace(".", "").replace(" ", "").partition(",")
    number = int(whole or "0")
    if not fraction:
        return cardinal(number, one)
    is_short = len(fraction) <= 2 and not fraction.startswith("0")
    return f"{cardinal(number)} coma {cardinal(int(fraction)) if is_short else digits(fraction)}"


def _below_million(number: int, one: str) -> str:
    thousands, rest = divmod(number, 1000)
    words = []
    if thousands:
        words.append("mil" if thousands == 1 else f"{_below_thousand(thousands, 'una' if one == 'una' else 'un')} mil")
    if rest or not thousands:
        words.append(_below_thousand(rest, one))
    return " ".join(words)


def _below_thousand(number: int, one: str) -> str:
    if number == 100:
        return "cien"
    hundreds, rest = divmod(number, 100)
    start = _HUNDREDS[hundreds]
    if one == "una" and hundreds > 1:
        start = f"{start[:-2]}as"
    return f"{start} {_below_hundred(rest, one)}" if start and rest else start or _below_hundred(rest, one)


def _below_hundred(number: int, one: str) -> str:
    if number == 1:
        return one
    if number == 21:
        return {"uno": "veintiuno", "un": "veintiún"}.get(one, "veintiuna")
    if number < 30:
        return _BELOW_THIRTY[number]
    tens, ones = divmod(number, 10)
    return f"{_TENS[tens]} y {one if ones == 1 else _BELOW_THIRTY[ones]}" if ones else _TENS[tens]
