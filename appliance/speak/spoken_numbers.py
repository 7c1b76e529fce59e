"""Money, measures, percentages, fractions, ranges and plain numbers, in English."""

from __future__ import annotations

import re

from appliance.speak.number_words import cardinal, decimal, digits, ordinal, year
from appliance.speak.rules import Rule, rule

_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
#: A minus sign, not a hyphen or a dash between words.
_SIGN = r"(?<![\w.)])[-−](?=[\d$€£¥])"

#: Sign -> one, many, a hundredth of it.
_MONEY = {
    "$": ("dollar", "dollars", "cent"),
    "€": ("euro", "euros", "cent"),
    "£": ("pound", "pounds", "penny"),
    "¥": ("yen", "yen", ""),
}
_MULTIPLES = {"k": "thousand", "K": "thousand", "m": "million", "M": "million", "B": "billion", "bn": "billion"}

#: Written unit -> one, many.
_UNITS = {
    "°C": ("degree Celsius", "degrees Celsius"),
    "°F": ("degree Fahrenheit", "degrees Fahrenheit"),
    "°": ("degree", "degrees"),
    "%": ("percent", "percent"),
    "km/h": ("kilometer per hour", "kilometers per hour"),
    "m/s": ("meter per second", "meters per second"),
    "mph": ("mile per hour", "miles per hour"),
    "m²": ("square meter", "square meters"),
    "km²": ("square kilometer", "square kilometers"),
    "m³": ("cubic meter", "cubic meters"),
    "ft²": ("square foot", "square feet"),
    "km": ("kilometer", "kilometers"),
    "m": ("meter", "meters"),
    "cm": ("centimeter", "centimeters"),
    "mm": ("millimeter", "millimeters"),
    "nm": ("nanometer", "nanometers"),
    "ft": ("foot", "feet"),
    "kg": ("kilogram", "kilograms"),
    "g": ("gram", "grams"),
    "mg": ("milligram", "milligrams"),
    "lb": ("pound", "pounds"),
    "lbs": ("pound", "pounds"),
    "oz": ("ounce", "ounces"),
    "l": ("liter", "liters"),
    "L": ("liter", "liters"),
    "ml": ("milliliter", "milliliters"),
    "mL": ("milliliter", "milliliters"),
    "h": ("hour", "hours"),
    "hr": ("hour", "hours"),
    "hrs": ("hour", "hours"),
    "min": ("minute", "minutes"),
    "s": ("second", "seconds"),
    "sec": ("second", "seconds"),
    "ms": ("millisecond", "milliseconds"),
    "µs": ("microsecond", "microseconds"),
    "μs": ("microsecond", "microseconds"),
    "ns": ("nanosecond", "nanoseconds"),
    "W": ("watt", "watts"),
    "kW": ("kilowatt", "kilowatts"),
    "MW": ("megawatt", "megawatts"),
    "Wh": ("watt hour", "watt hours"),
    "kWh": ("kilowatt hour", "kilowatt hours"),
    "V": ("volt", "volts"),
    "mV": ("millivolt", "millivolts"),
    "mA": ("milliamp", "milliamps"),
    "mAh": ("milliamp hour", "milliamp hours"),
    "Hz": ("hertz", "hertz"),
    "kHz": ("kilohertz", "kilohertz"),
    "MHz": ("megahertz", "megahertz"),
    "GHz": ("gigahertz", "gigahertz"),
    "dB": ("decibel", "decibels"),
    "hPa": ("hectopascal", "hectopascals"),
    "kPa": ("kilopascal", "kilopascals"),
    "kcal": ("kilocalorie", "kilocalories"),
    "kB": ("kilobyte", "kilobytes"),
    "KB": ("kilobyte", "kilobytes"),
    "MB": ("megabyte", "megabytes"),
    "GB": ("gigabyte", "gigabytes"),
    "TB": ("terabyte", "terabytes"),
    "KiB": ("kibibyte", "kibibytes"),
    "MiB": ("mebibyte", "mebibytes"),
    "GiB": ("gibibyte", "gibibytes"),
    "TiB": ("tebibyte", "tebibytes"),
    "kbps": ("kilobit per second", "kilobits per second"),
    "Mbps": ("megabit per second", "megabits per second"),
    "Gbps": ("gigabit per second", "gigabits per second"),
    "Mbit/s": ("megabit per second", "megabits per second"),
    "MB/s": ("megabyte per second", "megabytes per second"),
    "GB/s": ("gigabyte per second", "gigabytes per second"),
    "rpm": ("revolution per minute", "revolutions per minute"),
    "ppm": ("part per million", "parts per million"),
    "px": ("pixel", "pixels"),
    "fps": ("frame per second", "frames per second"),
    "lx": ("lux", "lux"),
    "lm": ("lumen", "lumens"),
}
_UNIT = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))

