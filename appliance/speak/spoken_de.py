"""How German text sounds: dates, times, money, measures, ordinals, numbers, abbreviations."""

from __future__ import annotations

import re
from collections.abc import Callable

from appliance.speak.grammar_de import gender, is_before_dates, is_before_ordinals, one, ordinal_ending, word_before
from appliance.speak.number_words_de import cardinal, decimal, digits, ordinal, year
from appliance.speak.roman import roman_value
from appliance.speak.rules import Rule, one_of, rule, sign_rules, word_list
from appliance.speak.spoken_machine import GERMAN, machine_rules
from appliance.speak.units import Unit
from appliance.speak.units_de import MONEY, PER, SCALES, UNITS

_NUMBER = r"(?:\d{1,3}(?:\.\d{3})+|[1-9]\d{0,2}(?: \d{3})+|\d+)(?:,\d+)?(?![\d])"
_START = r"(?<![\w.,])"
_UNIT = one_of(UNITS)
_SIGN = one_of(MONEY)
_SCALE = one_of(SCALES)
_PER = one_of(PER)

_MONTHS = word_list("Januar Februar März April Mai Juni Juli August September Oktober November Dezember")
_SHORT_MONTHS = {
    **{f"{name[:3]}.": name for name in _MONTHS if len(name) > 4},
    "Sept.": "September",
}
_DAYS = {f"{day[:2]}.": day for day in word_list("Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag")}
_SHORT_DAY = "|".join(day[:2] for day in _DAYS)
_MONTH = one_of(_MONTHS)
#: Nouns that an ordinal stands before also without an article.
_RANKED = (
    "Platz|Stock|Etage|Klasse|Mal|Tag|Woche|Monat|Runde|Liga|Bundesliga|Jahrhundert|Weltkrieg|Kapitel|Halbzeit|Quartal"
    "|Advent|Geburtstag|Reihe|Gang|Teil|Auflage|Schritt|Obergeschoss|Minute|Spieltag|Staffel|Folge|Versuch"
)
_VERSIONED = "Version|Firmware|Kernel|Python|Release|Android|Debian|Ubuntu|Node|Java|Linux|macOS|iOS|Bluetooth|USB"

_ABBREVIATIONS = {
    "z. B.": "zum Beispiel",
    "z.B.": "zum Beispiel",
    "d. h.": "das heißt",
    "d.h.": "das heißt",
    "u. a.": "unter anderem",
    "u.a.": "unter anderem",
    "v. Chr.": "vor Christus",
    "n. Chr.": "nach Christus",
    "usw.": "und so weiter",
    "etc.": "et cetera",
    "bzw.": "beziehungsweise",
    "ca.": "circa",
    "evtl.": "eventuell",
    "ggf.": "gegebenenfalls",
    "inkl.": "inklusive",
    "exkl.": "exklusive",
    "max.": "maximal",
    "min.": "minimal",
    "mind.": "mindestens",
    "vgl.": "vergleiche",
    "Dr.": "Doktor",
    "Prof.": "Professor",
    "Hr.": "Herr",
    "Fr.": "Frau",
    "St.": "Sankt",
    "Str.": "Straße",
    "Tel.": "Telefon",
    "Jh.": "Jahrhundert",
    "Abb.": "Abbildung",
    "Abs.": "Absatz",
}
#: The same as the first word of a sentence.
_FIRST = {written[0].upper() + written[1:] for written in _ABBREVIATIONS}

_SIGNS = {
    "≥": "größer oder gleich",
    "≤": "kleiner oder gleich",
    ">=": "größer oder gleich",
    "<=": "kleiner oder gleich",
    "≠": "ungleich",
    "≈": "ungefähr",
    "=": "gleich",
    "<": "kleiner als",
    ">": "größer als",
    "+": "plus",
    "×": "mal",
    "·": "mal",
    "*": "mal",
    "÷": "geteilt durch",
    "−": "minus",
    "±": "plus minus",
    "&": "und",
    "→": ",",
}
_BOUNDS = {
    "<": "weniger als",
    ">": "mehr als",
    "≤": "höchstens",
    "≥": "mindestens",
    "<=": "höchstens",
    ">=": "mindestens",
}
_VULGAR = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅛": "1/8", "⅕": "1/5"}
_PARTS = {3: "Drittel", 4: "Viertel", 5: "Fünftel", 6: "Sechstel", 8: "Achtel", 10: "Zehntel"}


