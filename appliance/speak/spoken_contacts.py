"""What leads to a person, a place or a thing: telephone numbers, postal addresses, codes. In English."""

from __future__ import annotations

import re

from appliance.speak.number_words import cardinal, digits
from appliance.speak.rules import Rule, rule

_WAYS = {
    "Ave": "Avenue",
    "Blvd": "Boulevard",
    "Rd": "Road",
    "Ln": "Lane",
    "Hwy": "Highway",
    "Pkwy": "Parkway",
    "Sq": "Square",
}
_WAY = "|".join((*_WAYS, "St", "Dr", "Street", "Road", "Avenue", "Lane", "Drive", "Way", "Court", "Place", "Square"))
_PLACES = {
    "apt": "apartment",
    "bldg": "building",
    "ste": "suite",
    "ext": "extension",
    "fl": "floor",
    "rm": "room",
}
_CODED = "serial|code|pin|otp|passcode|password|isbn|zip code|zip|id|serial number|tracking number|account number"


def _phone(match: re.Match[str]) -> str:
    plus = "plus " if match.group().startswith("+") else ""
    groups = re.findall(r"\d+", match.group())
    pause = " " if all(len(group) == 1 for group in groups) else ", "  # "9-1-1"
    return plus + pause.join(digits(group) for group in groups)


def _house_number(match: re.Match[str]) -> str:
    """As people say it: "two twenty one", "sixteen hundred", "twelve thirty four"."""
    number = match["number"]
    front, back = int(number[:-2]), int(number[-2:])
    if not back:
        return f"{cardinal(front)} hundred"
    return f"{cardinal(front)} {'oh ' if back < 10 else ''}{cardinal(back)} "


def _code(match: re.Match[str]) -> str:
    return f"{match['what']} {digits(match['code'].replace('-', ' '))}"


RULES: tuple[Rule, ...] = (
    rule(r"(?<![\w-])(?:\+?\d{1,3}[ -]?)?(?:\(?\d{2,4}\)?[ -])?\d{3}-\d{4}(?![\w-])", _phone),
    rule(r"(?<!\w)\+\d{1,3}(?:[ -]\d{2,})+", _phone),
    rule(r"(?<![\w.-])\d{3}\.\d{3}\.\d{4}(?![\w-]|\.\d)", _phone),
    rule(r"(?<![\w-])\d{4}(?:[ -]\d{4}){2,3}(?![\w-])", _phone),
    rule(r"(?<![\w-])\d{1,3}(?:-\d{1,6}){2,}(?![\w-])", _phone),
    rule(
        rf"\b(?P<what>(?:{_CODED})(?::| is| is:| no\.?)?) (?P<code>\d[\d-]{{3,16}})(?!\w|\.\d)", _code, ignore_case=True
    ),
    rule(r"\b(?P<what>[A-Z]{2}) (?P<code>\d{5})(?![\w.,]\d|\w)", _code),
    rule(rf"\b(?P<number>[1-9]\d{{2,3}})(?=[A-Z]?(?: [NSEW]\.?)?(?: [A-Z][a-z]+){{1,2}} (?:{_WAY})\b)", _house_number),
    rule(rf"(?<=[A-Za-z] )({'|'.join(_WAYS)})\b\.?", lambda match: _WAYS[match[1]]),
    rule(
        rf"\b({'|'.join(_PLACES)})\.\s?(?=\d)|\b({'|'.join(_PLACES)})\s(?=\d+[A-Z]?\b)",
        lambda match: f"{_PLACES[(match[1] or match[2]).lower()]} ",
        ignore_case=True,
    ),
)
