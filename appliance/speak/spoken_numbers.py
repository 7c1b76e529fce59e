"""Money, measures, percentages, fractions, ranges and plain numbers, in English."""

from __future__ import annotations

import re

from appliance.speak.number_words import cardinal, decimal, digits, ordinal, year
from appliance.speak.rules import Rule, one_of, rule
from appliance.speak.spoken_maths import POWERS, REST
from appliance.speak.units_en import MONEY, PER, UNITS

_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
#: A minus sign, not a hyphen or a dash between words.
_SIGN = r"(?<![\w.)])[-−](?=[\d$€£¥])"

_MULTIPLES = {"k": "thousand", "m": "million", "b": "billion", "bn": "billion", "t": "trillion"}
_SPOKEN_MULTIPLES = "thousand|million|billion|trillion"

#: "in" alone is hardly ever a length.
_UNIT = one_of(unit for unit in UNITS if unit != "in")
_PER = one_of(PER)
_CODE = one_of(sign for sign in MONEY if sign.isalpha())
_SIGNED = one_of(sign for sign in MONEY if not sign.isalpha())

_PARTS = {
    2: "half",
    3: "third",
    4: "quarter",
    5: "fifth",
    6: "sixth",
    7: "seventh",
    8: "eighth",
    9: "ninth",
    10: "tenth",
}
_VULGAR = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅛": "1/8", "⅕": "1/5"}

_VERSIONED = (
    "version|release|firmware|kernel|python|node|java|php|ruby|perl|go|rust|debian|ubuntu|fedora|alpine|android|ios"
    "|macos|windows|linux|raspberry pi os|home assistant|django|react|postgres|sqlite|openssl|docker|gcc|npm|pip"
    "|bluetooth|usb"
)
_YEAR = r"(?:1[1-9]\d\d|20\d\d)(?![\d,.]*\d)(?!\s?[%°])"
_BEFORE_YEARS = (
    "in|since|from|until|till|by|of|before|after|around|between|during|year|early|late|mid|spring|summer|autumn"
    "|fall|winter|january|february|march|april|may|june|july|august|september|october|november|december"
)


def _money(match: re.Match[str]) -> str:
    one, many, hundredth = MONEY[match["sign"]]
    amount = match["amount"]
    multiple = match["spoken"] or _MULTIPLES.get((match["multiple"] or "").lower())
    if multiple:
        return f"{decimal(amount)} {multiple} {many}"
    return _coins(amount, one, many, hundredth)


def _coins(amount: str, one: str, many: str, hundredth: str) -> str:
    whole, _, fraction = amount.replace(",", "").partition(".")
    if len(fraction) != 2 or not hundredth:
        return f"{decimal(amount)} {one if amount == '1' else many}"
    hundredths = "" if fraction == "00" else _hundredths(int(fraction), hundredth)
    if whole == "0" and hundredths:
        return hundredths
    units = f"{cardinal(int(whole))} {one if whole == '1' else many}"
    return f"{units} and {hundredths}" if hundredths else units


def _hundredths(number: int, name: str) -> str:
    many = "pence" if name == "penny" else f"{name}s"
    return f"{cardinal(number)} {name if number == 1 else many}"


def _measure(match: re.Match[str]) -> str:
    number = match["number"]
    one, many = UNITS[match["unit"]]
    # "a sixty watt bulb", but "sixty watts"
    is_attribute = match["article"] and re.match(r"\s+[a-z]", match.string[match.end() :])
    words = one if is_attribute or number == "1" else many
    return f"{match['article'] or ''}{decimal(number)} {words}"


def _standing(match: re.Match[str], words: str) -> str:
    """A unit without a number; behind one the measures say it."""
    return match.group() if match.string[: match.start()].rstrip()[-1:].isdigit() else words


def _fraction(match: re.Match[str]) -> str:
    over, under = int(match["over"]), int(match["under"])
    part = _PARTS.get(under)
    if part is None or not 0 < over < under:
        return match.group()
    many = "halves" if part == "half" else f"{part}s"
    words = f"{cardinal(over)} {part if over == 1 else many}"
    if under >= 5 and not match["unit"] and re.match(r"\s[a-z]+s\b", match.string[match.end() :]):
        return f"{over} of {under}"  # "3/5 tasks"
    one_unit, many_units = UNITS.get(match["unit"] or "", ("", ""))
    if match["whole"]:
        return f"{match['whole']} and {words} {many_units}".rstrip()
    return f"{words} {one_unit}".rstrip()


def _scientific(match: re.Match[str]) -> str:
    return f"{decimal(match['number'])} times ten to the power of {decimal(match['power'].lstrip('+'))}"