def _before(match: re.Match[str]) -> str:
    return word_before(match.string[: match.start()])


def _end_before_capital(match: re.Match[str]) -> str:
    """ "Ludwig XIV. Er" are two sentences."""
    return "." if match.string[match.end() :].lstrip()[:1].isupper() else ""


# ------------------------------------------------------------------------------------- dates and times


def _date(match: re.Match[str]) -> str:
    day, month, in_year = int(match["d"]), int(match["m"]), match["y"]
    before = _before(match)
    is_date = 1 <= day <= 31 and 1 <= month <= 12 and (in_year or is_before_dates(before))
    if not is_date:
        return match.group()
    words = f"{ordinal(day, ordinal_ending(before, 'm'))} {_MONTHS[month - 1]}"
    if not in_year:
        return words
    return f"{words} {year(int(in_year) + (2000 if len(in_year) == 2 else 0))}"


def _ordinal(match: re.Match[str]) -> str:
    """Behind an article, before a month or the like, before a small letter; else the full stop ends a sentence."""
    before, noun = _before(match), match["noun"] or ""
    is_label = before[:1].isupper() and not is_before_dates(before)  # "Seite 5. Kapitel 3."
    is_ranked = match["next"] or re.fullmatch(_MONTH if is_label else f"{_MONTH}|{_RANKED}", noun)
    if not (is_ranked or noun[:1].islower() or is_before_ordinals(before)):
        return match.group()
    return ordinal(int(match["number"]), ordinal_ending(before, gender(noun) if noun[:1].isupper() else "m"))


def _clock(match: re.Match[str]) -> str:
    hour, minute = int(match["hour"]), int(match["minute"])
    if hour > 24 or minute > 59:
        return match.group()
    return f"{cardinal(hour, 'ein')} Uhr{f' {cardinal(minute)}' if minute else ''}"


def _days(match: re.Match[str]) -> str:
    return f"{_DAYS[match['from'] + '.']} bis {_DAYS[match['to'] + '.']}"


def _stopwatch(match: re.Match[str]) -> str:
    counts = zip((int(part) for part in match.group().split(":")), ("h", "min", "s"), strict=True)
    return " ".join(_counted(str(count), UNITS[unit], "") for count, unit in counts if count or unit != "h")


# ---------------------------------------------------------------------------------- money and measures


def _counted(number: str, unit: Unit, before: str) -> str:
    if number == "1":
        return f"{one(unit.gender, before)} {unit.singular}"
    return f"{decimal(number)} {unit.plural}"


def _measure(match: re.Match[str]) -> str:
    return _counted(match["number"], UNITS[match["unit"]], _before(match))


def _money(match: re.Match[str]) -> str:
    money, hundredth = MONEY[match["sign"]]
    before, amount = _before(match), match["amount"]
    if scale := match["scale"]:
        return f"{_counted(amount, SCALES[scale], before)} {money.plural}"
    if point := re.fullmatch(r"(\d+)\.(\d\d)", amount):
        amount = f"{point[1]},{point[2]}"
    whole, _, fraction = amount.partition(",")
    if len(fraction) != 2:
        return _counted(amount, money, before)
    if fraction == "00":
        return _counted(whole, money, before)
    if whole == "0":
        return _counted(str(int(fraction)), hundredth, before)
    return f"{_counted(whole, money, before)} {cardinal(int(fraction))}"


def _scale(match: re.Match[str]) -> str:
    return _counted(match["amount"], SCALES[match["scale"]], _before(match))


