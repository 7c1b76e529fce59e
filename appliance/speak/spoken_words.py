"""Abbreviations, Roman numerals, acronyms and the signs of mathematics, in English."""

from __future__ import annotations

import re

from appliance.speak.number_words import cardinal, ordinal
from appliance.speak.rules import Rule, rule

_ABBREVIATIONS = {
    "dr.": "Doctor",
    "mr.": "Mister",
    "mrs.": "Missis",
    "ms.": "Miz",
    "prof.": "Professor",
    "gov.": "Governor",
    "sen.": "Senator",
    "capt.": "Captain",
    "lt.": "Lieutenant",
    "mt.": "Mount",
    "e.g.": "for example",
    "i.e.": "that is",
    "vs.": "versus",
    "approx.": "approximately",
    "dept.": "department",
    "etc.": "et cetera",
    "w/": "with",
    "w/o": "without",
}
_ABBREVIATION = "|".join(re.escape(word) for word in sorted(_ABBREVIATIONS, key=len, reverse=True))

#: Read as words although written in capitals; the voice would spell them.
_WORD_ACRONYMS = frozenset(("RAM", "ROM", "LAN", "WAN", "SIM", "PIN", "NAS", "MAC", "WLAN"))
#: Spelled although they look like words.
_SPELLED = frozenset(("LED", "GPIO"))

_ROMAN = {"I": 1, "V": 5, "X": 10}
_ROMAN_NUMERAL = re.compile(r"(?=[IVX])X{0,3}(?:IX|IV|V?I{0,3})")
_NUMBERED = (
    "chapter|part|volume|book|section|act|scene|phase|type|level|class|grade|appendix|article|step|world war|war"
)
_REIGNING = (
    "Henry|Louis|George|Charles|Edward|William|Richard|James|Elizabeth|Mary|Philip|Frederick|Napoleon|Peter"
    "|Catherine|Ivan|Nicholas|Alexander|Pius|Benedict|John Paul|Francis|Leo|Gregory|Innocent|Harald|Gustav|Felipe|Juan"
)

_SIGNS = {
    "≥": "is greater than or equal to",
    "≤": "is less than or equal to",
    ">=": "is greater than or equal to",
    "<=": "is less than or equal to",
    "!=": "is not equal to",
    "≠": "is not equal to",
    "≈": "is about",
    "==": "equals",
    "=": "equals",
    "<": "is less than",
    ">": "is greater than",
    "+": "plus",
    "×": "times",
    "*": "times",
    "÷": "divided by",
    "−": "minus",
    "±": "plus or minus",
    "→": "to",
    "->": "to",
    "=>": "to",
    "&": "and",
    "@": "at",
    "|": ",",
}
_SIGN = "|".join(re.escape(sign) for sign in sorted(_SIGNS, key=len, reverse=True))


def _abbreviation(match: re.Match[str]) -> str:
    words = _ABBREVIATIONS[match.group().lower()]
    is_last = match.end() == len(match.string) and match.group().endswith(".")
    return f"{words}." if is_last else words


def _roman(written: str) -> int:
    values = [_ROMAN[letter] for letter in written]
    return sum(
        -value if index + 1 < len(values) and value < values[index + 1] else value for index, value in enumerate(values)
    )


def _is_numeral(written: str) -> bool:
    return _ROMAN_NUMERAL.fullmatch(written) is not None


def _numbered(match: re.Match[str]) -> str:
    what, numeral = match["what"], match["numeral"]
    is_pronoun = numeral == "I" and what[0].islower()  # "the part I like"
    return match.group() if is_pronoun or not _is_numeral(numeral) else f"{what} {cardinal(_roman(numeral))}"


def _reigning(match: re.Match[str]) -> str:
    numeral, title = match["numeral"], match["title"] or ""
    is_letter = len(numeral) == 1 and not title  # "Mary I love you"
    if is_letter or not _is_numeral(numeral):
        return match.group()
    return f"{title}{match['name']} the {ordinal(_roman(numeral))}"


def _acronym(match: re.Match[str]) -> str:
    word, plural = match["word"], match["plural"]
    if word in _SPELLED:
        return " ".join(word) + plural
    return word.lower() + plural if word in _WORD_ACRONYMS else match.group()


def _street_or_saint(match: re.Match[str]) -> str:
    """Behind a name it is a street; the first word of a sentence is no name."""
    before = match.string[: match.start()].split()
    return "Street" if len(before) > 1 and before[-1][0].isupper() else "Saint"


RULES: tuple[Rule, ...] = (
    rule(r"\b([CF])#(?!\w)", r"\1 sharp"),
    rule(r"\bWW\s?(?P<numeral>I{1,3})\b", lambda match: f"World War {cardinal(_roman(match['numeral']))}"),
    rule(rf"\b(?P<what>(?i:{_NUMBERED})) (?P<numeral>[IVX]+)\b", _numbered),
    rule(rf"\b(?P<title>(?:King|Queen|Pope|Emperor|Tsar) )?(?P<name>{_REIGNING}) (?P<numeral>[IVX]+)\b", _reigning),
    rule(r"\b(?P<what>[A-Z][a-z]+) (?P<numeral>[IVX]{2,})\b", _numbered),
    rule(r"\bSt\.(?=\s|$)", _street_or_saint),
    rule(rf"(?<!\w)(?:{_ABBREVIATION})(?!\w)", _abbreviation, ignore_case=True),
    rule(r"\b(?P<word>[A-Z]{3,5})(?P<plural>s?)\b", _acronym),
    rule(rf"(?<=\s)(?:{_SIGN})(?=\s)", lambda match: _SIGNS[match.group()]),
    rule(r"(?<=\w)\s?(==|>=|<=|!=|->|=>|[=≥≤≈≠×÷±→])\s?(?=\w)", lambda match: f" {_SIGNS[match[1]]} "),
    rule(r"(?<=\w)/(?=\w)", " "),
)
