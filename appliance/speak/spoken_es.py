"""How Spanish text sounds: dates, times, money, measures, ordinals, numbers, abbreviations."""

from __future__ import annotations

import re

from appliance.speak.grammar_es import form_of_gender, form_of_one
from appliance.speak.number_words_es import cardinal, decimal, digits, ordinal
from appliance.speak.roman import roman_value
from appliance.speak.rules import Rule, one_of, rule, sign_rules, word_list
from appliance.speak.spoken_machine import SPANISH, machine_rules
from appliance.speak.units import Unit
from appliance.speak.units_es import MONEY, PER, UNITS

_NUMBER = r"(?:\d{1,3}(?:\.\d{3})+|[1-9]\d{0,2}(?: \d{3})+|\d+)(?:,\d+)?(?!\d)"
_START = r"(?<![\w.,])"
_UNIT = one_of(UNITS)
_SIGN = one_of(MONEY)
_PER = one_of(PER)

_MONTHS = word_list("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre")
_MONTH = one_of((*_MONTHS, "setiembre"))
_SHORT_MONTHS = {name[:3]: name for name in _MONTHS if len(name) > 4} | {"sept": "septiembre"}
_DAY_HALVES = {"a": "de la mañana", "p": "de la tarde"}
_ROMAN_NOUNS = "[Ss]iglo|[Cc]apítulo|[Tt]omo|[Pp]arte|[Vv]olumen|[Aa]cto|[Ff]ase|[Tt]ipo|[Nn]ivel"

_ABBREVIATIONS = {
    "p. ej.": "por ejemplo",
    "p.ej.": "por ejemplo",
    "EE. UU.": "Estados Unidos",
    "EE.UU.": "Estados Unidos",
    "a. C.": "antes de Cristo",
    "d. C.": "después de Cristo",
    "etc.": "etcétera",
    "aprox.": "aproximadamente",
    "máx.": "máximo",
    "mín.": "mínimo",
    "Sr.": "señor",
    "Sra.": "señora",
    "Srta.": "señorita",
    "Dr.": "doctor",
    "Dra.": "doctora",
    "Ud.": "usted",
    "Uds.": "ustedes",
    "D.": "don",
    "Dña.": "doña",
    "Prof.": "profesor",
    "Avda.": "avenida",
    "Av.": "avenida",
    "tel.": "teléfono",
    "Tel.": "teléfono",
    "pág.": "página",
    "págs.": "páginas",
    "c/": "calle",
    "C/": "calle",
}
_SIGNS = {
    "≥": "mayor o igual que",
    "≤": "menor o igual que",
    ">=": "mayor o igual que",
    "<=": "menor o igual que",
    "≠": "distinto de",
    "≈": "aproximadamente",
    "=": "igual a",
    "<": "menor que",
    ">": "mayor que",
    "+": "más",
    "×": "por",
    "·": "por",
    "*": "por",
    "÷": "entre",
    "−": "menos",
    "±": "más menos",
    "&": "y",
    "→": ",",
}
_BOUNDS = {"<": "menos de", ">": "más de", "≤": "como máximo", "≥": "al menos", "<=": "como máximo", ">=": "al menos"}
_VULGAR = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅛": "1/8", "⅕": "1/5"}
_PARTS = {3: "tercio", 4: "cuarto", 5: "quinto", 6: "sexto", 8: "octavo", 10: "décimo"}
_SCALES = {"M": "millones", "mill.": "millones", "millones": "millones", "millón": "millón", "mil": "mil"}


# ------------------------------------------------------------------------------------- dates and times


def _date(match: re.Match[str]) -> str:
    day, month, in_year = int(match["d"]), int(match["m"]), int(match["y"])
    if not (1 <= day <= 31 and 1 <= month <= 12):
        return match.group()
    return f"{cardinal(day)} de {_MONTHS[month - 1]} de {cardinal(in_year + (2000 if in_year < 100 else 0))}"