def _fraction(match: re.Match[str]) -> str:
    over, under, whole = int(match["over"]), int(match["under"]), match["whole"]
    if (over, under) == (1, 2):
        return _half(whole, UNITS.get(match["unit"] or ""))
    part = _PARTS.get(under)
    if part is None or not 0 < over < under:
        return match.group()
    unit = f" {UNITS[match['unit']].plural}" if match["unit"] else ""
    return f"{f'{cardinal(int(whole))} und ' if whole else ''}{cardinal(over, 'ein')} {part}{unit}"


def _half(whole: str | None, unit: Unit | None) -> str:
    if whole:
        return f"{cardinal(int(whole), 'ein')}einhalb{f' {unit.plural}' if unit else ''}"
    if unit is None:
        return "ein halb"
    return f"{one(unit.gender, '')} {({'m': 'halber', 'f': 'halbe', 'n': 'halbes'})[unit.gender]} {unit.singular}"


# ------------------------------------------------------------------------------------ numbers and words


def _one_thing(match: re.Match[str]) -> str:
    """ "1 Stunde", but "Gleis 1 Abfahrt": a number behind a noun is its name."""
    before = _before(match)
    if before[:1].isupper() and match.string[: match.start()].split()[0] != before:
        return match.group()
    return f"{one(gender(match['noun'].split('-')[-1]), before)}{match['between']}{match['noun']}"


def _version(text: str) -> str:
    return " Punkt ".join(digits(part) if part[0] == "0" else cardinal(int(part)) for part in text.split("."))


def _phone(match: re.Match[str]) -> str:
    plus = "plus " if match.group().startswith("+") else ""
    return plus + ", ".join(digits(group) for group in re.findall(r"\d+", match.group()))


def _reigning(match: re.Match[str]) -> str:
    number = roman_value(match["numeral"])
    article = "die" if match["name"].endswith(("a", "e", "beth", "ine")) else "der"
    return (
        f"{match['name']} {article} {ordinal(number, 'e').capitalize()}{_end_before_capital(match)}"
        if number
        else match.group()
    )


def _roman_ordinal(match: re.Match[str]) -> str:
    """ "im II. Weltkrieg" is written as "im 2. Weltkrieg"."""
    number = roman_value(match["numeral"])
    return f"{number}." if number and is_before_ordinals(_before(match)) else match.group()


def _numbered(match: re.Match[str]) -> str:
    number = roman_value(match["numeral"])
    return f"{match['what']} {cardinal(number)}" if number else match.group()


def _plain(match: re.Match[str]) -> str:
    text = match.group()
    if text.isdigit() and len(text) > 1 and text.startswith("0"):
        return digits(text)  # part of a code, not of an amount
    if re.fullmatch(r"1[1-9]\d\d", text) and not re.match(r"\s[A-ZÄÖÜ]", match.string[match.end() :]):
        return year(int(text))
    return decimal(text)


def _joined(match: re.Match[str]) -> str:
    return cardinal(int(match["number"]), "ein")


def _abbreviation(match: re.Match[str]) -> str:
    written = match.group()
    words = _ABBREVIATIONS.get(written)
    if words is None:  # the first word of a sentence
        words = _ABBREVIATIONS[written[0].lower() + written[1:]]
        words = words[0].upper() + words[1:]
    return words


def _table(words: dict[str, str]) -> Callable[[re.Match[str]], str]:
    return lambda match: words[match[1]]