def _version(text: str) -> str:
    return " point ".join(digits(part) if part[0] == "0" else cardinal(int(part)) for part in text.split("."))


def _decade(match: re.Match[str]) -> str:
    words = year(int(match["decade"])) if len(match["decade"]) == 4 else cardinal(int(match["decade"]))
    return f"{words[:-1]}ies" if words.endswith("y") else f"{words}s"


def _year(match: re.Match[str]) -> str:
    second = f" {match['join']} {year(int(match['to']))}" if match["to"] else ""
    return f"{match['before']} {year(int(match['year']))}{second}"


def _spoken_number(text: str) -> str:
    # A leading zero is part of a code, not of an amount.
    return digits(text) if text.isdigit() and len(text) > 1 and text.startswith("0") else decimal(text)


def _inches(match: re.Match[str]) -> str:
    """A quotation mark behind a number is a sign of length when no quotation is open."""
    is_quoted = match.string[: match.start()].count('"') % 2 == 1
    return match.group() if is_quoted else f"{match['number']} {'inch' if match['number'] == '1' else 'inches'}"


def _large(match: re.Match[str]) -> str:
    return f"{decimal(match['number'])} {_MULTIPLES[match['multiple'].lower()]}"


def _two_years(match: re.Match[str]) -> str:
    second = match["to"]
    return f"{year(int(match['year']))} to {year(int(second)) if len(second) == 4 else cardinal(int(second))}"


#: Things that are counted; "vs", "is", "has" and the like are none.
_COUNTED = re.compile(r"\s(?!(?:vs|is|was|has|as|its|this|plus|less|versus|across)\b)(?:[a-z]+s|people|men|women)\b")


def _bare_year(match: re.Match[str]) -> str:
    """A number from 1900 on without a comma is a year, unless things are counted: "2024 bottles"."""
    return match.group() if _COUNTED.match(match.string, match.end()) else year(int(match.group()))


def _out_of(match: re.Match[str]) -> str:
    join = " of " if re.match(rf"\s?(?:{_UNIT})(?!\w)", match.string[match.end() :]) else " out of "
    return f"{match['part']}{join}{match['whole']}"


def _attached(match: re.Match[str]) -> str:
    return f" {decimal(match.group())} "