_PARTS = {2: "half", 3: "third", 4: "quarter", 5: "fifth", 8: "eighth", 10: "tenth"}
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
    one, many, hundredth = _MONEY[match["sign"]]
    amount = match["amount"]
    multiple = _MULTIPLES.get(match["multiple"] or "")
    if multiple:
        return f"{decimal(amount)} {multiple} {many}"
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
    one, many = _UNITS[match["unit"]]
    # "a sixty watt bulb", but "sixty watts"
    is_attribute = match["article"] and re.match(r"\s+[a-z]", match.string[match.end() :])
    words = one if is_attribute or number == "1" else many
    return f"{match['article'] or ''}{decimal(number)} {words}"


def _fraction(match: re.Match[str]) -> str:
    over, under = int(match["over"]), int(match["under"])
    part = _PARTS.get(under)
    if part is None or not 0 < over < under:
        return match.group()
    many = "halves" if part == "half" else f"{part}s"
    words = f"{cardinal(over)} {part if over == 1 else many}"
    return f"{match['whole']} and {words}" if match["whole"] else words


def _scientific(match: re.Match[str]) -> str:
    return f"{decimal(match['number'])} times ten to the power of {decimal(match['power'].lstrip('+'))}"


def _version(text: str) -> str:
    return " point ".join(cardinal(int(part)) for part in text.split("."))


def _phone(match: re.Match[str]) -> str:
    plus = "plus " if match.group().startswith("+") else ""
    return plus + ", ".join(digits(group) for group in re.findall(r"\d+", match.group()))


def _decade(match: re.Match[str]) -> str:
    words = year(int(match["decade"])) if len(match["decade"]) == 4 else cardinal(int(match["decade"]))
    return f"{words[:-1]}ies" if words.endswith("y") else f"{words}s"


def _year(match: re.Match[str]) -> str:
    second = f" {match['join']} {year(int(match['to']))}" if match["to"] else ""
    return f"{match['before']} {year(int(match['year']))}{second}"


def _spoken_number(text: str) -> str:
    # A leading zero is part of a code, not of an amount.
    return digits(text) if text.isdigit() and len(text) > 1 and text.startswith("0") else decimal(text)


RULES: tuple[Rule, ...] = (
    rule(r"\b[Nn]o\.\s?(?=\d)", "number "),
    rule("|".join(_VULGAR), lambda match: f" {_VULGAR[match.group()]}"),
    rule(r"(?<![\w-])(?:\+\d{1,3}[ -]?)?(?:\(?\d{2,4}\)?[ -])?\d{3}-\d{4}(?![\w-])", _phone),
    rule(r"(?<!\w)\+\d{2,3}(?:[ -]\d{2,})+", _phone),
    rule(rf"(?P<number>{_NUMBER})[eE](?P<power>[+-]?\d{{1,3}})\b", _scientific),
    rule(r"\b[vV](?P<version>\d+(?:\.\d+)*)\b", lambda match: f"v {_version(match['version'])}"),
    rule(r"(?<![\d.])\d+(?:\.\d+){2,}(?![\d.]*\w)", lambda match: _version(match.group())),
    rule(rf"\b(?P<name>{_VERSIONED}) (?P<v>\d+\.\d+)\b", lambda m: f"{m['name']} {_version(m['v'])}", ignore_case=True),
    rule(r"(?<=\d)\s[-−]\s(?=\d[\d.,]*\s?=)", " minus "),
    rule(rf"(?<=\d)\s?[-–]\s?(?=(?:{_NUMBER})(?![\w-]*-))", " to "),
    rule(_SIGN, "minus "),
    rule(r"(?<=\d):(?=\d)", " to "),
    rule(r"(?<=\d)\*(?=\d)", " times "),
    rule(r"\b(\d)'(\d{1,2})\"", r"\1 foot \2"),
    rule(r"~\s?(?=[\d$€£])", "about "),
    rule(rf"(?P<sign>[$€£¥])\s?(?P<amount>{_NUMBER})(?P<multiple>bn|[kKmMB])?(?!\w)", _money),
    rule(rf"(?P<amount>{_NUMBER})\s?(?P<multiple>)(?P<sign>[€£¥])", _money),
    rule(r"(?:\b|(?<!\w)'|(?<=the ))(?P<decade>(?:1[1-9]|20)\d0|(?<=')\d0|(?<=the )\d0)s\b", _decade),
    rule(rf"(?<![\w.,])(?P<article>\ban? )?(?P<number>{_NUMBER})\s?(?P<unit>{_UNIT})(?![\w²³/°])", _measure),
    rule(r"(?<![\w/])(?:(?P<whole>\d+)\s)?(?P<over>\d)/(?P<under>\d{1,2})(?![\w/])", _fraction),
    rule(r"\b(?P<number>\d+)(?:st|nd|rd|th)\b", lambda match: ordinal(int(match["number"]))),
    rule(
        rf"\b(?P<before>{_BEFORE_YEARS}),? (?P<year>{_YEAR})(?: (?P<join>to|and|or|until) (?P<to>{_YEAR}))?",
        _year,
        ignore_case=True,
    ),
    rule(r"(?<=\d)(?=[xyzn]\b)", " "),
    rule(rf"(?<![\w.])(?:{_NUMBER})(?![\w]|\.\d)", lambda match: _spoken_number(match.group())),
    rule(r"\d+(?:\.\d+)?", lambda match: f" {decimal(match.group())} "),
)
