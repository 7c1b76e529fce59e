"""Dates, clock times and durations, in English."""

from __future__ import annotations

import re

from appliance.speak.number_words import cardinal, ordinal, year
from appliance.speak.rules import Rule, rule, word_list

_YEAR_ROUND = "January February March April May June July August September October November December"
_MONTHS = _YEAR_ROUND.split()
_MONTH_OF = {name[:3].lower(): name for name in _MONTHS} | {"sept": "September"}
_MONTH = r"(?P<month>(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?|" + "|".join(_MONTHS) + ")"
_SHORT_MONTH = "Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec"
_WEEK = word_list("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
_DAY_OF = {name[:3]: name for name in _WEEK} | {"Tues": "Tuesday", "Thur": "Thursday", "Thurs": "Thursday"}
_DAY = "Mon|Tues?|Wed|Thurs?|Thu|Fri|Sat|Sun"
#: These three are words of their own too.
_SURE_DAY = "Mon|Tues?|Thurs?|Thu|Fri"
_MERIDIEM = r"\s?(?P<half>[ap])\.?m\b\.?"
_DURATION_UNITS = {"d": "day", "h": "hour", "m": "minute", "min": "minute", "s": "second", "sec": "second"}


def _month(written: str) -> str:
    return _MONTH_OF[written.rstrip(".").lower()[: 4 if written.lower().startswith("sept") else 3]]


def _date(month: int, day: int, in_year: int, written: str) -> str:
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return written
    return f"{_MONTHS[month - 1]} {ordinal(day)}, {year(in_year)}"


def _written_date(match: re.Match[str]) -> str:
    return _date(int(match["m"]), int(match["d"]), int(match["y"]), match.group())


def _moment(match: re.Match[str]) -> str:
    return f"{match['date']}, {match['clock']}{' UTC' if match['zone'] else ''}"


def _name(written: str) -> str:
    """The whole name of a short day or month."""
    return _DAY_OF.get(written) or _month(written)


def _names(match: re.Match[str]) -> str:
    return f"{_name(match['from'])} to {_name(match['to'])}"


def _short_name(match: re.Match[str]) -> str:
    return _name(match["name"])


def _month_day(match: re.Match[str]) -> str:
    day = int(match["day"])
    if not 1 <= day <= 31:
        return match.group()
    in_year = f", {year(int(match['year']))}" if match["year"] else ""
    last = f" to {ordinal(int(match['last']))}" if match["last"] else ""
    return f"{_month(match['month'])} {ordinal(day)}{last}{in_year}"


def _day_month(match: re.Match[str]) -> str:
    day = int(match["day"])
    if not 1 <= day <= 31:
        return match.group()
    in_year = f" {year(int(match['year']))}" if match["year"] else ""
    first = f"{ordinal(int(match['first']))} to the " if match["first"] else ""
    article = "The" if match.group().startswith("The") else "the"
    return f"{article} {first}{ordinal(day)} of {_month(match['month'])}{in_year}"


def _clock(match: re.Match[str]) -> str:
    hour, minute = int(match["hour"]), int(match["minute"])
    if hour > 24 or minute > 59:
        return match.group()
    if hour in (0, 24) and not minute:
        return "midnight"
    half = _half(match)
    if minute:
        return f"{cardinal(hour)} {'oh ' if minute < 10 else ''}{cardinal(minute)}{half}"
    if half:
        return f"{cardinal(hour)}{half}"
    return f"{cardinal(hour)} o'clock" if 1 <= hour <= 12 else f"{cardinal(hour)} hundred"


def _half(match: re.Match[str]) -> str:
    """With dots, as in "p.m.": voices read that rightly."""
    half = match.groupdict().get("half")
    return f" {half.lower()}.m." if half else ""


def _hour(match: re.Match[str]) -> str:
    return f"{cardinal(int(match['hour']))}{_half(match)}"


def _stopwatch(match: re.Match[str]) -> str:
    hours, minutes, seconds = (int(part) for part in match["time"].split(":"))
    if match["behind"] and hours < 24:  # a moment of a day, not a length of time
        second = f" and {_count(seconds, 'second')}" if seconds else ""
        return f"{match['behind']}, {cardinal(hours)} {'oh ' if minutes < 10 else ''}{cardinal(minutes)}{second}"
    parts = [_count(hours, "hour"), _count(minutes, "minute"), _count(seconds, "second")]
    return " ".join(parts if hours else parts[1:])


def _duration(match: re.Match[str]) -> str:
    parts = re.findall(r"(\d+)\s?(d|h|min|m|sec|s)\b", match.group())
    words = [_count(int(number), _DURATION_UNITS[unit]) for number, unit in parts]
    return f"{' '.join(words[:-1])} and {words[-1]}"


def _count(number: int, noun: str) -> str:
    return f"{cardinal(number)} {noun}" if number == 1 else f"{cardinal(number)} {noun}s"


RULES: tuple[Rule, ...] = (
    rule(r"\b(?P<date>\d{4}-\d{2}-\d{2})[T ](?P<clock>\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?(?P<zone>Z?)(?![\d:])", _moment),
    rule(r"\b(?P<y>\d{4})-(?P<m>\d{2})-(?P<d>\d{2})\b", _written_date),
    rule(r"\b(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>\d{4})\b", _written_date),
    rule(r"\b(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})\b", _written_date),
    rule(
        rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?![:.]\d)(?:\s?[-–]\s?(?P<last>\d{{1,2}})\b)?(?:,?\s+(?P<year>\d{{4}})\b)?",
        _month_day,
    ),
    rule(
        rf"\b(?:[Tt]he\s+)?(?:(?P<first>\d{{1,2}})\s?[-–]\s?)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?!\w)(?:,?\s+(?P<year>\d{{4}})\b)?",
        _day_month,
    ),
    rule(rf"\b(?P<from>{_DAY})\.?\s?[-–]\s?(?P<to>{_DAY})\b\.?", _names),
    rule(rf"\b(?P<from>{_SHORT_MONTH})\.?\s?[-–]\s?(?P<to>{_SHORT_MONTH})\b\.?", _names),
    rule(rf"\b(?P<name>{_DAY})\b\.?(?=,?\s(?:\d|(?:the|{'|'.join(_MONTHS)})\b))", _short_name),
    rule(r"(?:^|(?<=: ))(?P<name>Wed|Sat|Sun)\b\.?(?=[,:]|\.?$)", _short_name),
    rule(rf"\b(?P<name>{_SURE_DAY})\b\.?(?![\w'])", _short_name),
    rule(rf"\b(?P<name>{_SHORT_MONTH})\b\.?(?=\s\d{{4}}\b)", _short_name),
    rule(r"\b(?P<name>Jan|Feb|Aug|Sept|Oct|Nov|Dec)\.(?=\s|$)", _short_name),
    rule(r"(?:(?P<behind>\w+(?:st|nd|rd|th))\s+)?(?<![\d:])\b(?P<time>\d{1,3}:\d{2}:\d{2})\b", _stopwatch),
    rule(r"(?<=[\dmM])\s?[-–]\s?(?=\d{1,2}(?::\d{2})?\s?[ap]\.?m\b)", " to "),
    rule(r"(?<=\d:\d\d)\s?[-–]\s?(?=\d{1,2}:\d\d)", " to "),
    rule(rf"\b(?P<hour>\d{{1,2}}):(?P<minute>\d{{2}}){_MERIDIEM}", _clock, ignore_case=True),
    rule(r"(?<![\d:.])(?P<hour>\d{1,2}):(?P<minute>\d{2})(?![\d:])", _clock),
    rule(rf"\b(?P<hour>\d{{1,2}}){_MERIDIEM}", _hour, ignore_case=True),
    rule(r"\b(?:\d+\s?(?:d|h|min|m|sec|s)\s+)+\d+\s?(?:min|m|sec|s)\b(?!\w)", _duration),
)