_MARKS: tuple[Rule, ...] = (
    rule(r"\b[Nn][oO]?[.°º]\s?(?=\d)", "number "),
    rule(r"#\s?(?=\d)", "number "),
    rule(r"§\s?(?=\d)", "section "),
    rule(r"(?<![\w.])\.(?=\d)", "0."),
    rule("|".join(_VULGAR), lambda match: f" {_VULGAR[match.group()]}"),
    rule(rf"(?P<number>{_NUMBER})[eE](?P<power>[+-]?\d{{1,3}})\b", _scientific),
    rule(r"\b[vV](?P<version>\d+(?:\.\d+)*)\b", lambda match: f"v {_version(match['version'])}"),
    rule(r"(?<![\d.])\d+(?:\.\d+){2,}(?![\d.]*\w)", lambda match: _version(match.group())),
    rule(rf"\b(?P<name>{_VERSIONED}) (?P<v>\d+\.\d+)\b", lambda m: f"{m['name']} {_version(m['v'])}", ignore_case=True),
)
_BETWEEN: tuple[Rule, ...] = (
    rule(rf"([$€£])({_NUMBER})\s?[-–]\s?[$€£]?(?=\d)", r"\2 to \1"),
    rule(r"(?<=\d)\s?(m|cm|mm|km|ft|in)\s?[x×]\s?(?=\d)", r" \1 by "),
    rule(r"(?<=\d)\s[-−]\s(?=\d[\d.,]*\s?=)", " minus "),
    rule(r"(?<=\d)\s?/\s?(?=\d[\d.,]*\s?=)", " divided by "),
    rule(r"(?<![\w-])(?P<year>(?:1[5-9]|20)\d\d)[-–](?P<to>(?:1[5-9]|20)\d\d|\d\d)(?![\w-])", _two_years),
    rule(rf"(?<=\d)(?<!\^\d)\s?[-–]\s?(?=(?:[$€£])?(?:{_NUMBER})(?![\w-]*-))", " to "),
    rule(r"([$€£])[-−](?=\d)", r"-\1"),
    rule(_SIGN, "minus "),
    rule(r"(?<!\S)\+(?=\d)", "plus "),
    rule(r"(?<=\d):(?=\d)", " to "),
    rule(r"(?<=\d)\*(?=\d)", " times "),
    rule(r"(?<=\d)\s?[x×]\s?(?=\d[\d.,]*\s?=)|(?<=\d)\s×\s(?=\d)", " times "),
    rule(r"(?<=\d)(?<!\b0)[x×](?=\d)|(?<=\d)\sx\s(?=\d)", " by "),
    rule(r"(?<=\d)x\b(?=\s(?:a|per|daily|faster|slower|more|less|as|larger|bigger|better|the)\b)", " times"),
    rule(r"~\s?(?=[$€£]?\d)", "about "),
)
_AMOUNTS: tuple[Rule, ...] = (
    rule(rf"(\d\s?[^\s\d/.,:;]{{0,6}})/({_PER})(?![\w²³-])", lambda match: f"{match[1]} per {PER[match[2]]}"),
    rule(r"(?<=\d)/(?=\d{2,3}\s?mmHg)", " over "),
    rule(r"\bkm/h\b", lambda match: _standing(match, "kilometers per hour")),
    rule(r"\b(\d)'(\d{1,2})\"", r"\1 foot \2"),
    rule(rf"(?P<number>{_NUMBER})\"", _inches),
    rule(
        rf"(?P<sign>{_SIGNED})\s?(?P<amount>{_NUMBER})"
        rf"(?:(?P<multiple>bn|[kKmMBT])|\s(?P<spoken>{_SPOKEN_MULTIPLES}))?(?!\w)",
        _money,
    ),
    rule(rf"\b(?P<sign>{_CODE})\s?(?P<amount>{_NUMBER})(?P<multiple>)(?P<spoken>)(?![\w])", _money),
    rule(
        rf"(?P<amount>{_NUMBER})(?P<multiple>bn|[kMB])?\s?(?:(?P<spoken>{_SPOKEN_MULTIPLES})\s)?"
        rf"(?P<sign>[€£¥₹$]|{_CODE})(?![\w$])",
        _money,
    ),
    rule(r"(?P<number>\d+)\s?¢", lambda match: _hundredths(int(match["number"]), "cent")),
    rule(r"(?:\b|(?<!\w)'|(?<=the ))(?P<decade>(?:1[1-9]|20)\d0|(?<=')\d0|(?<=the )\d0)s\b", _decade),
    rule(r"(?<![\w/])(?P<part>\d+\.\d{1,2})/(?P<whole>\d+(?:\.\d+)?)(?![\w/])", _out_of),
    rule(r"(?<![\w/.])(?P<part>[02-9]|\d\d+)/(?P<whole>10|100)(?![\w/])", _out_of),
    rule(rf"(?<![\w.,^])(?<!\d/)(?P<article>)(?P<number>{_NUMBER})\s?(?P<unit>in)\.", _measure),
    rule(
        rf"(?<![\w.,])(?:(?P<whole>\d+)\s+)?(?P<over>\d)/(?P<under>\d{{1,2}})(?![\w/])(?:\s?(?P<unit>{_UNIT})(?![\w²³/°-]))?",
        _fraction,
    ),
    rule(
        rf"(?<![\w.,^])(?<!\d/)(?P<article>\ban? )?(?P<number>{_NUMBER})\s?(?P<unit>{_UNIT})"
        r"(?![\w²³°])(?:\.(?=\s[a-z]))?",
        _measure,
    ),
    rule(r"(?<=(?:foot|feet) )(?P<article>)(?P<number>\d+)\s?(?P<unit>in)\b\.?", _measure),
    rule(r"(?<![\w.,])(?P<number>\d+\.\d+|\d\d+(?!B))(?P<multiple>bn|[MB])\b", _large),
)
_PLAIN: tuple[Rule, ...] = (
    rule(r"\b(?P<number>\d+)(?:st|nd|rd|th)\b", lambda match: ordinal(int(match["number"]))),
    rule(
        rf"\b(?P<before>{_BEFORE_YEARS}),? (?P<year>{_YEAR})(?: (?P<join>to|and|or|until) (?P<to>{_YEAR}))?",
        _year,
        ignore_case=True,
    ),
    rule(r"(?<![\w.,$€£#/-])(?:19|20)\d\d(?![\w,]*\d|\w|\.\d)", _bare_year),
    rule(r"(?<=\d)(?=[xyzn]\b)", " "),
    rule(rf"(?<![\w.])(?:{_NUMBER})(?![\w]|\.\d)", lambda match: _spoken_number(match.group())),
    rule(r"\d+(?:\.\d+)?", _attached),
    rule(r"\$", " "),
)

RULES: tuple[Rule, ...] = (*_MARKS, *_BETWEEN, *POWERS, *_AMOUNTS, *REST, *_PLAIN)