def _clock(match: re.Match[str]) -> str:
    hour, minute = int(match["hour"]), int(match["minute"])
    if hour > 24 or minute > 59:
        return match.group()
    words = cardinal(hour, "una")
    if minute:
        words = f"{words} {'cero ' if minute < 10 else ''}{cardinal(minute)}"
    if match["half"]:
        words = f"{words} {_day_half(match['half'].lower(), hour)}"
    elif (match["hours"] or hour in (0, 24)) and not minute:
        words = f"{words} horas"
    return words


def _day_half(half: str, hour: int) -> str:
    if half == "p" and (8 <= hour < 12):
        return "de la noche"
    return {"a": "de la noche", "p": "del mediodía"}[half] if hour == 12 else _DAY_HALVES[half]


def _hour(match: re.Match[str]) -> str:
    hour = int(match["hour"])
    return f"{cardinal(hour, 'una')} {_day_half(match['half'].lower(), hour)}"


def _stopwatch(match: re.Match[str]) -> str:
    counts = zip((int(part) for part in match.group().split(":")), ("h", "min", "s"), strict=True)
    return " ".join(_counted(str(count), UNITS[unit]) for count, unit in counts if count or unit != "h")


# ---------------------------------------------------------------------------------- money and measures


def _counted(number: str, unit: Unit) -> str:
    words = decimal(number, form_of_gender(unit.gender))
    return f"{words} {unit.singular if number == '1' else unit.plural}"


def _measure(match: re.Match[str]) -> str:
    return _counted(match["number"], UNITS[match["unit"]])


def _money(match: re.Match[str]) -> str:
    money, hundredth = MONEY[match["sign"]]
    amount = match["amount"]
    if scale := match["scale"]:
        return f"{decimal(amount, 'un')} {_scale(amount, scale)} {money.plural}"
    if point := re.fullmatch(r"(\d+(?:,\d{3})*)\.(\d\d)", amount):
        amount = f"{point[1].replace(',', '')},{point[2]}"
    whole, _, fraction = amount.partition(",")
    if len(fraction) != 2:
        return _counted(amount, money)
    if fraction == "00":
        return _counted(whole, money)
    parts = _counted(str(int(fraction)), hundredth)
    return parts if whole == "0" else f"{_counted(whole, money)} con {parts}"


def _scale(amount: str, scale: str) -> str:
    word = _SCALES[scale]
    if word == "mil":
        return word
    return "millón de" if amount == "1" else "millones de"


def _fraction(match: re.Match[str]) -> str:
    over, under, whole = int(match["over"]), int(match["under"]), match["whole"]
    unit = UNITS.get(match["unit"] or "")
    if (over, under) == (1, 2):
        return _half(whole, unit, match["noun"] or "")
    part = _PARTS.get(under)
    if part is None or not 0 < over < under:
        return match.group()
    words = f"{cardinal(over, 'un')} {part if over == 1 else part + 's'}"
    behind = f" de {unit.singular}" if unit else f" {match['noun']}" if match["noun"] else ""
    return f"{cardinal(int(whole))} y {words}{behind}" if whole else f"{words}{behind}"


def _half(whole: str | None, unit: Unit | None, noun: str) -> str:
    is_feminine = unit.gender == "f" if unit else form_of_one(noun) == "una"
    half = "media" if is_feminine else "medio"
    if not whole:
        return f"{half} {unit.singular if unit else noun}".strip()
    if whole == "1":
        noun = noun.removesuffix("s")
    counted = _counted(whole, unit) if unit else f"{cardinal(int(whole), form_of_one(noun))} {noun}".strip()
    return f"{counted} y {half}"


# ------------------------------------------------------------------------------------ numbers and words


def _ordinal(match: re.Match[str]) -> str:
    sign = match["sign"].lower()
    ending = "a" if sign in ("ª", "a", "ra") else "" if sign in ("er", "ᵉʳ") else "o"
    return ordinal(int(match["number"]), ending)


def _version(text: str) -> str:
    return " punto ".join(digits(part) if part[0] == "0" else cardinal(int(part)) for part in text.split("."))


def _pointed(match: re.Match[str]) -> str:
    """ "3.14" is a decimal of the Americas or a version: both have a point."""
    whole, fraction = match.group().split(".")
    is_short = len(fraction) <= 2 and not fraction.startswith("0")
    return f"{cardinal(int(whole))} punto {cardinal(int(fraction)) if is_short else digits(fraction)}"