_TIMES = (
    rule(r"(?<!\w)\+\d{1,3}(?:[ /-]\d{2,})+", _phone),
    rule(rf"{_START}0\d{{1,4}}(?:[ /-]\d{{2,}})+", _phone),
    rule(rf"\b(?P<from>{_SHORT_DAY})\.?\s?[-–]\s?(?P<to>{_SHORT_DAY})\b\.?", _days),
    rule(r"\b(\d{4})-(\d{2})-(\d{2})[T ](\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?Z?(?![\d:])", r"\3.\2.\1, \4"),
    rule(r"\b(\d{4})-(\d{2})-(\d{2})\b", r"\3.\2.\1"),
    rule(rf"\b(?P<name>{_VERSIONED}) (?P<v>\d+(?:\.\d+)+)", lambda m: f"{m['name']} {_version(m['v'])}"),
    rule(rf"{_START}(?P<d>\d{{1,2}})\.\s?(?P<m>\d{{1,2}})\.(?:\s?(?P<y>\d{{4}}|\d{{2}}))?(?![\d.]*\d)", _date),
    rule(rf"(?<!\w)({one_of(_DAYS)})(?=,?\s*(?:\d|bis\b|[-–]))", _table(_DAYS)),
    rule(r"\b(Mo|Di|Mi|Do|Fr|Sa)(?=\s\d)", lambda match: _DAYS[f"{match[1]}."]),
    rule(rf"(?<=\d\. )({one_of(_SHORT_MONTHS)})(?!\w)", _table(_SHORT_MONTHS)),
    rule(r"\b(?P<numeral>[IVX]+)\.(?=\s+[A-ZÄÖÜ][a-zäöü])", _roman_ordinal),
    rule(
        rf"{_START}(?P<number>\d{{1,3}})\.(?=\s+(?P<next>(?:und|oder|bis|[-–])\s+\d{{1,3}}\.\s)|\s+(?P<noun>\w+)|$)",
        _ordinal,
    ),
    rule(rf"\b(?P<month>{_MONTH}) (?P<year>\d{{4}})\b", lambda m: f"{m['month']} {year(int(m['year']))}"),
    rule(r"\b\d{1,2}:\d{2}:\d{2}\b", _stopwatch),
    rule(rf"{_START}\d+(?:-\d+){{2,}}(?![\w-])", _phone),
    rule(r"(?<=\d)\s?/\s?(?=\d[\d.,]*\s?=)", " geteilt durch "),
    rule(r"(?<=\d)\s[-−]\s(?=\d[\d.,]*\s?=)", " minus "),
    rule(r"(?<=\d)\s?[-–]\s?(?=\d)(?!\d+-)(?<!\d-\d-)", " bis "),
    rule(rf"{_START}(?P<hour>\d{{1,2}}):(?P<minute>\d{{2}})(?:\s?(?:Uhr|h))?(?![\w:])", _clock),
    rule(rf"{_START}(?P<hour>\d{{1,2}})\.(?P<minute>\d{{2}})\s?Uhr\b", _clock),
    rule(r"(?<=\d):(?=\d)", " zu "),
    rule(r"(?<=\d)\s:\s(?=\d)", " geteilt durch "),
    rule(r"\b(\d+)\s?(d|h|Std\.|min|Min\.)\s+(?=\d+\s?(?:h|min|Min\.|s|Sek\.)(?!\w))", r"\1 \2 und "),
)
_MEASURES = (
    rule(r"\b(\d{1,3})\s?Tsd\.", r"\g<1>.000"),
    rule(r"\b(?P<number>\d{1,3})\s?%ig", lambda match: f"{_joined(match)}prozentig"),
    rule(one_of(_VULGAR), lambda match: f" {_VULGAR[match.group()]}"),
    rule(r"(?<=\d),[-–—](?=\s)", ""),
    rule(r"(?<![\w.,)])[-−–](?=[\d€$£])", "minus "),
    rule(r"(?<!\S)\+(?=\d)", "plus "),
    rule(r"±\s?(?=\d)", "plus minus "),
    rule(r"[~≈]\s?(?=\d)", "etwa "),
    rule(rf"(?<!\S)({one_of(_BOUNDS)})\s?(?=\d)(?<!\w\s[<>=≤≥]\s)", lambda match: f"{_BOUNDS[match[1]]} "),
    rule(r"\bkm/h\b", "km/h"),
    rule(rf"(\d\s?[^\s\d/.,]{{0,5}})/({_PER})(?![\w²³])", lambda match: f"{match[1]} pro {PER[match[2]]}"),
    rule(r"(\d\s?[lL])/(?=100\s?km)", r"\1 pro "),
    rule(r"(?<![\d\s])\s?\bkm/h\b", " Kilometer pro Stunde"),
    rule(rf"(?P<sign>[€$£¥])\s?(?P<amount>\d+\.\d\d(?!\d)|{_NUMBER})(?:\s?(?P<scale>{_SCALE}))?(?!\w)", _money),
    rule(
        rf"{_START}(?P<amount>\d+\.\d\d(?!\d)|{_NUMBER})\s?(?:(?P<scale>{_SCALE})\s?)?(?P<sign>{_SIGN})(?!\w)", _money
    ),
    rule(
        rf"(?<![\w/])(?:(?P<whole>\d+)\s+)?(?P<over>\d)/(?P<under>\d{{1,2}})(?![\w/])(?:\s(?P<unit>{_UNIT})(?![\w²³]))?",
        _fraction,
    ),
    rule(rf"{_START}(?P<amount>{_NUMBER})\s?(?P<scale>{_SCALE})(?!\w)", _scale),
    rule(rf"{_START}(?P<number>{_NUMBER})\s?(?P<unit>{_UNIT})(?![\w²³°-])", _measure),
)
_NUMBERS = (
    rule(r"(?:(?<=,\s)|(?<=PLZ\s)|^)\d{5}(?=\s[A-ZÄÖÜ][a-zäöüß])", lambda match: digits(match.group())),
    rule(r"\b[Nn]r\.\s?(?=\d)", "Nummer "),
    rule(r"#\s?(?=\d)", "Nummer "),
    rule(r"\bS\.\s?(?=\d)", "Seite "),
    rule(r"§\s?(?=\d)", "Paragraf "),
    rule(r"(?<![\d.,])\d{1,3}(?:\.\d{3})+(?=[^\d,.]|[,.]?(?:\s|$))", lambda match: decimal(match.group())),
    rule(r"(?<![\d.,])\d+(?:\.\d+)+(?![\d.]*\w)", lambda match: _version(match.group())),
    rule(r"(?<=\d)\s?[x×*·]\s?(?=\d)", " mal "),
    rule(rf"{_START}(?P<number>\d{{1,3}})\s?[x×](?=\s(?!=)[a-zäöü]|[,.]|$)", lambda m: f"{_joined(m)}mal"),
    rule(rf"{_START}(?P<number>\d{{1,3}})-?(?=(?:mal|fach|jährig|tägig|stündig|stöckig|teilig)\w*)", _joined),
    rule(rf"{_START}(?P<number>\d0)er\b", lambda match: f"{cardinal(int(match['number']))}er"),
    rule(r"\b(?P<year>1[1-9]\d0)er\b", lambda match: f"{year(int(match['year']))}er"),
    rule(rf"{_START}1(?P<between>\s+(?:[a-zäöüß]+e[rsnm]?\s+)?)(?P<noun>[A-ZÄÖÜ][\w-]+)", _one_thing),
    rule(rf"(?<![\w.,])(?:{_NUMBER})(?!\w|[.,]\d)", _plain),
    rule(r"\d+", lambda match: f" {cardinal(int(match.group()))} "),
)
_WORDS = (
    rule(rf"(?<![\w.])(?:{one_of({*_ABBREVIATIONS, *_FIRST})})(?!\w)", _abbreviation),
    rule(r"(?<=str)\.(?=\s(?:\w+|\d))", "aße"),
    rule(r"\b(?P<what>Kapitel|Teil|Band|Akt|Abschnitt|Typ|Stufe) (?P<numeral>[IVX]+)\b", _numbered),
    rule(r"\b(?P<name>[A-ZÄÖÜ][a-zäöü]{2,}) (?P<numeral>[IVX]+)\.", _reigning),
    rule("²", " Quadrat"),
    rule("³", " hoch drei"),
    rule(r"\^\s?(?=\w)", " hoch "),
    *sign_rules(_SIGNS),
    rule(r"(?<=\w)/(?=\w)", " "),
)

RULES: tuple[Rule, ...] = (*machine_rules(GERMAN), *_TIMES, *_MEASURES, *_NUMBERS, *_WORDS)
