"""Abbreviations, Roman numerals, acronyms and the signs of mathematics, in English."""

from __future__ import annotations

import re

from appliance.speak.number_words import cardinal, ordinal
from appliance.speak.roman import roman_value
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
    "ph.d.": "P H D",
    "jr.": "Junior",
    "sr.": "Senior",
    "inc.": "Incorporated",
    "et al.": "and others",
    "ca.": "circa",
    "cf.": "compare",
    "a.k.a.": "also known as",
    "vs": "versus",
    "etc.": "et cetera",
    "w/": "with",
    "w/o": "without",
}
_ABBREVIATION = "|".join(re.escape(word) for word in sorted(_ABBREVIATIONS, key=len, reverse=True))

#: Read as words although written in capitals; the voice would spell them.
_WORD_ACRONYMS = frozenset(("RAM", "ROM", "LAN", "WAN", "SIM", "PIN", "NAS", "MAC", "WLAN"))
#: Spelled although they look like words.
_SPELLED = frozenset(("LED", "GPIO"))

_NUMBERED = (
    "chapter|part|volume|book|section|act|scene|phase|type|level|class|grade|appendix|article|step|world war|war"
)
_REIGNING = (
    "Henry|Louis|George|Charles|Edward|William|Richard|James|Elizabeth|Mary|Philip|Frederick|Napoleon|Peter"
    "|Catherine|Ivan|Nicholas|Alexander|Pius|Benedict|John Paul|Francis|Leo|Gregory|Innocent|Harald|Gustav|Felipe|Juan"
)

#: These only before a number.
_BEFORE_NUMBERS = {
    "p": "page",
    "pp": "pages",
    "fig": "figure",
    "figs": "figures",
    "vol": "volume",
    "est": "established",
    "max": "maximum",
}
_NUMBER_WORDS = frozenset(word for number in range(100) for word in cardinal(number).split())

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
    "&&": "and",
    "||": "or",
    "@": "at",
    "|": ",",
}
_SIGN = "|".join(re.escape(sign) for sign in sorted(_SIGNS, key=len, reverse=True))


def _abbreviation(match: re.Match[str]) -> str:
    return _ABBREVIATIONS[match.group().lower()]


def _numbered(match: re.Match[str]) -> str:
    what, numeral = match["what"], match["numeral"]
    is_pronoun = numeral == "I" and what[0].islower()  # "the part I like"
    number = roman_value(numeral)
    return match.group() if is_pronoun or not number else f"{what} {cardinal(number)}"


def _reigning(match: re.Match[str]) -> str:
    numeral, title = match["numeral"], match["title"] or ""
    is_letter = len(numeral) == 1 and not title  # "Mary I love you"
    number = roman_value(numeral)
    return match.group() if is_letter or not number else f"{title}{match['name']} the {ordinal(number)}"


def _acronym(match: re.Match[str]) -> str:
    word, plural = match["word"], match["plural"]
    if word in _SPELLED:
        return " ".join(word) + plural
    return word.lower() + plural if word in _WORD_ACRONYMS else match.group()


def _before_number(match: re.Match[str]) -> str:
    """ "p. 12", whose number is in words by now; not an initial, and not "I met Max." """
    is_number = match["next"] in _NUMBER_WORDS
    return f"{_BEFORE_NUMBERS[match['what'].lower()]} " if is_number else match.group()


def _street_or_saint(match: re.Match[str]) -> str:
    """Behind a name it is a street; the first word of a sentence is no name."""
    before = match.string[: match.start()].split()
    return "Street" if len(before) > 1 and before[-1][0].isupper() and before[-1][-1].isalnum() else "Saint"


RULES: tuple[Rule, ...] = (
    rule(r"\b([CF])#(?!\w)", r"\1 sharp"),
    rule(r"\bWW\s?(?P<numeral>I{1,3})\b", lambda match: f"World War {cardinal(roman_value(match['numeral']))}"),
    rule(rf"\b(?P<what>(?i:{_NUMBERED})) (?P<numeral>[IVX]+)\b", _numbered),
    rule(rf"\b(?P<title>(?:King|Queen|Pope|Emperor|Tsar) )?(?P<name>{_REIGNING}) (?P<numeral>[IVX]+)\b", _reigning),
    rule(r"\b(?P<what>[A-Z][a-z]+) (?P<numeral>[IVX]{2,}|[IVXLC]{3,})\b", _numbered),
    rule(r"\bSt\.(?=[\s,;:]|$)", _street_or_saint),
    rule(rf"(?<!\w)(?:{_ABBREVIATION})(?!\w)", _abbreviation, ignore_case=True),
    rule(r"\b(?P<word>[A-Z]{3,5})(?P<plural>s?)\b", _acronym),
    rule(rf"\b(?P<what>{'|'.join(_BEFORE_NUMBERS)})\.\s?(?=(?P<next>\w+))", _before_number, ignore_case=True),
    # The way through a menu: "Settings > Network".
    rule(r"(?<=[a-z])\s>\s(?=[A-Z][a-z])", ", "),
    rule(r"\b[A-Z]{1,3}&[A-Z]{1,2}\b", lambda match: " ".join(match.group()).replace("&", "and")),
    rule(r"(?<=\w)&(?=\w)", " and "),
    rule(r"(?<=\w)\+(?=\w)", " plus "),
    rule(r"(?<=\b[A-F])\+(?![\w+])", " plus"),
    rule(rf"(?<=\s)(?:{_SIGN})(?=\s)", lambda match: _SIGNS[match.group()]),
    rule(r"(?<=\w)\s?(==|>=|<=|!=|->|=>|[=≥≤≈≠×÷±→])\s?(?=\w)", lambda match: f" {_SIGNS[match[1]]} "),
    rule(r"(?<=\w)/(?=\w)", " "),
)