def _phone(match: re.Match[str]) -> str:
    plus = "más " if match.group().startswith("+") else ""
    return plus + ", ".join(digits(group) for group in re.findall(r"\d+", match.group()))


def _reigning(match: re.Match[str]) -> str:
    number = roman_value(match["numeral"])
    if not number or (len(match["numeral"]) == 1 and match["name"] not in _KINGS):
        return match.group()
    ending = "a" if match["name"].endswith("a") else "o"
    return f"{match['name']} {ordinal(number, ending) if number <= 10 else cardinal(number)}"


_KINGS = ("Felipe", "Carlos", "Juan Carlos", "Fernando", "Pedro", "Jaime", "Enrique")


def _roman_noun(match: re.Match[str]) -> str:
    number = roman_value(match["numeral"])
    return f"{match['what']} {cardinal(number)}" if number else match.group()


def _plain(match: re.Match[str]) -> str:
    text = match.group()
    if text.isdigit() and len(text) > 1 and text.startswith("0"):
        return digits(text)  # part of a code, not of an amount
    following = re.match(r"\s([^\W\d_]+)", match.string[match.end() :])
    return decimal(text, form_of_one(following[1] if following else ""))


_TIMES = (
    rule(r"\b([ad])\. ?C\.", lambda match: _ABBREVIATIONS[f"{match[1]}. C."]),
    rule(r"(?<=\b[Ll]a )1(?=[.,;!?]|$|\s(?:y|o|de la)\b)", "una"),
    rule(r"(?<!\w)\+\d{1,3}(?:[ -]\d{2,})+", _phone),
    rule(rf"{_START}[6-9]\d{{2}}(?: \d{{3}}){{2}}(?!\d)(?! ?\d)", _phone),
    rule(r"\b(\d{4})-(\d{2})-(\d{2})[T ](\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?Z?(?![\d:])", r"\3/\2/\1, \4"),
    rule(r"\b(\d{4})-(\d{2})-(\d{2})\b", r"\3/\2/\1"),
    rule(r"(?<![\d/.-])(?P<d>\d{1,2})([/.-])(?P<m>\d{1,2})\2(?P<y>\d{4}|\d{2})(?![\d/]|-\d|\.\d)", _date),
    rule(
        rf"\b(\d{{1,2}}) ({one_of(_SHORT_MONTHS)})\b\.?(?= \d{{4}}|\W|$)",
        lambda match: f"{match[1]} de {_SHORT_MONTHS[match[2]]}",
    ),
    rule(rf"\b(?P<month>{_MONTH}) (?=\d{{4}}\b)", r"\g<month> de "),
    rule(r"\b\d{1,2}:\d{2}:\d{2}\b", _stopwatch),
    rule(rf"{_START}\d+(?:-\d+){{2,}}(?![\w-])", _phone),
    rule(rf"(?<=\bentre )({_NUMBER})\s?[-–]\s?(?=\d)", r"\1 y "),
    rule(r"(?<=\d)\s?/\s?(?=\d[\d.,]*\s?=)", " entre "),
    rule(r"(?<=\d)\s[-−]\s(?=\d[\d.,]*\s?=)", " menos "),
    rule(r"(?<=\d)\s?[-–]\s?(?=\d)(?!\d+-)(?<!\d-\d-)", " a "),
    rule(
        rf"{_START}(?P<hour>\d{{1,2}}):(?P<minute>\d{{2}})"
        r"(?:\s?(?:(?P<half>[apAP])\.?\s?[mM]\b\.?|(?P<hours>h(?:s|oras)?)\b\.?))?(?![\w:])",
        _clock,
    ),
    rule(rf"{_START}(?P<hour>\d{{1,2}})\s?(?P<half>[apAP])\.?\s?[mM]\b\.?", _hour),
    rule(r"(?<=\d):(?=\d)", " a "),
    rule(r"\b(\d+)\s?(d|h|min)\s+(?=\d+\s?(?:h|min|s)(?!\w))", r"\1 \2 y "),
)
_MEASURES = (
    rule(one_of(_VULGAR), lambda match: f" {_VULGAR[match.group()]}"),
    rule(r"(?<![\w.,)])[-−–](?=[\d€$£])", "menos "),
    rule(r"(?<!\S)\+(?=\d)(?!\d{1,3} \d{2,3} )", "más "),
    rule(r"±\s?(?=\d)", "más menos "),
    rule(r"[~≈]\s?(?=\d)", "unos "),
    rule(rf"(?<!\S)({one_of(_BOUNDS)})\s?(?=\d)(?<!\w\s[<>=≤≥]\s)", lambda match: f"{_BOUNDS[match[1]]} "),
    rule(rf"(\d\s?[^\s\d/.,]{{0,5}})/({_PER})(?![\w²³])", lambda match: f"{match[1]} por {PER[match[2]]}"),
    rule(r"(\d\s?[lL])/(?=100\s?km)", r"\1 por "),
    rule(r"\bkm/h\b", "kilómetros por hora"),
    rule(
        rf"(?P<sign>US\$|[€$£¥])\s?(?P<amount>\d{{1,3}}(?:,\d{{3}})*\.\d\d(?!\d)|{_NUMBER})"
        r"(?:\s?(?P<scale>M|mil|millones|millón)\b(?: de\b)?)?(?!\w)",
        _money,
    ),
    rule(
        rf"{_START}(?P<amount>\d{{1,3}}(?:,\d{{3}})*\.\d\d(?!\d)|{_NUMBER})\s?"
        rf"(?:(?P<scale>M|mill\.|mil|millones|millón)\s?(?:de\s)?)?(?P<sign>{_SIGN})(?!\w)",
        _money,
    ),
    rule(
        r"(?<![\w/])(?:(?P<whole>\d+)\s+)?(?P<over>\d)/(?P<under>\d{1,2})(?![\w/])"
        rf"(?:\s(?:(?P<unit>{_UNIT})(?![\w²³])|(?P<noun>(?!de\b|y\b|o\b)[a-záéíóúñ]+)))?",
        _fraction,
    ),
    rule(rf"{_START}(?P<number>{_NUMBER})\s?(?P<unit>{_UNIT})(?![\w²³°-])", _measure),
)
_NUMBERS = (
    rule(r"\b[nN](?:\.?[º°o]|úms?)\.?\s?(?=\d)", "número "),
    rule(r"#\s?(?=\d)", "número "),
    rule(r"§\s?(?=\d)", "sección "),
    rule(r"\b(?P<number>\d{1,2})\.?(?P<sign>[ºª°]|er|ᵉʳ|ra|ro|do|da)(?!\w)", _ordinal),
    rule(r"(?<![\d.,])\d+(?:\.\d+){2,}(?![\d.]*\w)(?<!\.\d{3})", lambda match: _version(match.group())),
    rule(r"(?<![\d.,])\d+\.(?:\d{1,2}|\d{4,})(?![\d.]*\w)", _pointed),
    rule(r"(?<=\d)\s?[x×*·]\s?(?=\d)", " por "),
    rule(rf"(?<![\w.,])(?:{_NUMBER})(?!\w|[.,]\d)", _plain),
    rule(r"\d+", lambda match: f" {cardinal(int(match.group()))} "),
)
_WORDS = (
    rule(rf"(?<![\w.])({one_of(_ABBREVIATIONS)})(?!\w)", lambda match: _ABBREVIATIONS[match[1]]),
    rule(rf"\b(?P<what>{_ROMAN_NOUNS}) (?P<numeral>[IVXLC]+)\b", _roman_noun),
    rule(r"\b(?P<name>(?:Juan Carlos|[A-ZÁÉÍÓÚ][a-záéíóúñ]{2,})) (?P<numeral>[IVX]+)\b", _reigning),
    rule("²", " al cuadrado"),
    rule("³", " al cubo"),
    rule(r"\^\s?(?=\w)", " elevado a "),
    *sign_rules(_SIGNS),
    rule(r"(?<=\w)/(?=\w)", " "),
)

RULES: tuple[Rule, ...] = (*machine_rules(SPANISH), *_TIMES, *_MEASURES, *_NUMBERS, *_WORDS)
